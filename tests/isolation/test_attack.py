# SPDX-License-Identifier: Apache-2.0
"""Kernels in ring 1 that want ring 0, or have the VMM write for them what they may not.

Each attack of guest/tests/pc/attack*.c ends with the kernel's stop; afterwards it is started again,
the machine works, and the VMM's code is what it was.
"""

import re
from collections.abc import Iterator

import pytest

from .arena import DIED, Arena

NO_GATE = "triple fault: its IDT has no gate for an interrupt"
NO_STACK = "triple fault: its stack cannot take an interrupt"
LACKS = "it writes physical memory that it lacks"

CR4, FLUSH_SPACE, FLUSH_RANGE = range(3)
WORKS = {"cr4": CR4, "flush": FLUSH_SPACE, "flush-range": FLUSH_RANGE}
IDLE, RING_1, WORK = range(3)
WHERE = {"idle": IDLE, "ring-1": RING_1, "work": WORK}
MANUAL, AUTOMATIC = 1, 3
QEMU = pytest.mark.parametrize("alone", ["qemu"], indirect=True)


@pytest.fixture(scope="module", params=["qemu", "bochs"])
def alone(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The kernel on a CPU of its own."""
    arena = Arena("dedicated", request.param)
    yield arena
    arena.stop()


@pytest.fixture(scope="module", params=["qemu", "bochs"])
def beside(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The kernel beside an RTOS."""
    arena = Arena("shared", request.param)
    yield arena
    arena.stop()


# Upcalls that cannot be delivered


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("how", ["gate-absent", "gate-task", "idt-gone"])
def test_an_upcall_without_a_gate(alone: Arena, how: str, work: str, depth: int) -> None:
    """The gate is not what it was at LIDT: the CPU's own still leads to the guest."""
    assert alone.attack(how, WORKS[work], depth, 0, alone.target()).reason == NO_GATE


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("esp", [0x70000000, 0xFC012F00, 0xFC401000, 0x8, 0xE0000000], ids=hex)
def test_an_upcall_without_a_stack(alone: Arena, esp: int, work: str) -> None:
    """Nowhere, the VMM's own stack and image, the end of the address space, the kernel's half."""
    assert alone.attack("stack", WORKS[work], 0, esp, alone.target()).reason == NO_STACK


# Vectors of exceptions

BASES = (0, 8, 0x10, 0x18)


def exception_is_refused(arena: Arena, master: int, slave: int, mode: int, *more: int) -> None:
    """The guest is stopped for it, or takes an exception or hypercall for its own and goes on."""
    reason = arena.attack("vectors", master, slave, mode, *more, arena.target()).reason
    assert reason == DIED or re.search(r"exception|unknown hypercall", reason), reason


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    ("irq", "mode"), [(0, MANUAL), (0, AUTOMATIC), (1, MANUAL), (4, MANUAL), (6, MANUAL)]
)
@pytest.mark.parametrize("base", BASES, ids=hex)
@QEMU
def test_interrupts_as_exceptions(
    alone: Arena, base: int, irq: int, mode: int, where: str
) -> None:
    exception_is_refused(alone, base, 0x70, mode, irq, WHERE[where])


@pytest.mark.parametrize("where", ["idle", "ring-1"])
@pytest.mark.parametrize("irq", [8, 12])
@pytest.mark.parametrize("base", BASES, ids=hex)
@QEMU
def test_interrupts_of_the_second_8259_as_exceptions(
    alone: Arena, base: int, irq: int, where: str
) -> None:
    exception_is_refused(alone, 0x20, base, MANUAL, irq, WHERE[where])


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("base", BASES, ids=hex)
@pytest.mark.parametrize("alone", ["bochs"], indirect=True)
def test_interrupts_as_exceptions_in_bochs(alone: Arena, base: int, where: str) -> None:
    """Which has no devices but the timer."""
    exception_is_refused(alone, base, 0x70, MANUAL, 0, WHERE[where])


# Stores of the VMM for the guest

(BY_LARGE_PAGE, ENTRY_ONLY, ENTRY_INVALIDATED, TABLE_ONLY, ABSENT_BETWEEN, BY_CR3,
 LARGE_AND_FLUSH) = range(7)  # fmt: skip
CHANGES = {
    "large-page": BY_LARGE_PAGE,
    "entry-only": ENTRY_ONLY,
    "entry-invalidated": ENTRY_INVALIDATED,
    "table-only": TABLE_ONLY,
    "absent-between": ABSENT_BETWEEN,
    "by-cr3": BY_CR3,
    "large-and-flush": LARGE_AND_FLUSH,
}
APIC, NOWHERE = 0xFEE00000, 0xF0000000
LVT_TIMER, LVT_LINT0 = 0x320, 0x350
MASKED = 0x10000
THERE = r"^there is 0x([0-9a-f]+), was 0x([0-9a-f]+)$"


@pytest.mark.parametrize("short", [0, 1])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("offset", "value"), [(LVT_LINT0, 0x400), (LVT_TIMER, 0x2000E)])
def test_no_store_gets_past_the_check_of_the_apic(
    alone: Arena, offset: int, value: int, change: str, short: int
) -> None:
    """An NMI, and a timer whose vector is that of #PF: masked, or never written."""
    outcome = alone.attack("protected-page", CHANGES[change], APIC, offset, value, short)
    match = re.search(THERE, outcome.output, re.M)
    assert match, outcome
    after, before = int(match[1], 16), int(match[2], 16)
    assert after & MASKED or after == before, hex(after)
    assert outcome.reason == DIED


@pytest.mark.parametrize("short", [0, 1])
@pytest.mark.parametrize("change", CHANGES)
def test_no_store_reaches_the_page_of_ones(beside: Arena, change: str, short: int) -> None:
    arguments = (CHANGES[change], NOWHERE, LVT_LINT0, 0x21646162, short)
    assert beside.attack("protected-page", *arguments).reason in (LACKS, DIED)
    vmm = beside.vmm
    pc = vmm.word(vmm.field("vm", vmm.image.symbols["vms"], "pc"))
    nothing = vmm.word(vmm.field("pc", pc, "shadow.nothing"))
    whole = set(vmm.memory.read(nothing, 0x1000)) == {0xFF}
    if not whole:
        beside.stop()
    assert whole


# Virtual-8086 mode, which QEMU enters and no CPU does


def code(text: str) -> int:
    """Return instructions, in hexadecimal, as a word for the attack."""
    return int.from_bytes(bytes.fromhex(text).ljust(4, b"\x90"), "little")


CODES = {
    "ud2": code("0f0b"),
    "hlt": code("f4"),
    "int-80": code("cd80"),
    "int3": code("cc"),
    "loop": code("ebfe"),
    "page-fault": code("a00000"),
    "sti": code("fb0f0b"),
}
IF, IOPL_1, IOPL_3 = 0x200, 0x1000, 0x3000
# With CS of each privilege level, and with the I/O privilege that QEMU lets it have.
STATES = pytest.mark.parametrize(
    ("cs", "flags"), [(0x1000, IF), (0x1001, IF), (0x1003, IF), (0x1000, IF | IOPL_3)]
)


def general_protection_is_given(arena: Arena, *arguments: int) -> int:
    """The kernel gets a #GP as if from ring 3; returns the real EFLAGS in it then."""
    outcome = arena.attack("vm86", *arguments)
    match = re.search(r"^trap 13, error 0x0, eflags 0x([0-9a-f]+)$", outcome.output, re.M)
    assert match, outcome
    assert outcome.reason == DIED
    return int(match[1], 16)


@STATES
@pytest.mark.parametrize("instruction", CODES)
@QEMU
def test_virtual_8086_mode_on_a_dedicated_cpu(
    alone: Arena, instruction: str, cs: int, flags: int
) -> None:
    eflags = general_protection_is_given(alone, CODES[instruction], cs, flags)
    assert eflags & IOPL_3 == IOPL_1


@STATES
@pytest.mark.parametrize("instruction", CODES)
@pytest.mark.parametrize("beside", ["qemu"], indirect=True)
def test_virtual_8086_mode_beside_an_rtos(
    beside: Arena, instruction: str, cs: int, flags: int
) -> None:
    eflags = general_protection_is_given(beside, CODES[instruction], cs, flags)
    assert eflags & (IOPL_3 | IF) == IF


@pytest.mark.parametrize("flags", [0, IOPL_3], ids=["none", "iopl"])
@pytest.mark.parametrize("beside", ["qemu"], indirect=True)
def test_virtual_8086_mode_leaves_interrupts_enabled(beside: Arena, flags: int) -> None:
    """It comes with the EFLAGS that the process wants, in QEMU; they must not stay."""
    eflags = general_protection_is_given(beside, CODES["ud2"], 0x1000, flags)
    assert eflags & (IOPL_3 | IF) == IF


@pytest.mark.parametrize("alone", ["bochs"], indirect=True)
def test_a_cpu_in_ring_1_has_no_virtual_8086_mode(alone: Arena) -> None:
    """So QEMU, which has it there, is what these tests are about."""
    outcome = alone.attack("vm86", CODES["ud2"], 0x1000, IF)
    assert "trap 13, error 0x1000" in outcome.output
    assert outcome.reason == DIED
