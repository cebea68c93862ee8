# SPDX-License-Identifier: Apache-2.0
"""A Linux whose kernel and processes are both in ring 3: two views of each address space.

Nothing here rests on segment limits, so QEMU shows all of the isolation. Each attack is made once
more where the VMM makes the views wrongly on purpose, and must get through there.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.profile import find_profile
from gandalf.build.symbols import Image

from .changed import substitute
from .systems import PATIENCE, Boot, describe, linux, rtos_guest
from .two_level import PROFILE, changed_vmm, direct_ways, take_direct_ways, unseen_returns
from .workload import build_initrd_with

KILLED = 128 + 11  # by SIGSEGV, as the shell says
KILLED_AT_RETURN = 128 + 4  # by SIGILL, since its kernel's return to it has failed
KERNEL_TEXT = 0xC1000000
SHARED_PAGE, ALIAS, VMM_STACK, VMM_IMAGE = 0xFC000000, 0xFC001000, 0xFC012000, 0xFC500000
POOL = 0xFF000000
# Selectors of the kernel's code and data, with an RPL that ring 3 may load.
KERNEL_CODE, KERNEL_DATA = 0x63, 0x6B
EFLAGS_TF = 0x100
KILLED_BY_TRACE = 128 + 5  # by SIGTRAP
# Alone: none, TF, DF, IOPL, NT, RF, VM, AC, ID; and what arithmetic sets.
FLAGS = (0x2, 0x102, 0x402, 0x3002, 0x4002, 0x10002, 0x20002, 0x40002, 0x200002, 0x8D7)
STACKS = (0, 4, 0xFFF, 0x80000000, 0xBFFFFFFE, KERNEL_TEXT, SHARED_PAGE, VMM_STACK, VMM_IMAGE, POOL,
          0xFFFFFFFC)  # fmt: skip
# What gets through where the process's view has the kernel's half, or where the kernel is told the
# code segment that the process has chosen.
THROUGH_VIEW = [f"read {KERNEL_TEXT:x}", f"data {KERNEL_DATA:x} {KERNEL_TEXT:x}"]
THROUGH_CODE = [f"{way} {KERNEL_CODE:x} {KERNEL_TEXT:x}" for way in ("jump", "return")]
# Selectors that a process may have its kernel load at the end of a signal: its kernel's code and
# data, the VMM's, its own data, and none. Its own code is the one that works.
USER_CODE, SIGNAL_CODES = 0x73, (KERNEL_CODE, KERNEL_DATA, 0x103, 0x10B, 0x7B, 0x3, 0x77, 0xFFFB)
CLOSED = [
    *THROUGH_VIEW,
    *(f"read {place:x}" for place in (SHARED_PAGE, VMM_STACK, VMM_IMAGE, POOL)),
    *(f"write {place:x}" for place in (KERNEL_TEXT, SHARED_PAGE, ALIAS, VMM_STACK, VMM_IMAGE)),
    "call 0",
    "call ffffffff",
    f"jump 103 {VMM_IMAGE:x}",
    f"data 10b {VMM_IMAGE:x}",
]


def system(name: str) -> Path:
    """Describe a Linux that has the program of the attacks."""
    guest = linux(initrd=build_initrd_with("escape"))
    return describe(f"two-level-{name}", guest, rings="two-level")


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The system with its shell ready."""
    with Boot.start(system("linux")) as running:
        running.wait_for_shell()
        yield running


def test_its_image_has_what_it_needs(machine: Boot) -> None:
    assert machine.built.vmm == find_profile(PROFILE).image
    found = Image(machine.built.vmm, "vmm").addresses
    assert {"views_show_process", "rtos_space_create", "channel_side"} <= set(found)
    assert not {"upcall_point", "half_show"} & set(found)


def test_linux_works(machine: Boot) -> None:
    machine.hackbench()
    machine.shell("for i in 1 2 3 4 5; do busybox true; done; dmesg | grep -q gandalf; sync")
    machine.kernel_is_sane()


def kernel_lives(machine: Boot) -> None:
    """Check that Linux's log tells of no crash. What became of the process is in it, too."""
    found = machine.shell("dmesg | sed -nE '/Oops|BUG:|WARNING:|INFO: /p'")
    assert not found.strip(), found
    assert "guest linux stopped" not in machine.text("vmm")


@pytest.mark.parametrize("attack", CLOSED)
def test_a_process_is_kept_in(machine: Boot, attack: str) -> None:
    machine.shell(f"escape {attack}", status=KILLED)
    kernel_lives(machine)


@pytest.mark.parametrize("attack", THROUGH_CODE)
def test_a_process_with_its_kernel_s_code_segment(machine: Boot, attack: str) -> None:
    machine.shell(f"escape {attack}", status=KILLED_AT_RETURN)
    kernel_lives(machine)


@pytest.mark.parametrize("selector", SIGNAL_CODES)
def test_a_process_has_its_kernel_return_to_any_code(machine: Boot, selector: int) -> None:
    """The frame of a signal says to which, and no kernel looks at it before its IRET does."""
    machine.shell(f"escape signal {selector:x} {KERNEL_TEXT:x}", status=KILLED_AT_RETURN)
    kernel_lives(machine)


def test_a_process_has_its_kernel_return_to_its_own_code(machine: Boot) -> None:
    machine.shell(f"escape signal {USER_CODE:x} 8048000 || escape signal {USER_CODE:x} 804a000")
    machine.shell(f"escape signal {USER_CODE:x} {KERNEL_TEXT:x}", status=KILLED)


def test_system_calls_take_the_direct_way(machine: Boot) -> None:
    take_direct_ways(machine, "escape many 1000")


def test_pages_are_filled_when_the_kernel_returns(machine: Boot) -> None:
    """A program that starts has some pages that its kernel maps when they are used first."""
    before = direct_ways(machine)
    machine.shell("for i in 1 2 3 4 5 6 7 8; do /bin/busybox true; done")
    assert (direct_ways(machine) - before)["fills"] > 8 * 10


def test_a_process_loads_what_its_kernel_lacks() -> None:
    """Its code segment is absent while its kernel runs, and FS and GS are still loaded from it.

    An RTOS interrupts the VMM meanwhile, wherever that is.
    """
    guests = linux(initrd=build_initrd_with("escape")), rtos_guest("sweep", priority=5)
    with Boot.start(describe("two-level-segments", *guests, rings="two-level")) as running:
        running.wait_for_shell()
        for selector in (USER_CODE, 0x7B, 0):
            running.shell(f"escape segment {selector:x} 4000")
            kernel_lives(running)
        running.expect("sweep", r"rounds=", PATIENCE)
        assert "FAIL" not in running.text("sweep")


@pytest.mark.parametrize("flags", FLAGS)
def test_system_calls_with_any_flags(machine: Boot, flags: int) -> None:
    status = KILLED_BY_TRACE if flags & EFLAGS_TF else 0
    machine.shell(f"escape flags {flags:x}", status=status)
    kernel_lives(machine)


@pytest.mark.parametrize("esp", STACKS)
def test_system_calls_with_any_stack(machine: Boot, esp: int) -> None:
    """The kernel has its own: what the process has in SS and ESP is only kept for it."""
    machine.shell(f"escape stack {esp:x}")
    machine.shell(f"escape ss {KERNEL_DATA:x} {esp:x}")
    kernel_lives(machine)


def test_the_process_reads_its_own(machine: Boot) -> None:
    """The program can say that something was carried out."""
    machine.shell("escape read 8048000 || escape read 804a000")


def mistakes(folder: Path) -> None:
    """Give the process's view the kernel's half, and believe a process its code segment.

    The kernel's return to that segment is not seen then.
    """
    unseen_returns(folder)
    views = folder / "vmm" / "guests" / "x86" / "two_level" / "space.c"
    substitute(views, "(ENTRIES - KERNEL_END)", "(ENTRIES - KERNEL_FIRST)")
    substitute(views, "&process[KERNEL_END], &directory[KERNEL_END]",
               "&process[KERNEL_FIRST], &directory[KERNEL_FIRST]")  # fmt: skip
    header = folder / "vmm" / "two_level" / "views.h"
    substitute(header, ": 3;", ": selector;")


def forgotten_view(folder: Path) -> None:
    """Have the direct way back to a process leave the kernel's view loaded."""
    ways = folder / "vmm" / "guests" / "x86" / "two_level" / "view_ways.S"
    substitute(ways, "mov\t%ebx, %cr3", "nop")


@pytest.fixture(scope="module")
def gaps() -> Iterator[Boot]:
    """The same with a VMM that makes the views wrongly."""
    with Boot.start(system("gaps"), vmm=changed_vmm("two-level", mistakes)) as running:
        running.wait_for_shell()
        yield running


def test_the_attacks_find_a_direct_way_that_keeps_the_kernel_s_view() -> None:
    vmm = changed_vmm("two-level-direct", forgotten_view)
    with Boot.start(system("forgotten"), vmm=vmm) as running:
        running.wait_for_shell()
        running.shell(f"escape read {KERNEL_TEXT:x}")


@pytest.mark.parametrize("attack", THROUGH_VIEW)
def test_the_attacks_find_a_view_with_the_kernel(gaps: Boot, attack: str) -> None:
    gaps.shell(f"escape {attack}")


@pytest.mark.parametrize("attack", THROUGH_CODE)
def test_the_attacks_find_a_return_that_is_not_seen(gaps: Boot, attack: str) -> None:
    """The process goes on with its kernel's view and stack, on which it soon faults."""
    gaps.shell("dmesg -c >/dev/null")
    shown = ("access in kernel mode", "EIP: 0x804")
    gaps.shell(f"escape {attack}; " + " && ".join(f"dmesg | grep '{line}'" for line in shown))


def test_the_attacks_find_a_signal_that_returns_to_the_kernel_s_code(gaps: Boot) -> None:
    """The process reads its kernel, and its last system call is taken for the kernel's own."""
    gaps.shell(f"escape signal {KERNEL_CODE:x} {KERNEL_TEXT:x}")
