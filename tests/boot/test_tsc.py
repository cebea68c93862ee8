# SPDX-License-Identifier: Apache-2.0
"""A process of Linux may give up its right to read the time stamp counter (PR_SET_TSC).

It is a bit of the CPU's that Linux switches with its processes, and the VMM with guests.
"""

from collections.abc import Iterator

import pytest

from .systems import DEMO, Boot, describe, linux
from .workload import build_initrd_with

# So many each of two processes, one of which may not.
TURNS = 300


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with Boot.start(describe("tsc", linux(initrd=build_initrd_with("tsc")), DEMO)) as started:
        started.wait_for_shell()
        yield started


def test_it_faults_until_the_process_takes_the_right_back(machine: Boot) -> None:
    assert machine.shell("tsc alone") == "tsc: ok\n"


def test_processes_that_take_turns_have_each_their_own_right(machine: Boot) -> None:
    """An RTOS beside them, which reads the counter at each activation, keeps its right, too."""
    with machine.rtos_undisturbed():
        assert machine.shell(f"tsc turns {TURNS}; tsc alone") == "tsc: ok\n" * 2
    machine.kernel_is_sane()
