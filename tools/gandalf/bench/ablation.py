# SPDX-License-Identifier: Apache-2.0
"""What each measure saves that a VMM takes against what its guests cost: each is taken away once.

A system without a measure differs from the whole one in that field of its description alone. A
measure that is not taken unless told is the other way round: a system has it more.
"""

from collections.abc import Iterator

import plotly.graph_objects as go
from plotly.colors import qualitative
from plotly.subplots import make_subplots

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
_COLOURS: list[str] = qualitative.Plotly
# Systems that have a measure more than another one, and what it is in the description.
MORE = {"gandalf-two-level-global": ("gandalf-two-level", "global_pages")}
_EVENTS = {"vmm_entries": "VMM entries", "cr3_load": "CR3", "page_walk": "page walks"}
ABLATION_HEADINGS = (
    "a measure less", "median", "with it", "it saves",
    *(text for event in _EVENTS.values() for text in (event, "with it")),
)  # fmt: skip


def systems() -> Iterator[tuple[str, str, str]]:
    """Give the systems that lack a measure: the name, the whole one's, and the field."""
    for whole, measures in MEASURES.items():
        for name, field in measures.items():
            yield whole + WITHOUT + name, whole, field


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _row(name: str, less: Result, whole: Result) -> list[str]:
    saved = less.instructions - whole.instructions
    counts = (_count(part.events.get(event)) for event in _EVENTS for part in (less, whole))
    return [
        f"{name}, {less.operation}", f"{less.instructions:,}", f"{whole.instructions:,}",
        f"{saved:,} ({100 * saved / less.instructions:.1f} %)", *counts,
    ]  # fmt: skip


def _pairs(results: Results) -> Iterator[tuple[str, Result, Result]]:
    """Give each result of a system that lacks a measure, and beside it that of the one that has it.

    Their name in front is the former's, and the latter's, too, where that is no matter of course.
    """
    for row in results.results:
        if row.operation in MASKED:
            continue
        whole, without, _ = row.system.partition(WITHOUT)
        other = results.find(whole if without else MORE.get(row.system, ("",))[0], row.operation)
        if other is None:
            continue
        if without:
            yield row.system, row, other
        else:
            yield f"{other.system} (with it: {row.system})", other, row


def ablation_rows(results: Results) -> list[list[str]]:
    """Return a row for each operation of such a system, in the order of ABLATION_HEADINGS."""
    return [_row(*found) for found in _pairs(results)]


def ablation_plot(results: Results) -> go.Figure:
    """Return bars of what an operation takes without a measure, in % of what it takes with it.

    The upper half is instructions, and the lower half page walks, which are there if a model of
    TLBs has counted them.
    """
    halves: tuple[dict[str, dict[str, float]], ...] = ({}, {})
    for name, less, whole in _pairs(results):
        values, bases = (
            (part.instructions, part.events.get("page_walk", 0.0)) for part in (less, whole)
        )
        for bars, value, base in zip(halves, values, bases, strict=True):
            if base > 0:
                bars.setdefault(name, {})[less.operation] = 100 * value / base
    titles = ("Instructions", "Page walks, by a model of TLBs")
    figure = make_subplots(rows=2, cols=1, subplot_titles=titles, vertical_spacing=0.15)
    for place, bars in enumerate(halves, 1):
        for name, operations in bars.items():
            figure.add_bar(
                name=name, x=list(operations), y=list(operations.values()), row=place, col=1,
                legendgroup=name, showlegend=place == 1,
                marker_color=_COLOURS[list(halves[0]).index(name) % len(_COLOURS)],
            )  # fmt: skip
        figure.add_hline(y=100, line_dash="dot", row=place, col=1)
    figure.update_yaxes(type="log")
    figure.update_layout(
        title="Without a measure, % of what it is with it (logarithmic)", height=760,
        barmode="group", template="plotly_white",
    )  # fmt: skip
    return figure
