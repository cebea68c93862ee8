# SPDX-License-Identifier: Apache-2.0
"""Reads the VMM's trace rings (vmm/core/trace.c) out of a machine's memory.

The VMM's own ring comes first, and those of the guests follow in the order of the description.
Where they are, how an event is laid out and what the numbers in it are called comes from the
symbols and the debug information of the VMM's image.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from gandalf.base.abi import abi
from gandalf.base.paths import UserError, shown
from gandalf.build.structures import (
    Place,
    Structure,
    die_name,
    die_number,
    fields,
    read_variables,
    type_size,
    types,
)

# The name of each enumeration, what its members begin with, and the one that is none, if any.
_ENUMERATIONS = {
    "trace_type": ("TRACE_", "TRACE_TYPES"),
    "decoded_operation": ("DECODED_", "DECODED_OPERATIONS"),
    "vcpu_state": ("VCPU_", ""),
}
# Not in an image for RTOSes alone.
_OF_LINUX = "decoded_operation"
_FIELDS = {"time", "type", "vcpu", "first", "second"}
_EVENT = "gandalf_trace_event"
_RING, _RING_FIELDS = "gandalf_trace_ring", {"next", "events"}
_STATE = "GANDALF_STATE_"
_RINGS = "trace_rings"
_VARIABLES = {_RINGS, "time_tsc_khz"}

ReadMemory = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Event:
    """An event. time: time stamp counter. kind: its name. vcpu: the current one."""

    time: int
    kind: str
    vcpu: int
    first: int
    second: int


@dataclass(frozen=True)
class Layout:
    """What the VMM's image says of the rings; names: by enumeration and number."""

    event: Structure
    ring: Structure
    names: dict[str, dict[int, str]]
    variables: dict[str, Place]

    @property
    def capacity(self) -> int:
        return self.ring.members["events"].size // self.event.size

    def rings(self, guests: int) -> Place:
        """Return where the VMM's ring and those of the first guests are."""
        return Place(self.variables[_RINGS].offset, (1 + guests) * self.ring.size)


@dataclass(frozen=True)
class Ring:
    """Events in order of time, as rings held them or as they were copied from these in time.

    lost: there may have been others.
    """

    events: tuple[Event, ...]
    lost: bool
    tsc_khz: int


def _members(enumeration: DIE, prefix: str, count: str) -> dict[int, str]:
    return {
        die_number(member, "DW_AT_const_value"): die_name(member).removeprefix(prefix)
        for member in enumeration.iter_children()
        if die_name(member) != count
    }


def read_layout(image: Path) -> Layout:
    """Read the VMM's image. Raises UserError if it lacks what is needed."""
    structures: dict[str, Structure] = {}
    names: dict[str, dict[int, str]] = {}
    with image.open("rb") as file:
        elf = ELFFile(file)
        for die in types(elf):
            name = die_name(die)
            if name in (_EVENT, _RING) and "DW_AT_byte_size" in die.attributes:
                structures[name] = Structure(type_size(die), fields(die))
            elif name in _ENUMERATIONS and name not in names:
                names[name] = _members(die, *_ENUMERATIONS[name])
    variables = read_variables(image, _VARIABLES)
    if not (
        structures.keys() == {_EVENT, _RING}
        and structures[_EVENT].members.keys() == _FIELDS
        and structures[_RING].members.keys() == _RING_FIELDS
        and names.keys() | {_OF_LINUX} == _ENUMERATIONS.keys()
        and variables.keys() == _VARIABLES
    ):
        raise UserError(f"{shown(image)} does not say what its trace rings are like; rebuild it.")
    names.setdefault(_OF_LINUX, {})
    names["vm_state"] = {
        number: name.removeprefix(_STATE)
        for name, number in abi().constants.items()
        if name.startswith(_STATE)
    }
    return Layout(structures[_EVENT], structures[_RING], names, variables)


def _event(memory: bytes, base: int, layout: Layout) -> Event:
    values = {name: place.number(memory, base) for name, place in layout.event.members.items()}
    kind = layout.names["trace_type"].get(values["type"])
    if kind is None:
        raise UserError(
            f"The trace ring holds an event of the unknown type {values['type']}; it is not the "
            "ring of the VMM that was built."
        )
    return Event(values["time"], kind, values["vcpu"], values["first"], values["second"])


def _in_ring(memory: bytes, base: int, layout: Layout) -> Iterator[Event]:
    """Yield the events of a ring that begins at base, in the order in which they got their slots.

    An event of the time 0 was never written.
    """
    next_ = layout.ring.members["next"].number(memory, base)
    first = base + layout.ring.members["events"].offset
    for number in range(layout.capacity):
        slot = first + (next_ + number) % layout.capacity * layout.event.size
        if layout.event.members["time"].number(memory, slot) != 0:
            yield _event(memory, slot, layout)


def _in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(sorted(events, key=lambda event: event.time))


def parse(memory: bytes, layout: Layout) -> tuple[Event, ...]:
    """Return the events of rings that stand one behind the other, in order of time.

    Slots are out of order where an interrupt came between the choice of a slot and the time stamp.
    """
    bases = range(0, len(memory), layout.ring.size)
    return _in_order(event for base in bases for event in _in_ring(memory, base, layout))


def _content(layout: Layout, read: ReadMemory, name: str) -> bytes:
    place = layout.variables[name]
    return read(place.offset, place.size)


def _tsc_khz(layout: Layout, read: ReadMemory) -> int:
    khz = int.from_bytes(_content(layout, read, "time_tsc_khz"), "little")
    if khz == 0:
        raise UserError("The VMM had not measured the time stamp counter yet.")
    return khz


def read_ring(layout: Layout, read: ReadMemory, guests: Iterable[int]) -> Ring:
    """Read the VMM's ring and those of some guests, by their places, of a machine that is stopped.

    read: physical address, size. What lies further back than a ring that has lost some of its
    events is left out, so that what is returned is all that happened since then.
    """
    tsc_khz = _tsc_khz(layout, read)
    first, size = layout.variables[_RINGS].offset, layout.ring.size
    rings = [
        parse(read(first + index * size, size), layout)
        for index in (0, *(1 + place for place in guests))
    ]
    full = [ring for ring in rings if len(ring) == layout.capacity]
    since = max((ring[0].time for ring in full), default=0)
    events = (event for ring in rings for event in ring if event.time >= since)
    return Ring(_in_order(events), bool(full), tsc_khz)


def history_options(layout: Layout, output: Path, guests: int) -> dict[str, str | int]:
    """Return the options with which the plug-in copies all that the rings are given to a file."""
    rings = layout.rings(guests)
    return {
        "ring": f"{rings.offset}-{rings.offset + rings.size}",
        "history": str(output),
        "rings": 1 + guests,
        "entries": layout.capacity,
    }


def read_history(layout: Layout, read: ReadMemory, history: Path) -> Ring:
    """Read what the plug-in has copied of a machine that is stopped.

    Where an interrupt came between the choice of a slot and the time stamp, the slot's older event
    was copied a second time.
    """
    memory = history.read_bytes()
    every = (_event(memory, at, layout) for at in range(0, len(memory), layout.event.size))
    events = {event for event in every if event.time != 0}
    return Ring(_in_order(events), False, _tsc_khz(layout, read))
