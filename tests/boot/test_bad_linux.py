# SPDX-License-Identifier: Apache-2.0
"""A Linux kernel that attacks beside the RTOS: it is refused or stopped, the RTOS misses nothing.

The kernel is the variant `attack`, whose driver (guest/linux/driver) does what is written to
/dev/gandalf-attack. That each attack would succeed without its protection, and what only segment
limits prevent, is shown in tests/isolation.
"""

import re
from collections.abc import Iterator

import pytest

from .systems import DEMO, PATIENCE, PROMPT, Boot, describe, linux

# The VMM's image, the RTOS's memory, the pool, and where no memory is (guest-physical).
VMM, RTOS, POOL, NOWHERE = "0xfc400000", "0xfd001000", "0xff000000", "0x20000000"

REFUSED = [
    *(f"write {segment} {VMM} 1" for segment in ("ds", "es", "fs", "gs", "ss", "cs")),
    *(f"write {segment} {RTOS} 1" for segment in ("ds", "es", "fs", "gs", "ss", "cs")),
    *(f"write {segment} {POOL} 1" for segment in ("ds", "es", "fs", "gs", "ss", "cs")),
    *(f"flat-write {segment} {VMM} 1" for segment in ("ds", "es", "fs", "gs", "ss")),
    *(f"flat-write {segment} {RTOS} 1" for segment in ("ds", "es", "fs", "gs", "ss")),
    *(f"flat-write {segment} {POOL} 1" for segment in ("ds", "es", "fs", "gs", "ss")),
    f"descriptor 0xfc000000 {VMM} 1",
    f"descriptor 0xc0000000 {RTOS} 1",
    "far-call 0x100",
    "far-jump 0x100",
    "far-all",
    "call-gate 0x100",
    "task-gate 0x110",
    "iret 0x100 0x202",
    "lldt 0x118",
    "ltr 0x110",
    "rdmsr 0xc0000080",
    f"directory {VMM} 1",
    f"directory {RTOS} 1",
    "invalid 1000",
    "opcode 2 0x0b0f",  # UD2
    "opcode 3 0xd0010f",  # XGETBV
    "opcode 2 0x300f",  # WRMSR of what EAX, ECX and EDX hold
    "opcode 2 0x20cd",  # INT 0x20, the first vector of an 8259
    "opcode 2 0xf2cd",  # INT 0xf2, the VMM's messages between cores
    "opcode 2 0x05cd",  # INT 5
]
# Carried out in what is Linux's own, or ignored.
HARMLESS = {
    f"lidt {VMM}": "wrote",
    "iret 0x61 0x3202": r"read 0x00000202",
    "popf 0x3202": r"read 0x00000202",
    "cr3 0": "wrote",
    f"cr3 {NOWHERE}": "wrote",
    "wrmsr 0x174 0x100 0": "wrote",
    f"wrmsr 0x176 {VMM} 0": "wrote",
    "wrmsr 0x1b 0 0": "wrote",
    f"breakpoint {VMM} 1": "wrote",
    f"breakpoint {RTOS} 3": "wrote",
    "mov-ss": r"read 0x00000000",
    f"page {NOWHERE}": r"read 0xffffffff",
    "page 0xfee00000": r"read 0xffffffff",
    f"large-page {NOWHERE}": r"read 0xffffffff",
    "hypercall 16 0xfffff000 0 0xffffffff": r"read 0x00000000",
    "hypercall 32 0 0 0": r"read 0x00000000",
    "opcode 1 0xf4": "wrote",  # HLT
    "opcode 2 0x080f": "wrote",  # INVD
    "out 0xa1 0xff": "wrote",
    "out 0x43 0": "wrote",
    "out 0xf4 0x10": "wrote",  # QEMU's exit
    "out 0xcf9 0": "wrote",
    "out 0x8900 0x53": "wrote",  # Bochs' exit
    "out 0x92 1": "wrote",  # fast reset
    "in 0xf4": r"read 0x000000ff",
    "spin 100": "wrote",
}
STOPPED = {
    f"lgdt {VMM}": rf"its GDT at {VMM[2:]} cannot be read",
    "cr0 0": r"triple fault: .*",
    "cr4 0": r"triple fault: .*",
    "cr4 0xffffffff": r"it wants PAE, which is not offered",
    f"page {NOWHERE} 1": r"it writes physical memory that it lacks",
    "page 0xfee00000 1": r"it writes physical memory that it lacks",
    f"large-page {NOWHERE} 1": r"it writes physical memory that it lacks",
    "hypercall 0x7777 0 0 0": r"unknown hypercall 30583",
    "hypercall 1 0 0 0": r"unknown hypercall 1",
    "hypercall 3 0 0 0": r"unknown hypercall 3",
    "hypercall 4 0 0 0": r"unknown hypercall 4",
    f"hypercall 17 {VMM} 0 0": rf"hypercall 17 with bad address {VMM[2:]}",
    f"hypercall 17 {RTOS} 0 0": rf"hypercall 17 with bad address {RTOS[2:]}",
    "hypercall 17 0x1000 0 0": r"hypercall 17 with bad address 1000",
    "opcode 2 0x340f": r"sysenter is not an instruction for a guest",
    "opcode 1 0x6c": r"ins is not an instruction for a guest",
    f"stack {RTOS}": r"triple fault: .*",
    "stack 0": r"triple fault: .*",
    "triple-fault": r"triple fault: .*",
}
# Its own ruin: it hangs, or its own handlers tell of it. The VMM has nothing to say.
HANGS = [f"page-table {NOWHERE} 1", f"jump {VMM}", "out 0x21 0xff"]
RESETS = ["out 0x64 0xfe", "out 0xcf9 6"]


@pytest.fixture(scope="module")
def hostile() -> Iterator[Boot]:
    """The attack kernel, started again whatever happens to it, and the demo."""
    kernel = "build/linux/attack/vmlinux"
    policy = 'on_fault = "restart"\nrestart_limit = 1000\non_reboot = "restart"'
    with Boot.start(describe("hostile", linux(kernel=kernel, more=policy), DEMO)) as machine:
        machine.wait_for_shell()
        yield machine


@pytest.fixture(autouse=True)
def _rtos_misses_nothing(hostile: Boot) -> Iterator[None]:
    with hostile.rtos_undisturbed():
        yield
    assert "guest rtos" not in hostile.text("vmm")


def attack(machine: Boot, line: str) -> str:
    """Have the kernel try an attack that it survives; returns what the driver says of it."""
    output = machine.shell(f'echo "{line}" > /dev/gandalf-attack; cat /dev/gandalf-attack')
    name = line.split()[0]
    found = re.search(rf"{name}: (.*)\n", output)
    assert found, output
    return found[1]


def attack_to_the_end(machine: Boot, line: str) -> None:
    """Have the kernel try an attack after which it is gone."""
    machine.skip("vmm")
    machine.skip("linux")
    machine.send("linux", f'echo "{line}" > /dev/gandalf-attack; cat /dev/gandalf-attack\n')


def wait_for_restart(machine: Boot) -> None:
    machine.wait_for_next_shell()


def test_every_attack_of_the_driver_is_tried(hostile: Boot) -> None:
    listed = {line.split()[0] for line in hostile.shell("cat /dev/gandalf-attack").splitlines()}
    tried = {line.split()[0] for line in [*REFUSED, *HARMLESS, *STOPPED, *HANGS, *RESETS]}
    # These read, which nothing prevents in QEMU: docs/linux-guest.md, "What neither isolates".
    assert listed - tried == {
        "read", "flat-read", "through", "selectors", "sgdt", "sidt", "str",
    }  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_it_is_refused(hostile: Boot, line: str) -> None:
    assert attack(hostile, line) == "fault"


def test_refusals_leave_linux_whole(hostile: Boot) -> None:
    hostile.hackbench()


@pytest.mark.parametrize("line", HARMLESS)
def test_it_does_no_harm(hostile: Boot, line: str) -> None:
    answer = attack(hostile, line)
    assert re.fullmatch(HARMLESS[line], answer), answer
    hostile.hackbench()


@pytest.mark.parametrize("line", STOPPED)
def test_linux_is_stopped(hostile: Boot, line: str) -> None:
    attack_to_the_end(hostile, line)
    reason = hostile.stop_report("linux")
    assert re.fullmatch(STOPPED[line], reason), reason
    wait_for_restart(hostile)
    hostile.hackbench()


@pytest.mark.parametrize("line", HANGS)
def test_linux_hangs_alone(hostile: Boot, line: str) -> None:
    attack_to_the_end(hostile, line)
    for _ in range(3):
        hostile.next_latency()
    assert not re.search(PROMPT + r"\Z", hostile.text("linux"))
    hostile.vmm("stop linux", r"^guest linux stopped: by command\n")
    hostile.start_linux()
    hostile.hackbench()


@pytest.mark.parametrize("line", RESETS)
def test_linux_resets_itself_alone(hostile: Boot, line: str) -> None:
    attack_to_the_end(hostile, line)
    hostile.expect("vmm", r"^guest linux restarts\n", PATIENCE)
    wait_for_restart(hostile)
    hostile.hackbench()
