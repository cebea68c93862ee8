# SPDX-License-Identifier: Apache-2.0
"""A hostile kernel in ring 1 with tables of its own, against the VMM and the RTOSes.

Segment limits stop its reads (Bochs only); pages stop its writes, whatever the
segment; the shadow page tables stop what its own page tables name.
"""

import struct

import pytest

from tests.boot.systems import TWO_LEVEL, World

from .attackers import FAULT, WROTE, HostileSmall, Result, enforcer, read_value
from .outside import PTE_P, PTE_W, Place, layout

KERNEL_CODE, KERNEL_DATA, USER_CODE, USER_DATA = 0x60, 0x68, 0x73, 0x7B
# In which its kernel is, whatever descriptors it asks for.
KERNEL_RING = 3 if World.rings == TWO_LEVEL else 1
DATA_REGISTERS = ["ds", "es", "fs", "gs", "ss"]
TARGETS = ["vmm_image", "pool", "rtos"]
# An entry of its GDT that is not for thread-local storage, and one that is.
SPARE, TLS = 20, 6
# Descriptors as a kernel would write them: flat data for ring 0 or ring 3, 4 GiB.
FLAT_DATA, FLAT_USER_DATA = 0x00CF_9200_0000_FFFF, 0x00CF_F200_0000_FFFF
FLAT_CODE = 0x00CF_9A00_0000_FFFF
# What takes an emulator in which a guest cannot read what it may not.
LIMITS = pytest.mark.parametrize("small", [enforcer()], indirect=True)


@pytest.fixture
def pc(small: HostileSmall) -> HostileSmall:
    """The hostile kernel in either emulator."""
    return small.by("pc")


def target(system: HostileSmall, name: str) -> Place:
    place: Place = getattr(system, name)()
    return place


def set_gdt(system: HostileSmall, index: int, descriptor: int) -> None:
    low, high = descriptor & 0xFFFFFFFF, descriptor >> 32
    assert system.attack(f"gdt {index:#x} {low:#x} {high:#x}") == WROTE


def set_flat(system: HostileSmall) -> str:
    """Have a flat segment as the C library asks for it; returns its selector."""
    set_gdt(system, TLS, FLAT_USER_DATA)
    return hex(TLS * 8 | 3)


# Segments


@LIMITS
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", [*DATA_REGISTERS, "cs"])
def test_read(pc: HostileSmall, register: str, name: str) -> None:
    """Its own segments end below the VMM."""
    guest, place = pc.guest("pc"), target(pc, name)
    selector = {"cs": KERNEL_CODE, "ds": USER_DATA, "es": USER_DATA}.get(register, KERNEL_DATA)
    if register in ("fs", "gs"):
        line = f"through {register} {KERNEL_DATA | 1:#x} {place.linear:#x}"
    else:
        line = f"read {register} {place.linear:#x}"
    pc.try_read(line, place, guest.without_protection(place, selector))


@LIMITS
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("base", [0, 0x1000, 0x7FFFF000, 0xF0000000, 0xFC001FFF])
def test_read_through_new_descriptor(pc: HostileSmall, base: int, name: str) -> None:
    """A descriptor with a base of one's choice; offsets wrap around at 4 GiB."""
    guest, place = pc.guest("pc"), target(pc, name)
    wanted = FLAT_DATA | (base & 0xFFFFFF) << 16 | (base >> 24) << 56
    set_gdt(pc, SPARE, wanted)
    line = f"through es {SPARE * 8 | 1:#x} {(place.linear - base) & 0xFFFFFFFF:#x}"
    pc.try_read(line, place, guest.without_protection(place, SPARE * 8))


@pytest.mark.rings
@LIMITS
@pytest.mark.parametrize("base", [0xFC002000, 0xFC400000, 0xFFFFF000])
def test_base_in_vmm(pc: HostileSmall, base: int) -> None:
    """A segment that begins in the VMM's part is not there at all."""
    guest, place = pc.guest("pc"), pc.vmm_image()
    wanted = FLAT_DATA | (base & 0xFFFFFF) << 16 | (base >> 24) << 56
    set_gdt(pc, SPARE, wanted)
    line = f"through gs {SPARE * 8 | 1:#x} {(place.linear - base) & 0xFFFFFFFF:#x}"
    ring_1 = wanted | 1 << 45 | 1 << 40
    pc.try_read(line, place, guest.with_descriptor(SPARE * 8, ring_1))


@pytest.mark.rings
@LIMITS
def test_expand_down(pc: HostileSmall) -> None:
    """An expand-down segment covers what lies above its limit; it is not offered."""
    guest, place = pc.guest("pc"), pc.vmm_image()
    wanted = 0x00C0_9600_0000_0000
    set_gdt(pc, SPARE, wanted)
    line = f"through fs {SPARE * 8 | 1:#x} {place.linear:#x}"
    pc.try_read(line, place, guest.with_descriptor(SPARE * 8, wanted | 1 << 45 | 1 << 40))


@LIMITS
def test_jump(pc: HostileSmall) -> None:
    """Into the VMM's code, at a place where there is a RET."""
    guest, (start, text) = pc.guest("pc"), pc.vmm.image.text
    linear = start + text.index(b"\xc3") + layout()["LAYOUT_IMAGE"]
    pc.must_fail(f"jump {linear:#x}")
    with guest.without_protection(pc.vmm.place("code", linear), KERNEL_CODE):
        assert pc.attack(f"jump {linear:#x}") == WROTE
    pc.must_fail(f"jump {linear:#x}")


# Writes: CR0.WP and read-only pages


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", ["ds", "es", "fs", "gs"])
def test_write_through_flat(pc: HostileSmall, register: str, name: str) -> None:
    """A flat segment, as the C library needs it, does not help: the pages are read-only."""
    guest, place = pc.guest("pc"), target(pc, name)
    line = f"through {register} {set_flat(pc)} {place.linear:#x}"
    pc.try_write(line, place, guest.without_write_protection(place))


@pytest.mark.rings
def test_write_through_flat_pte(pc: HostileSmall) -> None:
    """It is the entry's W bit that counts."""
    place = pc.rtos()
    entry = pc.vmm.pte(place.linear)
    line = f"through es {set_flat(pc)} {place.linear:#x} 0x77777777"
    kept = pc.vmm.memory.word(place.physical)
    pc.must_fail(line)
    with pc.vmm.changed(entry, pc.vmm.memory.word(entry) | PTE_W):
        pc.attack("flush")
        assert pc.attack(line) == WROTE
        assert pc.vmm.memory.word(place.physical) == 0x77777777
    pc.vmm.memory.set_word(place.physical, kept)
    pc.attack("flush")
    pc.must_fail(line)


def test_stack_is_worth_nothing(pc: HostileSmall) -> None:
    """The one page of the VMM that fast paths write with rings: garbage in it does no harm."""
    selector = set_flat(pc)
    top = layout()["LAYOUT_STACK_TOP"]
    outcome = FAULT if World.rings == TWO_LEVEL else WROTE
    for address in [*range(top - 0x80, top, 4), layout()["LAYOUT_STACK"]]:
        assert pc.attack(f"through es {selector} {address:#x} 0xdeadbeef") == outcome
    assert pc.attack("hypercall 0x20 0x0 0x0 0x0") == read_value(0)
    assert pc.beats()[1] == 0


# Page tables


@pytest.mark.parametrize("name", TARGETS)
def test_page(pc: HostileSmall, name: str) -> None:
    """A page-table entry for memory that is not its own reads as nothing."""
    guest, place = pc.guest("pc"), target(pc, name)
    _try_physical(pc, f"page {guest.guest_physical(place.physical):#x}", place)


@pytest.mark.parametrize("name", TARGETS)
def test_large_page(pc: HostileSmall, name: str) -> None:
    guest, place = pc.guest("pc"), target(pc, name)
    _try_physical(pc, f"large-page {guest.guest_physical(place.physical):#x}", place)


def _try_physical(pc: HostileSmall, line: str, place: Place) -> None:
    guest = pc.guest("pc")
    with pc.vmm.changed(place.physical, 0x13579BDF):
        assert pc.attack(line) == read_value(0xFFFFFFFF)
        with guest.without_memory_bound():
            assert pc.attack(line) == read_value(0x13579BDF)
        assert pc.attack(line) == read_value(0xFFFFFFFF)


@pytest.mark.parametrize("attack", ["page", "large-page"])
def test_page_write(pc: HostileSmall, attack: str) -> None:
    """Writing physical memory that it lacks stops the guest, and changes nothing."""
    guest, place = pc.guest("pc"), pc.rtos()
    line = f"{attack} {guest.guest_physical(place.physical):#x} 0x2468ace0"
    kept = pc.vmm.memory.word(place.physical)
    with guest.without_memory_bound():
        assert pc.attack(line) == WROTE
        assert pc.vmm.memory.word(place.physical) == 0x2468ACE0
    pc.vmm.memory.set_word(place.physical, kept)
    pc.attack_to_death(line, "it writes physical memory that it lacks")
    assert pc.vmm.memory.word(place.physical) == kept


def test_page_table(pc: HostileSmall) -> None:
    """A page table in memory that is not its own: made from what the RTOS has there."""
    guest, place = pc.guest("pc"), pc.vmm.place("RTOS", pc.guest("rtos").linear)
    entry = 0x700 & ~0xFFF | PTE_P | PTE_W | 0x60
    line = f"page-table {guest.guest_physical(place.physical):#x}"
    with pc.vmm.changed(place.physical, entry):
        pc.must_fail(line)
        with guest.without_memory_bound():
            assert pc.attack(line).outcome == "read"
        pc.must_fail(line)


def test_directory(pc: HostileSmall) -> None:
    """Its own entries for the VMM's part of the address space are ignored."""
    place = pc.rtos()
    before = pc.vmm.memory.word(place.physical)
    selector = set_flat(pc)
    directory = layout()["LAYOUT_RTOS"]
    assert pc.attack(f"directory {directory:#x} 0x1").outcome == "fault"
    seen = FAULT if World.rings == TWO_LEVEL else read_value(before)
    assert pc.attack(f"through es {selector} {place.linear:#x}") == seen
    assert pc.vmm.memory.word(place.physical) == before


# Gates and privileges


def test_descriptors_of_ring_0(pc: HostileSmall) -> None:
    """Code of ring 0, call and task gates, LDTs and TSSes vanish on their way to the real GDT."""
    code, gate = FLAT_CODE, 0x0000_EC00_0100_0000
    task, ldt, tss = 0x0000_E500_0110_0000, 0x0000_E200_0000_FFFF, 0x0000_E900_0000_0067
    for descriptor in (gate, task, ldt, tss, 0x0000_8F00_0100_0000, 0x0000_8E00_0100_0000):
        set_gdt(pc, SPARE, descriptor)
        assert pc.guest("pc").descriptor(SPARE * 8) == 0
        pc.must_fail(f"far-call {SPARE * 8 | 3:#x}")
        pc.must_fail(f"far-jump {SPARE * 8 | 3:#x} 0x0")
    set_gdt(pc, SPARE, code)
    assert pc.attack(f"far-call {SPARE * 8:#x}") == Result("read", SPARE * 8 | KERNEL_RING)


def test_call_gate(pc: HostileSmall) -> None:
    """With a call gate in the real GDT ring 1 would be in ring 0."""
    guest, place = pc.guest("pc"), pc.vmm_image()
    # MOV EAX, CS; LRET where the VMM's code is no longer needed.
    kept = pc.vmm.memory.read(place.physical, 4)
    pc.vmm.memory.write(place.physical, struct.pack("<I", 0xCBC88C66))
    gate = place.linear & 0xFFFF | 0x100 << 16 | 0xEC00 << 32 | place.linear >> 16 << 48
    set_gdt(pc, SPARE, gate)
    line = f"far-call {SPARE * 8 | 3:#x}"
    pc.must_fail(line)
    with guest.with_descriptor(SPARE * 8, gate):
        assert pc.attack(line) == read_value(0x100)
    pc.must_fail(line)
    pc.vmm.memory.write(place.physical, kept)


@pytest.mark.parametrize("vector", [0, 8, 13, 14, 0x20, 0x30, 0xF0, 0xF1, 0xF2, 0xF3, 0xFF])
def test_gates(pc: HostileSmall, vector: int) -> None:
    guest = pc.guest("pc")
    line = f"opcode 0x2 {vector << 8 | 0xCD:#x}"
    pc.must_fail(line)
    if vector in (0x20, 0x30, 0xF0, 0xF1, 0xF2, 0xF3, 0xFF):
        with guest.with_gate_for_all(vector):
            assert pc.attack(line) == WROTE
        pc.must_fail(line)


def test_ports(pc: HostileSmall) -> None:
    """Its ports are emulated: the scratch register of the real UART stays as it is."""
    scratch, guest = 0x3FF, pc.guest("pc")
    with guest.with_port(scratch):
        assert pc.attack(f"out {scratch:#x} 0x11") == WROTE
        assert pc.attack(f"in {scratch:#x}") == read_value(0x11)
    pc.attack(f"out {scratch:#x} 0x22")
    with guest.with_port(scratch):
        assert pc.attack(f"in {scratch:#x}") == read_value(0x11)


# Hypercalls


@pytest.mark.parametrize("name", TARGETS)
def test_hypercall_pointer(pc: HostileSmall, name: str) -> None:
    """A pointer to what is not its own stops the guest."""
    place = target(pc, name)
    kept = pc.vmm.memory.word(place.physical)
    line = f"hypercall 0x11 {place.linear:#x} 0x0 0x0"
    pc.attack_to_death(line, "hypercall 17 with bad address")
    assert pc.vmm.memory.word(place.physical) == kept


def test_hypercall_wrap(pc: HostileSmall) -> None:
    pc.attack_to_death("hypercall 0x11 0xfffffff0 0x0 0x0", "hypercall 17 with bad address")
    pc.attack_to_death("hypercall 0x11 0xfbfffff0 0x0 0x0", "hypercall 17 with bad address")


def test_gdt_in_vmm(pc: HostileSmall) -> None:
    """LGDT of an address in the VMM: the VMM must not read, and never write, its own there."""
    place = pc.pool()
    kept = pc.vmm.memory.word(place.physical)
    pc.attack_to_death(f"lgdt {place.linear - 0xF00:#x}", "its GDT at")
    assert pc.vmm.memory.word(place.physical) == kept


def test_neighbours(pc: HostileSmall) -> None:
    """The RTOS has missed nothing; the other guests are alive."""
    assert pc.beats()[1] == 0
    assert pc.by("hostile").attack("hypercall 0x20 0x0 0x0 0x0") == read_value(0)
