# SPDX-License-Identifier: Apache-2.0
"""Two levels of privilege on two CPUs: RTOSes on a CPU of their own, and Linux on the other one.

tests/boot/test_cores.py runs in this world, too (--rings two-level). Here guests of either CPU
attack, and a channel joins them. The same attacks get through on one CPU with a VMM that is wrong
on purpose (test_two_level.py, test_two_level_rtos.py); here that is tried for Linux's CPU.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.profile import find_profile

from .systems import PATIENCE, TWO_LEVEL, Boot, linux, rtos_guest
from .test_channel import channel
from .test_cores import describe_cores, on
from .test_two_level import (
    KERNEL_CODE,
    KERNEL_TEXT,
    KILLED,
    KILLED_AT_RETURN,
    POOL,
    SHARED_PAGE,
    THROUGH_VIEW,
    VMM_IMAGE,
    VMM_STACK,
    kernel_lives,
    mistakes,
)
from .two_level import AGAIN, changed_vmm, reach_stops
from .workload import build_initrd_with

PROFILE = "two-level-cores"
# Where a core writes what it has to say to others.
OUTBOXES = 0xFCC10000
PLACES = (SHARED_PAGE, VMM_STACK, VMM_IMAGE, OUTBOXES, POOL)
SIZE = 100_000


def system(name: str) -> Path:
    """Describe the attackers, of which Linux has a channel to an RTOS of the other CPU."""
    return describe_cores(
        f"two-level-{name}", 2,
        on(0, rtos_guest("reach", "reach", 20, AGAIN)),
        on(0, rtos_guest("channel", "echo")),
        on(0, rtos_guest("heartbeat", priority=5)),
        on(1, linux(initrd=build_initrd_with("escape"))),
        channel("linux", "echo"), rings=TWO_LEVEL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The system with Linux's shell ready."""
    with Boot.start(system("cores")) as running:
        running.wait_for_shell()
        running.expect("reach", r"^reach: ready\n", PATIENCE)
        yield running


def test_its_image(machine: Boot) -> None:
    assert machine.built.vmm == find_profile(PROFILE).image


def test_bytes_go_to_the_other_cpu_and_come_back(machine: Boot) -> None:
    line = b"0123456789abcde\n"
    content = (line * (SIZE // len(line) + 1))[:SIZE]
    machine.shell(f"while true; do echo 0123456789abcde; done | head -c {SIZE} > /tmp/out")
    found = machine.shell(
        f"(head -c {SIZE} < /dev/gandalf-line | sha256sum) & cat /tmp/out > /dev/gandalf-line; wait"
    )
    assert hashlib.sha256(content).hexdigest() in found


def test_an_rtos_is_kept_in(machine: Boot) -> None:
    for place in PLACES:
        for way in ("read", "write", "jump"):
            reach_stops(machine, f"{way} {place:x}")


def test_a_process_is_kept_in(machine: Boot) -> None:
    for attack in THROUGH_VIEW:
        machine.shell(f"escape {attack}", status=KILLED)
    for place in PLACES:
        for way in ("read", "write"):
            machine.shell(f"escape {way} {place:x}", status=KILLED)
    machine.shell(f"escape jump {KERNEL_CODE:x} {KERNEL_TEXT:x}", status=KILLED_AT_RETURN)


def test_the_others_notice_nothing(machine: Boot) -> None:
    """It comes behind all attacks."""
    machine.shell("hackbench -g 1 -l 20")
    kernel_lives(machine)
    machine.skip("heartbeat")
    machine.expect("heartbeat", r"^beats=\d+ ", PATIENCE)


@pytest.mark.long
def test_the_attacks_find_a_view_with_the_kernel_on_another_cpu() -> None:
    with Boot.start(system("cores-gaps"), vmm=changed_vmm(PROFILE, mistakes, PROFILE)) as running:
        running.wait_for_shell()
        for attack in THROUGH_VIEW:
            running.shell(f"escape {attack}")
