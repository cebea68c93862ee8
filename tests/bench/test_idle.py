# SPDX-License-Identifier: Apache-2.0
"""Guests without work cost Linux nothing: as many of them as there can be, against none."""

import pytest

from gandalf.bench.bench import Plan, bench
from gandalf.bench.machines import SYSTEMS
from gandalf.bench.results import Result, Results
from gandalf.bench.targets import Idle, targets
from gandalf.bench.workload import WORK
from gandalf.build.build import build

WITHOUT, WITH = "gandalf-shared", "gandalf-shared-idle"
# No timer interrupts the runs whose events are counted, so no event may differ. Nor may the median
# of samples that are all alike, but for windows; those of fork are not, and which of them a timer
# interrupts, after guests have taken another time to be loaded, moves it by an instruction or two.
ALIKE = (
    "syscall", "signal", "page_fault", "mmap", "mprotect", "pipe_self", "pipe", "context_switch",
)  # fmt: skip
FORKS = ("fork_exit", "fork_exec")
OPERATIONS = (*ALIKE, *FORKS)
FORKS_SHARE = 0.0005
# The VMM reaches a frame by the window that its number says (arch/ia32/memory.h). Two frames of
# page tables that share one move it back and forth, 10 instructions each time; which frames Linux
# takes depends on when it booted, and so on how long the guests beside it took to be loaded.
WINDOW_MOVES = 2 * 10
# A ratio has four digits behind the point.
RATIO_ROUNDING = 0.00005
# Whether one of Linux's ticks more falls into the samples depends on that moment, too.
TICK = 8000


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


@pytest.fixture(scope="module")
def results() -> Results:
    return bench(Plan(systems=(WITH,), operations=OPERATIONS), targets(), quiet)


def _pair(results: Results, operation: str) -> tuple[Result, Result]:
    without, more = (results.find(system, operation) for system in (WITHOUT, WITH))
    assert without is not None
    assert more is not None
    return without, more


def test_the_guests_are_there() -> None:
    """Eight RTOSes beside Linux: one that has measured and halted, and seven without work."""
    more, without = (
        build(SYSTEMS / f"{name}.toml", quiet, deterministic=True) for name in (WITH, WITHOUT)
    )
    assert more.names[: len(without.names)] == without.names
    assert len(more.names) == len(without.names) + 7 == 9


def test_one_run_has_both_systems_and_no_other(results: Results) -> None:
    assert results.systems == [WITHOUT, WITH]
    assert not results.absent
    assert {part.operation for part in WORK} == set(Idle.operations)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_linux_does_not_notice(results: Results, operation: str) -> None:
    without, more = _pair(results, operation)
    share = FORKS_SHARE if operation in FORKS else 0
    difference = max(share * without.instructions, WINDOW_MOVES)
    assert abs(more.instructions - without.instructions) <= difference
    ratio_difference = difference / without.instructions + RATIO_ROUNDING
    assert more.ratio == pytest.approx(1, abs=ratio_difference)
    assert more.events == without.events
    assert "vmm_entries" in more.events
    tick = TICK / without.samples
    assert abs(more.mean - without.mean) <= max(0.02 * without.mean, tick)
