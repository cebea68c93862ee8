# SPDX-License-Identifier: Apache-2.0
"""Reads the VMM's trace ring (vmm/core/trace.c) out of a machine's memory.

Where the ring is, how an event is laid out and what the numbers in it are called comes from the
symbols and the debug information of the VMM's image.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gandalf.base.abi import abi
from gandalf.base.paths import UserError, shown

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
class Place:
    """Where something is. offset: in its structure, or the physical address."""

    offset: int
    size: int

    def number(self, memory: bytes, base: int = 0) -> int:
        """Return the number that stands here in a structure that begins at base."""
        start = base + self.offset
        return int.from_bytes(memory[start : start + self.size], "little")


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
    """The events that the ring held, in order of time. full: earlier ones may be lost."""

    events: tuple[Event, ...]
    full: bool
    tsc_khz: int


def _name(die: DIE) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _number(die: DIE, attribute: str) -> int:
    value: int = die.attributes[attribute].value
    return value


def _size(die: DIE) -> int:
    """Return the size of a type, through its typedefs."""
    while "DW_AT_byte_size" not in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
    return _number(die, "DW_AT_byte_size")


def _fields(structure: DIE) -> dict[str, Place]:
    return {
        _name(member): Place(
            _number(member, "DW_AT_data_member_location"),
            _size(member.get_DIE_from_attribute("DW_AT_type")),
        )
        for member in structure.iter_children()
    }


def _members(enumeration: DIE, prefix: str, count: str) -> dict[int, str]:
    return {
        _number(member, "DW_AT_const_value"): _name(member).removeprefix(prefix)
        for member in enumeration.iter_children()
        if _name(member) != count
    }


def _types(elf: ELFFile) -> Iterator[DIE]:
    """Yield every structure and enumeration of the image, some of them several times."""
    if elf.has_dwarf_info():
        for unit in elf.get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag in ("DW_TAG_structure_type", "DW_TAG_enumeration_type"):
                    yield die


def _physical(elf: ELFFile, address: int) -> int:
    """Return the physical address of a linear one of the VMM's image."""
    for segment in elf.iter_segments("PT_LOAD"):
        distance = address - segment["p_vaddr"]
        if 0 <= distance < segment["p_memsz"]:
            return int(segment["p_paddr"] + distance)
    return address


def _variables(elf: ELFFile) -> dict[str, Place]:
    """Return the places of the variables."""
    table = elf.get_section_by_name(".symtab")
    places = {}
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        if symbol.name in _VARIABLES:
            places[symbol.name] = Place(_physical(elf, symbol["st_value"]), symbol["st_size"])
    return places


def read_layout(image: Path) -> Layout:
    """Read the VMM's image. Raises UserError if it lacks what is needed."""
    event_size, fields = 0, dict[str, Place]()
    names: dict[str, dict[int, str]] = {}
    with image.open("rb") as file:
        elf = ELFFile(file)
        for die in _types(elf):
            name = _name(die)
            if name == _EVENT and "DW_AT_byte_size" in die.attributes:
                event_size, fields = _size(die), _fields(die)
            elif name in _ENUMERATIONS and name not in names:
                names[name] = _members(die, *_ENUMERATIONS[name])
        variables = _variables(elf)
    if not (
        fields.keys() == _FIELDS
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
    return Layout(event_size, fields, names, variables)


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


def read_ring(layout: Layout, read: ReadMemory) -> Ring:
    """Read the ring of a machine that is stopped; read: physical address, size."""

    def content(name: str) -> bytes:
        place = layout.variables[name]
        return read(place.offset, place.size)

    next_, tsc_khz = (
        int.from_bytes(content(name), "little") for name in ("trace_next", "time_tsc_khz")
    )
    if tsc_khz == 0:
        raise UserError("The VMM had not measured the time stamp counter yet.")
    events = parse(content("trace_events"), next_, layout)
    return Ring(events, len(events) == layout.capacity, tsc_khz)
