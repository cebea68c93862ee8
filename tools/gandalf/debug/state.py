# SPDX-License-Identifier: Apache-2.0
"""What the VMM keeps of a guest, read from a machine's memory: who runs, and saved registers.

Where it is comes from the symbols and the debug information of the VMM's image.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from gandalf.base.paths import UserError, shown
from gandalf.build.build import Built
from gandalf.build.structures import Place, Structure, read_structures, read_variables
from gandalf.description.levels import TWO_LEVEL

# The registers that gdb knows a 32-bit x86 by, in its order.
REGISTERS = (
    "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "eflags", "cs", "ss", "ds",
    "es", "fs", "gs",
)  # fmt: skip
_SELECTORS = ("cs", "ss", "ds", "es", "fs", "gs")
_PAGE = 0x1000
_WORD = Place(0, 4)
# How the VMM's image and its pool of frames are mapped (vmm/arch/ia32/layout.h).
_IMAGE, _POOL = 0xFC400000, 0xFF000000
_IMAGE_SIZE = 0x400000
_CR0_PG, _CR4_PSE, _PTE_P, _PTE_PS = 1 << 31, 1 << 4, 1, 1 << 7
# The rings of guests' kernels and of processes.
_GUEST_RINGS = (1, 3)

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Register:
    """A register that stands in memory. address: physical; None: the value cannot be changed."""

    value: int
    address: int | None


class Vmm:
    """The VMM of a machine, with the variables of a CPU's instance.

    read: physical memory, address and size.
    """

    def __init__(self, built: Built, read: Read, cpu: int) -> None:
        self.read = read
        self._structures = read_structures(built.vmm, ("vcpu", "vm", "core", "frame", "x86"))
        self._variables = read_variables(built.vmm, ("core", "vms", "pool_distance"))
        if self._variables.keys() != {"core", "vms", "pool_distance"}:
            raise UserError(f"{shown(built.vmm)} lacks symbols that a debugger needs; rebuild it.")
        machine = built.checked.system.machine
        self.two_level = machine.rings == TWO_LEVEL
        pool, size = built.checked.layout.pool.start, machine.shadow_pool
        # The last page of another core's pool says where the pages of its image are
        # (vmm/core/instances.c).
        self._table = pool + (cpu + 1) * size - _PAGE if cpu else None

    def structure(self, name: str) -> Structure:
        """Return how a structure of the VMM is laid out."""
        return self._structures[name]

    def number(self, linear: int, place: Place) -> int:
        """Return a number in a structure at a linear address."""
        address = self.physical(linear + place.offset)
        return int.from_bytes(self.read(address, place.size), "little")

    def physical(self, linear: int) -> int:
        """Return the physical address of something in the VMM's image or pool."""
        if _IMAGE <= linear < _IMAGE + _IMAGE_SIZE:
            return self._frame(linear - _IMAGE) + linear % _PAGE
        if linear >= _POOL:
            return (linear - self.number(self._variable("pool_distance"), _WORD)) & 0xFFFFFFFF
        raise ValueError(f"{linear:#x} is neither in the VMM's image nor in its pool")

    def _frame(self, offset: int) -> int:
        """Return the physical address of the page that is so far into the image."""
        if self._table is None:
            return offset & -_PAGE
        entry = int.from_bytes(self.read(self._table + offset // _PAGE * 4, 4), "little")
        return entry & -_PAGE

    def _variable(self, name: str) -> int:
        return _IMAGE + self._variables[name].offset

    @property
    def has_begun(self) -> bool:
        """Whether the instance is there: another CPU's is made when that CPU is started."""
        return self._table is None or self._frame(self._variables["core"].offset) != 0

    def current(self) -> int:
        """Return the linear address of the vCPU that has the CPU; 0 before there is one."""
        return self.number(self._variable("core"), self.structure("core").members["current"])

    def vm(self, index: int) -> int:
        """Return the linear address of a guest's struct vm."""
        return self._variable("vms") + index * self.structure("vm").size


class GuestState:
    """A guest of the machine. index: its place in the description. base, size: of its memory.

    pages: a Linux, which has page tables of its own.
    """

    def __init__(self, vmm: Vmm, index: int, base: int, size: int, *, pages: bool) -> None:
        self.vmm, self.base, self.size, self._pages = vmm, base, size, pages
        self._vm = vmm.vm(index)

    @property
    def vcpu(self) -> int:
        """The linear address of its vCPU; 0 while there is none."""
        if not self.vmm.has_begun:
            return 0
        return self.vmm.number(self._vm, self.vmm.structure("vm").members["vcpus"])

    @property
    def linear(self) -> int:
        """What is added to its addresses: where its segments begin (rtos_space_base())."""
        if self._pages or self.vmm.two_level:
            return 0
        return self.vmm.number(self._vm, self.vmm.structure("vm").members["linear"])

    def is_vm(self, linear: int) -> bool:
        """Tell whether a struct vm is this guest's."""
        return linear == self._vm

    def runs(self, cs: int) -> bool:
        """Tell whether the CPU, with this CS, executes an instruction of this guest."""
        return cs & 3 in _GUEST_RINGS and 0 != self.vcpu == self.vmm.current()

    def saved(self) -> dict[str, Register] | None:
        """Return the registers with which it will go on; None before its first instruction."""
        vcpu = self.vcpu
        if vcpu == 0:
            return None
        members = self.vmm.structure("vcpu").members
        frame = self.vmm.number(vcpu, members["frame"])
        if frame == 0:
            return None
        last = Place(members["stack_frames"].offset + _WORD.size, _WORD.size)
        start = self.vmm.number(vcpu, last) + frame % _PAGE
        layout = self.vmm.structure("frame")
        memory = self.vmm.read(start, layout.size)
        registers = {}
        for name in REGISTERS:
            place = layout.members[name]
            mask = 0xFFFF if name in _SELECTORS else 0xFFFFFFFF
            registers[name] = Register(place.number(memory) & mask, start + place.offset)
        return registers

    def physical(self, address: int) -> int | None:
        """Return where a byte of the guest's memory is; None if nothing is there."""
        if not self._pages:
            return self.base + address if address < self.size else None
        translated = self._walk(address)
        return None if translated is None or translated >= self.size else self.base + translated

    def _walk(self, address: int) -> int | None:
        """Walk a Linux's own page tables, which need not be in the shadow yet."""
        vcpu, members = self.vcpu, self.vmm.structure("x86").members
        if vcpu == 0:
            return None
        pointer = self.vmm.structure("vcpu").members["x86"]
        x86 = self.vmm.number(vcpu, pointer)
        if not self.vmm.number(x86, members["cr0"]) & _CR0_PG:
            return address
        directory = self.vmm.number(x86, members["cr3"]) & ~0xFFF
        entry = self._entry(directory, address >> 22)
        if not entry & _PTE_P:
            return None
        if entry & _PTE_PS and self.vmm.number(x86, members["cr4"]) & _CR4_PSE:
            return (entry & 0xFFC00000) | (address & 0x3FFFFF)
        entry = self._entry(entry & ~0xFFF, address >> 12 & 0x3FF)
        return (entry & ~0xFFF) | (address & 0xFFF) if entry & _PTE_P else None

    def _entry(self, table: int, index: int) -> int:
        if table >= self.size:
            return 0
        (entry,) = struct.unpack("<I", self.vmm.read(self.base + table + 4 * index, 4))
        return int(entry)
