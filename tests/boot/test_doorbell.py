# SPDX-License-Identifier: Apache-2.0
"""A Linux rings the doorbell of an RTOS that sleeps, and of guests that have none.

The kernel is the variant `attack`, whose driver makes any hypercall.
"""

from collections.abc import Iterator

import pytest

from .systems import DEMO, PATIENCE, Boot, describe, linux, rtos_guest

# Places in the description below.
LINUX, DOORBELL, DEAF, NOBODY = 0, 1, 2, 3
INVALID = "0xffffffea"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    guests = linux(kernel="build/linux/attack/vmlinux"), rtos_guest("doorbell", priority=20), DEMO
    with Boot.start(describe("doorbell", *guests)) as running:
        running.wait_for_shell()
        yield running


def ring(machine: Boot, place: int) -> str:
    """Ring from Linux's kernel; returns the hypercall's result."""
    output = machine.shell(
        f'echo "hypercall 18 {place} 0 0" > /dev/gandalf-attack; cat /dev/gandalf-attack'
    )
    return output.rpartition("read ")[2].strip()


def test_an_rtos_that_sleeps_wakes_up_at_each_ring(machine: Boot) -> None:
    for count in range(1, 11):
        assert ring(machine, DOORBELL) == "0x00000000"
        machine.expect("doorbell", rf"^doorbells={count}\n", PATIENCE)
    assert machine.counters("doorbell")["dropped_interrupts"] == 0


@pytest.mark.parametrize("place", [LINUX, DEAF, NOBODY, 0xFFFFFFFF])
def test_nobody_else_can_be_rung(machine: Boot, place: int) -> None:
    """The demo has no handler for it."""
    with machine.rtos_undisturbed():
        assert ring(machine, place) == INVALID
    assert machine.counters()["hypercalls"] > 0


def test_an_rtos_that_is_off_cannot_be_rung(machine: Boot) -> None:
    machine.vmm("stop doorbell", r"^guest doorbell stopped: by command\n")
    assert ring(machine, DOORBELL) == INVALID
    machine.skip("doorbell")
    machine.vmm("start doorbell", r"start doorbell\n")
    machine.expect("doorbell", r"^ready\n", PATIENCE)
    assert ring(machine, DOORBELL) == "0x00000000"
    machine.expect("doorbell", r"^doorbells=1\n", PATIENCE)
