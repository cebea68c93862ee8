# SPDX-License-Identifier: Apache-2.0
"""The report on a run of the bench: tables on the terminal and in Markdown, plots in one HTML page.

No table has instruction counts without the events beside them: a trap is a few instructions and
costs a processor hundreds of cycles. The page needs no network.
"""

import html
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from plotly.offline import get_plotlyjs
from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.bench.ablation import ablation_plot
from gandalf.bench.cores_report import native_plot, shares_plot, slowdown_plot
from gandalf.bench.plots import entries_plot, interval_plot, latency_plot, masked_plot, ratio_plot
from gandalf.bench.results import Absent, Change, Results
from gandalf.bench.rows import (
    HEADINGS,
    NO_COMPILE,
    PAPER_HEADINGS,
    SHORT,
    absence,
    further_tables,
    number,
    paper_rows,
    results_of,
    row,
    weights_lines,
)
from gandalf.bench.summary import MEANING, summary
from gandalf.bench.turns import turns_plot

# Versions that the reports open with; the others stand at the end.
_OPENING = ("gandalf", "qemu", "bochs", "compiler")
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


def show(results: Results, console: RichConsole) -> None:
    """Print a table for each system; the reports have more columns."""
    for system in results.systems:
        table = Table(title=system, title_justify="left", show_edge=False)
        for heading in SHORT:
            left = heading == "operation"
            table.add_column(heading, justify="left" if left else "right", no_wrap=left)
        for result in results_of(results, system):
            cells = dict(zip(HEADINGS, row(result), strict=True))
            table.add_row(*(cells[heading] for heading in SHORT))
        console.print(table)
        console.print()
    for title, headings, rows in further_tables(results):
        shown = Table(*headings, title=title, title_justify="left", show_edge=False)
        for texts in rows:
            shown.add_row(*texts)
        console.print(shown)
        console.print()
    for absent in results.absent:
        console.print(absence(absent), markup=False, highlight=False)


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
            number(change.before), number(change.after), percent,
        )  # fmt: skip
    for absent in gone:
        table.add_row("gone", absent.system, absent.operation or "all", absent.reason, "", "", "")
    console.print(table if table.rows else "Nothing differs from the earlier run.")


# --- Markdown ---


def _markdown_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(headings)
    lines = ["| " + " | ".join(names) + " |", "| --- |" + " ---: |" * (len(names) - 1)]
    return [*lines, *("| " + " | ".join(cells) + " |" for cells in rows), ""]


def _opening(results: Results, day: date) -> list[str]:
    """Return the lines that both reports begin with: what came of it, when, and of what."""
    versions = ", ".join(
        f"{name} {results.versions[name]}" for name in _OPENING if name in results.versions
    )
    return [*summary(results), f"Measured on {day:%Y-%m-%d}{versions and ' with '}{versions}."]


def markdown(results: Results, day: date) -> str:
    """Return the whole report as Markdown."""
    lines = [
        "# The bench",
        "",
        *(f"- {line}" for line in _opening(results, day)),
        "",
        f"{MEANING} docs/measuring.md explains.",
        "",
    ]
    for system in results.systems:
        lines += [
            f"## {system}",
            "",
            *_markdown_table(HEADINGS, map(row, results_of(results, system))),
        ]
    for title, headings, rows in further_tables(results):
        lines += [f"## {title}", "", *_markdown_table(headings, rows)]
    if results.absent:
        lines += ["## What is missing", "", *(f"- {absence(part)}" for part in results.absent), ""]
    lines += ["## What the papers report", "", *_markdown_table(PAPER_HEADINGS, paper_rows())]
    lines += ["## The model of cycles", "", *weights_lines(), ""]
    lines += ["## What is not measured", "", NO_COMPILE, ""]
    lines += ["## Versions and options", ""]
    lines += [f"- {name}: {value}" for name, value in results.versions.items()]
    lines += [f"- the emulator: `{' '.join(results.options)}`"]
    lines += [f"- {name}: `{words}`, `{results.command_lines[name]}`"
              for name, words in results.machines.items()]  # fmt: skip
    return "\n".join([*lines, ""])


def _html_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    def cells(kind: str, texts: Iterable[str]) -> str:
        return "".join(f"<{kind}>{html.escape(text)}</{kind}>" for text in texts)

    body = "\n".join(f"<tr>{cells('td', texts)}</tr>" for texts in rows)
    table = f"<table><tr>{cells('th', headings)}</tr>\n{body}</table>"
    return f'<div class="wide">{table}</div>'


def page(results: Results, day: date) -> str:
    """Return the page: the verdict, plots of what there is, then every figure."""
    plots = {
        "ratios": ratio_plot, "entries": entries_plot, "masked": masked_plot,
        "latencies": latency_plot, "intervals": interval_plot,
        "ablation": ablation_plot, "turns": turns_plot,
        "slowdowns": slowdown_plot, "natives": native_plot, "shares": shares_plot,
    }  # fmt: skip
    figures = {name: make(results) for name, make in plots.items()}
    verdict, *further = _opening(results, day)
    items = "".join(f"<li>{html.escape(line)}</li>" for line in further)
    parts = [f"<p><strong>{html.escape(verdict)}</strong></p>\n<ul>{items}</ul>\n<p>{MEANING}</p>"]
    parts += [
        figure.to_html(full_html=False, include_plotlyjs=False, div_id=name)
        for name, figure in figures.items()
        if figure.data
    ]
    for system in results.systems:
        table = _html_table(HEADINGS, map(row, results_of(results, system)))
        parts.append(f"<h2>{html.escape(system)}</h2>\n{table}")
    for title, headings, rows in further_tables(results):
        parts.append(f"<h2>{html.escape(title)}</h2>\n{_html_table(headings, rows)}")
    if results.absent:
        items = "".join(f"<li>{html.escape(absence(part))}</li>" for part in results.absent)
        parts.append(f"<h2>What is missing</h2><ul>{items}</ul>")
    parts.append(f"<h2>What the papers report</h2>{_html_table(PAPER_HEADINGS, paper_rows())}")
    weights = "".join(f"<li>{html.escape(line[2:])}</li>" for line in weights_lines())
    parts.append(f"<h2>The model of cycles</h2><ul>{weights}</ul>")
    parts.append(f"<h2>What is not measured</h2><p>{html.escape(NO_COMPILE)}</p>")
    return _PAGE.format(library=get_plotlyjs(), body="\n".join(parts))


def write(results: Results, folder: Path, day: date) -> None:
    """Write report.md and report.html to a folder. day: of the measurement."""
    (folder / "report.md").write_text(markdown(results, day))
    (folder / "report.html").write_text(page(results, day))
