# SPDX-License-Identifier: Apache-2.0
"""What it costs Linux that the VMM can be interrupted, and for how much less interrupts wait.

Two systems of a run that differ in `interruptible` of their description alone.
"""

from collections.abc import Iterator

from gandalf.bench.masked import MASKED
from gandalf.bench.results import Result, Results

# What a system is called whose VMM keeps interrupts waiting, behind the name of the other.
NOT = "-uninterruptible"
COST_HEADINGS = (
    "interruptible or not", "median", "not", "cost", "mean", "not", "cost",
    "masked in ring 0", "not", "fewer",
)  # fmt: skip


def pairs(results: Results) -> Iterator[tuple[Result, Result]]:
    """Give the operations that were measured with both, the interruptible system first."""
    for row in results.results:
        other = results.find(row.system + NOT, row.operation)
        if other is not None and row.operation not in MASKED:
            yield row, other


def _percent(value: float | None, before: float | None, sign: int = 1) -> str:
    """Return by how much a value is more than before, or less if the sign is -1."""
    if value is None or not before:
        return "-"
    # Nothing less is not -0.
    percent = 100 * sign * (value - before) / before + 0.0
    return f"{percent:{'+' if sign > 0 else ''}.2f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def cost_rows(results: Results) -> list[list[str]]:
    """Return a row for each operation, in the order of COST_HEADINGS."""
    rows = []
    for row, other in pairs(results):
        masked, others = (part.events.get("masked_ring_0") for part in (row, other))
        rows.append([
            f"{row.system}, {row.operation}",
            _number(row.instructions), _number(other.instructions),
            _percent(row.instructions, other.instructions),
            _number(row.mean), _number(other.mean), _percent(row.mean, other.mean),
            _number(masked), _number(others), _percent(masked, others, -1),
        ])  # fmt: skip
    return rows
