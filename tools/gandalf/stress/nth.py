# SPDX-License-Identifier: Apache-2.0
"""What crossings.py and moves.py share: another CPU acts at each instruction of an operation.

QEMU executes all CPUs in one thread, an instruction at a time, and a plug-in has another CPU act
at the Nth instruction of what the VMM does for a vCPU (measure/nth.c), one later in each round.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from gandalf.base.paths import BUILD, UserError
from gandalf.build.build import Built, build
from gandalf.measure.measure import build_plugin
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for
from gandalf.stress.boundaries import PATIENCE, code_of, symbol_addresses

# Seconds from the last line to the end, by far.
_OFF = 60.0


@dataclass
class Operation:
    """What was seen of an operation.

    path: the VMM's instructions in the first round in which nobody acted. hits: those at which
    somebody did; at: which ones of their rounds they were.
    """

    path: list[int] = field(default_factory=list)
    hits: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)

    @property
    def missed(self) -> list[int]:
        """The instructions of the path at which nobody ever acted."""
        seen = set(zip(self.at, self.hits, strict=True))
        return [address for at, address in enumerate(self.path, 1) if (at, address) not in seen]


def parse(text: str) -> dict[int, Operation]:
    """Return the operations by number. text: what the plug-in wrote."""
    operations: dict[int, Operation] = {}
    for line in text.splitlines():
        kind, number, at, *words = line.split()
        operation = operations.setdefault(int(number), Operation())
        if kind == "path" and not operation.path:
            operation.path = [int(address, 16) for address in words]
        elif kind == "hit":
            operation.hits.append(int(words[0], 16))
            operation.at.append(int(at))
    return operations


@dataclass(frozen=True)
class Rounds:
    """A test kernel's rounds, and the plug-in by which they are played.

    name: of the plug-in, and the beginning of its symbols. kernel: NAME of build/tests/NAME.elf,
    which ends by printing PASS or FAIL and that. label: a symbol of it, and bytes behind that.
    """

    name: str
    kernel: str
    description: str
    label: tuple[str, int]

    @property
    def image(self) -> Path:
        """The kernel."""
        return BUILD / "tests" / f"{self.kernel}.elf"

    def build(self, name: str, command_line: str) -> Built:
        """Build the system, in which the guest "linux" is the kernel. Raises UserError.

        name: of its description.
        """
        folder = BUILD / self.name
        folder.mkdir(parents=True, exist_ok=True)
        description = folder / f"{name}.toml"
        description.write_text(self.description.format(command_line=command_line))
        return build(description, lambda _: None, deterministic=True)

    def play(self, built: Built, begin: str, words: dict[str, object]) -> tuple[str, str]:
        """Have the kernel play its rounds. Raises UserError if they do not end.

        begin: what the names of the labels where a round begins and ends begin with. words: more
        options of the plug-in. Returns what the kernel printed, and what the plug-in wrote.
        """
        guest = built.checked.layout.guests[built.names.index("linux")]
        output = BUILD / self.name / "rounds.txt"
        label, behind = self.label
        first, end, place = symbol_addresses(self.image, f"{begin}_begin", f"{begin}_end", label)
        low, high = code_of(built.vmm)
        words = {
            "out": output, "begin": first, "end": end, "label": guest.start + place + behind,
            "vmm": f"{low}-{high}",
        } | words  # fmt: skip
        text = ",".join(f"{name}={value}" for name, value in words.items())
        build_plugin()
        plugin = BUILD / "measure" / f"{self.name}.so"
        arguments = ("-singlestep", "-plugin", f"file={plugin},{text}")
        options = replace(options_for(built, True, None, arguments), in_turn=True)
        with Machine.attach(built, emulators.start("qemu", options)) as machine:
            try:
                machine.expect("linux", rf"^(?:PASS|FAIL) {self.kernel}.*\n", PATIENCE)
                machine.wait_off(_OFF)
            except MachineError as error:
                raise UserError(f"{error}\n{machine.text('linux')}") from error
            return machine.text("linux"), output.read_text()
