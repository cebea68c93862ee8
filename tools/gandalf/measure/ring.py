# SPDX-License-Identifier: Apache-2.0
"""Reads the VMM's trace ring (vmm/core/trace.c) out of a machine's memory.

Where the ring is, how an event is laid out and what the numbers in it are called comes from the
symbols and the debug information of the VMM's image.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from gandalf.base.abi import abi
from gandalf.base.paths import UserError, shown
from gandalf.build.structures import (
    Place,
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
_STATE = "GANDALF_STATE_"
_VARIABLES = {"trace_events", "trace_next", "time_tsc_khz"}

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
    """What the VMM's image says of the ring; names: by enumeration and number."""

    event_size: int
    fields: dict[str, Place]
    names: dict[str, dict[int, str]]
    variables: dict[str, Place]

    @property
    def capacity(self) -> int:
        return self.variables["trace_events"].size // self.event_size


@dataclass(frozen=True)
class Ring:
    """Events in order of time, as the ring held them or as they were copied from it in time.

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
    event_size, members = 0, dict[str, Place]()
    names: dict[str, dict[int, str]] = {}
    with image.open("rb") as file:
        elf = ELFFile(file)
        for die in types(elf):
            name = die_name(die)
            if name == _EVENT and "DW_AT_byte_size" in die.attributes:
                event_size, members = type_size(die), fields(die)
            elif name in _ENUMERATIONS and name not in names:
                names[name] = _members(die, *_ENUMERATIONS[name])
    variables = read_variables(image, _VARIABLES)
    if not (
        members.keys() == _FIELDS
        and names.keys() | {_OF_LINUX} == _ENUMERATIONS.keys()
        and variables.keys() == _VARIABLES
    ):
        raise UserError(f"{shown(image)} does not say what its trace ring is like; rebuild it.")
    names.setdefault(_OF_LINUX, {})
    names["vm_state"] = {
        number: name.removeprefix(_STATE)
        for name, number in abi().constants.items()
        if name.startswith(_STATE)
    }
    return Layout(event_size, members, names, variables)


def _event(memory: bytes, base: int, layout: Layout) -> Event:
    values = {name: place.number(memory, base) for name, place in layout.fields.items()}
    kind = layout.names["trace_type"].get(values["type"])
    if kind is None:
        raise UserError(
            f"The trace ring holds an event of the unknown type {values['type']}; it is not the "
            "ring of the VMM that was built."
        )
    return Event(values["time"], kind, values["vcpu"], values["first"], values["second"])


def parse(memory: bytes, next_: int, layout: Layout) -> tuple[Event, ...]:
    """Return the events in order of time. next_: how many were recorded, modulo 2^32.

    Slots are out of order where an interrupt came between the choice of a slot and the time
    stamp. An event of the time 0 was never written.
    """
    count = layout.capacity
    slots = ((next_ + i) % count * layout.event_size for i in range(count))
    filled = (slot for slot in slots if layout.fields["time"].number(memory, slot) != 0)
    events = (_event(memory, slot, layout) for slot in filled)
    return tuple(sorted(events, key=lambda event: event.time))


def _content(layout: Layout, read: ReadMemory, name: str) -> bytes:
    place = layout.variables[name]
    return read(place.offset, place.size)


def _tsc_khz(layout: Layout, read: ReadMemory) -> int:
    khz = int.from_bytes(_content(layout, read, "time_tsc_khz"), "little")
    if khz == 0:
        raise UserError("The VMM had not measured the time stamp counter yet.")
    return khz


def read_ring(layout: Layout, read: ReadMemory) -> Ring:
    """Read the ring of a machine that is stopped; read: physical address, size."""
    tsc_khz = _tsc_khz(layout, read)
    next_ = int.from_bytes(_content(layout, read, "trace_next"), "little")
    events = parse(_content(layout, read, "trace_events"), next_, layout)
    return Ring(events, len(events) == layout.capacity, tsc_khz)


def history_options(layout: Layout, output: Path) -> dict[str, str | int]:
    """Return the options with which the plug-in copies all that the ring is given to a file."""
    ring = layout.variables["trace_events"]
    return {
        "ring": f"{ring.offset}-{ring.offset + ring.size}",
        "history": str(output),
        "next": layout.variables["trace_next"].offset,
        "entries": layout.capacity,
    }


def read_history(layout: Layout, read: ReadMemory, history: Path) -> Ring:
    """Read what the plug-in has copied of a machine that is stopped.

    Where an interrupt came between the choice of a slot and the time stamp, the slot's older event
    was copied a second time.
    """
    memory = history.read_bytes()
    every = (_event(memory, at, layout) for at in range(0, len(memory), layout.event_size))
    events = {event for event in every if event.time != 0}
    ordered = tuple(sorted(events, key=lambda event: event.time))
    return Ring(ordered, False, _tsc_khz(layout, read))
