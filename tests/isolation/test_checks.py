# SPDX-License-Identifier: Apache-2.0
"""Pointers in hypercalls, against the VMM as it is and against one without the check.

The second is a copy of the image with another function in the place of the one that
checks; nothing of this kind is in the VMM itself. QEMU is enough: no limits are involved.
"""

import struct
from collections.abc import Iterator

import pytest

from .attackers import HostileSmall, Result, read_value
from .outside import vmm_image
from .patched import patched

# What INT 1E does not take: beyond the end, at the VMM, at another guest.
TARGETS = ["vmm_image", "pool", "rtos"]
CONSOLE_WRITE, CONSOLE_READ, HANDLERS, LOAD_TLS = 5, 6, 1, 17
TLS = 6


def rtos_memory_unchecked() -> bytes:
    """MOV EAX, vm->linear; ADD EAX, EDX (the address); RET."""
    return bytes([0x8B, 0x40, vmm_image().offset("vm", "linear"), 0x01, 0xD0, 0xC3])


def guest_read_unchecked() -> bytes:
    """XCHG EAX, EDX; CALL entry_copy; TEST EAX, EAX; SETE AL; RET."""
    symbols = vmm_image().symbols
    distance = symbols["entry_copy"] - (symbols["guest_read"] + 6)
    return b"\x92\xe8" + struct.pack("<i", distance) + b"\x85\xc0\x0f\x94\xc0\xc3"


@pytest.fixture(scope="module")
def checked() -> Iterator[HostileSmall]:
    """The VMM as it is."""
    with HostileSmall("qemu") as system:
        yield system


@pytest.fixture(scope="module")
def rtos_unchecked(checked: HostileSmall) -> Iterator[HostileSmall]:
    """A VMM that takes any pointer of an RTOS. checked: it must be built."""
    del checked
    vmm = patched("rtos-unchecked.elf", rtos_memory=rtos_memory_unchecked())
    with HostileSmall("qemu", vmm=vmm) as system:
        yield system.by("hostile")


@pytest.fixture(scope="module")
def linux_unchecked(checked: HostileSmall) -> Iterator[HostileSmall]:
    """A VMM that takes any pointer of a guest with page tables."""
    del checked
    vmm = patched("linux-unchecked.elf", guest_read=guest_read_unchecked())
    with HostileSmall("qemu", vmm=vmm) as system:
        yield system.by("pc")


def offset(system: HostileSmall, linear: int) -> int:
    return (linear - system.guest("hostile").linear) & 0xFFFFFFFF


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("number", [CONSOLE_WRITE, CONSOLE_READ, HANDLERS])
def test_rtos_pointer(checked: HostileSmall, number: int, name: str) -> None:
    """The RTOS is stopped, and nothing is printed or written."""
    checked.by("hostile")
    place = getattr(checked, name)()
    secret = int.from_bytes(b"LEAK", "little")
    with checked.vmm.changed(place.physical, secret):
        line = f"hypercall {number:#x} {offset(checked, place.linear):#x} 0x4 0x0"
        checked.attack_to_death(line, f"hypercall {number} with bad address")
        assert checked.vmm.memory.word(place.physical) == secret
    assert "LEAK" not in checked.machine.text("hostile")


@pytest.mark.parametrize("name", TARGETS)
def test_console_write_unchecked(rtos_unchecked: HostileSmall, name: str) -> None:
    place = getattr(rtos_unchecked, name)()
    secret = f"<{name[:2]}>"
    with rtos_unchecked.vmm.changed(place.physical, int.from_bytes(secret.encode(), "little")):
        line = f"hypercall {CONSOLE_WRITE:#x} {offset(rtos_unchecked, place.linear):#x} 0x4 0x0"
        rtos_unchecked.machine.send("hostile", line + "\n")
        rtos_unchecked.machine.expect("hostile", secret, 60)


@pytest.mark.parametrize("name", TARGETS)
def test_console_read_unchecked(rtos_unchecked: HostileSmall, name: str) -> None:
    """What is typed arrives in memory that is not the guest's.

    The guest is paused until all has been typed, lest it read before that.
    """
    place = getattr(rtos_unchecked, name)()
    line = f"hypercall {CONSOLE_READ:#x} {offset(rtos_unchecked, place.linear):#x} 0x4 0x0"
    with rtos_unchecked.vmm.changed(place.physical, 0):
        rtos_unchecked.machine.send("vmm", "pause hostile\n")
        rtos_unchecked.machine.expect("vmm", r"pause hostile\n", 60)
        rtos_unchecked.machine.send("hostile", f"spin 1\n{line}\nABCD")
        rtos_unchecked.machine.send("vmm", "resume hostile\n")
        rtos_unchecked.machine.expect("hostile", "spin: wrote", 60)
        rtos_unchecked.machine.expect("hostile", "hypercall: read 0x00000004", 60)
        assert rtos_unchecked.vmm.memory.word(place.physical) == int.from_bytes(b"ABCD", "little")


@pytest.mark.parametrize("name", TARGETS)
def test_linux_pointer(checked: HostileSmall, name: str) -> None:
    place = getattr(checked.by("pc"), name)()
    line = f"hypercall {LOAD_TLS:#x} {place.linear:#x} 0x0 0x0"
    checked.attack_to_death(line, f"hypercall {LOAD_TLS} with bad address")


@pytest.mark.parametrize("name", TARGETS)
def test_linux_pointer_unchecked(linux_unchecked: HostileSmall, name: str) -> None:
    """What is there becomes a descriptor of the guest."""
    place = getattr(linux_unchecked, name)()
    low, high, vmm = 0xBEEF_FFFF, 0x00CF_F3C0, linux_unchecked.vmm
    with vmm.changed(place.physical, low), vmm.changed(place.physical + 4, high):
        line = f"hypercall {LOAD_TLS:#x} {place.linear:#x} 0x0 0x0"
        assert linux_unchecked.attack(line) == read_value(0)
        assert linux_unchecked.guest("pc").descriptor(TLS * 8) == high << 32 | low
    assert linux_unchecked.attack("hypercall 0x20 0x0 0x0 0x0") == Result("read", 0)
