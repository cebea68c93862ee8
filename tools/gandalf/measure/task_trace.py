# SPDX-License-Identifier: Apache-2.0
"""Reads which task of an RTOS ran when, from the ring of guest/rtos/task_trace.h.

It lies in the RTOS's own memory, where its image says. An RTOS without one has no tasks to show.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gandalf.build.build import Built
from gandalf.build.structures import Place
from gandalf.build.symbols import Image
from gandalf.description.description import RtosGuest
from gandalf.measure.ring import ReadMemory

_ON, _RING, _NEXT = "task_trace_on", "task_switches", "task_switches_next"
# In struct task_switch.
_TIME, _TASK, _NAME, _SIZE = Place(0, 8), Place(8, 4), Place(12, 4), 16
_LONGEST_NAME = 32


@dataclass(frozen=True)
class TaskSwitch:
    """From now on this task runs. time: time stamp counter."""

    time: int
    task: int
    name: str


@dataclass(frozen=True)
class TaskTrace:
    """Where an RTOS keeps it: physical addresses. memory: all that it has."""

    guest: str
    code: Image
    memory: range
    on: int
    ring: Place
    next_: int

    def read(self, read: ReadMemory) -> tuple[TaskSwitch, ...]:
        """Return the switches that the ring holds, in order. The machine is stopped."""
        content, count = read(self.ring.offset, self.ring.size), self.ring.size // _SIZE
        next_ = int.from_bytes(read(self.next_, 4), "little")
        slots = [(next_ + i) % count * _SIZE for i in range(count)]
        return tuple(
            TaskSwitch(
                _TIME.number(content, slot),
                _TASK.number(content, slot),
                self._name(_NAME.number(content, slot), read),
            )
            for slot in slots
            if _TIME.number(content, slot)
        )

    def _name(self, address: int, read: ReadMemory) -> str:
        """Return what is at an address of the guest: a function, or a string."""
        found = self.code.find(address)
        if found:
            return found[0]
        start = self.memory.start + address
        size = min(_LONGEST_NAME, self.memory.stop - start)
        if size <= 0:
            return f"{address:#x}"
        return read(start, size).partition(b"\0")[0].decode("ascii", "replace")


def _variables(path: Path) -> dict[str, Place]:
    with path.open("rb") as file:
        return {
            symbol.name: Place(symbol["st_value"], symbol["st_size"])
            for table in ELFFile(file).iter_sections()
            if isinstance(table, SymbolTableSection)
            for symbol in table.iter_symbols()
            if symbol.name in (_ON, _RING, _NEXT)
        }


def find(built: Built) -> Iterator[TaskTrace]:
    """Yield what the RTOSes of a system have that keep one."""
    system = built.checked.system
    for index, (_, guest) in enumerate(system.guests):
        if not isinstance(guest, RtosGuest):
            continue
        path, region = system.resolve(guest.image), built.checked.layout.guests[index]
        with contextlib.suppress(ELFError):
            places = _variables(path)
            if places.keys() == {_ON, _RING, _NEXT}:
                ring = Place(region.start + places[_RING].offset, places[_RING].size)
                on, next_ = (region.start + places[name].offset for name in (_ON, _NEXT))
                memory = range(region.start, region.end)
                yield TaskTrace(guest.name, Image(path, guest.name), memory, on, ring, next_)
