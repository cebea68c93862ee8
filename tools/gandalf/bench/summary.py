# SPDX-License-Identifier: Apache-2.0
"""A run of the bench in six lines at most: with them the command ends and the reports open."""

from statistics import geometric_mean

from gandalf.bench import amd64
from gandalf.bench.limits import SEVERAL_CPUS, TWO_LEVELS, sentences
from gandalf.bench.results import LONGEST, Result, Results
from gandalf.bench.rows import number, results_of

# These come first, in this order; more than three would be no summary.
_FIRST = ("gandalf-shared", "gandalf-dedicated", amd64.XEN)
_SYSTEMS = 3
MEANING = "Figures are instructions for each operation: lower is better."


def _compared(results: Results) -> dict[str, list[Result]]:
    """Return the hypervisors with their operations that have a ratio to the native system."""
    rows = {
        system: [row for row in results_of(results, system) if row.ratio]
        for system in results.systems
        if not system.startswith("native")
    }
    order = [*filter(rows.__contains__, _FIRST), *(name for name in rows if name not in _FIRST)]
    return {name: rows[name] for name in order if rows[name]}


def _mean(rows: list[Result]) -> float:
    return geometric_mean([row.ratio for row in rows if row.ratio])


def verdict(results: Results) -> str:
    """Return the one sentence that somebody takes away."""
    several = sentences(results).get(SEVERAL_CPUS)
    if several is not None:
        return f"Verdict: {several}"
    there = f"figures measured: {len(results.results)}, missing or invalid: {len(results.absent)}."
    for system, rows in list(_compared(results).items())[:1]:
        ratio = f"{_mean(rows):.2f} times the instructions of native Linux"
        return f"Verdict: Linux in {system} needs {ratio}; {there}"
    return f"Verdict: {there}"


def _system_line(system: str, rows: list[Result]) -> str:
    worst = max(rows, key=lambda row: row.ratio or 0)
    return (
        f"{system}: {_mean(rows):.2f} times native, geometric mean of {len(rows)} operations; "
        f"most: {worst.operation}, {worst.ratio:.2f} times."
    )


def _masked_line(results: Results, systems: list[str]) -> str:
    rows = [(name, row) for name in systems if (row := results.find(name, LONGEST))]
    longest = [f"{number(row.events['masked_ring_0'])} in {name}" for name, row in rows]
    return f"Interrupts masked by ring 0 at the longest: {', '.join(longest)} (instructions)."


def summary(results: Results) -> list[str]:
    """Return the verdict and what it rests on: six lines, or fewer where not all was measured."""
    compared = list(_compared(results).items())[:_SYSTEMS]
    lines = [verdict(results), *(_system_line(*pair) for pair in compared)]
    masked = [name for name, _ in compared if results.find(name, LONGEST)]
    if masked:
        lines.append(_masked_line(results, masked))
    levels = sentences(results).get(TWO_LEVELS)
    return [*lines, *([f"Limits: {levels}"] if levels else [])]
