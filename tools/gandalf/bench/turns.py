# SPDX-License-Identifier: Apache-2.0
"""The page-table cache of two levels: what it finds, and what a turn of a process costs by that.

Linux has some processes in turn, each with pages of its own (bench/workload/turns.c). A machine has
a number of entries and a policy; it is measured with each number of processes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gandalf.base.paths import UserError
from gandalf.bench.results import Result, Results
from gandalf.bench.workload import CLOCKSOURCE
from gandalf.description.description import Machine

PROGRAM = "bench-turns"
POLICIES: tuple[str, ...] = get_args(Machine.model_fields["cache_policy"].annotation)
ENTRIES = (1, 2, 4, 8, 16, 32)
PROCESSES = (1, 4, 16, 64)
# Of all processes together, in each measurement.
TURNS = 2000
TURNS_HEADINGS = (
    "policy", "entries",
    *(f"{what}, {count}" for count in PROCESSES for what in ("found, %", "instructions of a turn")),
)  # fmt: skip
_OPERATION = "turns_"
_COUNTERS = ("space_hits", "space_misses")
_COLOURS = dict(zip(POLICIES, ("#636efa", "#ef553b", "#00cc96"), strict=True))


@dataclass(frozen=True)
class Cache:
    """A cache as a description has it."""

    policy: str
    entries: int

    @property
    def name(self) -> str:
        """The name of the machine."""
        return f"gandalf-turns-{self.policy}-{self.entries}"


CACHES = tuple(Cache(policy, entries) for policy in POLICIES for entries in ENTRIES)
OPERATIONS = tuple(f"{_OPERATION}{count}" for count in PROCESSES)


def script() -> str:
    """Return Linux's script: its counters before and behind each run of processes."""
    counters = "gandalfctl stats linux | grep ^space_"
    clocksource = f'echo "clocksource=$(cat {CLOCKSOURCE})"'
    lines = ["dmesg -n 1", 'echo "kernel=$(uname -r)"', clocksource]
    for count, operation in zip(PROCESSES, OPERATIONS, strict=True):
        lines += [
            f"echo begin={operation}", counters, f"{PROGRAM} sample {operation} {TURNS // count}",
            counters, f"echo end={operation}",
        ]  # fmt: skip
    return "\n".join([*lines, clocksource, 'echo "bench: the script is done"', ""])


def found(operation: str, text: str) -> dict[str, float]:
    """Return how many loads of CR3 found an entry, and how many did not."""
    part = re.search(rf"begin={operation}\s(.*?)end={operation}\s", text, re.DOTALL)
    counted = {
        name: [int(value) for value in re.findall(rf"{name} +(\d+)", part[1] if part else "")]
        for name in _COUNTERS
    }
    if any(len(values) != 2 for values in counted.values()):
        raise UserError(f"Of {operation} the counters were not printed before and behind it.")
    return {name: float(behind - before) for name, (before, behind) in counted.items()}


def _share(row: Result) -> float:
    """Return the share of loads that found an entry, in per cent."""
    hits, misses = (row.events[name] for name in _COUNTERS)
    return 100 * hits / (hits + misses)


def _rows(results: Results) -> Iterator[tuple[Cache, list[Result]]]:
    """Give each cache that was measured, with its results by number of processes."""
    for cache in CACHES:
        rows = [results.find(cache.name, operation) for operation in OPERATIONS]
        there = [row for row in rows if row is not None]
        if len(there) == len(rows):
            yield cache, there


def turns_rows(results: Results) -> list[list[str]]:
    """Return a row for each cache, in the order of TURNS_HEADINGS."""
    return [
        [
            cache.policy, str(cache.entries),
            *(cell for row in rows for cell in (f"{_share(row):.0f}", f"{row.mean:,.0f}")),
        ]
        for cache, rows in _rows(results)
    ]  # fmt: skip


def turns_plot(results: Results) -> go.Figure:
    """Return lines of both by the number of entries: one for each policy, by number of processes.

    The upper half is what is found, and the lower half what a turn costs.
    """
    titles = [f"{count} process{'es' if count > 1 else ''}" for count in PROCESSES]
    figure = make_subplots(rows=2, cols=len(PROCESSES), subplot_titles=titles, shared_xaxes=True)
    measured = [(cache, column, row) for cache, rows in _rows(results)
                for column, row in enumerate(rows, 1)]  # fmt: skip
    for policy, colour in _COLOURS.items():
        for place in range(1, len(PROCESSES) + 1):
            lines = [
                (cache.entries, _share(row), row.mean)
                for cache, column, row in measured
                if (cache.policy, column) == (policy, place)
            ]
            if not lines:
                continue
            entries, *halves = zip(*lines, strict=True)
            for half, values in enumerate(halves, 1):
                figure.add_scatter(
                    name=policy, x=entries, y=values, row=half, col=place, mode="lines+markers",
                    legendgroup=policy, showlegend=(place, half) == (1, 1), line_color=colour,
                )  # fmt: skip
    figure.update_xaxes(type="log", tickvals=ENTRIES, ticktext=[str(size) for size in ENTRIES])
    figure.update_xaxes(title_text="entries", row=2)
    figure.update_yaxes(title_text="found, %", row=1, col=1)
    figure.update_yaxes(title_text="instructions of a turn", row=2, col=1)
    figure.update_layout(
        title="The page-table cache: loads of CR3 that find an entry, and what a turn costs",
        height=620, template="plotly_white",
    )  # fmt: skip
    return figure
