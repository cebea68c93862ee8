# SPDX-License-Identifier: Apache-2.0
"""Proves that the VMM may be interrupted in front of each instruction of what it does for Linux.

A test kernel (guest/tests/pc/boundaries.c) has the VMM do each operation many times, and an RTOS's
timer interrupts it one instruction later each time. A plug-in (measure/boundaries.c) says where,
and whether registers, memory and shadow page tables came to the same as in a round without.

    build/venv/bin/python -m gandalf.stress.boundaries [--long]
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.base.abi import abi
from gandalf.base.paths import BUILD, UserError
from gandalf.build.build import Built, build
from gandalf.build.symbols import Symbols
from gandalf.description.levels import TWO_LEVEL
from gandalf.measure.measure import build_plugin
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for

PLUGIN = BUILD / "measure" / "boundaries.so"
PATIENCE = 3600.0
# Instructions to the RTOS's handler; some 430 is usual.
AT_ONCE = 1000
# Bytes of what differs from round to round: the main stack of guest/tests/pc/entry.S, and a page.
_STACK, _PAGE = 16384, 4096
# Bytes from one entry of guest/tests/handler.S to the next.
_ENTRY_SIZE = 16
_LABEL = 4
_EXECUTABLE = 0x4  # SHF_EXECINSTR
_DESCRIPTION = """\
[machine]
rings = "{rings}"
memory = "32M"

[[guest]]
name = "linux"
kind = "linux"
mode = "shared"
kernel = "build/tests/pc-boundaries.elf"
command_line = "{length}"
memory = "8M"

[[guest]]
name = "injector"
kind = "rtos"
image = "build/tests/injector.elf"
memory = "{memory}"
priority = 5
"""
# The injector's memory says when its interrupt comes, which is how long an operation may be.
_MEMORY = {"short": "208K", "long": "1M"}


@dataclass(frozen=True)
class Boundary:
    """The place in front of an instruction of the VMM.

    is_open: an interrupt can be taken there. is_entry: it is the first of an entry by a fault or
    INT n. An instruction that faults takes no time in the emulator, so a timer has its interrupt
    in front of it and not here.
    """

    address: int
    is_open: bool
    is_entry: bool


@dataclass(frozen=True)
class Hit:
    """An interrupt in the VMM. index: of the instruction in the path. latency: to the handler.

    interrupts: taken before the handler ran, this one included. One after which the RTOS did not
    run at once was not the RTOS's, but of the VMM's own clock.
    """

    round_: int
    index: int
    address: int
    latency: int
    interrupts: int

    @property
    def is_own(self) -> bool:
        """Whether the RTOS ran at once."""
        return 0 < self.latency <= AT_ONCE


@dataclass
class Operation:
    """What was seen of an operation."""

    path: list[Boundary]
    name: str = ""
    rounds: int = 0
    hits: list[Hit] = field(default_factory=list)
    different: list[str] = field(default_factory=list)

    @property
    def open(self) -> set[int]:
        """The boundaries at which an interrupt can be taken."""
        return {index for index, boundary in enumerate(self.path) if boundary.is_open}

    @property
    def hit(self) -> set[int]:
        """Those at which the RTOS's interrupt was."""
        return {hit.index for hit in self.hits if hit.is_own and hit.interrupts == 1}

    @property
    def missed(self) -> list[int]:
        """Those at which none was, but for those at which none can come."""
        missed = self.open - self.hit
        return sorted(index for index in missed if not self.path[index].is_entry)

    @property
    def astray(self) -> list[Hit]:
        """Interrupts that were not taken at a boundary of the path."""
        boundaries = self.open
        return [
            hit
            for hit in self.hits
            if hit.index not in boundaries or self.path[hit.index].address != hit.address
        ]

    @property
    def latency(self) -> int:
        """The most instructions of the VMM from an interrupt to the RTOS's handler."""
        return self.latency_behind(0)

    def latency_behind(self, others: int) -> int:
        """Return it for interrupts that waited until so many others were served."""
        found = (hit.latency for hit in self.hits if hit.is_own and hit.interrupts == 1 + others)
        return max(found, default=0)

    def mistakes(self) -> list[str]:
        """Return what is wrong, in sentences."""
        found = [f"{self.name}: {line}" for line in self.different]
        if not self.open:
            found.append(f"{self.name}: the VMM let no interrupt in.")
        if self.missed:
            places = ", ".join(f"{self.path[index].address:#x}" for index in self.missed[:5])
            found.append(f"{self.name}: {len(self.missed)} boundaries were not hit: {places}.")
        found += [
            f"{self.name}: the interrupt of round {hit.round_} at {hit.address:#x} came elsewhere "
            "than the round without one has been."
            for hit in self.astray
        ]
        return found


def _boundary(word: str) -> Boundary:
    return Boundary(int(word.rstrip("+-"), 16), not word.endswith("-"), word.endswith("+"))


def parse(text: str) -> dict[int, Operation]:
    """Return the operations by number. text: what the plug-in wrote."""
    operations: dict[int, Operation] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "path":
            operations[int(words[0])] = Operation([_boundary(word) for word in words[1:]])
            continue
        if kind != "round":
            continue
        operation, number = operations[int(words[0])], int(words[1])
        operation.rounds += 1
        if words[2] == "hit":
            hit = Hit(number, int(words[3]), int(words[4], 16), int(words[5]), int(words[6]))
            operation.hits.append(hit)
        if words[-1] != "same":
            where = f", interrupted at {words[4]}," if words[2] == "hit" else ""
            text = f"round {number}{where} left something else: {words[-1]}."
            operation.different.append(text)
    return operations


def symbol_addresses(image: Path, *names: str) -> list[int]:
    """Return the addresses of functions and variables of an image."""
    with image.open("rb") as file:
        tables = [
            section
            for section in ELFFile(file).iter_sections()
            if isinstance(section, SymbolTableSection)
        ]
        symbols = {
            symbol.name: symbol["st_value"] for table in tables for symbol in table.iter_symbols()
        }
    return [int(symbols[name]) for name in names]


def code_of(image: Path) -> tuple[int, int]:
    """Return where the VMM's code is: from its last executable segment to its last such section.

    That is the stubs, which the VMM makes at start behind its data.
    """
    with image.open("rb") as file:
        elf = ELFFile(file)
        begin = max(
            segment["p_vaddr"] for segment in elf.iter_segments("PT_LOAD") if segment["p_flags"] & 1
        )
        end = max(
            section["sh_addr"] + section["sh_size"]
            for section in elf.iter_sections()
            if section["sh_flags"] & _EXECUTABLE
        )
    return begin, end


def _arguments(built: Built, output: Path) -> tuple[str, ...]:
    """Return QEMU's arguments for the plug-in."""
    guest = built.checked.layout.guests[built.names.index("linux")]
    begin, end, private, stack = symbol_addresses(
        BUILD / "tests" / "pc-boundaries.elf",
        "boundary_begin", "boundary_end", "boundary_private", "stack",
    )  # fmt: skip
    private, stack = guest.start + private, guest.start + stack
    handlers = Symbols(built).address("injector:handler_entries")
    low, high = code_of(built.vmm)
    words = {
        "out": output, "begin": begin, "end": end, "label": private + _LABEL,
        "handler": handlers + abi()["VECTOR_TIMER"] * _ENTRY_SIZE, "vmm": f"{low}-{high}",
        "ram": built.checked.system.machine.memory, "memory": f"{guest.start}-{guest.end}",
        "below": abi()["BASE"],
    }  # fmt: skip
    text = ",".join(f"{name}={value}" for name, value in words.items())
    text += f",except={private}-{private + _PAGE},except={stack}-{stack + _STACK}"
    return ("-plugin", f"file={PLUGIN},{text}")


def run(length: str, rings: str) -> list[Operation]:
    """Run the operations of a length, "short" or "long". Raises UserError if they did not end.

    rings: as descriptions have it.
    """
    folder = BUILD / "boundaries" / rings
    folder.mkdir(parents=True, exist_ok=True)
    description, output = folder / f"{length}.toml", folder / f"{length}.txt"
    description.write_text(_DESCRIPTION.format(length=length, memory=_MEMORY[length], rings=rings))
    built = build(description, lambda _: None, deterministic=True)
    build_plugin()
    options = options_for(built, True, None, _arguments(built, output))
    with Machine.attach(built, emulators.start("qemu", options)) as machine:
        try:
            end = machine.expect("vmm", r"^guest linux (is off|stopped: .*)\n", PATIENCE)[1]
        except MachineError as error:
            raise UserError(str(error)) from error
        text, injector = machine.text("linux"), machine.text("injector")
    names = re.findall(r"^(\d+) (\S+) rounds=(\d+)$", text, re.M)
    if end != "is off" or not names or injector:
        raise UserError(f"The test kernel failed, guest linux {end}:\n{text}{injector}")
    operations = parse(output.read_text())
    for number, name, _ in names:
        if int(number) not in operations:
            raise UserError(f"{name}: there was no round without an interrupt.")
        operations[int(number)].name = name
    return list(operations.values())


def _table(operations: list[Operation]) -> Table:
    table = Table(title="Interrupts in the VMM", title_justify="left", show_edge=False)
    table.add_column("operation")
    for name in ("instructions", "open", "hit", "rounds", "different", "most to the RTOS"):
        table.add_column(name, justify="right")
    for operation in operations:
        hit = len(operation.open & operation.hit)
        numbers = (
            len(operation.path), len(operation.open), hit, operation.rounds,
            len(operation.different), operation.latency,
        )  # fmt: skip
        table.add_row(operation.name, *(f"{number:,}" for number in numbers))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gandalf.stress.boundaries",
        description="interrupts the VMM in front of each instruction of its work for Linux",
    )
    parser.add_argument("--long", action="store_true", help="the long operations, some minutes")
    parser.add_argument(
        "--rings", choices=["four", TWO_LEVEL], default="four", help="of the system"
    )
    arguments = parser.parse_args()
    try:
        operations = run("long" if arguments.long else "short", arguments.rings)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    RichConsole(width=100).print(_table(operations))
    mistakes = [mistake for operation in operations for mistake in operation.mistakes()]
    print(*mistakes, sep="\n")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
