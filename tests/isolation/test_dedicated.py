# SPDX-License-Identifier: Apache-2.0
"""A hostile kernel in ring 1 on a dedicated CPU: what still binds it, and that ports do not."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .attackers import WROTE, HostileDedicated, read_value
from .outside import Place

pytestmark = pytest.mark.rings

KERNEL_DATA, USER_DATA, TLS = 0x68, 0x7B, 6
FLAT_LOW, FLAT_HIGH = 0x0000_FFFF, 0x00CF_F200
TARGETS = ["vmm_image", "pool"]
LIMITS = pytest.mark.parametrize("alone", ["bochs"], indirect=True)


@pytest.fixture(scope="module", params=["qemu", "bochs"])
def alone(request: pytest.FixtureRequest) -> Iterator[HostileDedicated]:
    """The kernel, in either emulator."""
    with HostileDedicated(request.param) as system:
        yield system


@LIMITS
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("register", ["ds", "es", "ss"])
def test_read(alone: HostileDedicated, register: str, name: str) -> None:
    place = getattr(alone, name)()
    selector = KERNEL_DATA if register == "ss" else USER_DATA
    line = f"read {register} {place.linear:#x}"
    alone.try_read(line, place, alone.guest("pc").without_limit(selector))


@contextmanager
def without_write_protection(alone: HostileDedicated, place: Place) -> Iterator[None]:
    """Begins and ends behind a return from the VMM, which loads CR0: the next command need not
    cause one, since the kernel reads its serial port itself."""
    with alone.guest("pc").without_write_protection(place):
        alone.must_fail("far-call 0x100")
        yield
    alone.must_fail("far-call 0x100")


@pytest.mark.parametrize("name", TARGETS)
def test_write_through_flat(alone: HostileDedicated, name: str) -> None:
    place = getattr(alone, name)()
    alone.attack(f"gdt {TLS:#x} {FLAT_LOW:#x} {FLAT_HIGH:#x}")
    line = f"through es {TLS * 8 | 3:#x} {place.linear:#x}"
    alone.try_write(line, place, without_write_protection(alone, place))


@pytest.mark.parametrize("attack", ["page", "large-page"])
@pytest.mark.parametrize("name", TARGETS)
def test_page(alone: HostileDedicated, attack: str, name: str) -> None:
    guest, place = alone.guest("pc"), getattr(alone, name)()
    line = f"{attack} {guest.guest_physical(place.physical):#x}"
    with alone.vmm.changed(place.physical, 0x13579BDF):
        assert alone.attack(line) == read_value(0xFFFFFFFF)
        with guest.without_memory_bound():
            assert alone.attack(line) == read_value(0x13579BDF)
        assert alone.attack(line) == read_value(0xFFFFFFFF)


def test_privileged(alone: HostileDedicated) -> None:
    """Gates and descriptors are as on a shared CPU."""
    for selector in (0x100, 0x101, 0x108, 0x110, 0x118):
        alone.must_fail(f"far-call {selector:#x}")
    alone.must_fail("opcode 0x2 0x8cd")


def test_ports_are_its_own(alone: HostileDedicated) -> None:
    """What this mode does not isolate: the scratch register of the real UART, as any port."""
    assert alone.attack("out 0x3ff 0x5a") == WROTE
    assert alone.attack("in 0x3ff") == read_value(0x5A)
    pc = alone.guest("pc")
    with pc.with_port(0x3FF):
        assert alone.attack("in 0x3ff") == read_value(0x5A)


@pytest.mark.parametrize("address", [0xFC400000, 0xFFFFFFF0])
def test_flush_of_anything(alone: HostileDedicated, address: int) -> None:
    """What FLUSH names is looked for and never followed."""
    for start, end in ((0, 0xFFFFFFFF), (0xFC000000, 0xFFFFFFFF), (0xFFFFF000, 0)):
        line = f"hypercall 0x10 {address:#x} {start:#x} {end:#x}"
        assert alone.attack(line) == read_value(0)


def test_hypercall_pointer(alone: HostileDedicated) -> None:
    """Last, because it ends the guest: LOAD_TLS with a pointer into the VMM."""
    place = alone.vmm_image()
    alone.machine.send_raw(f"hypercall 0x11 {place.linear:#x} 0x0 0x0\n".encode())
    alone.machine.expect("vmm", "guest pc stopped: hypercall 17 with bad address", 60)
