# SPDX-License-Identifier: Apache-2.0
"""The verb `gandalf masked`: the table of masked sections with the longest that tests have seen."""

from typing import Annotated

import typer
from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.masked.docs import keep_seen, read_reference, write_document
from gandalf.measure.masked import promises


def _table() -> Table:
    table = Table(title="The VMM's masked sections, in instructions")
    for title in ("section", "bound", "longest", "load"):
        table.add_column(title, justify="right" if title in ("bound", "longest") else "left")
    seen = read_reference()
    for name, line in promises().items():
        bound = "none" if line.bound is None else f"{line.bound:,}"
        row = seen.get(name)
        table.add_row(name, bound, *((f"{row.longest:,}", row.load) if row else ("", line.action)))
    return table


def masked(
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="First make the reference anew of what the last run of the tests saw."
        ),
    ] = False,
    docs: Annotated[
        bool, typer.Option("--docs", help="Write docs/masked-sections.md of it.")
    ] = False,
) -> None:
    """Show every section of the VMM in which interrupts are masked, and the longest measured.

    The names and bounds are those of masked_sections.h in each folder of vmm/. The figures are a
    reference,
    tests/boot/masked.json, of the loads of tests/boot/test_masked.py and
    tests/measure/test_search.py, which compare what they see with the bounds.
    """
    if keep:
        keep_seen()
    if docs:
        write_document()
    RichConsole().print(_table())
