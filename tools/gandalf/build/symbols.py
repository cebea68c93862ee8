# SPDX-License-Identifier: Apache-2.0
"""Names for linear addresses: functions of the VMM, of a Linux kernel and of RTOSes; vectors."""

import contextlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gandalf.base.paths import ROOT, UserError, shown
from gandalf.build.build import Built
from gandalf.description.cpus import cpus_of
from gandalf.description.description import Guest, RtosGuest
from gandalf.description.levels import TWO_LEVEL

_PAGE = 0x1000
_KERNEL = 0xC0000000
_LAYOUT = ROOT / "vmm" / "arch" / "ia32" / "layout.h"
_EXECUTABLE = 0x4
# Functions of C and labels of assembly.
_CODE = ("STT_FUNC", "STT_NOTYPE")
_VECTORS = 256
HYPERCALL = 0x1E
_VECTOR_NAMES = {
    0x00: "#DE", 0x01: "#DB", 0x03: "#BP", 0x06: "#UD", 0x07: "#NM", 0x08: "#DF", 0x0A: "#TS",
    0x0B: "#NP", 0x0C: "#SS", 0x0D: "#GP", 0x0E: "#PF", 0x10: "#MF", 0x1E: "hypercall",
    0x20: "IRQ 0, timer", 0x21: "IRQ 1", 0x23: "IRQ 3, COM2", 0x24: "IRQ 4, COM1",
    0x28: "IRQ 8, clock",
}  # fmt: skip
_APIC_NAMES = {
    "IPI": "IPI",
    "DOORBELL": "doorbell",
    "MESSAGE": "message",
    "TIMER": "APIC timer",
    "SPURIOUS": "APIC spurious",
}


def definitions(header: Path, prefix: str) -> dict[str, int]:
    """Return the plain numbers that a header of the VMM defines."""
    found = re.findall(rf"^#define ({prefix}\w+) (0x[0-9A-Fa-f]+|\d+)$", header.read_text(), re.M)
    return {name: int(number, 0) for name, number in found}


@cache
def apic_vector(name: str) -> int:
    """Return the vector that the VMM gives an interrupt of the local APIC: "TIMER", "MESSAGE"."""
    return definitions(_LAYOUT, "VECTOR_APIC_")[f"VECTOR_APIC_{name}"]


@cache
def _vector_names() -> dict[int, str]:
    """Return what vectors are called."""
    return _VECTOR_NAMES | {apic_vector(name): shown for name, shown in _APIC_NAMES.items()}


@cache
def variable_address(image: Path, name: str) -> int:
    """Return the address of a variable in an ELF file. Raises UserError if there is none."""
    with image.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if isinstance(section, SymbolTableSection):
                for symbol in section.get_symbol_by_name(name) or ():
                    return int(symbol["st_value"])
    raise UserError(f"{shown(image)} has no {name}.")


class Image:
    """The functions of an ELF file. base: added to the addresses in it."""

    def __init__(self, path: Path, owner: str, base: int = 0) -> None:
        self.path, self.owner, self.base = path, owner, base
        self.addresses: dict[str, int] = {}
        with path.open("rb") as file:
            elf = ELFFile(file)
            sections = list(elf.iter_sections())
            code = {i for i, section in enumerate(sections) if section["sh_flags"] & _EXECUTABLE}
            self._ranges = [
                range(base + section["sh_addr"], base + section["sh_addr"] + section["sh_size"])
                for section in (sections[index] for index in code)
            ]
            for table in sections:
                if isinstance(table, SymbolTableSection):
                    for symbol in table.iter_symbols():
                        if symbol["st_shndx"] in code and symbol["st_info"]["type"] in _CODE:
                            self.addresses.setdefault(symbol.name, symbol["st_value"] + base)
        # Of several names of an address the alphabetically first.
        names = sorted(self.addresses.items(), key=lambda item: (item[1], item[0]), reverse=True)
        self._places = sorted({address: name for name, address in names}.items())
        self._starts = [address for address, _ in self._places]

    def find(self, address: int) -> tuple[str, int] | None:
        """Return the function at an address and the distance from its beginning."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or not any(address in places for places in self._ranges):
            return None
        start, name = self._places[index]
        return name, address - start

    def search(self, function: str, code: bytes) -> int:
        """Return where a function first has these bytes. Raises UserError if it never has."""
        start = self.addresses.get(function)
        with self.path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                first = section["sh_addr"] + self.base
                if start is None or not first <= start < first + section["sh_size"]:
                    continue
                distance = section.data()[start - first :].find(code)
                if self.find(start + distance) == (function, distance):
                    return start + distance
        raise UserError(f"{shown(self.path)} has no {code.hex(' ')} in {function}.")


@dataclass(frozen=True)
class Entries:
    """The VMM's stubs of all vectors (vmm/arch/ia32/entry.h), of a size each."""

    first: int
    size: int
    error: int  # where a vector enters for which the CPU pushes an error code
    any_hypercall: int | None = None  # the number of one more stub, of the hypercall's vector

    def address(self, vector: int) -> int:
        """Return where a vector enters for which the CPU pushes no error code."""
        return self.first + vector * self.size

    def vector(self, address: int) -> int | None:
        """Return the vector whose stub is entered at an address."""
        number, rest = divmod(address - self.first, self.size)
        if number == self.any_hypercall:
            number = HYPERCALL
        return number if 0 <= number < _VECTORS and rest in (0, self.error) else None


class Symbols:
    """The names of everything in a system that has been built.

    cpu: only what there is on that CPU, since each instance of the VMM has an address space of its
    own; None: on a machine with one.
    """

    def __init__(self, built: Built, cpu: int | None = None) -> None:
        self.built = built
        self.vmm = Image(built.vmm, "vmm")
        guests = [guest for _, guest in built.checked.system.guests]
        self.guests = [guest for guest in guests if cpu is None or cpu in cpus_of(guest)]
        self.images = [self.vmm, *_guest_images(built, self.guests)]
        sizes = definitions(ROOT / "vmm" / "arch" / "ia32" / "entry.h", "ENTRY_")
        self.entries = Entries(
            self.vmm.addresses["entry_stubs"], sizes["ENTRY_STUB_SIZE"],
            sizes["ENTRY_STUB_ERROR"], sizes["ENTRY_STUB_ANY_HYPERCALL"],
        )  # fmt: skip

    def function(self, address: int) -> str:
        """Return who has an address: "trap", "linux: do_idle", "a process"."""
        vector = self.entries.vector(address)
        if vector is not None:
            return f"entry of {vector_text(vector)}"
        for image in self.images:
            found = image.find(address)
            if found:
                return found[0] if image is self.vmm else f"{image.owner}: {found[0]}"
        return f"{address:#010x}" if address >= _KERNEL else "a process"

    def place(self, address: int) -> str:
        """Return the function at an address with the distance from its beginning."""
        for image in self.images:
            found = image.find(address)
            if found and found[1] and self.entries.vector(address) is None:
                return f"{self.function(address)}+{found[1]:#x}"
        return self.function(address)

    def address(self, name: str) -> int:
        """Return the address of "0x...", "vmm:FUNCTION" or "GUEST:FUNCTION"; or raise UserError."""
        if re.fullmatch(r"0x[0-9a-fA-F]+", name):
            return int(name, 16)
        owner, _, function = name.rpartition(":")
        for image in self.images:
            if image.owner == (owner or "vmm") and function in image.addresses:
                return image.addresses[function]
        owners = ", ".join(image.owner for image in self.images)
        raise UserError(
            f'"{name}" is no address: give 0x..., or OWNER:FUNCTION, where OWNER is one of '
            f"{owners}."
        )


def vector_text(vector: int) -> str:
    """Return a vector as "0x0e #PF"."""
    return f"{vector:#04x} {_vector_names().get(vector, '')}".strip()


def _guest_images(built: Built, guests: list[Guest]) -> list[Image]:
    """Read guests' images that are ELF files. RTOSes are mapped in order, as memory_map_rtos().

    With two levels each has an address space of its own, in which it begins at address 0.
    """
    system = built.checked.system
    linear = definitions(_LAYOUT, "LAYOUT_")["LAYOUT_RTOS"] + _PAGE
    images = []
    for guest in guests:
        is_rtos = isinstance(guest, RtosGuest)
        moved = is_rtos and system.machine.rings != TWO_LEVEL
        path = system.resolve(guest.image if isinstance(guest, RtosGuest) else guest.kernel)
        with contextlib.suppress(ELFError):  # a bzImage has no symbols
            images.append(Image(path, guest.name, linear if moved else 0))
        if is_rtos:
            linear += guest.memory + _PAGE
    return images
