# SPDX-License-Identifier: Apache-2.0
"""Kernels that check themselves what both views of their address spaces show.

pc.elf is the one that runs with rings, too. pc-views.elf is in the kernel half as Linux is, so its
processes and it use the direct ways between both views. Its tests of rights must fail where the
VMM is wrong on purpose.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD
from gandalf.measure.measure import build_plugin

from .changed import substitute
from .systems import FEW_INSTRUCTIONS, PATIENCE, TWO_LEVEL, Boot, describe, rtos_guest
from .test_guests import pc
from .two_level import changed_vmm, direct_ways, unseen_returns

KERNEL_HALF = 0xC0000000
GLOBAL_PAGES = "global_pages = true"
# A page among those of processes that is the kernel's alone (guest/tests/pc/views_borders.c).
OWN = 0x40033000
CALLS = 30_000  # that guest/tests/pc/views_calls.c makes, and more
STALE = BUILD / "measure" / "stale.so"


def start(
    image: str,
    vmm: Path | None = None,
    measure: str = "",
    emulator: str = "qemu",
    arguments: tuple[str, ...] = (),
) -> Boot:
    """Start a kernel in Linux's place, beside an RTOS that keeps the machine on.

    measure: a line of [machine] about a measure.
    """
    guests = (pc(image), rtos_guest("heartbeat", priority=20))
    path = describe(image + measure.partition(" ")[0], *guests, memory="64M", rings=TWO_LEVEL)
    if measure:
        path.write_text(path.read_text().replace("rings =", f"{measure}\nrings ="))
    return Boot.start(path, arguments, vmm=vmm, emulator=emulator, ips=FEW_INSTRUCTIONS)


@pytest.mark.parametrize("image", ["pc", "pc-views"])
def test_a_kernel_finds_a_pc(image: str) -> None:
    with start(image) as machine:
        machine.expect("linux", rf"^PASS {image}\n", PATIENCE)
        assert "not ok" not in machine.text("linux")


@pytest.mark.long
@pytest.mark.parametrize("measure", ["", GLOBAL_PAGES])
def test_a_kernel_finds_a_pc_whose_tlb_keeps_global_pages(measure: str) -> None:
    """QEMU's forgets them at each load of CR3, and Bochs' does not."""
    with start("pc-views", measure=measure, emulator="bochs") as machine:
        machine.expect("linux", r"^PASS pc-views\n", PATIENCE)
        assert "not ok" not in machine.text("linux")


def test_its_pages_are_filled_when_it_returns() -> None:
    with start("pc-views") as machine:
        machine.expect("linux", r"^PASS pc-views\n", PATIENCE)
        ways = direct_ways(machine)
    # Each of the tests named ahead-... has a page that must be filled so but one.
    assert ways["fills"] >= machine.text("linux").count(" ahead-") - 1
    assert ways["calls"] > 0
    assert ways["returns"] > 0


@pytest.mark.parametrize(
    ("without", "none"), [("prefill", ("fills",)), ("direct_switch", ("calls", "returns"))]
)
def test_a_measure_can_be_taken_away(without: str, none: tuple[str, ...]) -> None:
    """The other one is still there, and the kernel finds the same."""
    with start("pc-views", measure=f"{without} = false") as machine:
        machine.expect("linux", r"^PASS pc-views\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        ways = direct_ways(machine)
    assert {name for name, count in ways.items() if count == 0} == set(none)


UNINTERRUPTIBLE = "interruptible = false"


def filled_on_the_way(folder: Path) -> None:
    """Fill what a direct way faults at, and have it go on."""
    privilege = folder / "vmm" / "two_level" / "privilege.h"
    substitute(privilege, "return eip - (u32)ways_first <", "return false && eip <")


@pytest.mark.parametrize("right", [True, False])
def test_a_kernel_whose_vmm_cannot_be_interrupted(right: bool) -> None:
    """Its work may fill the shadow at any time, but for the direct ways."""
    vmm = None if right else changed_vmm("views", filled_on_the_way)
    with start("pc-views", vmm, UNINTERRUPTIBLE) as machine:
        machine.expect("linux", r"^(?:PASS|FAIL) pc-views", PATIENCE)
        failed = re.findall(r"^not ok \d+ (\S+)\n", machine.text("linux"), re.M)
    assert failed == ([] if right else ["return-own-page"])


def kernel_view_kept(folder: Path) -> None:
    """Have the direct way back to a process leave the kernel's view loaded."""
    ways = folder / "vmm" / "guests" / "x86" / "two_level" / "view_ways.S"
    substitute(ways, "mov\t%ebx, %cr3", "nop")


def kernel_global(folder: Path) -> None:
    """Have the TLB keep the kernel's pages when the process's view is loaded."""
    substitute(folder / "vmm" / "two_level" / "views.h", "VIEWS_GLOBAL 0u", "VIEWS_GLOBAL PTE_G")


def all_global(folder: Path) -> None:
    """Have the measure keep in the TLB whatever a page is, the kernel's too."""
    views = folder / "vmm" / "two_level" / "views.h"
    substitute(views, "return (rights & PTE_U) *", "(void)rights;\n\treturn PTE_U *")
    shadow = folder / "vmm" / "guests" / "x86" / "shadow" / "view.c"
    substitute(shadow, " & ~views_global(PTE_U)", "")
    shown = folder / "vmm" / "guests" / "x86" / "two_level" / "views.c"
    substitute(shown, "\tif (dropped)\n\t\tviews_flush_left();\n", "")


def any_stack(folder: Path) -> None:
    """Forget that a frame for the kernel can be in two pages, or in one that it may not write."""
    ways = folder / "vmm" / "guests" / "x86" / "two_level" / "view_ways.S"
    substitute(ways, "cmp\t$4096 - FRAME_BYTES, %ebx\n\tja\tcall_by_c", "nop")
    substitute(ways, "testb\t$PTE_W, %ss:(%ecx, %ebx, 4)\n\tjz\tcall_by_c", "nop")


def process_flags(folder: Path) -> None:
    """Give a process what its kernel's frame says, IOPL too."""
    header = folder / "vmm" / "two_level" / "view_switch.h"
    substitute(header, "VIEW_SWITCH_EFLAGS_GUEST 0x254dd5", "VIEW_SWITCH_EFLAGS_GUEST 0x257dd5")
    switch = folder / "vmm" / "guests" / "x86" / "two_level" / "view_switch.c"
    substitute(switch, "EFLAGS_GUEST == VIEW_SWITCH_EFLAGS_GUEST", "EFLAGS_GUEST != 0")


def kept_segments(folder: Path) -> None:
    """Leave a process the VMM's data segment where a page has been filled for it."""
    ways = folder / "vmm" / "guests" / "x86" / "two_level" / "view_ways.S"
    substitute(ways, "\tpop\t%ds\n\tmov\t%ss:core", "\tadd\t$4, %esp\n\tmov\t%ss:core")


def stack_untold(folder: Path) -> None:
    """Keep from a kernel where its process has its stack, whose low half alone it gets."""
    ways = folder / "vmm" / "guests" / "x86" / "two_level" / "view_ways.S"
    substitute(ways, "mov\t28(%esp), %ecx\n\tmov\t", "movzwl\t28(%esp), %ecx\n\tmov\t")


def everything_writable(folder: Path) -> None:
    """Let a process write to whatever its kernel has just mapped."""
    ahead = folder / "vmm" / "guests" / "x86" / "two_level" / "ahead.c"
    substitute(ahead, "value, view_rights(value, pde), false", "value | PTE_D, pde | PTE_W, false")


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


def kernel_s_neighbours_too(folder: Path) -> None:
    """Forget, at a fault of a process, that a page beside its own can be the kernel's alone."""
    fill = folder / "vmm" / "guests" / "x86" / "shadow" / "fill.c"
    substitute(fill, "PTE_P | PTE_A | (cause & PF_U & VIEWS_ALWAYS)", "PTE_P | PTE_A | (cause & 0)")


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        (kernel_s_neighbours_too, "border-near"),
        (everything_writable, "ahead-rights"),
        (kernel_s_pages_too, "ahead-kernel-page"),
        (kernel_s_tables_too, "ahead-directory"),
        (foreign_pages_too, "ahead-foreign"),
        (unseen_returns, "return-code-selectors"),
        (kernel_view_kept, "border-stale"),
        (any_stack, "call-stacks-unused"),
        (process_flags, "return-iopl"),
        (kept_segments, "call-segments"),
        (kernel_view_kept, "process-far"),
        (stack_untold, "process-stack-pointers"),
        (kernel_view_kept, "process-selectors"),
    ],
)
def test_it_finds_what_is_wrong_on_purpose(mistake: Callable[[Path], None], found: str) -> None:
    with start("pc-views", vmm=changed_vmm("views", mistake)) as machine:
        machine.expect("linux", r"^(?:PASS|FAIL) pc-views", PATIENCE)
        assert re.search(rf"^not ok \d+ {found}\n", machine.text("linux"), re.M)


@dataclass(frozen=True)
class Stale:
    """What a TLB that forgets nothing without need has, when ring 3 goes on (measure/stale.c)."""

    pages: tuple[int, ...]  # linear addresses that the page tables do not have so any more
    times: int  # how often ring 3 went on
    looked: int  # pages that the TLB had then, all together


def kept_by_a_tlb(vmm: Path | None = None, measure: str = "") -> Stale:
    """Run pc-views.elf with such a TLB beside the machine."""
    build_plugin()
    output = BUILD / "boot" / "stale.txt"
    plugin = f"file={STALE},out={output}"
    with start("pc-views", vmm, measure, arguments=("-plugin", plugin)) as machine:
        machine.expect("linux", r"^(?:PASS|FAIL) pc-views", PATIENCE)
    *stale, last = output.read_text().splitlines()
    _, times, looked = last.split()
    return Stale(tuple(int(line.split()[1], 16) for line in stale), int(times), int(looked))


@pytest.fixture(scope="module")
def found() -> Stale:
    """What it has without any measure more."""
    return kept_by_a_tlb()


def test_a_tlb_keeps_nothing_that_the_tables_do_not_have(found: Stale) -> None:
    assert not found.pages
    assert found.times > CALLS
    assert found.looked > found.times


def test_a_tlb_keeps_pages_of_processes_if_they_are_global(found: Stale) -> None:
    """It has more of them when ring 3 goes on, each as the tables of what is loaded say."""
    kept = kept_by_a_tlb(measure=GLOBAL_PAGES)
    assert not kept.pages
    assert kept.looked > 1.2 * found.looked


def kept_guests(folder: Path) -> None:
    """Have the CPU keep the global pages of a Linux's process when an RTOS has the CPU."""
    privilege = folder / "vmm" / "two_level" / "privilege.h"
    substitute(privilege, "cr4_write(cr4_read() & ~CR4_PGE)", "cr4_write(cr4_read())")


def kept_range(folder: Path) -> None:
    """Flush a range as if no page in it were global."""
    views = folder / "vmm" / "two_level" / "views.h"
    substitute(views, "\t\ttlb_flush_global();\n\telse", "\t\ttlb_flush();\n\telse")


@pytest.mark.long
@pytest.mark.parametrize(
    ("mistake", "kernels"),
    [(kernel_global, True), (kept_guests, False), (kept_range, False)],
)
def test_global_pages_that_are_wrong_on_purpose(
    mistake: Callable[[Path], None],
    kernels: bool,
) -> None:
    found = kept_by_a_tlb(changed_vmm("views", mistake), GLOBAL_PAGES)
    assert any((page >= KERNEL_HALF) == kernels for page in found.pages)


def kept_page(folder: Path) -> None:
    """Have the CPU keep a page of which the kernel says that it has changed."""
    flush = folder / "vmm" / "guests" / "x86" / "shadow" / "flush.c"
    substitute(flush, "\t\t\tinvlpg(linear);\n\t}", "\t\t\tcontinue;\n\t}")
    substitute(flush, "\tif (linear < GANDALF_BASE)\n\t\tinvlpg(linear);\n", "")


@pytest.mark.parametrize(
    ("mistake", "kernels"),
    [pytest.param(kernel_global, True, marks=pytest.mark.long), (kept_page, False)],
)
def test_a_tlb_keeps_what_is_wrong_on_purpose(
    mistake: Callable[[Path], None],
    kernels: bool,
) -> None:
    """What is kept is the kernel's, or a process's."""
    found = kept_by_a_tlb(changed_vmm("views", mistake))
    assert any((page >= KERNEL_HALF) == kernels for page in found.pages)


def test_a_tlb_keeps_the_kernel_s_pages_where_all_are_global() -> None:
    """Those of its half, and the one below it that its process tries to reach."""
    found = kept_by_a_tlb(changed_vmm("views", all_global), GLOBAL_PAGES)
    assert {KERNEL_HALF + 0x100000, OWN} <= set(found.pages)


@pytest.mark.long
@pytest.mark.parametrize(
    ("mistake", "measure", "reached"),
    [
        (kernel_global, "", ("border-global",)),
        (all_global, GLOBAL_PAGES, ("border-stale", "border-global", "border-own")),
    ],
)
def test_a_process_reaches_a_kernel_that_is_global(
    mistake: Callable[[Path], None], measure: str, reached: tuple[str, ...]
) -> None:
    """By what the TLB of Bochs has kept of it."""
    vmm = changed_vmm("views", mistake)
    with start("pc-views", vmm, measure, emulator="bochs") as machine:
        machine.expect("linux", r"^ok \d+ border-words\n", PATIENCE)
        found = re.findall(r"^not ok \d+ (\S+)\n", machine.text("linux"), re.M)
    assert tuple(found) == reached
