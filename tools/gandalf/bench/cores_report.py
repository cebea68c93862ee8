# SPDX-License-Identifier: Apache-2.0
"""What the reports have of several CPUs: tables and plots of their own."""

import plotly.graph_objects as go

from gandalf.bench.cores import HACKBENCH, IPI, SHOOTDOWN, STORM, TOGETHER
from gandalf.bench.cores_limits import BESIDE_OTHERS, CALL, LOAD
from gandalf.bench.limits import number
from gandalf.bench.results import Result, Results
from gandalf.bench.shares import ALONE, alone, point_of

CPU_HEADINGS = ("operation", "system", "CPU", "alone", "with all", "quotient", "busy")
_COMPARED = (STORM, HACKBENCH, IPI, SHOOTDOWN)


def cpu_rows(results: Results) -> list[list[str]]:
    """Return what each CPU has done of each operation, in the order of CPU_HEADINGS."""
    rows = []
    for row in results.results:
        for cpu in range(8):
            seen = row.events
            alone, together = seen.get(f"alone_{cpu}"), seen.get(f"together_{cpu}")
            busy = seen.get(f"busy_{cpu}")
            if together is None and busy is None:
                continue
            quotient = together / alone if together and alone else None
            cells = [number(value) for value in (alone, together, quotient, busy)]
            rows.append([row.operation, row.system, str(cpu), *cells])
    return rows


def _bars(figure: go.Figure, name: str, rows: list[Result], values: list[float]) -> None:
    figure.add_bar(name=name, x=[row.operation for row in rows], y=values)


def slowdown_plot(results: Results) -> go.Figure:
    """Return bars of what an operation takes beside the other CPUs' work, in itself alone."""
    figure = go.Figure()
    for system in results.systems:
        rows = [row for row in results.results if row.system == system]
        rows = [row for row in rows if row.operation in TOGETHER and "slowdown" in row.events]
        if rows:
            _bars(figure, system, rows, [row.events["slowdown"] for row in rows])
    figure.add_hline(y=BESIDE_OTHERS, line_dash="dot")
    figure.update_layout(
        title="Several CPUs: the slowest CPU while all work, in itself alone (line: the limit)",
        barmode="group", height=420, template="plotly_white",
    )  # fmt: skip
    return figure


def native_plot(results: Results) -> go.Figure:
    """Return bars of what uses several CPUs, in native SMP Linux."""
    figure = go.Figure()
    for system in results.systems:
        rows = [row for row in results.results if row.system == system]
        rows = [row for row in rows if row.operation in _COMPARED and row.ratio_mean]
        if rows:
            _bars(figure, system, rows, [row.ratio_mean or 0 for row in rows])
    for most in (LOAD, CALL):
        figure.add_hline(y=most, line_dash="dot")
    figure.update_layout(
        title="Several CPUs: time in that of native SMP Linux (lines: the limits of loads, calls)",
        barmode="group", height=420, template="plotly_white",
    )  # fmt: skip
    return figure


def shares_plot(results: Results) -> go.Figure:
    """Return hackbench's time against the RTOS's share of a CPU, as SPUMONE's paper draws it."""
    figure = go.Figure()
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in results.results:
        if (point := point_of(row.operation)) is not None:
            system = row.system.removesuffix(f"-{point[0]}")
            lines.setdefault(f"{system}, {point[1]}", []).append((point[0], row.mean))
        elif row.operation in map(alone, ALONE):
            text = f"{row.operation.split('_')[1]} CPUs alone"
            figure.add_hline(y=row.mean, line_dash="dot", annotation_text=text)
    for name, found in lines.items():
        xs, ys = zip(*sorted(found), strict=True)
        figure.add_scatter(name=name, x=xs, y=ys, mode="lines+markers")
    figure.update_layout(
        title="hackbench on 4 vCPUs beside an RTOS, ticks (lines: Linux alone; less is better)",
        xaxis_title="the RTOS's share of one CPU, %", yaxis_title="ticks", height=480,
        template="plotly_white",
    )  # fmt: skip
    figure.update_yaxes(rangemode="tozero")
    return figure
