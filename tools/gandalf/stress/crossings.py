# SPDX-License-Identifier: Apache-2.0
"""Another core acts at each instruction of what the VMM does for a vCPU of the first one.

A test kernel with two vCPUs (guest/tests/pc/siblings_crossings.c) has the VMM do each operation
many times, and a plug-in (measure/crossings.c) has the other vCPU take the operation's page away
one instruction later each time. The kernel checks what came of it, the plug-in says where it was.

    build/venv/bin/python -m gandalf.stress.crossings [--long]
"""

import argparse
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from gandalf.base.paths import BUILD, UserError
from gandalf.build.build import Built, build
from gandalf.measure.measure import build_plugin
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for
from gandalf.stress.boundaries import PATIENCE, code_of, symbol_addresses

PLUGIN = BUILD / "measure" / "crossings.so"
_DESCRIPTION = """\
[machine]
cpus = 2
memory = "64M"

[[guest]]
name = "linux"
kind = "linux"
cpus = [0, 1]
mode = "shared"
kernel = "build/tests/pc-siblings.elf"
command_line = "{command_line}"
memory = "16M"
"""


@dataclass
class Operation:
    """What was seen of an operation.

    path: the VMM's instructions in a round in which the other vCPU did nothing. hits: those at
    which it acted.
    """

    path: list[int] = field(default_factory=list)
    hits: list[int] = field(default_factory=list)

    @property
    def missed(self) -> set[int]:
        """The instructions of the path at which the other vCPU never acted."""
        return set(self.path) - set(self.hits)


@dataclass(frozen=True)
class Outcome:
    """What the kernel printed, and the operations by number."""

    text: str
    operations: dict[int, Operation]

    @property
    def passed(self) -> bool:
        """Whether the kernel found each round right."""
        return "PASS pc-siblings" in self.text and "not ok" not in self.text


def parse(text: str) -> dict[int, Operation]:
    """Return the operations by number. text: what the plug-in wrote."""
    operations: dict[int, Operation] = {}
    for line in text.splitlines():
        kind, number, _, *addresses = line.split()
        operation = operations.setdefault(int(number), Operation())
        found = [int(address, 16) for address in addresses]
        if kind == "path":
            operation.path = found
        else:
            operation.hits += found
    return operations


def _arguments(built: Built, output: Path) -> tuple[str, ...]:
    """Return QEMU's arguments for the plug-in."""
    guest = built.checked.layout.guests[built.names.index("linux")]
    kernel = BUILD / "tests" / "pc-siblings.elf"
    begin, end, label = symbol_addresses(kernel, "crossing_begin", "crossing_end", "crossing_label")
    low, high = code_of(built.vmm)
    words = {
        "out": output, "begin": begin, "end": end, "label": guest.start + label,
        "vmm": f"{low}-{high}",
    }  # fmt: skip
    text = ",".join(f"{name}={value}" for name, value in words.items())
    return ("-singlestep", "-plugin", f"file={PLUGIN},{text}")


def run(name: str = "crossings", vmm: Path | None = None) -> Outcome:
    """Run the operations of a name, "crossings" or "crossings long". Raises UserError.

    vmm: an image that runs instead of the one that is built.
    """
    folder = BUILD / "crossings"
    folder.mkdir(parents=True, exist_ok=True)
    description, output = folder / f"{name}.toml", folder / f"{name}.txt"
    description.write_text(_DESCRIPTION.format(command_line=name))
    built = build(description, lambda _: None, deterministic=True)
    built = replace(built, vmm=vmm or built.vmm)
    build_plugin()
    options = replace(options_for(built, True, None, _arguments(built, output)), in_turn=True)
    with Machine.attach(built, emulators.start("qemu", options)) as machine:
        try:
            machine.expect("linux", r"^(?:PASS|FAIL) pc-siblings.*\n", PATIENCE)
            machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
        except MachineError as error:
            raise UserError(str(error)) from error
        text = machine.text("linux")
    return Outcome(text, parse(output.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gandalf.stress.crossings",
        description="has another core act at each instruction of the VMM's work for a vCPU",
    )
    parser.add_argument(
        "--long", action="store_true", help="a load of CR3 instead of the short ones, some minutes"
    )
    arguments = parser.parse_args()
    try:
        outcome = run("crossings long" if arguments.long else "crossings")
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    print(outcome.text)
    for number, operation in outcome.operations.items():
        print(
            f"{number}: {len(operation.path)} instructions, {len(set(operation.path))} addresses, "
            f"{len(operation.hits)} rounds, {len(operation.missed)} addresses missed"
        )
    missed = any(operation.missed for operation in outcome.operations.values())
    return 0 if outcome.passed and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
