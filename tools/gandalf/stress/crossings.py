# SPDX-License-Identifier: Apache-2.0
"""Another core acts at each instruction of what the VMM does for a vCPU of the first one.

A test kernel with two vCPUs (guest/tests/pc/siblings_crossings.c) has the VMM do each operation
many times, and a plug-in (measure/crossings.c) has the other vCPU take the operation's page away
one instruction later each time. The kernel checks what came of it, the plug-in says where it was.

    build/venv/bin/python -m gandalf.stress.crossings [--long]
"""

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from gandalf.base.paths import UserError
from gandalf.stress.nth import Operation, Rounds, parse

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


ROUNDS = Rounds("crossings", "pc-siblings", _DESCRIPTION, ("crossing_label", 0))


@dataclass(frozen=True)
class Outcome:
    """What the kernel printed, and the operations by number."""

    text: str
    operations: dict[int, Operation]

    @property
    def passed(self) -> bool:
        """Whether the kernel found each round right."""
        return "PASS pc-siblings" in self.text and "not ok" not in self.text


def run(name: str = "crossings", vmm: Path | None = None) -> Outcome:
    """Run the operations of a name, "crossings" or "crossings long". Raises UserError.

    vmm: an image that runs instead of the one that is built.
    """
    built = ROUNDS.build(name, name)
    text, written = ROUNDS.play(replace(built, vmm=vmm or built.vmm), "crossing", {})
    return Outcome(text, parse(written))


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
