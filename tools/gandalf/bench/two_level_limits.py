# SPDX-License-Identifier: Apache-2.0
"""What the figures of two levels of privilege may be at most, and whether they are."""

from collections.abc import Iterator

from gandalf.bench import latency, switch
from gandalf.bench.results import Limit, Result, Results

SYSTEM = "gandalf-two-level"
# In native ones.
RATIOS = {
    "syscall": 1.50,
    "signal": 1.10,
    "page_fault": 1.30,
    "mmap": 1.12,
    "pipe": 1.20,
    "fork_exit": 1.25,
    "fork_exec": 1.20,
}
# Into the VMM, for a page fault.
ENTRIES = 2
# Instructions: of a dispatch latency, and of a switch to Linux and back.
LATENCY_MEAN, LATENCY_MAXIMUM = 700, 2500
SWITCH = 600


def _of(row: Result) -> Iterator[Limit]:
    if row.operation in RATIOS and row.ratio is not None:
        yield Limit.of(row, "median, in native", row.ratio, RATIOS[row.operation])
    if row.operation == "page_fault" and "vmm_entries" in row.events:
        yield Limit.of(row, "entries into the VMM", row.events["vmm_entries"], ENTRIES)
    elif row.operation in latency.PHASES:
        yield Limit.of(row, "mean", row.mean, LATENCY_MEAN)
        yield Limit.of(row, "maximum", row.maximum, LATENCY_MAXIMUM)
    elif row.operation == switch.OPERATION:
        yield Limit.of(row, "median", row.instructions, SWITCH)


def limits(results: Results) -> list[Limit]:
    """Return each figure of the system that has a limit."""
    return [limit for row in results.results if row.system == SYSTEM for limit in _of(row)]
