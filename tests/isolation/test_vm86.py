# SPDX-License-Identifier: Apache-2.0
"""Virtual-8086 mode, entered by who may not: a process of a real Linux, and an RTOS.

QEMU honours EFLAGS.VM in an IRET of any ring, and CS is then any number. Of a process its own
kernel makes an end; the RTOS beside misses nothing. Kernels are in test_attack.py.
"""

import re
from collections.abc import Iterator

import pytest

from tests.boot.systems import PATIENCE, Boot, describe, linux, rtos_guest
from tests.boot.workload import build_initrd_with

KILLED = 128 + 11  # by SIGSEGV, as the shell says
BEATS = r"^beats=\d+ missed=0\n"
# Four bytes of instructions each, lowest first in the word.
CODES = {
    "ud2": 0x90900B0F,
    "hlt": 0x909090F4,
    "int-80": 0x909080CD,
    "int3": 0x909090CC,
    "into": 0x909090CE,
    "int-20": 0x909020CD,
    "loop": 0x9090FEEB,
    "page-fault": 0x900000A0,
    "cli": 0x0B0F90FA,
    "far-jump": 0xFFFF00EA,
    "iret": 0x909090CF,
}
IF, IOPL_3 = 0x200, 0x3000
STATES = [(0x1000, IF), (0x1001, IF), (0x1002, IF), (0x1003, IF), (0x1000, IF | IOPL_3)]


def heartbeat_misses_nothing(machine: Boot) -> None:
    for _ in range(2):
        machine.skip("heartbeat")
        machine.expect("heartbeat", BEATS, PATIENCE)
    assert not re.search(r"missed=[1-9]", machine.text("heartbeat"))


def kernel_is_sane(machine: Boot) -> None:
    """Check that Linux's log tells of no crash. What became of the processes is in it, too."""
    found = machine.shell("dmesg | sed -nE '/Oops|BUG:|WARNING:|INFO: /p'")
    assert not found.strip(), found


@pytest.fixture(scope="module")
def shared() -> Iterator[Boot]:
    """Linux beside an RTOS that counts."""
    guest = linux(initrd=build_initrd_with("vm86"))
    description = describe("vm86", guest, rtos_guest("heartbeat", priority=20))
    with Boot.start(description) as machine:
        machine.wait_for_shell()
        yield machine


@pytest.fixture(scope="module")
def dedicated() -> Iterator[Boot]:
    """Linux alone."""
    guest = linux("dedicated", "build/linux/dedicated/vmlinux", build_initrd_with("vm86"))
    with Boot.start(describe("vm86-dedicated", guest)) as machine:
        machine.wait_for_shell()
        yield machine


def is_killed_alone(machine: Boot, code: int) -> None:
    """Run the program in each state, several times; Linux must live on, and its clock go."""
    for cs, flags in STATES:
        machine.shell(f"vm86 {code:x} {cs:x} {flags:x}", status=KILLED)
        before, after = machine.shell("cat /proc/uptime; sleep 0.1; cat /proc/uptime").splitlines()
        assert float(after.split()[0]) > float(before.split()[0])
    kernel_is_sane(machine)
    assert "stopped" not in machine.text("vmm")


@pytest.mark.representatives("ud2", "loop", "page-fault", "int-80")
@pytest.mark.parametrize("code", CODES)
def test_a_process_is_killed_beside_an_rtos(shared: Boot, code: str) -> None:
    is_killed_alone(shared, CODES[code])
    heartbeat_misses_nothing(shared)


@pytest.mark.rings
@pytest.mark.representatives("ud2")
# A process that loops there on a dedicated CPU never ends in QEMU (docs/isolation.md).
@pytest.mark.parametrize("code", [code for code in CODES if code != "loop"])
def test_a_process_is_killed_on_a_dedicated_cpu(dedicated: Boot, code: str) -> None:
    is_killed_alone(dedicated, CODES[code])


def test_many_at_once_are_killed(shared: Boot) -> None:
    """While timers interrupt, and others are at work."""
    code = CODES["loop"]
    line = f"vm86 {code:x} 1000 {IF:x} & vm86 {CODES['ud2']:x} 1001 {IF:x} & "
    shared.shell(f"for i in 1 2 3 4 5 6 7 8; do {line} done; hackbench -g 1 -l 10; wait")
    kernel_is_sane(shared)
    heartbeat_misses_nothing(shared)


def test_an_rtos_is_stopped() -> None:
    guests = (rtos_guest("vm86"), rtos_guest("heartbeat", priority=20))
    with Boot.start(describe("vm86-rtos", *guests, memory="64M")) as machine:
        assert machine.stop_report("vm86") == "it has entered virtual-8086 mode"
        heartbeat_misses_nothing(machine)
