# SPDX-License-Identifier: Apache-2.0
"""Kernels in ring 1 that want ring 0, or have the VMM write for them what they may not.

Each attack of guest/tests/pc/attack*.c ends with the kernel's stop; afterwards it is started again,
the machine works, and the VMM's code is what it was. What differs from another in details only is
tried with --long.
"""

import re
from collections.abc import Iterator

import pytest

from tests.boot.systems import TWO_LEVEL, World

from .arena import DIED, Arena

NO_GATE = "triple fault: its IDT has no gate for an interrupt"
NO_STACK = "triple fault: its stack cannot take an interrupt"
LACKS = "it writes physical memory that it lacks"

CR4, FLUSH_SPACE, FLUSH_RANGE = range(3)
WORKS = {"cr4": CR4, "flush": FLUSH_SPACE, "flush-range": FLUSH_RANGE}
IDLE, RING_1, WORK, RING_3, UPCALL = range(5)
WHERE = {"idle": IDLE, "ring-1": RING_1, "work": WORK, "ring-3": RING_3, "upcall": UPCALL}
MANUAL, AUTOMATIC = 1, 3
# With two levels no guest has a CPU of its own.
ALONE_IN_QEMU = pytest.param("qemu", id="qemu", marks=pytest.mark.rings)
QEMU = pytest.mark.parametrize("alone", [ALONE_IN_QEMU], indirect=True)


@pytest.fixture(scope="module", params=[ALONE_IN_QEMU, "bochs"])
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


@pytest.mark.representatives(
    "qemu-gate-absent-cr4-0", "qemu-gate-absent-flush-2", "qemu-gate-task-flush-0",
    "qemu-idt-gone-flush-range-1", "bochs-gate-absent-cr4-0",
)  # fmt: skip
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("how", ["gate-absent", "gate-task", "idt-gone"])
def test_an_upcall_without_a_gate(alone: Arena, how: str, work: str, depth: int) -> None:
    """The gate is not what it was at LIDT: the CPU's own still leads to the guest."""
    assert alone.attack(how, WORKS[work], depth, 0, alone.target()).reason == NO_GATE


@pytest.mark.representatives(
    "qemu-0x70000000-cr4", "qemu-0xfc012f00-flush", "qemu-0xfc401000-cr4", "qemu-0x8-flush-range",
    "qemu-0xe0000000-cr4", "bochs-0x70000000-cr4",
)  # fmt: skip
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


@pytest.mark.representatives(
    *(f"qemu-{base:#x}-0-1-{where}" for base in BASES for where in WHERE),
    "qemu-0x8-0-3-idle", "qemu-0x8-6-1-idle", "qemu-0x8-1-1-work", "qemu-0x18-6-1-ring-1",
)  # fmt: skip
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    ("irq", "mode"), [(0, MANUAL), (0, AUTOMATIC), (1, MANUAL), (4, MANUAL), (6, MANUAL)]
)
@pytest.mark.parametrize("base", BASES, ids=hex)
@QEMU
def test_interrupts_as_exceptions(alone: Arena, base: int, irq: int, mode: int, where: str) -> None:
    exception_is_refused(alone, base, 0x70, mode, irq, WHERE[where])


@pytest.mark.representatives("qemu-0x8-8-idle", "qemu-0x8-12-ring-1")
@pytest.mark.parametrize("where", ["idle", "ring-1"])
@pytest.mark.parametrize("irq", [8, 12])
@pytest.mark.parametrize("base", BASES, ids=hex)
@QEMU
def test_interrupts_of_the_second_8259_as_exceptions(
    alone: Arena, base: int, irq: int, where: str
) -> None:
    exception_is_refused(alone, 0x20, base, MANUAL, irq, WHERE[where])


@pytest.mark.representatives("bochs-0x8-idle", "bochs-0x0-work", "bochs-0x18-ring-1")
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("base", BASES, ids=hex)
@pytest.mark.parametrize("alone", ["bochs"], indirect=True)
def test_interrupts_as_exceptions_in_bochs(alone: Arena, base: int, where: str) -> None:
    """Which has no devices but the timer."""
    exception_is_refused(alone, base, 0x70, MANUAL, 0, WHERE[where])


@pytest.mark.representatives(*(f"qemu-{where}" for where in ("idle", "ring-1", "work", "ring-3")))
@pytest.mark.parametrize("where", ["idle", "ring-1", "work", "ring-3"])
def test_interrupts_by_all_other_vectors(alone: Arena, where: str) -> None:
    """But the system call's: each comes to the guest, whatever the VMM uses the vector for."""
    assert "came: 27 of 27" in alone.attack("others", WHERE[where]).output


# All vectors, by INT n

SYSTEM_CALL, HYPERCALL = 0x80, 0x1E
UD, NP = 6, 11


def software_interrupts(arena: Arena, ring: int) -> dict[int, tuple[int, int]]:
    """Return trap and error code of the vectors that gave something but #GP and their gate."""
    outcome = arena.attack("software", ring)
    assert outcome.reason == DIED
    lines = re.findall(r"^int 0x(\w+): trap (\d+), error 0x(\w+)$", outcome.output, re.M)
    found = {int(n, 16): (int(trap), int(error, 16)) for n, trap, error in lines}
    assert f"refused: {256 - len(found)}\n" in outcome.output
    return found


def software_interrupts_are_harmless(found: dict[int, tuple[int, int]], ring: int) -> None:
    """Breakpoint, overflow and the system call are the guest's; the hypercall ring 1's alone.

    Other gates that are its kernel's may lead there from ring 1, and return.
    """
    assert found.pop(3) == (3, 0)
    assert found.pop(4) == (4, 0)
    assert found.pop(SYSTEM_CALL) == (SYSTEM_CALL, 0)
    if ring == 1:
        assert found.pop(HYPERCALL) == (UD, 0)
    for vector, (trap, error) in found.items():
        assert (trap, error) == (NP, vector * 8 + 2) or (ring == 1 and trap == UD), (vector, trap)


@pytest.mark.parametrize("ring", [1, 3])
def test_int_n_on_a_dedicated_cpu(alone: Arena, ring: int) -> None:
    software_interrupts_are_harmless(software_interrupts(alone, ring), ring)


@pytest.mark.parametrize("ring", [1, 3])
def test_int_n_beside_an_rtos(beside: Arena, ring: int) -> None:
    software_interrupts_are_harmless(software_interrupts(beside, ring), ring)


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


@pytest.mark.representatives(
    "qemu-848-1024-large-page-0", "qemu-848-1024-large-page-1", "qemu-800-131086-large-page-0",
    "qemu-800-131086-absent-between-1", "bochs-848-1024-large-page-0",
)  # fmt: skip
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


@pytest.mark.representatives(
    "qemu-large-page-0", "qemu-large-page-1", "qemu-absent-between-0", "qemu-by-cr3-0",
    "bochs-large-page-0",
)  # fmt: skip
@pytest.mark.parametrize("short", [0, 1])
@pytest.mark.parametrize("change", CHANGES)
def test_no_store_reaches_the_page_of_ones(beside: Arena, change: str, short: int) -> None:
    arguments = (CHANGES[change], NOWHERE, LVT_LINT0, 0x21646162, short)
    assert beside.attack("protected-page", *arguments).reason in (LACKS, DIED)
    vmm = beside.vmm
    vcpu = vmm.word(vmm.field("vm", vmm.image.symbols["vms"], "vcpus"))
    x86 = vmm.word(vmm.field("vcpu", vcpu, "x86"))
    nothing = vmm.word(vmm.field("x86", x86, "shadow.nothing"))
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


def kernel_is_stopped(arena: Arena, *arguments: int) -> None:
    """With two levels the VMM cannot tell that mode from the kernel, whose view is loaded.

    So a kernel that enters it without the VMM is stopped: its SS is none. A process is tried in
    test_vm86.py.
    """
    assert arena.attack("vm86", *arguments).reason == "its CS, SS or EIP cannot be loaded"


def general_protection_is_given(arena: Arena, *arguments: int) -> int:
    """The kernel gets a #GP as if from ring 3; returns the real EFLAGS in it then."""
    outcome = arena.attack("vm86", *arguments)
    match = re.search(r"^trap 13, error 0x0, eflags 0x([0-9a-f]+)$", outcome.output, re.M)
    assert match, outcome
    assert outcome.reason == DIED
    return int(match[1], 16)


@pytest.mark.representatives(
    "qemu-ud2-4096-512", "qemu-int-80-4097-512", "qemu-page-fault-4099-512",
    "qemu-loop-4096-12800",
)  # fmt: skip
@STATES
@pytest.mark.parametrize("instruction", CODES)
@QEMU
def test_virtual_8086_mode_on_a_dedicated_cpu(
    alone: Arena, instruction: str, cs: int, flags: int
) -> None:
    eflags = general_protection_is_given(alone, CODES[instruction], cs, flags)
    assert eflags & IOPL_3 == IOPL_1


@pytest.mark.representatives(
    "qemu-ud2-4096-512", "qemu-hlt-4097-512", "qemu-loop-4099-512", "qemu-sti-4096-12800",
)  # fmt: skip
@STATES
@pytest.mark.parametrize("instruction", CODES)
@pytest.mark.parametrize("beside", ["qemu"], indirect=True)
def test_virtual_8086_mode_beside_an_rtos(
    beside: Arena, instruction: str, cs: int, flags: int
) -> None:
    if World.rings == TWO_LEVEL:
        kernel_is_stopped(beside, CODES[instruction], cs, flags)
        return
    eflags = general_protection_is_given(beside, CODES[instruction], cs, flags)
    assert eflags & (IOPL_3 | IF) == IF


@pytest.mark.rings
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
