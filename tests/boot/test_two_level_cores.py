# SPDX-License-Identifier: Apache-2.0
"""Two levels of privilege on two CPUs: RTOSes on a CPU of their own, and Linux on the other one.
Then a Linux with a vCPU on each.

tests/boot/test_cores.py runs in this world, too (--rings two-level). Here guests of either CPU
attack, and a channel joins them. The same attacks get through on one CPU with a VMM that is wrong
on purpose (test_two_level.py, test_two_level_rtos.py); here that is tried for Linux's CPU.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.profile import find_profile

from .changed import substitute
from .systems import FEW_INSTRUCTIONS, PATIENCE, TWO_LEVEL, Boot, linux, rtos_guest
from .test_channel import channel
from .test_cores import beats, describe_cores, on
from .test_smp import online, smp
from .test_two_level import (
    CLOSED,
    KERNEL_CODE,
    KERNEL_TEXT,
    KILLED,
    KILLED_AT_RETURN,
    POOL,
    SHARED_PAGE,
    THROUGH_CODE,
    THROUGH_VIEW,
    VMM_IMAGE,
    VMM_STACK,
    kernel_lives,
    mistakes,
)
from .two_level import AGAIN, changed_vmm, reach_stops, take_direct_ways
from .workload import build_initrd_with

PROFILE = "two-level-cores"
# Where a core writes what it has to say to others.
OUTBOXES = 0xFCC10000
PLACES = (SHARED_PAGE, VMM_STACK, VMM_IMAGE, OUTBOXES, POOL)
SIZE = 100_000
SMP = "two-level-smp"
SECOND_CPU = "/sys/devices/system/cpu/cpu1/online"


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


def siblings(name: str, more: str = "") -> Path:
    """Describe a Linux with a vCPU on each CPU, and an RTOS beside the first.

    more: further lines of the machine.
    """
    guest = smp([0, 1], initrd=build_initrd_with("escape"))
    rtos = rtos_guest("heartbeat", "beat")
    return describe_cores(f"two-level-{name}", 2, guest, rtos, more=more, rings=TWO_LEVEL)


@pytest.fixture(scope="module")
def two_vcpus() -> Iterator[Boot]:
    with Boot.start(siblings("smp")) as running:
        running.wait_for_shell()
        yield running


def kept_in(machine: Boot, cpu: int) -> None:
    """Have a process on a CPU attack; what may be that it may read."""
    for attack in CLOSED:
        machine.shell(f"taskset -c {cpu} escape {attack}", status=KILLED)
    for attack in THROUGH_CODE:
        machine.shell(f"taskset -c {cpu} escape {attack}", status=KILLED_AT_RETURN)
    attack = f"signal {KERNEL_CODE:x} {KERNEL_TEXT:x}"
    machine.shell(f"taskset -c {cpu} escape {attack}", status=KILLED_AT_RETURN)


def test_the_image_of_several_vcpus(two_vcpus: Boot) -> None:
    assert two_vcpus.built.vmm == find_profile(SMP).image
    assert online(two_vcpus) == "0-1"


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_process_is_kept_in_on_either_vcpu(two_vcpus: Boot, cpu: int) -> None:
    kept_in(two_vcpus, cpu)
    kernel_lives(two_vcpus)


@pytest.mark.parametrize("cpu", [0, 1])
def test_either_vcpu_takes_the_direct_ways(two_vcpus: Boot, cpu: int) -> None:
    """Each CPU counts its own."""
    take_direct_ways(two_vcpus, f"taskset -c {cpu} escape many 1000", cpu)


def test_a_vcpu_that_comes_back_knows_the_returns_of_its_kernel(two_vcpus: Boot) -> None:
    """INT3 is still in their place, whoever of both has put it there."""
    two_vcpus.shell(f"echo 0 > {SECOND_CPU}; echo 1 > {SECOND_CPU}")
    assert "400 tasks" in two_vcpus.shell("taskset -c 1 hackbench -l 2")
    kept_in(two_vcpus, 1)
    kernel_lives(two_vcpus)
    beats(two_vcpus, "beat")


def strangers_returns(folder: Path) -> None:
    """Have a vCPU know only the returns that its own core has seen."""
    found = folder / "vmm" / "several" / "siblings.h"
    substitute(found, "x86_has_siblings(x86) && smp_return_is_known(x86, eip)", "eip == ~x86->cr0")


@pytest.mark.long
def test_a_vmm_that_does_not_ask_siblings_for_returns_is_found() -> None:
    vmm = changed_vmm("strangers-returns", strangers_returns, SMP)
    with Boot.start(siblings("smp-strangers"), vmm=vmm) as running:
        running.expect("linux", r"Kernel panic|Attempted to kill|Oops|CPU1 has not begun|int3", 120)


@pytest.mark.long
def test_the_attacks_find_a_view_with_the_kernel_on_either_vcpu() -> None:
    """Some spaces are older than what that vCPU has used of its kernel, so others have a try."""
    with Boot.start(siblings("smp-gaps"), vmm=changed_vmm("smp-gaps", mistakes, SMP)) as running:
        running.wait_for_shell()
        for cpu in (0, 1):
            for attack in THROUGH_VIEW:
                tried = f"taskset -c {cpu} escape {attack} && break"
                running.shell(f"for i in $(seq 20); do {tried}; done")


@pytest.mark.long
def test_no_beat_is_missed_beside_two_vcpus_in_bochs() -> None:
    """A TLB that keeps global pages, and CPUs that take turns."""
    with Boot.start(siblings("smp-bochs"), emulator="bochs", ips=FEW_INSTRUCTIONS) as running:
        running.wait_for_shell()
        assert online(running) == "0-1"
        running.hackbench()
        running.shell("for i in $(seq 50); do taskset -c $((i % 2)) /bin/busybox true; done")
        for cpu in (0, 1):
            assert "80 tasks" in running.shell(f"taskset -c {cpu} hackbench -g 2 -l 2")
        running.shell(f"echo 0 > {SECOND_CPU}; echo 1 > {SECOND_CPU}")
        kept_in(running, 1)
        kernel_lives(running)
        told = re.findall(r"^beats=(\d+) missed=(\d+)$", running.text("beat"), re.MULTILINE)
        assert told
        assert all(missed == "0" for _, missed in told)
        running.skip("vmm")
        running.send("linux", "poweroff -f\n")
        running.expect("vmm", r"^guest linux is off\n", PATIENCE)
