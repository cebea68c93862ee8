# SPDX-License-Identifier: Apache-2.0
"""The plots of a report."""

import plotly.graph_objects as go

from gandalf.bench.interval import OPERATIONS, PERIOD
from gandalf.bench.papers import PAPERS
from gandalf.bench.results import Results
from gandalf.bench.rows import results_of
from gandalf.bench.workload import SLEEPING

# --- HTML ---


def ratio_plot(results: Results) -> go.Figure:
    """Return bars of the ratios, mostly to native, with the papers' beside ours."""
    figure = go.Figure()
    for system in results.systems:
        found = [result for result in results_of(results, system) if result.ratio is not None]
        if found:
            names, ratios = ([item.operation for item in found], [item.ratio for item in found])
            figure.add_bar(name=system, x=names, y=ratios)
    for system in dict.fromkeys(paper.system for paper in PAPERS):
        papers = [paper for paper in PAPERS if paper.system == system]
        figure.add_bar(
            name=f"{system} (paper)", x=[paper.operation for paper in papers],
            y=[paper.ratio for paper in papers], marker_pattern_shape="/",
        )  # fmt: skip
    figure.add_hline(y=1, line_dash="dot")
    figure.update_layout(
        title="Ratio to the system that each is compared with (1: as fast; logarithmic)",
        barmode="group", height=520,
        yaxis_type="log", template="plotly_white",
    )  # fmt: skip
    return figure


def entries_plot(results: Results) -> go.Figure:
    """Return bars of the entries into the VMM for each operation."""
    figure = go.Figure()
    for system in results.systems:
        found = [item for item in results_of(results, system) if item.events.get("vmm_entries")]
        if found:
            counts = [item.events["vmm_entries"] for item in found]
            figure.add_bar(name=system, x=[item.operation for item in found], y=counts)
    figure.update_layout(
        title="Entries into the VMM for each operation (logarithmic)", barmode="group",
        height=420, yaxis_type="log", template="plotly_white",
    )  # fmt: skip
    return figure


def masked_plot(results: Results) -> go.Figure:
    """Return bars of the share of instructions that were executed with interrupts masked."""
    figure = go.Figure()
    for system in results.systems:
        # The events of what sleeps are those of more than its instructions.
        found = [
            item
            for item in results_of(results, system)
            if "masked" in item.events and item.operation not in SLEEPING
        ]
        if found:
            shares = [100 * item.events["masked"] / item.mean for item in found]
            figure.add_bar(name=system, x=[item.operation for item in found], y=shares)
    figure.update_layout(
        title="Instructions with interrupts masked, % of all", barmode="group", height=420,
        template="plotly_white",
    )  # fmt: skip
    return figure


# Of bars that stand before one another: a line would show values where there are none.
_OVERLAID = 0.6


def latency_plot(results: Results) -> go.Figure:
    """Return the distributions of latencies, with logarithmic counts: rare ones show."""
    figure = go.Figure()
    for result in results.results:
        if result.distribution and result.operation not in OPERATIONS:
            name = f"{result.system}, {result.operation}"
            values, counts = zip(*result.distribution, strict=True)
            figure.add_bar(name=name, x=values, y=counts, opacity=_OVERLAID)
    figure.update_layout(
        title="Distribution of latencies, in instructions (counts logarithmic)", height=420,
        barmode="overlay",
        yaxis_type="log", template="plotly_white",
    )  # fmt: skip
    return figure


def interval_plot(results: Results) -> go.Figure:
    """Return how far the intervals between timer interrupts are from the period."""
    figure = go.Figure()
    for result in results.results:
        if result.distribution and result.operation in OPERATIONS:
            name = f"{result.system}, {result.operation}"
            values, counts = zip(*result.distribution, strict=True)
            offsets = [value - PERIOD for value in values]
            figure.add_bar(name=name, x=offsets, y=counts, opacity=_OVERLAID)
    figure.update_layout(
        title="Intervals between timer interrupts, ns from 1 ms (counts logarithmic)", height=420,
        barmode="overlay",
        yaxis_type="log", template="plotly_white",
    )  # fmt: skip
    return figure
