# SPDX-License-Identifier: Apache-2.0
"""Structures and variables of an image as its debug information and its symbols describe them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_STRUCTURES = ("DW_TAG_structure_type", "DW_TAG_union_type")
# What types() yields.
_NAMED = (*_STRUCTURES, "DW_TAG_enumeration_type", "DW_TAG_typedef")


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
class Structure:
    """A structure: its size, and the members by name, those of anonymous ones among them."""

    size: int
    members: dict[str, Place]


def die_name(die: DIE) -> str:
    """Return the name that debug information gives something, or nothing."""
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def die_number(die: DIE, attribute: str) -> int:
    """Return a number that debug information gives something."""
    value: int = die.attributes[attribute].value
    return value


def type_size(die: DIE) -> int:
    """Return the size of a type, through its typedefs, and of an array."""
    if die.tag == "DW_TAG_array_type":
        count = 1
        for bound in die.iter_children():
            if "DW_AT_upper_bound" in bound.attributes:
                count *= die_number(bound, "DW_AT_upper_bound") + 1
        return count * type_size(die.get_DIE_from_attribute("DW_AT_type"))
    while "DW_AT_byte_size" not in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag == "DW_TAG_array_type":
            return type_size(die)
    return die_number(die, "DW_AT_byte_size")


def types(elf: ELFFile) -> Iterator[DIE]:
    """Yield every type that an image names, some of them several times."""
    if elf.has_dwarf_info():
        for unit in elf.get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag in _NAMED:
                    yield die


def fields(structure: DIE, base: int = 0) -> dict[str, Place]:
    """Return the members of a structure by name, from an offset on."""
    found = {}
    for member in structure.iter_children():
        if member.tag != "DW_TAG_member" or "DW_AT_bit_size" in member.attributes:
            continue
        location = member.attributes.get("DW_AT_data_member_location")
        offset = base + (location.value if location else 0)
        kind = member.get_DIE_from_attribute("DW_AT_type")
        if die_name(member):
            found[die_name(member)] = Place(offset, type_size(kind))
        elif kind.tag in _STRUCTURES:
            found |= fields(kind, offset)
    return found


def _structure_of(die: DIE) -> DIE | None:
    """Return the structure that a type is, or a typedef names."""
    if die.tag == "DW_TAG_typedef" and "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
    whole = die.tag in _STRUCTURES and "DW_AT_byte_size" in die.attributes
    return die if whole else None


def read_structures(image: Path, names: Iterable[str]) -> dict[str, Structure]:
    """Return the structures of an image that have these names, as far as there are any."""
    wanted = set(names)
    found: dict[str, Structure] = {}
    with image.open("rb") as file:
        for die in types(ELFFile(file)):
            name = die_name(die)
            if name in wanted - found.keys():
                structure = _structure_of(die)
                if structure is not None:
                    found[name] = Structure(type_size(structure), fields(structure))
            if len(found) == len(wanted):
                break
    return found


def physical(elf: ELFFile, address: int) -> int:
    """Return the physical address of a linear one of an image."""
    for segment in elf.iter_segments("PT_LOAD"):
        distance = address - segment["p_vaddr"]
        if 0 <= distance < segment["p_memsz"]:
            return int(segment["p_paddr"] + distance)
    return address


def read_variables(image: Path, names: Iterable[str]) -> dict[str, Place]:
    """Return the physical places of the variables of an image that have these names."""
    wanted = set(names)
    with image.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        return {
            symbol.name: Place(physical(elf, symbol["st_value"]), symbol["st_size"])
            for symbol in (table.iter_symbols() if isinstance(table, SymbolTableSection) else ())
            if symbol.name in wanted
        }
