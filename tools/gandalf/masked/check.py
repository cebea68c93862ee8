# SPDX-License-Identifier: Apache-2.0
"""Compares what masks interrupts in the VMM's image with the table of masked sections.

The image is disassembled: a CLI without a record, a record behind no CLI, or whose name is not in
the table, a line of the table without a record, and the same for the vectors' entries, are
mistakes. So is any other instruction that could mask interrupts.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from gandalf.base.paths import UserError
from gandalf.build.symbols import Image
from gandalf.measure.masked import DEBUG, WAY, WHO, Promise, entry_name, promises, records

_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\w+)")
_EXCEPTIONS, _VECTORS, GENERAL_PROTECTION = 32, 256, 0x0D


def _instructions(image: Path) -> Iterator[tuple[int, str]]:
    """Disassemble all code; yields addresses and mnemonics."""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", "--wide", str(image)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"objdump cannot read the VMM: {done.stderr.strip()}")
    for line in done.stdout.splitlines():
        found = _INSTRUCTION.match(line)
        if found:
            yield int(found[1], 16), found[2]


def _place(symbols: Image, address: int) -> str:
    found = symbols.find(address)
    return f"{found[0]}+{found[1]:#x} at {address:#x}" if found else f"{address:#x}"


def check_code(image: Path, table: dict[str, Promise]) -> list[str]:
    """Return what is wrong with the instructions that mask interrupts in one image."""
    symbols, named = Image(image, "vmm"), records(image)
    mistakes, behind = [], set()
    previous = ""
    for address, mnemonic in _instructions(image):
        if previous == "cli":
            behind.add(address)
            if address not in named:
                place = _place(symbols, address - 1)
                mistakes.append(f"{place}: CLI of a masked section without a name")
        if mnemonic.startswith("popf"):
            place = _place(symbols, address)
            mistakes.append(f"{place}: POPF, which may mask interrupts; CLI has a name")
        previous = mnemonic
    for address, name in named.items():
        if address not in behind:
            mistakes.append(f"{_place(symbols, address)}: {name} begins behind no CLI")
        if name not in table or table[name].entry:
            mistakes.append(f"{_place(symbols, address)}: {name} is in no masked_sections.h")
    return mistakes


def check_use(images: Iterable[Path], table: dict[str, Promise]) -> list[str]:
    """Return the sections that are in the table, and that none of the images begins."""
    used = {name for image in images for name in records(image).values()}
    return [
        f"{name}: nothing in the VMM begins this section"
        for name, line in table.items()
        if not line.entry and name not in used
    ]


def entries() -> set[str]:
    """Return the names of all sections that begin where a vector is entered.

    A shared guest's exceptions and hypercalls come through trap gates and mask nothing. Those of
    the VMM are the #GP of an upcall. tests/unit/arch/ia32/test_segment.c compares this with the
    gates, but for those of two levels of privilege.
    """
    return {WAY} | {
        entry_name(vector, who, hardware=hardware)
        for who in WHO
        for vector in range(_VECTORS)
        for hardware in (False, True)
        if hardware
        or vector in DEBUG
        or (vector < _EXCEPTIONS and who in ("rtos", "dedicated"))
        or (vector == GENERAL_PROTECTION and who == "vmm")
    }  # fmt: skip


def check_entries(table: dict[str, Promise]) -> list[str]:
    """Return what is wrong with the table's lines for entries."""
    promised = {name for name, line in table.items() if line.entry}
    return [
        *(f"{name}: an entry that masks interrupts is in no masked_sections.h"
          for name in sorted(entries() - promised)),
        *(f"{name}: there is no such entry" for name in sorted(promised - entries())),
    ]  # fmt: skip


def check_words(table: dict[str, Promise]) -> list[str]:
    """Return which lines of the table do not say why, or what a guest does."""
    return [
        f"{name}: {what} is missing"
        for name, line in table.items()
        for what, text in (
            ("the reason of the bound", line.why),
            ("the guest's action", line.action),
        )
        if not text
    ]


def check_images(images: list[Path]) -> list[str]:
    """Return everything that is wrong with the masked sections of images that have all files."""
    table = promises()
    codes = (mistake for image in images for mistake in check_code(image, table))
    return [*codes, *check_use(images, table), *check_entries(table), *check_words(table)]
