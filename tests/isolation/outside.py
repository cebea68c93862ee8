# SPDX-License-Identifier: Apache-2.0
"""Looks at a running machine from outside: its physical memory and the VMM's own state.

QEMU and Bochs keep the machine's memory in one block of their own, which the
kernel shows to whoever started them (/proc/PID/mem). So a test can compare memory
before and after an attack without asking any guest, and take a protection away
without a switch for it in the VMM. Both emulators run on meanwhile; what they
cache of memory (TLB, descriptors) is the caller's business, as on a real CPU.
"""

import re
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.build.build import build_vmm
from gandalf.build.profile import FULL, find_profile
from gandalf.run.emulator import Bochs, Emulator, Qemu
from tests.boot.systems import TWO_LEVEL, World

PAGE = 0x1000
PTE_P, PTE_W, PTE_U, PTE_PS = 0x1, 0x2, 0x4, 0x80
CR0_WP = 0x10000
# SHADOW_SPACES_PER_FRAME of vmm/guests/x86/shadow/space.h.
_SPACES_PER_FRAME = 128
_LAYOUT = ROOT / "vmm" / "arch" / "ia32" / "layout.h"


class VmmImage:
    """Symbols and structures of the VMM, from its symbol table and debug information."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            table = elf.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            self.symbols = {symbol.name: int(symbol["st_value"]) for symbol in table.iter_symbols()}
            self._structures: dict[str, Any] = {}
            for unit in elf.get_dwarf_info().iter_CUs():
                for die in unit.iter_DIEs():
                    name = die.attributes.get("DW_AT_name")
                    if die.tag == "DW_TAG_structure_type" and name and die.has_children:
                        self._structures.setdefault(name.value.decode(), self._fields(die))
            self.text = self._text(elf)

    @staticmethod
    def _fields(structure: Any) -> dict[str, tuple[int, str | None]]:
        """Return offset and, of a structure inside, the name of its type, by field.

        The fields of a structure or union without a name are fields of the one around it.
        """
        fields: dict[str, tuple[int, str | None]] = {}
        for member in structure.iter_children():
            if member.tag != "DW_TAG_member":
                continue
            kind = member.get_DIE_from_attribute("DW_AT_type")
            location = member.attributes.get("DW_AT_data_member_location")
            if location is None and "union" not in structure.tag:
                continue
            place = int(location.value) if location else 0
            name = member.attributes.get("DW_AT_name")
            if name is not None:
                inner = kind.attributes.get("DW_AT_name") if "structure" in kind.tag else None
                fields[name.value.decode()] = (place, inner.value.decode() if inner else None)
            elif "structure" in kind.tag or "union" in kind.tag:
                for inside, (offset, inner_name) in VmmImage._fields(kind).items():
                    if inside != "sizeof":
                        fields[inside] = (place + offset, inner_name)
        fields["sizeof"] = (int(structure.attributes["DW_AT_byte_size"].value), None)
        return fields

    @staticmethod
    def _text(elf: Any) -> tuple[int, bytes]:
        """Return the physical address and the bytes of the code, which never change."""
        section = elf.get_section_by_name(".text")
        for segment in elf.iter_segments():
            start = section["sh_addr"] - segment["p_vaddr"]
            if segment["p_type"] == "PT_LOAD" and 0 <= start < segment["p_filesz"]:
                return int(segment["p_paddr"] + start), bytes(section.data())
        raise AssertionError("The VMM's image has no code.")

    def offset(self, structure: str, path: str) -> int:
        """Return the offset of a field ("shadow.master") in a structure."""
        total = 0
        for name in path.split("."):
            offset, inner = self._structures[structure][name]
            total += offset
            structure = inner or ""
        return total

    def size(self, structure: str) -> int:
        """Return the bytes of a structure."""
        return int(self._structures[structure]["sizeof"][0])


@cache
def _vmm_image(path: Path, _modified: int) -> VmmImage:
    return VmmImage(path)


@cache
def vmm_path() -> Path:
    """Build the VMM that has everything, in the world that is tested, and return its image."""
    return build_vmm(find_profile(World.rings if World.rings == TWO_LEVEL else FULL))


def vmm_image(path: Path | None = None) -> VmmImage:
    """Return what is known of an image, which is read once, since that takes a second."""
    path = path or vmm_path()
    return _vmm_image(path, path.stat().st_mtime_ns)


@cache
def layout() -> dict[str, int]:
    """Return the numbers of vmm/arch/ia32/layout.h that are plain."""
    found = re.findall(r"^#define (\w+) (0x[0-9a-fA-F]+)$", _LAYOUT.read_text(), re.MULTILINE)
    return {name: int(value, 16) for name, value in found}


class _Process:
    """The memory of a process of ours, by its own addresses."""

    def __init__(self, process: int) -> None:
        self._folder = Path(f"/proc/{process}")

    def read(self, address: int, size: int) -> bytes:
        """Return what can be read, at most so many bytes."""
        with (self._folder / "mem").open("rb", buffering=0) as memory:
            try:
                memory.seek(address)
                return memory.read(size) or b""
            except (OSError, OverflowError):
                return b""

    def write(self, address: int, data: bytes) -> None:
        with (self._folder / "mem").open("r+b", buffering=0) as memory:
            memory.seek(address)
            assert memory.write(data) == len(data)

    def writable(self) -> Iterator[tuple[int, int]]:
        """Return start and end of every mapping that can be written."""
        for line in (self._folder / "maps").read_text().splitlines():
            place, permissions = line.split()[:2]
            if permissions.startswith("rw"):
                start, end = (int(word, 16) for word in place.split("-"))
                yield start, end


class PhysicalMemory(ABC):
    """The memory of a machine, by physical address."""

    def __init__(self, process: int) -> None:
        self._process = _Process(process)

    @abstractmethod
    def _host(self, address: int) -> int:
        """Return where the emulator keeps the byte at a physical address."""

    def read(self, address: int, size: int) -> bytes:
        assert address // PAGE == (address + size - 1) // PAGE or isinstance(self, QemuMemory)
        data = self._process.read(self._host(address), size)
        assert len(data) == size, f"no memory at physical address {address:#x}"
        return data

    def write(self, address: int, data: bytes) -> None:
        self._process.write(self._host(address), data)

    def word(self, address: int) -> int:
        return int(struct.unpack("<I", self.read(address, 4))[0])

    def set_word(self, address: int, value: int) -> None:
        self.write(address, struct.pack("<I", value & 0xFFFFFFFF))


class QemuMemory(PhysicalMemory):
    """QEMU keeps all of it in one piece."""

    def __init__(self, process: int, size: int, address: int, known: bytes) -> None:
        """Find it; size: bytes of memory, known: what must be at the address."""
        super().__init__(process)
        bases = (start for start, end in self._process.writable() if end - start >= size)
        found = [at for at in bases if self._process.read(at + address, len(known)) == known]
        assert found, "QEMU's memory cannot be found; has the VMM started?"
        self._base = found[0]

    def _host(self, address: int) -> int:
        return self._base + address


class BochsMemory(PhysicalMemory):
    """Bochs keeps blocks in the order of their first use, and an array of pointers to them."""

    _BLOCKS = (0x100000, 0x20000)

    def __init__(self, process: int, size: int, address: int, known: bytes) -> None:
        """Find the array; size: bytes of memory, known: what must be at the address."""
        super().__init__(process)
        self._block, self._array = self._find(size, address, known)

    def _find(self, size: int, address: int, known: bytes) -> tuple[int, int]:
        contents = {
            start: self._process.read(start, end - start) for start, end in self._process.writable()
        }
        copies = [
            start + match.start()
            for start, content in contents.items()
            for match in re.finditer(re.escape(known), content)
        ]
        for block in self._BLOCKS:
            for pointer in (copy - address % block for copy in copies):
                packed = struct.pack("<Q", pointer)
                for start, content in contents.items():
                    at = content.find(packed)
                    while at >= 0:
                        array = at - address // block * 8
                        if self._is_array(content, array, size // block, block):
                            return block, start + array
                        at = content.find(packed, at + 1)
        raise AssertionError("Bochs' memory cannot be found; has the VMM started?")

    @staticmethod
    def _is_array(content: bytes, at: int, count: int, block: int) -> bool:
        """Tell whether there is an array of different blocks' addresses, some of them null."""
        if at < 0 or at + count * 8 > len(content):
            return False
        pointers = [value for value in struct.unpack_from(f"<{count}Q", content, at) if value]
        apart = all((value - pointers[0]) % block == 0 for value in pointers)
        return apart and 4 <= len(set(pointers)) == len(pointers)

    def _host(self, address: int) -> int:
        entry = self._process.read(self._array + address // self._block * 8, 8)
        return int(struct.unpack("<Q", entry)[0]) + address % self._block


@dataclass(frozen=True)
class Place:
    """A word of memory that an attack aims at: where guests would reach it, and where it is."""

    name: str
    linear: int
    physical: int


class Vmm:
    """The VMM of a running machine."""

    def __init__(self, emulator: Emulator, megabytes: int, image: VmmImage) -> None:
        self.image = image
        address, text = image.text
        assert isinstance(emulator, Qemu | Bochs)
        kind = QemuMemory if isinstance(emulator, Qemu) else BochsMemory
        process = emulator._process.pid
        assert process is not None
        assert process is not None
        self.memory: PhysicalMemory = kind(process, megabytes << 20, address, text[:64])

    def physical(self, linear: int) -> int:
        """Return the physical address behind one of the VMM's linear addresses."""
        directory = self.image.symbols["memory_directory"] - layout()["LAYOUT_IMAGE"]
        entry = self.memory.word(directory + (linear >> 22) * 4)
        if entry & PTE_PS:
            return (entry & 0xFFC00000) + (linear & 0x3FFFFF)
        table = (entry & ~0xFFF) + (linear >> 12 & 0x3FF) * 4
        return int((self.memory.word(table) & ~0xFFF) + (linear & 0xFFF))

    def pte(self, linear: int) -> int:
        """Return the physical address of the page-table entry of a linear address."""
        directory = self.image.symbols["memory_directory"] - layout()["LAYOUT_IMAGE"]
        entry = self.memory.word(directory + (linear >> 22) * 4)
        assert entry & PTE_P
        assert not entry & PTE_PS
        return int((entry & ~0xFFF) + (linear >> 12 & 0x3FF) * 4)

    def word(self, linear: int) -> int:
        return self.memory.word(self.physical(linear))

    def field(self, structure: str, linear: int, path: str) -> int:
        """Return the linear address of a field of a structure at an address."""
        return linear + self.image.offset(structure, path)

    def vm(self, index: int) -> "Guest":
        """Return a guest by its place in the description."""
        return Guest(self, self.image.symbols["vms"] + index * self.image.size("vm"))

    def place(self, name: str, linear: int) -> Place:
        return Place(name, linear, self.physical(linear))

    @contextmanager
    def changed(self, physical: int, value: int) -> Iterator[None]:
        """Have another word at a physical address meanwhile."""
        kept = self.memory.word(physical)
        self.memory.set_word(physical, value)
        try:
            yield
        finally:
            self.memory.set_word(physical, kept)


class Guest:
    """What the VMM keeps about a guest, and the protections that hold for it."""

    def __init__(self, vmm: Vmm, address: int) -> None:
        self.vmm = vmm
        self._vm = address
        self._vcpu = vmm.word(vmm.field("vm", address, "vcpus"))
        self.tables = vmm.word(vmm.field("vcpu", self._vcpu, "tables"))
        self.linear = vmm.word(vmm.field("vm", address, "linear"))
        description = vmm.word(vmm.field("vm", address, "guest"))
        self.memory_base = vmm.word(vmm.field("gandalf_guest", description, "memory_base"))
        self.memory_size = vmm.word(vmm.field("gandalf_guest", description, "memory_size"))
        kind = vmm.word(vmm.field("gandalf_guest", description, "kind"))
        self.is_rtos = kind == abi()["KIND_RTOS"]
        # With two levels it has an address space of its own, in which it begins at address 0.
        self.base = 0 if World.rings == TWO_LEVEL else self.linear

    def descriptor_address(self, selector: int) -> int:
        """Return the physical address of the real descriptor of a selector."""
        gdt = self.vmm.image.offset("segment_tables", "gdt")
        return self.vmm.physical(self.tables + gdt + (selector & ~7))

    def descriptor(self, selector: int) -> int:
        data = self.vmm.memory.read(self.descriptor_address(selector), 8)
        return int(struct.unpack("<Q", data)[0])

    @contextmanager
    def with_descriptor(self, selector: int, descriptor: int) -> Iterator[None]:
        """Have another descriptor in the real GDT: what the VMM would never put there."""
        address = self.descriptor_address(selector)
        kept = self.vmm.memory.read(address, 8)
        self.vmm.memory.write(address, struct.pack("<Q", descriptor))
        try:
            yield
        finally:
            self.vmm.memory.write(address, kept)

    def without_limit(self, *selectors: int) -> "_All":
        """Have no limits in these segments: 4 GiB each."""
        return _All(
            self.with_descriptor(selector, self.descriptor(selector) | 0x008F_0000_0000_FFFF)
            for selector in selectors
        )

    @contextmanager
    def open_to_ring_3(self, place: Place) -> Iterator[None]:
        """Have the page of a place be the guest's to read and write, in all its address spaces.

        An address space that is made meanwhile has that, too, and loses it behind this.
        """
        memory, offset = self.vmm.memory, (place.linear >> 22) * 4
        kept = memory.word(self._directories()[0] + offset)
        for directory in self._directories():
            memory.set_word(directory + offset, kept | PTE_U | PTE_W)
        table = [] if kept & PTE_PS else [self.vmm.pte(place.linear)]
        try:
            with _All(self.vmm.changed(pte, memory.word(pte) | PTE_U | PTE_W) for pte in table):
                yield
        finally:
            for directory in self._directories():
                memory.set_word(directory + offset, kept)

    def _directories(self) -> list[int]:
        """Return where its page directories are, both views', and what new ones are copies of."""
        vmm = self.vmm
        if self.is_rtos:
            return [vmm.word(vmm.field("vcpu", self._vcpu, "cr3"))]
        shadow = vmm.field("x86", vmm.word(vmm.field("vcpu", self._vcpu, "x86")), "shadow")
        found = [vmm.word(vmm.field("shadow", shadow, name)) for name in ("master", "identity")]
        frames, size = vmm.field("shadow", shadow, "space_frames"), vmm.image.size("space")
        for index in range(vmm.word(vmm.field("shadow", shadow, "space_limit"))):
            frame = vmm.word(frames + index // _SPACES_PER_FRAME * 4)
            space = frame + index % _SPACES_PER_FRAME * size
            directory = vmm.memory.word(space + vmm.image.offset("space", "directory"))
            process = vmm.memory.word(space + vmm.image.offset("space", "process"))
            found += [directory, process] if directory else []
        return found

    def without_protection(self, place: Place, *selectors: int) -> Any:
        """Have what keeps the guest from reading a place taken away.

        With rings that is the limits of these segments, and with two levels the rights of pages.
        """
        if World.rings == TWO_LEVEL:
            return self.open_to_ring_3(place)
        return self.without_limit(*selectors)

    def without_write_protection(self, place: Place) -> Any:
        """Have what keeps the guest from writing a place taken away.

        With rings that is CR0.WP, from the guest's next return from the VMM on.
        """
        if World.rings == TWO_LEVEL:
            return self.open_to_ring_3(place)
        address = self.vmm.physical(self.vmm.field("vcpu", self._vcpu, "cr0"))
        return self.vmm.changed(address, self.vmm.memory.word(address) & ~CR0_WP)

    def without_memory_bound(self) -> Any:
        """Have the shadow believe that all physical memory is the guest's."""
        x86 = self.vmm.word(self.vmm.field("vcpu", self._vcpu, "x86"))
        address = self.vmm.physical(self.vmm.field("x86", x86, "shadow.memory_size"))
        return self.vmm.changed(address, 0xFFFFFFFF)

    def with_gate_for_all(self, vector: int) -> Any:
        """Have DPL 3 in a gate of the real IDT."""
        gdt = self.vmm.image.offset("segment_tables", "idt")
        address = self.vmm.physical(self.tables + gdt + vector * 8 + 4)
        return self.vmm.changed(address, self.vmm.memory.word(address) | 3 << 13)

    def with_port(self, port: int) -> Any:
        """Have a port allowed in the real I/O bitmap."""
        tss = self.vmm.image.offset("segment_tables", "tss")
        bit = (tss + self.vmm.image.offset("tss", "bitmap")) * 8 + port
        address = self.vmm.physical(self.tables + bit // 32 * 4)
        return self.vmm.changed(address, self.vmm.memory.word(address) & ~(1 << bit % 32))

    def guest_physical(self, physical: int) -> int:
        """Return the address by which a guest would name physical memory, modulo 4 GiB."""
        return (physical - self.memory_base) & 0xFFFFFFFF


class _All:
    """Several context managers as one."""

    def __init__(self, managers: Iterator[Any]) -> None:
        self._managers = list(managers)

    def __enter__(self) -> None:
        for manager in self._managers:
            manager.__enter__()

    def __exit__(self, *error: object) -> None:
        for manager in reversed(self._managers):
            manager.__exit__(*error)
