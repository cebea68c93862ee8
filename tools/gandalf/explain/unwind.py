# SPDX-License-Identifier: Apache-2.0
"""Finds who called whom on a stack, by the call-frame information of an image (DWARF 5, 6.4)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.callframe import FDE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

# DWARF's numbers of i386's registers, in its order, and that of the return address.
_NAMES = ("eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi")
_RETURN = 8
_MOST_FRAMES = 32

ReadWord = Callable[[int], int | None]


class _UnknownError(Exception):
    """What the rules of an image need is not known; the text is what."""


@dataclass(frozen=True)
class Trace:
    """The instruction at which each function stands, the innermost first.

    unknown: what is not known, but needed to say who called the last one; empty if nothing is.
    """

    frames: list[int]
    unknown: str


class Unwinder:
    """The call-frame information of an image."""

    def __init__(self, image: Path) -> None:
        with image.open("rb") as file:
            elf = ELFFile(file)
            info: DWARFInfo | None = elf.get_dwarf_info() if elf.has_dwarf_info() else None
            has = info is not None and info.has_CFI()
            entries = list(info.CFI_entries()) if has and info is not None else []
            self._rows = [
                (range(fde["initial_location"], fde["initial_location"] + fde["address_range"]),
                 fde.get_decoded().table)
                for fde in entries if isinstance(fde, FDE)
            ]  # fmt: skip

    def _row(self, address: int) -> "dict[object, object] | None":
        """Return the rules that hold at an instruction."""
        for place, table in self._rows:
            if address in place:
                rows = [row for row in table if row["pc"] <= address]
                return dict(rows[-1]) if rows else None
        return None

    def trace(self, registers: dict[str, int], read: ReadWord) -> Trace:
        """Find out who called whom.

        registers: by name, eip among them; others may be missing. read: a word of the
        stack, or None where there is none.
        """
        values = {
            number: registers[name] for number, name in enumerate(_NAMES) if name in registers
        }
        at, found = registers["eip"], [registers["eip"]]
        while len(found) < _MOST_FRAMES:
            # A return address may stand behind the last instruction of its function.
            row = self._row(at if len(found) == 1 else at - 1)
            try:
                caller = _caller(row, values, read) if row is not None else None
            except _UnknownError as unknown:
                return Trace(found, str(unknown))
            if caller is None:
                break
            values, at = caller
            found.append(at)
        return Trace(found, "")


def _caller(
    row: dict[object, object], values: dict[int, int], read: ReadWord
) -> tuple[dict[int, int], int] | None:
    """Return the registers of the caller, and where it goes on; None at the end of the stack."""
    base = getattr(row["cfa"], "reg", None)
    if base is None:
        return None
    if base not in values:
        raise _UnknownError(f"the register {_NAMES[base]} is not known")
    address = (values[base] + int(getattr(row["cfa"], "offset", 0))) & 0xFFFFFFFF
    restored = dict(values)
    restored[_NAMES.index("esp")] = address
    back: int | None = None
    for register, where in row.items():
        if not isinstance(register, int) or getattr(where, "type", "") != "OFFSET":
            continue
        place = (address + int(getattr(where, "arg", 0))) & 0xFFFFFFFF
        word = read(place)
        if register == _RETURN and word is None:
            raise _UnknownError(f"the word of the stack at {place:08x} is not known")
        if register == _RETURN:
            back = word
        elif word is None:
            restored.pop(register, None)
        else:
            restored[register] = word
    return (restored, back) if back else None
