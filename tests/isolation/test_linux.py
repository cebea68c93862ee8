# SPDX-License-Identifier: Apache-2.0
"""The attack driver in a real Linux, beside an RTOS, in QEMU and in Bochs."""

import struct

import pytest

from .attackers import WROTE, HostileLinux, enforcer, read_value
from .outside import Place, layout

KERNEL_CODE, KERNEL_DATA, USER_DATA, PER_CPU = 0x60, 0x68, 0x7B, 0xD8
# What its kernel has in each register; in FS and GS it leaves what the process had.
SEGMENTS = {"ds": USER_DATA, "es": USER_DATA, "ss": KERNEL_DATA, "cs": KERNEL_CODE}
TARGETS = ["vmm_image", "pool", "rtos"]
# A GDT entry that Linux leaves empty.
SPARE = 3 * 8 | 3
# What takes an emulator in which a guest cannot read what it may not.
LIMITS = pytest.mark.parametrize("linux", [enforcer()], indirect=True)


def target(system: HostileLinux, name: str) -> Place:
    place: Place = getattr(system, name)()
    return place


@LIMITS
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", SEGMENTS)
def test_read(linux: HostileLinux, register: str, name: str) -> None:
    """The limits that the VMM puts into Linux's own segments."""
    place = target(linux, name)
    guest = linux.guest("linux")
    line = f"read {register} {place.linear:#x}"
    linux.try_read(line, place, guest.without_protection(place, SEGMENTS[register]))


@LIMITS
@pytest.mark.parametrize("register", ["fs", "gs"])
def test_read_through(linux: HostileLinux, register: str) -> None:
    """The same with its per-CPU segment, which these registers are for."""
    place, guest = linux.rtos(), linux.guest("linux")
    line = f"through {register} {PER_CPU | 1:#x} {place.linear:#x}"
    linux.try_read(line, place, guest.without_protection(place, PER_CPU))


@pytest.mark.rings
@LIMITS
def test_no_selector_reads(linux: HostileLinux) -> None:
    """All selectors in all data registers, in a process without thread-local storage."""
    place = linux.vmm_image()
    line = f"selectors {place.linear:#x}"
    linux.must_fail(line)
    flat = 0x00CF_F300_0000_FFFF
    with linux.guest("linux").with_descriptor(SPARE, flat):
        assert linux.attack(line) == read_value(linux.vmm.memory.word(place.physical))


# With two levels the fault comes at the target, for which Linux has no fixup.
@pytest.mark.rings
@LIMITS
def test_jump(linux: HostileLinux) -> None:
    guest, (start, text) = linux.guest("linux"), linux.vmm.image.text
    linear = start + text.index(b"\xc3") + layout()["LAYOUT_IMAGE"]
    linux.must_fail(f"jump {linear:#x}")
    with guest.without_protection(linux.vmm.place("code", linear), KERNEL_CODE):
        assert linux.attack(f"jump {linear:#x}") == WROTE
    linux.must_fail(f"jump {linear:#x}")


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", ["ds", "es", "fs", "gs"])
def test_flat_write(linux: HostileLinux, register: str, name: str) -> None:
    """Through a flat thread-local segment: the pages are read-only for ring 1."""
    place = target(linux, name)
    guest = linux.guest("linux")
    line = f"flat-write {register} {place.linear:#x}"
    linux.try_write(line, place, guest.without_write_protection(place))


@pytest.mark.rings
def test_flat_read(linux: HostileLinux) -> None:
    """What is not closed without strict_tls: reading through such a segment."""
    place = linux.rtos()
    with linux.vmm.changed(place.physical, 0x5EC2E7):
        assert linux.attack(f"flat-read es {place.linear:#x}") == read_value(0x5EC2E7)


@pytest.mark.parametrize("attack", ["page", "large-page"])
@pytest.mark.parametrize("name", TARGETS)
def test_page(linux: HostileLinux, attack: str, name: str) -> None:
    """Entries of its page tables for memory that it lacks read as nothing."""
    guest, place = linux.guest("linux"), target(linux, name)
    line = f"{attack} {guest.guest_physical(place.physical):#x}"
    with linux.vmm.changed(place.physical, 0x13579BDF):
        assert linux.attack(line) == read_value(0xFFFFFFFF)
        with guest.without_memory_bound():
            assert linux.attack(line) == read_value(0x13579BDF)
        assert linux.attack(line) == read_value(0xFFFFFFFF)


def test_page_table(linux: HostileLinux) -> None:
    guest, place = linux.guest("linux"), linux.rtos()
    linux.must_fail(f"page-table {guest.guest_physical(place.physical):#x}")


def test_directory(linux: HostileLinux) -> None:
    """Its own directory entries for the VMM's addresses are ignored."""
    place = linux.rtos()
    before = linux.vmm.memory.word(place.physical)
    linux.must_fail(f"directory {place.linear:#x} 0x1")
    assert linux.vmm.memory.word(place.physical) == before


def test_gates(linux: HostileLinux) -> None:
    """Call gates and far transfers, also by descriptors of its own."""
    guest = linux.guest("linux")
    linux.must_fail("far-all")
    linux.must_fail("call-gate 0x100")
    linux.must_fail("call-gate 0x60")
    linux.must_fail("task-gate 0x110")
    for selector in (0x100, 0x101, 0x108, 0x110, 0x118):
        linux.must_fail(f"far-call {selector:#x}")
        linux.must_fail(f"far-jump {selector:#x}")
    # LRET where the VMM's code is no longer needed; EAX keeps what it was.
    place = linux.vmm_image()
    linux.vmm.memory.set_word(place.physical, 0xCBC88C66)
    gate = place.linear & 0xFFFF | 0x100 << 16 | 0xEC00 << 32 | place.linear >> 16 << 48
    with guest.with_descriptor(SPARE, gate):
        assert linux.attack(f"far-call {SPARE:#x}") == read_value(0x100)
    linux.must_fail(f"far-call {SPARE:#x}")


@pytest.mark.parametrize("vector", [0x20, 0x30, 0xF0, 0xF1, 0xF2, 0xF3, 0xFF])
def test_interrupt_gates(linux: HostileLinux, vector: int) -> None:
    guest = linux.guest("linux")
    line = f"opcode 0x2 {vector << 8 | 0xCD:#x}"
    linux.must_fail(line)
    with guest.with_gate_for_all(vector):
        assert linux.attack(line) == WROTE


def test_ports(linux: HostileLinux) -> None:
    """The scratch register of the real UART is out of reach."""
    scratch, guest = 0x3FF, linux.guest("linux")
    with guest.with_port(scratch):
        assert linux.attack(f"out {scratch:#x} 0x11") == WROTE
    linux.attack(f"out {scratch:#x} 0x22")
    with guest.with_port(scratch):
        assert linux.attack(f"in {scratch:#x}") == read_value(0x11)


def test_flags(linux: HostileLinux) -> None:
    """POPF changes neither IF nor IOPL."""
    result = linux.attack("popf 0x3000")
    assert result.value is not None
    assert result.value & 0x3200 == 0x200


def test_neighbour(linux: HostileLinux) -> None:
    """The RTOS has missed nothing, and Linux is whole."""
    assert linux.beats()[1] == 0
    assert "Linux" in linux.shell("uname -a")
    assert "stopped" not in linux.machine.text("vmm")


def test_hypercall_pointer(linux: HostileLinux) -> None:
    """Last, because it ends Linux: LOAD_TLS with a pointer into the RTOS."""
    place = linux.rtos()
    kept = linux.vmm.memory.word(place.physical)
    # MOV EAX, 17; MOV EBX, the address; INT 1E.
    code = struct.pack("<BIBIBB", 0xB8, 17, 0xBB, place.linear, 0xCD, 0x1E)
    words = " ".join(f"{word:#x}" for word in struct.unpack("<3I", code))
    linux.machine.send("linux", f"echo opcode 0xc {words} >/dev/gandalf-attack\n")
    linux.machine.expect("vmm", "guest linux stopped: hypercall 17 with bad address", 120)
    assert linux.vmm.memory.word(place.physical) == kept
    assert linux.beats()[1] == 0
