# SPDX-License-Identifier: Apache-2.0
"""The report on a run of the bench: tables on the terminal and in Markdown, plots in one HTML page.

No table has instruction counts without the events beside them: a trap is a few instructions and
costs a processor hundreds of cycles. The page needs no network.
"""

import html
from collections.abc import Iterable
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.bench.interruptible import COST_HEADINGS, cost_rows
from gandalf.bench.interval import OPERATIONS, PERIOD
from gandalf.bench.masked import LONGEST, MASKED, TOTAL
from gandalf.bench.papers import PAPERS, WEIGHTS
from gandalf.bench.results import Absent, Change, Result, Results
from gandalf.bench.workload import SLEEPING

HEADINGS = (
    "operation", "median", "mean", "minimum", "maximum", "samples", "ratio", "of means",
    "VMM entries", "ring crossings", "CR3", "INVLPG", "masked", "longest",
    *(f"cycles, {weights.name}" for weights in WEIGHTS),
)  # fmt: skip
# Those that fit a terminal.
_SHORT = ("operation", "median", "ratio", "VMM entries", "ring crossings", "CR3", "INVLPG")
_UNCOUNTED = "-"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Gandalf: the bench</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 1400px; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }}
td, th {{ border-bottom: 1px solid #ccc; padding: 2px 8px; text-align: right }}
td:first-child, th:first-child {{ text-align: left }}
.wide {{ overflow-x: auto }}
</style>
<script>{library}</script></head><body>
<h1>Gandalf: the bench</h1>
{body}
</body></html>
"""


def _number(value: float | None) -> str:
    if value is None:
        return _UNCOUNTED
    if value == round(value):
        return f"{round(value):,}"
    return f"{value:,.2f}"


def _ratio(value: float | None) -> str:
    return _UNCOUNTED if value is None else f"{value:.2f}"


def row(result: Result) -> list[str]:
    """Return an operation's cells, in the order of HEADINGS."""
    seen = result.events

    def event(name: str) -> str:
        # Of what is counted, what does not happen is left out.
        nothing = 0.0 if "ring_crossings" in seen else None
        return _number(seen.get(name, nothing))

    entries = _number(seen.get("vmm_entries"))
    return [
        result.operation, _number(result.instructions), f"{result.mean:,.0f}",
        _number(result.minimum), _number(result.maximum), str(result.samples),
        _ratio(result.ratio), _ratio(result.ratio_mean), entries,
        event("ring_crossings"), event("cr3_load"), event("invlpg"), event("masked"),
        event("masked_longest"),
        *(_number(weights.cycles(result)) for weights in WEIGHTS),
    ]  # fmt: skip


def _of(results: Results, system: str) -> list[Result]:
    """Return a system's operations; sums over all of them, and intervals, have their own tables."""
    return [
        result
        for result in results.results
        if result.system == system and result.operation not in (*MASKED, *OPERATIONS)
    ]


# --- Interrupts masked, and footprint ---

MASKED_HEADINGS = (
    "system", "executed", "masked", "ratio", "in ring 0", "stretches", "longest", "began at",
    "longest in ring 0", "began at",
)  # fmt: skip
RECORD_HEADINGS = (
    "longest stretch of ring 0 with interrupts masked", "in", "instructions", "began in",
)  # fmt: skip
_SET = "all operations"
FOOTPRINT_HEADINGS = ("hypervisor", "what", "how many")


def masked_rows(results: Results) -> list[list[str]]:
    """Return a row for each system, in the order of MASKED_HEADINGS."""
    rows = []
    for system in results.systems:
        total, longest = (results.find(system, name) for name in (TOTAL, LONGEST))
        if total is None or longest is None:
            continue
        seen, places = total.events, longest.places
        rows.append([
            system, _number(seen["executed"]), _number(total.instructions), _ratio(total.ratio),
            _number(seen["masked_ring_0"]), _number(seen["windows"]),
            _number(longest.instructions), places["any"],
            _number(longest.events["masked_ring_0"]), places["ring_0"],
        ])  # fmt: skip
    return rows


def record_rows(results: Results) -> list[list[str]]:
    """Return each system's longest stretches, its record first.

    There is one of all its operations, and one of each load of the real-time task.
    """
    rows = []
    for system in results.systems:
        records = [
            (row.events[event], _SET if row.operation == LONGEST else row.operation, row.places)
            for row in results.results
            for event in ("masked_ring_0", "masked_longest_ring_0")
            if row.system == system and "ring_0" in row.places and event in row.events
        ]
        records.sort(key=lambda record: record[0], reverse=True)
        rows += [
            [system if place == 0 else "", what, _number(length), places["ring_0"]]
            for place, (length, what, places) in enumerate(records)
        ]
    return rows


def footprint_rows(results: Results) -> list[list[str]]:
    """Return what each hypervisor is, in the order of FOOTPRINT_HEADINGS."""
    return [
        [name, what, _number(value)]
        for name, values in results.footprint.items()
        for what, value in values.items()
    ]


CACHE_HEADINGS = (
    "events of the papers, by a model", "instructions", "L1I misses", "L1D misses", "ITLB misses",
    "DTLB misses", "page walks", "segment loads", "stalls",
)  # fmt: skip
_STALLS = "not measurable"
_NO_COMPILE = (
    "A small compile is not measured: there is no compiler in the guests' root file system."
)


def cache_rows(results: Results) -> list[list[str]]:
    """Return the papers' performance-counter events, in the order of CACHE_HEADINGS."""
    names = ("l1i_miss", "l1d_miss", "itlb_miss", "dtlb_miss", "page_walk", "segment_load")
    return [
        [
            f"{row.system}, {row.operation}", _number(row.instructions),
            *(_number(row.events.get(name, 0.0)) for name in names), _STALLS,
        ]
        for row in results.results
        if "page_walk" in row.events
    ]  # fmt: skip


INTERVAL_HEADINGS = (
    "timer interrupts every 1,000,000 ns", "intervals", "minimum", "99.9 %", "maximum",
    "off by over 2 %", "dispatch latency from outside: minimum", "mean", "maximum",
    "cause of the longest",
)  # fmt: skip
OUTLIER_HEADINGS = ("timer interrupts off by over 2 %", "at, ns", "interval, ns", "cause")


def interval_rows(results: Results) -> list[list[str]]:
    """Return the intervals between timer interrupts, in the order of INTERVAL_HEADINGS."""
    return [
        [
            f"{row.system}, {row.operation}", _number(row.samples), _number(row.minimum),
            _number(row.events["p999"]), _number(row.maximum), _number(row.events["outliers"]),
            *(_number(row.events[f"dispatch_{kind}"]) for kind in ("minimum", "mean", "maximum")),
            row.places["longest"],
        ]
        for row in results.results
        if row.operation in OPERATIONS
    ]  # fmt: skip


def outlier_rows(results: Results) -> list[list[str]]:
    """Return each interval that is far from the period, in the order of OUTLIER_HEADINGS."""
    return [
        [f"{row.system}, {row.operation}", _number(outlier.at), _number(outlier.length),
         outlier.cause]
        for row in results.results
        for outlier in row.outliers
    ]  # fmt: skip


def _tables(results: Results) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Return title, headings and rows of the tables that are not a system's."""
    tables = [
        ("Interrupts masked", MASKED_HEADINGS, masked_rows(results)),
        ("The record of ring 0", RECORD_HEADINGS, record_rows(results)),
        ("What it costs to be interruptible", COST_HEADINGS, cost_rows(results)),
        ("Caches and TLBs", CACHE_HEADINGS, cache_rows(results)),
        ("Intervals between timer interrupts", INTERVAL_HEADINGS, interval_rows(results)),
        ("Their outliers", OUTLIER_HEADINGS, outlier_rows(results)),
        ("Footprint", FOOTPRINT_HEADINGS, footprint_rows(results)),
    ]
    return [table for table in tables if table[2]]


def show(results: Results, console: RichConsole) -> None:
    """Print a table for each system; the reports have more columns."""
    for system in results.systems:
        table = Table(title=system, title_justify="left", show_edge=False)
        for heading in _SHORT:
            left = heading == "operation"
            table.add_column(heading, justify="left" if left else "right", no_wrap=left)
        for result in _of(results, system):
            cells = dict(zip(HEADINGS, row(result), strict=True))
            table.add_row(*(cells[heading] for heading in _SHORT))
        console.print(table)
        console.print()
    for title, headings, rows in _tables(results):
        shown = Table(*headings, title=title, title_justify="left", show_edge=False)
        for texts in rows:
            shown.add_row(*texts)
        console.print(shown)
        console.print()
    for absent in results.absent:
        console.print(_absence(absent), markup=False, highlight=False)


def _absence(absent: Absent) -> str:
    what = f"{absent.system}, {absent.operation}" if absent.operation else absent.system
    return f"{what}: {'invalid' if absent.invalid else 'missing'}: {absent.reason}"


def show_changes(changes: Iterable[Change], gone: Iterable[Absent], console: RichConsole) -> None:
    """Print what differs from an earlier run, the worst first."""
    table = Table(title="Against the earlier run", title_justify="left", show_edge=False)
    for name in ("", "system", "operation", "what", "before", "now", "change"):
        table.add_column(name, justify="right" if name in ("before", "now", "change") else "left")
    order = ("worse", "better", "similar")
    for change in sorted(changes, key=lambda item: order.index(item.verdict)):
        percent = "" if change.percent is None else f"{change.percent:+.2f} %"
        table.add_row(
            change.verdict, change.system, change.operation, change.what,
            _number(change.before), _number(change.after), percent,
        )  # fmt: skip
    for absent in gone:
        table.add_row("gone", absent.system, absent.operation or "all", absent.reason, "", "", "")
    console.print(table if table.rows else "Nothing differs from the earlier run.")


# --- Markdown ---


def _markdown_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(headings)
    lines = ["| " + " | ".join(names) + " |", "| --- |" + " ---: |" * (len(names) - 1)]
    return [*lines, *("| " + " | ".join(cells) + " |" for cells in rows), ""]


def _paper_rows() -> list[list[str]]:
    return [
        [paper.system, paper.operation, str(paper.value), str(paper.baseline), _ratio(paper.ratio)]
        for paper in PAPERS
    ]


_PAPER_HEADINGS = ("system of the papers", "operation", "us", "native, us", "ratio")


def _weights_lines() -> list[str]:
    return [
        f"- {weights.name}: {weights.crossing} cycles for each crossing of rings, {weights.cr3} "
        f"for a CR3 load, {weights.invlpg} for an INVLPG, {weights.segment} for a segment load, "
        f"1 for an instruction: {weights.origin}."
        for weights in WEIGHTS
    ]


def markdown(results: Results) -> str:
    """Return the whole report as Markdown."""
    lines = [
        "# The bench",
        "",
        "In instructions for each operation; docs/measuring.md explains.",
        "",
    ]
    for system in results.systems:
        lines += [f"## {system}", "", *_markdown_table(HEADINGS, map(row, _of(results, system)))]
    for title, headings, rows in _tables(results):
        lines += [f"## {title}", "", *_markdown_table(headings, rows)]
    if results.absent:
        lines += ["## What is missing", "", *(f"- {_absence(part)}" for part in results.absent), ""]
    lines += ["## What the papers report", "", *_markdown_table(_PAPER_HEADINGS, _paper_rows())]
    lines += ["## The model of cycles", "", *_weights_lines(), ""]
    lines += ["## What is not measured", "", _NO_COMPILE, ""]
    lines += ["## Versions and options", ""]
    lines += [f"- {name}: {value}" for name, value in results.versions.items()]
    lines += [f"- QEMU: `{' '.join(results.options)}`"]
    lines += [f"- {name}: `{words}`, `{results.command_lines[name]}`"
              for name, words in results.machines.items()]  # fmt: skip
    return "\n".join([*lines, ""])


# --- HTML ---


def ratio_plot(results: Results) -> go.Figure:
    """Return bars of the ratios, mostly to native, with the papers' beside ours."""
    figure = go.Figure()
    for system in results.systems:
        found = [result for result in _of(results, system) if result.ratio is not None]
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
        found = [item for item in _of(results, system) if item.events.get("vmm_entries")]
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
            for item in _of(results, system)
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


def _html_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    def cells(kind: str, texts: Iterable[str]) -> str:
        return "".join(f"<{kind}>{html.escape(text)}</{kind}>" for text in texts)

    body = "\n".join(f"<tr>{cells('td', texts)}</tr>" for texts in rows)
    table = f"<table><tr>{cells('th', headings)}</tr>\n{body}</table>"
    return f'<div class="wide">{table}</div>'


def page(results: Results) -> str:
    """Return the page: plots of what there is first, then every figure."""
    plots = {
        "ratios": ratio_plot, "entries": entries_plot, "masked": masked_plot,
        "latencies": latency_plot, "intervals": interval_plot,
    }  # fmt: skip
    figures = {name: make(results) for name, make in plots.items()}
    parts = [
        figure.to_html(full_html=False, include_plotlyjs=False, div_id=name)
        for name, figure in figures.items()
        if figure.data
    ]
    for system in results.systems:
        table = _html_table(HEADINGS, map(row, _of(results, system)))
        parts.append(f"<h2>{html.escape(system)}</h2>\n{table}")
    for title, headings, rows in _tables(results):
        parts.append(f"<h2>{html.escape(title)}</h2>\n{_html_table(headings, rows)}")
    if results.absent:
        items = "".join(f"<li>{html.escape(_absence(part))}</li>" for part in results.absent)
        parts.append(f"<h2>What is missing</h2><ul>{items}</ul>")
    parts.append(f"<h2>What the papers report</h2>{_html_table(_PAPER_HEADINGS, _paper_rows())}")
    weights = "".join(f"<li>{html.escape(line[2:])}</li>" for line in _weights_lines())
    parts.append(f"<h2>The model of cycles</h2><ul>{weights}</ul>")
    parts.append(f"<h2>What is not measured</h2><p>{html.escape(_NO_COMPILE)}</p>")
    return _PAGE.format(library=get_plotlyjs(), body="\n".join(parts))


def write(results: Results, folder: Path) -> None:
    """Write report.md and report.html to a folder."""
    (folder / "report.md").write_text(markdown(results))
    (folder / "report.html").write_text(page(results))
