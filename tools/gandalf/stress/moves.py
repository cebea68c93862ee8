# SPDX-License-Identifier: Apache-2.0
"""A vCPU is asked to move at each instruction of what the VMM does for it.

A test kernel (guest/tests/pc/moves.c) has the VMM do each operation many times for its second
vCPU, and a plug-in (measure/moves.c) has the first one ask for a move of that one instruction later
each time. The kernel and the plug-in check that the operation came to what it does without a move.

    build/venv/bin/python -m gandalf.stress.moves [--long]
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.base.paths import UserError
from gandalf.stress import nth
from gandalf.stress.boundaries import symbol_addresses

_DESCRIPTION = """\
[machine]
cpus = 3
memory = "64M"

[[guest]]
name = "linux"
kind = "linux"
cpus = [0, 1, 2]
mode = "shared"
control = true
migrate = true
kernel = "build/tests/pc-moves.elf"
command_line = "{command_line}"
memory = "8M"
"""
# The label is behind a word in a page that differs from round to round, as the stacks do: that of
# the first vCPU in guest/tests/pc/entry.S, and those of others in vcpus.c. Bytes.
_LABEL, _PAGE, _STACK, _STACKS = 4, 4096, 16384, 8 * 16384
# The operations, in the order of the kernel's tables.
SHORT = (
    "tell", "interrupt-own", "apic-store", "fill-read", "fill-dirty", "page-fault-user",
    "hypercall-null", "flush-page", "load-tls", "invlpg", "iret", "clts", "in",
)  # fmt: skip
LONG = (
    "told", "halt", "interrupt-waits", "interrupt-at-return", "apic-timer", "arrive", "fill-write",
    "page-fault", "page-fault-write", "divide-error", "flush-pages", "mov-cr3", "mov-cr3-same",
    "mov-cr0", "mov-from-cr0", "mov-dr7", "lidt", "out", "cli-sti", "lgdt", "flush-range",
    "flush-all", "kernel-fill", "paging-off",
)  # fmt: skip
# The part of an operation's moves that must be over when it goes on. A core takes so many messages
# only in a while, and so a few requests may come later.
_AMID = 0.99
ROUNDS = nth.Rounds("moves", "pc-moves", _DESCRIPTION, ("boundary_private", _LABEL))


@dataclass
class Operation:
    """What was seen of an operation in which the vCPU was asked to move.

    seen: the VMM's instructions, and those that were hit. rounds: in which it has moved, by the
    VMM's count. interrupts: that came in a round. asked: requests in vain for a move, at most.
    at_once: rounds in which the request came right behind the instruction that was hit; elsewhere
    the VMM had interrupts masked. amid: those in which the vCPU went on, behind the operation, on
    the other CPU. compared: those whose outcome was; different: what was not as without a move.
    """

    name: str
    seen: nth.Operation
    rounds: int
    interrupts: int
    asked: int
    at_once: int = 0
    amid: int = 0
    compared: int = 0
    different: list[str] = field(default_factory=list)

    def mistakes(self) -> Iterator[str]:
        """Yield what is wrong, in sentences."""
        yield from (f"{self.name}: {line}" for line in self.different)
        if self.seen.missed or not self.seen.path:
            missed = ", ".join(f"{address:#x}" for address in self.seen.missed[:5])
            yield f"{self.name}: {len(self.seen.missed)} instructions were not hit: {missed}."
        hits = len(self.seen.hits)
        if not self.compared == self.rounds == hits or self.amid < _AMID * hits:
            yield (
                f"{self.name}: of {hits} rounds the vCPU has moved in {self.rounds}, and in "
                f"{self.amid} before it went on; {self.compared} of them were compared."
            )


@dataclass(frozen=True)
class Outcome:
    """What the kernel printed, and the operations by name."""

    text: str
    operations: dict[str, Operation]

    def mistakes(self) -> list[str]:
        """Return what is wrong, in sentences."""
        found = [line for operation in self.operations.values() for line in operation.mistakes()]
        return found if "PASS pc-moves" in self.text else [self.text, *found]


_TOLD = re.compile(r"^(\d+) (\S+) rounds=(\d+) interrupts=(\d+) asked=(\d+)$", re.M)


def parse(text: str, written: str) -> Outcome:
    """Return what came of a run. text: the kernel's; written: the plug-in's."""
    seen = nth.parse(written)
    told = {int(number): (name, *map(int, words)) for number, name, *words in _TOLD.findall(text)}
    operations = {
        number: Operation(name, seen.get(number, nth.Operation()), *words)
        for number, (name, *words) in told.items()
    }
    for line in written.splitlines():
        kind, number, at, *words = line.split()
        operation = operations.get(int(number))
        if operation and kind == "asked":
            operation.at_once += words[0] == "0"
            operation.amid += words[1] == "amid"
        elif operation and kind == "behind":
            operation.compared += 1
            if words[0] != "same":
                text_of = f"the move of round {at} left something else: {words[0]}."
                operation.different.append(text_of)
    return Outcome(text, {operation.name: operation for operation in operations.values()})


def run(names: tuple[str, ...] = SHORT, vmm: Path | None = None) -> Outcome:
    """Run the operations with these names. Raises UserError if they did not end.

    vmm: an image that runs instead of the one that is built.
    """
    built = ROUNDS.build("moves", " ".join(names))
    guest = built.checked.layout.guests[built.names.index("linux")]
    behind, *pages = symbol_addresses(
        ROUNDS.image, "move_behind", "boundary_private", "stack", "stacks"
    )
    private, stack, stacks = (guest.start + page for page in pages)
    words = {
        "behind": behind, "ram": built.checked.system.machine.memory,
        "memory": f"{guest.start}-{guest.end},except={private}-{private + _PAGE}",
        "except": f"{stack}-{stack + _STACK},except={stacks}-{stacks + _STACKS}",
    }  # fmt: skip
    built = replace(built, vmm=vmm or built.vmm)
    return parse(*ROUNDS.play(built, "boundary", words))


def _table(operations: dict[str, Operation]) -> Table:
    table = Table(title="Moves amid the VMM's work", title_justify="left", show_edge=False)
    table.add_column("operation")
    for name in ("instructions", "hit", "at once", "amid", "moves", "different", "asked"):
        table.add_column(name, justify="right")
    for row in operations.values():
        numbers = (
            len(row.seen.path), len(row.seen.hits), row.at_once, row.amid, row.rounds,
            len(row.different), row.asked,
        )  # fmt: skip
        table.add_row(row.name, *(f"{number:,}" for number in numbers))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gandalf.stress.moves",
        description="has a vCPU asked to move at each instruction of the VMM's work for it",
    )
    parser.add_argument("--long", action="store_true", help="the long operations, some minutes")
    parser.add_argument("names", nargs="*", help="of operations, instead of the short ones")
    arguments = parser.parse_args()
    try:
        outcome = run(tuple(arguments.names) or (LONG if arguments.long else SHORT))
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    RichConsole(width=100).print(_table(outcome.operations))
    mistakes = outcome.mistakes()
    print(*mistakes, sep="\n")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
