# SPDX-License-Identifier: Apache-2.0
"""A Linux whose kernel and processes are both in ring 3: two views of each address space.

Nothing here rests on segment limits, so QEMU shows all of the isolation. Each attack is made once
more where the VMM makes the views wrongly on purpose, and must get through there.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.build import build_vmm, make
from gandalf.build.profile import find_profile
from gandalf.build.symbols import Image

from .changed import changed_sources, substitute
from .systems import Boot, describe, linux
from .workload import build_initrd_with

KILLED = 128 + 11  # by SIGSEGV, as the shell says
KILLED_AT_RETURN = 128 + 4  # by SIGILL, since its kernel's return to it has failed
KERNEL_TEXT = 0xC1000000
SHARED_PAGE, ALIAS, VMM_STACK, VMM_IMAGE = 0xFC000000, 0xFC001000, 0xFC012000, 0xFC500000
POOL = 0xFF000000
# Selectors of the kernel's code and data, with an RPL that ring 3 may load.
KERNEL_CODE, KERNEL_DATA = 0x63, 0x6B
# What gets through where the process's view has the kernel's half, or where the kernel is told the
# code segment that the process has chosen.
THROUGH_VIEW = [f"read {KERNEL_TEXT:x}", f"data {KERNEL_DATA:x} {KERNEL_TEXT:x}"]
THROUGH_CODE = [f"{way} {KERNEL_CODE:x} {KERNEL_TEXT:x}" for way in ("jump", "return")]
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
    assert machine.built.vmm == find_profile("two-level").image
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
    assert "stopped" not in machine.text("vmm")


@pytest.mark.parametrize("attack", CLOSED)
def test_a_process_is_kept_in(machine: Boot, attack: str) -> None:
    machine.shell(f"escape {attack}", status=KILLED)
    kernel_lives(machine)


@pytest.mark.parametrize("attack", THROUGH_CODE)
def test_a_process_with_its_kernel_s_code_segment(machine: Boot, attack: str) -> None:
    machine.shell(f"escape {attack}", status=KILLED_AT_RETURN)
    kernel_lives(machine)


def test_the_process_reads_its_own(machine: Boot) -> None:
    """The program can say that something was carried out."""
    machine.shell("escape read 8048000 || escape read 804a000")


def mistakes(folder: Path) -> None:
    """Give the process's view the kernel's half, and believe a process its code segment."""
    views = folder / "vmm" / "guests" / "x86" / "two_level" / "views.c"
    substitute(views, "(ENTRIES - KERNEL_END)", "(ENTRIES - KERNEL_FIRST)")
    substitute(views, "&process[KERNEL_END], &directory[KERNEL_END]",
               "&process[KERNEL_FIRST], &directory[KERNEL_FIRST]")  # fmt: skip
    header = folder / "vmm" / "two_level" / "views.h"
    substitute(header, ": 3;", ": selector;")


@pytest.fixture(scope="module")
def gaps() -> Iterator[Boot]:
    """The same with a VMM that makes the views wrongly."""
    profile = find_profile("two-level")
    origin = build_vmm(profile).parent
    folder = changed_sources("two-level", origin, mistakes)
    make(folder / "vmm", "-j2", f"PROFILE={profile.name}", f"BUILD={folder / 'build'}")
    with Boot.start(system("gaps"), vmm=folder / "build" / "gandalf.elf") as running:
        running.wait_for_shell()
        yield running


@pytest.mark.parametrize("attack", THROUGH_VIEW)
def test_the_attacks_find_a_view_with_the_kernel(gaps: Boot, attack: str) -> None:
    gaps.shell(f"escape {attack}")


@pytest.mark.parametrize("attack", THROUGH_CODE)
def test_the_attacks_find_a_return_that_is_not_seen(gaps: Boot, attack: str) -> None:
    """The process goes on with its kernel's view and stack, on which it soon faults."""
    gaps.shell("dmesg -c >/dev/null")
    shown = ("access in kernel mode", "EIP: 0x804")
    gaps.shell(f"escape {attack}; " + " && ".join(f"dmesg | grep '{line}'" for line in shown))
