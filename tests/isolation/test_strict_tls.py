# SPDX-License-Identifier: Apache-2.0
"""strict_tls: a flat segment for thread-local storage no longer reads the VMM or an RTOS.

Only Bochs enforces the limits that this is made of.
"""

from collections.abc import Iterator

import pytest

from .attackers import HostileSmall, Result, read_value

pytestmark = pytest.mark.rings

TLS = 6
SELECTOR = hex(TLS * 8 | 3)
FLAT = 0x00CF_F200_0000_FFFF
ACCESSED = 1 << 40


@pytest.fixture(scope="module")
def strict() -> Iterator[HostileSmall]:
    """The small system with strict_tls."""
    with HostileSmall("bochs", "strict.toml") as system:
        yield system.by("pc")


def set_tls(system: HostileSmall, base: int) -> int:
    """Have a TLS descriptor of 4 GiB with this base; returns it."""
    descriptor = FLAT | (base & 0xFFFFFF) << 16 | (base >> 24) << 56
    system.attack(f"gdt {TLS:#x} {descriptor & 0xFFFFFFFF:#x} {descriptor >> 32:#x}")
    return descriptor


@pytest.mark.parametrize("base", [0, 0x1000, 0x7FFFF000, 0xB0000000])
@pytest.mark.parametrize("name", ["vmm_image", "pool", "rtos"])
@pytest.mark.parametrize("register", ["ds", "es", "fs", "gs"])
def test_read(strict: HostileSmall, register: str, name: str, base: int) -> None:
    place = getattr(strict, name)()
    flat = set_tls(strict, base)
    line = f"through {register} {SELECTOR} {(place.linear - base) & 0xFFFFFFFF:#x}"
    without = strict.guest("pc").with_descriptor(TLS * 8, flat | ACCESSED)
    strict.try_read(line, place, without)


def test_both_halves(strict: HostileSmall) -> None:
    """What the segment is for still works: positive and negative offsets, in turn."""
    set_tls(strict, 0x2000)
    strict.attack("read ds 0x700")  # so that the memory is there in Bochs
    with strict.vmm.changed(strict.guest("pc").memory_base + 0x700, 0xABCD):
        below = (0x700 - 0x2000) & 0xFFFFFFFF
        for _ in range(3):
            assert strict.attack(f"through gs {SELECTOR} {below:#x}") == read_value(0xABCD)
            assert strict.attack(f"through gs {SELECTOR} 0x100000").outcome == "read"
    assert strict.attack("hypercall 0x20 0x0 0x0 0x0") == Result("read", 0)
