# SPDX-License-Identifier: Apache-2.0
"""A hostile RTOS against the VMM, another RTOS and the kernel in ring 1.

With rings its whole protection is the limits of its two segments, which only Bochs enforces. While
an RTOS runs CR0.WP is 0: no page stands in its way once a limit is gone. With two levels it has an
address space of its own, whose other pages are the VMM's alone, and QEMU shows that.
"""

import pytest

from tests.boot.systems import FOUR, World

from .attackers import FAULT, WROTE, HostileSmall, Result, enforcer, read_value
from .outside import Guest, Place, layout

CODE, DATA = 0x61, 0x69
RET = b"\xc3"
DATA_REGISTERS = ["ds", "es", "fs", "gs", "ss"]
pytestmark = pytest.mark.parametrize("small", [enforcer()], indirect=True)
RING = 1 if World.rings == FOUR else 3
# Flat data of that ring, accessed.
FLAT = 0x00CF_9300_0000_FFFF | RING << 45
TARGETS = ["vmm_image", "pool", "rtos"]
if World.rings == FOUR:  # with two levels no address of an RTOS means a page of Linux
    TARGETS.append("kernel")


@pytest.fixture
def rtos(small: HostileSmall) -> HostileSmall:
    """The hostile RTOS, alive."""
    return small.by("hostile")


def kernel(system: HostileSmall) -> Place:
    """A word of the ring-1 kernel's memory, which lies where the kernel sees it, mapped."""
    system.by("pc").attack("read ds 0x700")
    guest = system.guest("pc")
    system.by("hostile")
    return Place("kernel", 0x700, guest.memory_base + 0x700)


def target(system: HostileSmall, name: str) -> Place:
    place: Place = kernel(system) if name == "kernel" else getattr(system, name)()
    return place


def offset(guest: Guest, linear: int) -> str:
    """Return the offset in the RTOS's segments that wraps around to a linear address."""
    return hex((linear - guest.base) & 0xFFFFFFFF)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", [*DATA_REGISTERS, "cs"])
def test_read(rtos: HostileSmall, register: str, name: str) -> None:
    guest, place = rtos.guest("hostile"), target(rtos, name)
    line = f"read {register} {offset(guest, place.linear)}"
    rtos.try_read(line, place, guest.without_protection(place, CODE, DATA))


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", DATA_REGISTERS)
def test_write(rtos: HostileSmall, register: str, name: str) -> None:
    guest, place = rtos.guest("hostile"), target(rtos, name)
    line = f"write {register} {offset(guest, place.linear)}"
    rtos.try_write(line, place, guest.without_protection(place, DATA))


@pytest.mark.rings  # QEMU does not look at a segment's type for a write
def test_write_code_segment(rtos: HostileSmall) -> None:
    """CS cannot be written: not with a limit, and without one no more than before."""
    guest, place = rtos.guest("hostile"), rtos.vmm_image()
    line = f"write cs {offset(guest, place.linear)} 0x1"
    kept = rtos.vmm.memory.word(place.physical)
    rtos.must_fail(line)
    with guest.without_protection(place, CODE):
        rtos.must_fail(line)
    assert rtos.vmm.memory.word(place.physical) == kept


def test_jump(rtos: HostileSmall) -> None:
    """Into the VMM's code, at a place where there is a RET."""
    guest, (start, text) = rtos.guest("hostile"), rtos.vmm.image.text
    linear = start + text.index(RET) + layout()["LAYOUT_IMAGE"]
    line = f"jump {offset(guest, linear)}"
    rtos.must_fail(line)
    with guest.without_protection(rtos.vmm.place("code", linear), CODE):
        assert rtos.attack(line) == WROTE
    rtos.must_fail(line)


@pytest.mark.parametrize("register", DATA_REGISTERS)
def test_foreign_selectors(rtos: HostileSmall, register: str) -> None:
    """No other selector of its GDT opens a segment; a flat one put there would."""
    guest, place = rtos.guest("hostile"), rtos.vmm_image()
    spare = 0x28 | RING
    for selector in (0x100, 0x101, 0x108, 0x109, 0x110, 0x118, spare, 0x6C, 0xFFF8):
        rtos.must_fail(f"through {register} {selector:#x} {place.linear:#x}")
    line = f"through {register} {spare:#x} {place.linear:#x}"
    with guest.with_descriptor(spare, FLAT), guest.without_protection(place):
        assert rtos.attack(line) == read_value(rtos.vmm.memory.word(place.physical))
    rtos.must_fail(line)


def test_far_call(rtos: HostileSmall) -> None:
    """No selector leads to ring 0; a call gate in its GDT would."""
    guest = rtos.guest("hostile")
    spare = 0x28 | RING
    for selector in (0x100, 0x101, 0x103, 0x108, 0x110, 0x118, spare, 0xFFF8):
        rtos.must_fail(f"far-call {selector:#x}")
        rtos.must_fail(f"far-jump {selector:#x} 0x0")
    landing = _far_return(rtos)
    gate = landing & 0xFFFF | 0x100 << 16 | 0xEC00 << 32 | landing >> 16 << 48
    line = f"far-call {spare:#x} 0x0"
    with guest.with_descriptor(spare, gate):
        assert rtos.attack(line) == Result("read", 0)
    rtos.must_fail(line)


def _far_return(system: HostileSmall) -> int:
    """Put the instruction LRET where nothing runs any more, and return its address."""
    place = system.vmm_image()
    system.vmm.memory.write(place.physical, b"\xcb")
    return place.linear


@pytest.mark.parametrize("vector", [0, 8, 13, 14, 0x20, 0x30, 0x80, 0xF0, 0xF1, 0xF2, 0xF3, 0xFF])
def test_gates(rtos: HostileSmall, vector: int) -> None:
    """INT n: only the VMM's own gates for guests open; with DPL 3 others would."""
    guest = rtos.guest("hostile")
    line = f"opcode 0x2 {vector << 8 | 0xCD:#x}"
    rtos.must_fail(line)
    if vector in (0x20, 0x30, 0xF0, 0xF1, 0xF2, 0xF3, 0xFF):
        with guest.with_gate_for_all(vector):
            assert rtos.attack(line) == WROTE
        rtos.must_fail(line)


@pytest.mark.parametrize("port", [0x20, 0x21, 0x40, 0x43, 0x70, 0xCF8, 0x3F8, 0xFFF0])
def test_ports(rtos: HostileSmall, port: int) -> None:
    rtos.must_fail(f"in {port:#x}")
    rtos.must_fail(f"out {port:#x} 0x0")


def test_port_without_bitmap(rtos: HostileSmall) -> None:
    """The scratch register of the real UART, which nobody uses."""
    scratch, guest = 0x3FF, rtos.guest("hostile")
    rtos.must_fail(f"in {scratch:#x}")
    with guest.with_port(scratch):
        assert rtos.attack(f"out {scratch:#x} 0x5a") == WROTE
        assert rtos.attack(f"in {scratch:#x}") == read_value(0x5A)
    rtos.must_fail(f"in {scratch:#x}")


PRIVILEGED = {
    "cli": (1, 0xFA), "hlt": (1, 0xF4), "lgdt": (3, 0x10010F), "lidt": (3, 0x18010F),
    "lldt": (3, 0xD0000F), "ltr": (3, 0xD8000F), "mov cr0": (3, 0xC0220F),
    "mov cr3": (3, 0xD8220F), "mov cr4": (3, 0xE0220F), "mov dr7": (3, 0xF8230F),
    "invlpg": (3, 0x38010F), "wrmsr": (2, 0x300F), "clts": (2, 0x060F), "wbinvd": (2, 0x090F),
}  # fmt: skip


@pytest.mark.parametrize("name", PRIVILEGED)
def test_privileged(rtos: HostileSmall, name: str) -> None:
    """The CPU's rings refuse these; there is no protection of ours to take away."""
    length, code = PRIVILEGED[name]
    assert rtos.attack(f"opcode {length:#x} {code:#x}") == FAULT


def test_neighbour(rtos: HostileSmall) -> None:
    """The other RTOS has missed nothing, and the others are alive."""
    assert rtos.beats()[1] == 0
    assert rtos.by("pc").attack("hypercall 0x20 0x0 0x0 0x0") == read_value(0)
    assert "stopped" not in rtos.machine.text("vmm")
