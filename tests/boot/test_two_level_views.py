# SPDX-License-Identifier: Apache-2.0
"""Kernels that check themselves what both views of their address spaces show.

pc.elf is the one that runs with rings, too. pc-views.elf is in the kernel half as Linux is, so its
processes and it use the direct ways between both views. Its tests of rights must fail where the
VMM is wrong on purpose.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .changed import substitute
from .systems import PATIENCE, TWO_LEVEL, Boot, describe, rtos_guest
from .test_guests import pc
from .two_level import changed_vmm, direct_ways


def start(image: str, vmm: Path | None = None, without: str = "") -> Boot:
    """Start a kernel in Linux's place, beside an RTOS that keeps the machine on.

    without: a measure of [machine] that is taken away.
    """
    guests = (pc(image), rtos_guest("heartbeat", priority=20))
    path = describe(image + without, *guests, memory="64M", rings=TWO_LEVEL)
    if without:
        path.write_text(path.read_text().replace("rings =", f"{without} = false\nrings ="))
    return Boot.start(path, vmm=vmm)


@pytest.mark.parametrize("image", ["pc", "pc-views"])
def test_a_kernel_finds_a_pc(image: str) -> None:
    with start(image) as machine:
        machine.expect("linux", rf"^PASS {image}\n", PATIENCE)
        assert "not ok" not in machine.text("linux")


def test_its_pages_are_filled_when_it_returns() -> None:
    with start("pc-views") as machine:
        machine.expect("linux", r"^PASS pc-views\n", PATIENCE)
        ways = direct_ways(machine)
    # Each of the tests named ahead-... has a page that must be filled so but one.
    assert ways["fills"] >= machine.text("linux").count("ok ") - 1
    assert ways["calls"] > 0
    assert ways["returns"] > 0


@pytest.mark.parametrize(
    ("without", "none"), [("prefill", ("fills",)), ("direct_switch", ("calls", "returns"))]
)
def test_a_measure_can_be_taken_away(without: str, none: tuple[str, ...]) -> None:
    """The other one is still there, and the kernel finds the same."""
    with start("pc-views", without=without) as machine:
        machine.expect("linux", r"^PASS pc-views\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        ways = direct_ways(machine)
    assert {name for name, count in ways.items() if count == 0} == set(none)


def everything_writable(folder: Path) -> None:
    """Let a process write to whatever its kernel has just mapped."""
    ahead = folder / "vmm" / "guests" / "x86" / "two_level" / "ahead.c"
    substitute(ahead, "value, value & pde, false", "value | PTE_D, pde | PTE_W, false")


def kernel_s_pages_too(folder: Path) -> None:
    """Forget that a page can be the kernel's alone."""
    ahead = folder / "vmm" / "guests" / "x86" / "two_level" / "ahead.c"
    substitute(ahead, "(~value & (PTE_P | PTE_A | PTE_U))", "(~value & (PTE_P | PTE_A))")


def kernel_s_tables_too(folder: Path) -> None:
    """Forget that the kernel's directory has rights as well."""
    ahead = folder / "vmm" / "guests" / "x86" / "two_level" / "ahead.c"
    substitute(ahead, "(~*pde & (PTE_P | PTE_A | PTE_U))", "(~*pde & PTE_P)")


def foreign_pages_too(folder: Path) -> None:
    """Forget where the guest's memory ends."""
    ahead = folder / "vmm" / "guests" / "x86" / "two_level" / "ahead.c"
    substitute(ahead, " || (value & PTE_FRAME) >= shadow->memory_size)", ")")


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        (everything_writable, "ahead-rights"),
        (kernel_s_pages_too, "ahead-kernel-page"),
        (kernel_s_tables_too, "ahead-directory"),
        (foreign_pages_too, "ahead-foreign"),
    ],
)
def test_it_finds_pages_that_are_filled_wrongly(
    mistake: Callable[[Path], None], found: str
) -> None:
    with start("pc-views", vmm=changed_vmm("ahead", mistake)) as machine:
        machine.expect("linux", r"^(?:PASS|FAIL) pc-views", PATIENCE)
        assert re.search(rf"^not ok \d+ {found}\n", machine.text("linux"), re.M)
