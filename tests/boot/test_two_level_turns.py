# SPDX-License-Identifier: Apache-2.0
"""What the page-table cache finds, and what a turn takes, with some processes in turn.

The table of docs/two-level.md is from here (--long -s prints it).
"""

from dataclasses import dataclass

import pytest

from .systems import Boot, describe, linux
from .workload import build_initrd_with

ENTRIES = (1, 2, 4, 8, 16, 32)
PROCESSES = (1, 4, 16, 64)
TURNS = 2000
POLICIES = ("lru", "fifo", "bimodal")


@dataclass(frozen=True)
class Cell:
    """What some processes in turn have found with so many entries."""

    hits: float
    ticks: int


def start(policy: str, entries: int) -> Boot:
    guest = linux(initrd=build_initrd_with("turns"))
    path = describe(f"turns-{policy}-{entries}", guest, rings="two-level")
    fields = f'cache_entries = {entries}\ncache_policy = "{policy}"\nrings ='
    path.write_text(path.read_text().replace("rings =", fields))
    return Boot.start(path)


def measure(machine: Boot, processes: int) -> Cell:
    before = machine.counters()
    ticks = int(machine.shell(f"turns {processes} {TURNS // processes}"))
    found = machine.counters() - before
    return Cell(found["space_hits"] / (found["space_hits"] + found["space_misses"]), ticks)


def row(policy: str, entries: int) -> list[Cell]:
    """Measure all numbers of processes with so many entries, and print that."""
    with start(policy, entries) as machine:
        machine.wait_for_shell()
        cells = [measure(machine, processes) for processes in PROCESSES]
        machine.kernel_is_sane()
    shown = (f"{100 * cell.hits:.0f} %, {cell.ticks:,}" for cell in cells)
    print(f"| {policy} | {entries} |", " | ".join(shown), "|", flush=True)
    return cells


@pytest.mark.long
def test_what_the_cache_finds() -> None:
    table = {(policy, size): row(policy, size) for policy in POLICIES for size in ENTRIES}
    for (policy, entries), cells in table.items():
        for processes, cell, lru in zip(PROCESSES, cells, table["lru", entries], strict=True):
            # The shell and what it starts have entries, too. One process has hardly a load of CR3.
            if 1 < processes <= entries - 3:
                assert cell.hits > 0.9, (policy, entries, processes)
            # With fewer entries than that, a process comes again too seldom in all the turns, and
            # all policies find next to nothing.
            if policy == "bimodal" and entries < processes <= 2 * entries and entries > 2:
                assert cell.ticks < lru.ticks, (entries, processes)
            if policy == "bimodal" and entries < processes <= 4 * entries and entries > 2:
                assert cell.hits > lru.hits, (entries, processes)
