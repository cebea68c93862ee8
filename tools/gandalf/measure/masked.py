# SPDX-License-Identifier: Apache-2.0
"""The VMM's sections in which interrupts are masked: their names, bounds, and how long they were.

Each folder of the VMM has the names and bounds of its own in masked_sections.h; where a section
begins is recorded in the VMM's image by whatever masks. The plug-in of measure/ counts the masked
stretches of a run by where they began; here they get their names, and what has none or was longer
than its bound is an error.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.elf.elffile import ELFFile

from gandalf.base.paths import ROOT, UserError, shown
from gandalf.build.symbols import HYPERCALL, Image, Symbols, apic_vector, definitions
from gandalf.description.description import LinuxGuest
from gandalf.description.levels import TWO_LEVEL
from gandalf.measure.measurement import Measurement, Section, Window

TABLE = "masked_sections.h"
_RECORDS = ".debug_masked"
# #DB, NMI, #DF and #MC: MASKED_EXCEPTIONS in vmm/arch/ia32/segment.c.
DEBUG = (0x01, 0x02, 0x08, 0x12)
# Who can be interrupted: the end of an entry's name.
WHO = ("shared", "rtos", "dedicated", "vmm")
# The entries of the direct ways between a process and its kernel, where the VMM alone is privileged
# (vmm/guests/x86/two_level/view_ways.S), by the vectors whose gates lead there.
WAYS = {"view_switch_call": 0x80, "view_switch_return": 0x03}
WAY = "way_of_process"
# How many times as long as promised any other section may be there, where a load of CR3 goes with
# each switch.
TWO_LEVEL_MORE = 1.2


@dataclass(frozen=True)
class Promise:
    """A line of the table. bound: in instructions; None: there is none, and why.

    entry: the section begins where a vector is entered, not behind a CLI.
    """

    name: str
    bound: int | None
    why: str
    action: str
    entry: bool

    @property
    def dedicated(self) -> bool:
        """Whether it is promised on a CPU that Linux has to itself; all else is on the others.

        No RTOS is on it, and nobody waits for the VMM but Linux.
        """
        return self.why.startswith("dedicated: ")


@dataclass(frozen=True)
class Stretch:
    """The masked stretches of a section in a run.

    name: None if nobody knows the place. bound: None if none is promised on that CPU.
    """

    name: str | None
    place: str
    times: int
    longest: Window
    bound: int | None

    @property
    def wrong(self) -> str | None:
        """What is wrong with them."""
        length = self.longest.instructions
        if self.name is None:
            return f"{self.place}: {length} masked instructions in a section without a name"
        if self.bound is not None and length > self.bound:
            return f"{self.name}: {length} instructions, {self.bound} are promised ({self.place})"
        return None


@cache
def promises(vmm: Path = ROOT / "vmm") -> dict[str, Promise]:
    """Return the tables of all folders by names.

    Raises UserError if a line cannot be read, or a name is twice.
    """
    found: dict[str, Promise] = {}
    for table in sorted(vmm.rglob(TABLE)):
        for promise in _lines(table):
            if promise.name in found:
                raise UserError(f"{shown(table)}: {promise.name} is there twice")
            found[promise.name] = promise
    return found


def _lines(table: Path) -> Iterator[Promise]:
    """Yield the lines of one folder's table."""
    text = re.sub(r"/\*.*?\*/", "", table.read_text().replace("\\\n", "\n"), flags=re.S)
    for kind, name, rest in re.findall(
        r'^\s*(SECTION|ENTRY)\((\w+),\s*((?:[^"()]|"[^"\n]*")*)\)', text, re.M
    ):
        bound, why, action = _line(table, name, rest)
        yield Promise(name, bound, why, action, kind == "ENTRY")


def _line(table: Path, name: str, rest: str) -> tuple[int | None, str, str]:
    """Return the bound, the reason and the action of a line: C's literals are Python's, too."""
    try:
        bound, why, action = ast.literal_eval(f"({rest.replace('UNBOUNDED', 'None')})")
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{shown(table)}: the line of {name} cannot be read") from error
    return bound, why, action


def records(image: Path) -> dict[int, str]:
    """Return the names of the sections that begin behind the CLIs of the VMM, by address."""
    with image.open("rb") as file:
        section = ELFFile(file).get_section_by_name(_RECORDS)
        data = section.data() if section is not None else b""
    found: dict[int, str] = {}
    while data:
        name, _, rest = data[4:].partition(b"\0")
        address = int.from_bytes(data[:4], "little")
        if address:  # 0: the linker has dropped the code
            found[address] = name.decode()
        data = rest
    return found


def entry_name(vector: int, who: str, *, hardware: bool) -> str:
    """Return the name of a section that begins where a vector is entered."""
    if vector in DEBUG and not hardware:
        return f"debug_of_{who}"
    if hardware:
        clock = vector == apic_vector("TIMER") and who != "dedicated"
        return f"{'clock' if clock else 'line'}_of_{who}"
    return f"{'hypercall' if vector == HYPERCALL else 'exception'}_of_{who}"


class Sections:
    """The names of the sections on a CPU of a system that was built."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._names = records(symbols.built.vmm)
        addresses = Image(symbols.built.vmm, "vmm").addresses
        self._ways = {addresses[way] for way in WAYS if way in addresses}
        self._two_level = symbols.built.checked.system.machine.rings == TWO_LEVEL
        self._dedicated = any(
            isinstance(guest, LinuxGuest) and guest.mode == "dedicated" for guest in symbols.guests
        )

    def _who(self, section: Section) -> str:
        if section.ring == 0:
            return "vmm"
        if section.rtos:
            return "rtos"
        return "dedicated" if self._dedicated else "shared"

    def name(self, section: Section) -> str | None:
        """Return the name of the section that a stretch began."""
        if not section.delivered:
            return self._names.get(section.begin)
        if section.begin in self._ways:
            return WAY
        vector = self._symbols.entries.vector(section.begin)
        if vector is None:
            return None
        who, hardware = self._who(section), section.hardware
        if self._two_level and who == "shared" and vector in WAYS.values() and not hardware:
            return WAY
        return entry_name(vector, who, hardware=hardware)

    def stretches(self, result: Measurement) -> list[Stretch]:
        """Return the masked stretches of a run by section, the longest first."""
        found: dict[tuple[str | None, int], list[Section]] = {}
        for section in result.sections:
            name = self.name(section)
            found.setdefault((name, 0 if name else section.begin), []).append(section)
        rows = [self._sum(name, rows) for (name, _), rows in found.items()]
        return sorted(rows, key=lambda row: -row.longest.instructions)

    def _sum(self, name: str | None, rows: list[Section]) -> Stretch:
        longest = max((row.window for row in rows), key=lambda window: window.instructions)
        promise = promises().get(name or "")
        bound = promise.bound if promise and promise.dedicated == self._dedicated else None
        if bound is not None and self._two_level and name != WAY:
            bound = int(bound * TWO_LEVEL_MORE)
        times = sum(row.count for row in rows)
        known = name if promise else None
        place = self._symbols.place(longest.begin)
        return Stretch(known, place, times, longest, bound)


def plugin_option() -> dict[str, int]:
    """Return the plug-in's option that has it write the sections."""
    return {
        "sections": definitions(ROOT / "vmm" / "arch" / "ia32" / "layout.h", "LAYOUT_")[
            "LAYOUT_RTOS"
        ]
    }


def lengths(stretches: Iterable[Stretch]) -> dict[str, int]:
    """Return the longest stretch of each section that has a name, and promises something there."""
    return {
        row.name: row.longest.instructions
        for row in stretches
        if row.name is not None and (row.bound is not None or promises()[row.name].bound is None)
    }


def wrong(stretches: Iterable[Stretch], result: Measurement) -> list[str]:
    """Return what is wrong in a run: sections without a name, and those that took too long."""
    found = [row.wrong for row in stretches]
    lost = result.sections_lost
    return [
        *(text for text in found if text is not None),
        *([f"{lost} stretches began at too many places to be counted"] if lost else []),
    ]
