# SPDX-License-Identifier: Apache-2.0
"""What each measure saves that a VMM takes against what its guests cost: each is taken away once.

A system without a measure differs from the whole one in that field of its description alone.
"""

from collections.abc import Iterator

import plotly.graph_objects as go

from gandalf.bench.masked import MASKED
from gandalf.bench.results import Result, Results

# Between the names of the whole system and of the measure that another one has not.
WITHOUT = "-no-"
# Systems from which measures are taken, and what each measure is in the description.
MEASURES = {
    "gandalf-two-level": {
        "prefill": "prefill", "direct-switch": "direct_switch", "cache-hints": "cache_hints",
        "hook": "coherence",
    },
}  # fmt: skip
ABLATION_HEADINGS = (
    "a measure less", "median", "with it", "it saves", "VMM entries", "with it", "CR3", "with it",
)  # fmt: skip


def systems() -> Iterator[tuple[str, str, str]]:
    """Give the systems that lack a measure: the name, the whole one's, and the field."""
    for whole, measures in MEASURES.items():
        for name, field in measures.items():
            yield whole + WITHOUT + name, whole, field


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _row(less: Result, whole: Result) -> list[str]:
    saved = less.instructions - whole.instructions
    counts = (
        _count(part.events.get(name))
        for name in ("vmm_entries", "cr3_load")
        for part in (less, whole)
    )
    return [
        f"{less.system}, {less.operation}", f"{less.instructions:,}", f"{whole.instructions:,}",
        f"{saved:,} ({100 * saved / less.instructions:.1f} %)", *counts,
    ]  # fmt: skip


def _pairs(results: Results) -> Iterator[tuple[Result, Result]]:
    """Give each result of a system that lacks a measure, and the whole system's beside it."""
    for less in results.results:
        whole, without, _ = less.system.partition(WITHOUT)
        found = results.find(whole, less.operation) if without else None
        if found is not None and less.operation not in MASKED:
            yield less, found


def ablation_rows(results: Results) -> list[list[str]]:
    """Return a row for each operation of such a system, in the order of ABLATION_HEADINGS."""
    return [_row(less, whole) for less, whole in _pairs(results)]


def ablation_plot(results: Results) -> go.Figure:
    """Return bars of what an operation takes without a measure, in % of what it takes with it."""
    bars: dict[str, dict[str, float]] = {}
    for less, whole in _pairs(results):
        percent = 100 * less.instructions / whole.instructions
        bars.setdefault(less.system, {})[less.operation] = percent
    figure = go.Figure()
    for system, operations in bars.items():
        figure.add_bar(name=system, x=list(operations), y=list(operations.values()))
    figure.add_hline(y=100, line_dash="dot")
    figure.update_layout(
        title="Instructions without a measure, % of those with it (logarithmic)", height=420,
        barmode="group", yaxis_type="log", template="plotly_white",
    )  # fmt: skip
    return figure
