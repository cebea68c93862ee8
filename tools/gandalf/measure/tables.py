# SPDX-License-Identifier: Apache-2.0
"""Shows a measurement as tables on a terminal."""

from collections import Counter

from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.build.symbols import Symbols, vector_text
from gandalf.measure import masked
from gandalf.measure.measure import FUNCTIONS
from gandalf.measure.measurement import Block, Measurement, Window, Windows

_SHOWN = 10
_SHARES = 3


# --- Tables ---


def _table(title: str, *columns: str) -> Table:
    """Return a table; a column whose name begins with ">" holds numbers."""
    table = Table(title=title, title_justify="left", show_edge=False)
    for name in columns:
        table.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left")
    return table


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _rings(result: Measurement) -> Table:
    table = _table("Instructions", "ring", ">all", ">share", ">masked", ">share of the ring's")
    for ring in (0, 1, 2, 3):
        executed, masked = result.executed(ring), result.executed(ring, masked=True)
        if executed:
            table.add_row(
                str(ring), f"{executed:,}", _percent(executed, result.instructions),
                f"{masked:,}", _percent(masked, executed),
            )  # fmt: skip
    masked = sum(result.executed(ring, masked=True) for ring in range(4))
    table.add_row("all", f"{result.instructions:,}", "", f"{masked:,}", "")
    return table


def _window_kinds(result: Measurement) -> Table:
    table = _table(
        "Windows in which no interrupt can be taken", "where", ">windows", ">instructions",
        ">mean", ">longest",
    )  # fmt: skip
    for name, windows in (("all rings", result.windows), ("VMM", result.vmm_windows)):
        longest = windows.longest[0].instructions if windows.longest else 0
        mean = windows.total / windows.count if windows.count else 0
        table.add_row(
            name, f"{windows.count:,}", f"{windows.total:,}", f"{mean:,.0f}", f"{longest:,}"
        )
    return table


def _lengths(windows: Windows) -> Table:
    table = _table("Lengths of the VMM's windows", ">from", ">to", ">windows", ">share")
    for bits, count in enumerate(windows.lengths):
        if count:
            low, high = (1 << bits) >> 1, (1 << bits) - 1
            table.add_row(f"{low:,}", f"{high:,}", f"{count:,}", _percent(count, windows.count))
    return table


def shares(blocks: tuple[Block, ...], symbols: Symbols) -> list[tuple[str, int]]:
    """Return the functions that blocks belong to with their instructions, the most costly first."""
    sums: Counter[str] = Counter()
    for block in blocks:
        sums[symbols.function(block.linear)] += block.instructions
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def _spent(window: Window, symbols: Symbols) -> str:
    most = shares(window.blocks, symbols)[:_SHARES]
    return ", ".join(f"{name} {count:,}" for name, count in most)


def _longest(windows: Windows, symbols: Symbols) -> Table:
    """Those of the same length and function count as one row."""
    table = _table(
        "The VMM's longest windows", ">instructions", ">times", "begins at", "ends at", "spent in"
    )
    rows: dict[tuple[str, ...], int] = {}
    for window in windows.longest:
        row = (
            f"{window.instructions:,}", symbols.place(window.begin), symbols.place(window.end),
            _spent(window, symbols),
        )  # fmt: skip
        rows[row] = rows.get(row, 0) + 1
    for (length, *rest), times in list(rows.items())[:_SHOWN]:
        table.add_row(length, str(times), *rest)
    return table


def _longest_by_entry(result: Measurement, symbols: Symbols) -> Table:
    table = _table(
        "The VMM's longest window of each entry", ">instructions", "begins at", "ends at",
        "spent in",
    )  # fmt: skip
    windows = [row.window for row in result.handlers if row.window.instructions]
    for window in sorted(windows, key=lambda window: -window.instructions):
        table.add_row(
            f"{window.instructions:,}", symbols.place(window.begin), symbols.place(window.end),
            _spent(window, symbols),
        )  # fmt: skip
    return table


def _sections(result: Measurement, symbols: Symbols) -> Table:
    table = _table(
        "The VMM's masked sections (docs/masked-sections.md)", "section", ">times", ">longest",
        ">bound", "spent in",
    )  # fmt: skip
    for row in masked.Sections(symbols).stretches(result):
        table.add_row(
            row.name or f"NOT IN THE TABLE: {row.place}", f"{row.times:,}",
            f"{row.longest.instructions:,}", "" if row.bound is None else f"{row.bound:,}",
            _spent(row.longest, symbols),
        )  # fmt: skip
    return table


def _profile(result: Measurement, symbols: Symbols) -> Table:
    table = _table("Where the VMM's instructions went", "function", ">instructions", ">share")
    whole = sum(block.instructions for block in result.profile)
    for name, count in shares(result.profile, symbols)[:FUNCTIONS]:
        table.add_row(name, f"{count:,}", _percent(count, whole))
    return table


def _entries(result: Measurement, symbols: Symbols) -> Table:
    table = _table(
        "Interrupts and exceptions by the vector of the VMM's entry", "vector", ">hardware",
        ">others", ">from ring 0", ">ring 1", ">ring 3", ">mean stay", ">longest stay",
    )  # fmt: skip
    rows = [handler for handler in result.handlers if handler.ring == 0]
    for handler in sorted(rows, key=lambda row: -(row.hardware + row.exceptions)):
        vector = symbols.entries.vector(handler.linear)
        name = symbols.place(handler.linear) if vector is None else vector_text(vector)
        mean = f"{handler.instructions / handler.stays:,.0f}" if handler.stays else ""
        ring0, ring1, _, ring3 = (f"{count:,}" for count in handler.from_rings)
        table.add_row(
            name, f"{handler.hardware:,}", f"{handler.exceptions:,}", ring0, ring1, ring3, mean,
            f"{handler.longest:,}",
        )  # fmt: skip
    return table


def _events(result: Measurement) -> Table:
    table = _table("Events", "what", ">ring 0", ">ring 1", ">ring 3")
    for name, counts in sorted(result.events.items()):
        if any(counts):
            table.add_row(name, *(f"{counts[ring]:,}" for ring in (0, 1, 3)))
    table.add_row("ring changes", f"{result.ring_changes:,}")
    table.add_row("entries into ring 0", f"{result.entries:,}")
    return table


def _intervals(result: Measurement, symbols: Symbols) -> Table:
    table = _table("Intervals", "from", "to", ">count", ">minimum", ">mean", ">99.9 %", ">maximum")
    for row in result.intervals:
        table.add_row(
            symbols.place(row.from_), symbols.place(row.to), f"{row.count:,}", f"{row.minimum:,}",
            f"{row.mean:,.1f}", f"{row.p999:,}", f"{row.maximum:,}",
        )  # fmt: skip
    return table


def show(result: Measurement, symbols: Symbols, console: RichConsole) -> None:
    """Print everything as tables."""
    tables = [
        _rings(result), _window_kinds(result), _lengths(result.vmm_windows),
        _longest(result.vmm_windows, symbols), _longest_by_entry(result, symbols),
        _sections(result, symbols),
        _profile(result, symbols), _entries(result, symbols), _events(result),
    ]  # fmt: skip
    if result.intervals:
        tables.append(_intervals(result, symbols))
    for table in tables:
        console.print(table)
        console.print()
    console.print(
        f"{result.instructions:,} instructions in {result.nanoseconds / 1e6:,.1f} ms of virtual "
        "time, sleep included"
    )
