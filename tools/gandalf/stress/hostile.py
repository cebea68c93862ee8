# SPDX-License-Identifier: Apache-2.0
"""Programs of a hostile kernel, and how long they keep a more urgent RTOS from the CPU.

A test kernel (guest/tests/pc/search.c) executes programs of operations beside an RTOS whose timer
interrupts as often as it may (guest/tests/dispatch.c) and one that others start and stop. The
plug-in of measure/ sees from outside the longest stretch in which the VMM masked interrupts, the
RTOS how late its interrupts come.
"""

import re
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gandalf.base.paths import BUILD, ROOT, UserError, shown
from gandalf.build.build import Built, build, make
from gandalf.build.symbols import Symbols, variable_address
from gandalf.measure import masked
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, Patience
from gandalf.run.options import options_for

# What no guest may bring about, in instructions.
MASKED_LIMIT = 1000
DISPATCH_LIMIT = 2000
KERNEL = BUILD / "tests" / "pc-search.elf"
# An instruction takes 2^3 time stamps, so that much happens in the periods that timers can have.
SHIFT = 3
PATIENCE = 60.0
_SHORT_PATIENCE = 10.0
_POLL = 0.1
# What the VMM says when no program goes on.
_OFF = re.compile(rb"guest linux (?:is off|stays)")
# What it says of a program that has stopped the victim: the next would wait for it for ever.
_STOPPED = re.compile(rb"guest victim stopped")
_HEADER = ROOT / "guest" / "tests" / "search.h"
_DESCRIPTION = """\
[machine]
memory = "64M"
shadow_pool = "{pool}M"

[[guest]]
name = "linux"
kind = "linux"
mode = "shared"
kernel = "build/tests/pc-search.elf"
initrd = "{programs}"
command_line = "search"
memory = "16M"
control = true
on_fault = "restart"
restart_limit = 100
{watchdog}

[[guest]]
name = "victim"
kind = "rtos"
image = "build/tests/dispatch.elf"
memory = "256K"
priority = 10

{others}"""
# Another RTOS, which the programs may start and stop: the third guest.
FLOOD = """\
[[guest]]
name = "flood"
kind = "rtos"
image = "build/tests/flood.elf"
memory = "256K"
priority = 5
on_fault = "restart"
restart_limit = 1000
"""


# --- Programs ---


@dataclass(frozen=True)
class Language:
    """What guest/tests/search.h says. operations: their arguments' names, by name, in order."""

    magic: int
    progress: int
    arguments: int
    operations: dict[str, tuple[str, ...]]


@cache
def language() -> Language:
    """Read it."""
    text = _HEADER.read_text()
    numbers = dict(re.findall(r"^#define SEARCH_(MAGIC|PROGRESS|ARGUMENTS) (\w+)$", text, re.M))
    found = re.findall(r'^\tX\((\w+), "([a-z0-9 ]*)"\)', text, re.M)
    return Language(
        int(numbers["MAGIC"], 0), int(numbers["PROGRESS"], 0), int(numbers["ARGUMENTS"], 0),
        {name: tuple(words.split()) for name, words in found},
    )  # fmt: skip


@cache
def symbols() -> dict[str, int]:
    """Return the addresses of what programs may name: variables of the kernel."""
    make(ROOT / "guest" / "tests", str(KERNEL))
    with KERNEL.open("rb") as file:
        return {
            symbol.name: int(symbol["st_value"])
            for section in ELFFile(file).iter_sections()
            if isinstance(section, SymbolTableSection)
            for symbol in section.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT"
        }


@dataclass(frozen=True)
class Operation:
    """One of a program. step: added to the first argument each time that it is repeated."""

    name: str
    arguments: tuple[int, ...]
    repeat: int = 1
    step: int = 0

    def __str__(self) -> str:
        words = [self.name, *(hex(value) if value > 9 else str(value) for value in self.arguments)]
        if self.repeat != 1:
            words.append(f"*{self.repeat}")
        if self.step:
            words.append(f"+{self.step:#x}")
        return " ".join(words)

    def words(self) -> list[int]:
        """Return what the kernel reads."""
        room = [0] * (language().arguments - len(self.arguments))
        number = list(language().operations).index(self.name)
        return [number, self.repeat, self.step, *self.arguments, *room]


Program = tuple[Operation, ...]


def _operation(line: str) -> Operation:
    name, *words = line.split()
    known = language().operations
    numbers: list[int] = []
    repeat, step = 1, 0
    for word in words:
        if word[0] == "*":
            repeat = int(word[1:], 0)
        elif word[0] == "+":
            step = int(word[1:], 0)
        else:
            numbers.append(symbols()[word] if word in symbols() else int(word, 0))
    if name not in known or len(numbers) != len(known[name]):
        raise UserError(f'"{line}" is no operation; guest/tests/search.h has them all.')
    return Operation(name, tuple(number & 0xFFFFFFFF for number in numbers), repeat, step)


def parse(text: str) -> Program:
    """Return a program: an operation in each line, "NAME ARGUMENT... *REPEAT +STEP"."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(_operation(line) for line in lines if line)


def encode(programs: Sequence[Program]) -> bytes:
    """Return the RAM disk that has these programs."""
    words = [language().magic, len(programs)]
    for program in programs:
        words += [len(program), *(word for operation in program for word in operation.words())]
    return struct.pack(f"<{len(words)}I", *words)


# --- Running them ---


@dataclass(frozen=True)
class Found:
    """What a program has brought about, in instructions. place: where the longest stretch was."""

    masked: int
    dispatch: int
    place: str

    @property
    def fitness(self) -> float:
        """How near it comes to a limit."""
        return max(self.masked / MASKED_LIMIT, self.dispatch / DISPATCH_LIMIT)

    @property
    def is_within(self) -> bool:
        """Whether it is within both limits."""
        return self.masked <= MASKED_LIMIT and self.dispatch <= DISPATCH_LIMIT

    def __str__(self) -> str:
        return f"masked {self.masked:,}, dispatch {self.dispatch:,}, {self.place}"


class Bench:
    """Where programs are run. folder: of the files that this needs.

    others: the guests beside Linux and the victim, if not the one that programs start and stop;
    with others Linux has no watchdog, since they may keep it from the CPU.
    sections: the longest stretch of each masked section that was seen; wrong: those without a
    name, or longer than promised.
    """

    def __init__(self, folder: Path, pool: int = 4, others: str | None = None) -> None:
        self.folder, self._pool, self._others = folder, pool, others
        self.sections: dict[str, int] = {}
        self.wrong: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        build_plugin()

    def _build(self, programs: Sequence[Program]) -> Built:
        disk, description = self.folder / "programs", self.folder / "search.toml"
        disk.write_bytes(encode(programs))
        text = _DESCRIPTION.format(
            pool=self._pool,
            programs=disk.relative_to(ROOT),
            watchdog="watchdog_ms = 100" if self._others is None else "",
            others=FLOOD if self._others is None else self._others,
        )
        description.write_text(text)
        return build(description, lambda _: None, deterministic=True)

    def run(self, programs: Sequence[Program]) -> list[Found]:
        """Run programs, one after the other; each has the machine as it boots, but for time.

        Those behind one that has switched its guest off are run in a machine of their own, as
        are all where one has overwritten or stopped what runs them. Raises UserError if the machine
        did not survive one.
        """
        found: list[Found] = []
        while len(found) < len(programs):
            some = programs[len(found) :]
            found += self._run_some(some) or [self._run_alone(program) for program in some]
        return found

    def _run_alone(self, program: Program) -> Found:
        found = self._run_some([program])
        return found[0] if found else Found(0, 0, "it overwrote or stopped what runs it")

    def _run_some(self, programs: Sequence[Program]) -> list[Found]:
        """Run programs up to one that switches the guest off.

        Returns nothing if one has overwritten or stopped what runs them.
        """
        built = self._build(programs)
        names = Symbols(built)
        output, console = self.folder / "measurement", self.folder / "console"
        for old in self.folder.glob("measurement*"):
            old.unlink()
        console.write_bytes(b"")
        plugin = plugin_arguments(
            out=str(output), series=1, begin=names.address("linux:search_begin"),
            end=names.address("linux:search_end"), **masked.plugin_option(),
        )  # fmt: skip
        options = options_for(built, True, None, plugin)
        # A file takes at once what a reader may take late, which the machine would notice.
        options = replace(options, shift=SHIFT, output=console)
        with Machine.attach(built, emulators.start("qemu", options)) as machine:
            if not self._wait(machine, built, console, len(programs)):
                return []
            done = self._progress(machine, built)[1]
            worst = self._worst(machine, built, done)
        found = [self._found(output, number, worst[number], names) for number in range(done)]
        return found if done == len(programs) else [*found, Found(0, 0, "it switched itself off")]

    def _wait(self, machine: Machine, built: Built, console: Path, count: int) -> bool:
        """Wait until all programs have run, or the guest is off.

        Returns False if a program has stopped the victim, or has overwritten what runs them, the
        count of what has run, say: then the victim's phases, two of each program, are not those
        that the guest knows of. One that has made a loop that tells of its life never ends.
        """
        patience = Patience(machine.emulator, PATIENCE)
        while machine.emulator.alive() and not patience.is_over():
            time.sleep(_POLL)
            said = console.read_bytes()
            phases, done, begun = self._progress(machine, built)
            if _STOPPED.search(said) or phases > 2 * count:
                return False
            if _OFF.search(said):
                return phases == done + begun and done <= count
        if self._goes_on(machine, built):
            return False
        text = console.read_bytes()[-2000:].decode(errors="replace")
        raise UserError(f"The machine did not survive the programs; its last words:\n{text}")

    def _goes_on(self, machine: Machine, built: Built) -> bool:
        """Return whether the victim still gets its interrupts."""
        at = _victim(built, "dispatch_expiries")
        before = machine.memory(at, 4) if machine.emulator.alive() else b""
        patience = Patience(machine.emulator, _SHORT_PATIENCE)
        while machine.emulator.alive() and not patience.is_over():
            time.sleep(_POLL)
            if machine.memory(at, 4) != before:
                return True
        return False

    def _progress(self, machine: Machine, built: Built) -> tuple[int, int, int]:
        """Return the victim's phases, and how many programs have run and were begun."""
        region = built.checked.layout.guests[built.names.index("linux")]
        words = machine.memory(region.start + language().progress, 12)
        _, begun, running = struct.unpack("<3I", words)
        phases = struct.unpack("<I", machine.memory(_victim(built, "dispatch_phases"), 4))[0]
        return phases, begun - running, begun

    def _worst(self, machine: Machine, built: Built, count: int) -> list[int]:
        """Return the victim's worst latencies, which it counts in time stamps."""
        data = machine.memory(_victim(built, "dispatch_worst"), 8 * count + 4)
        phases = struct.unpack(f"<{2 * count + 1}I", data)
        return [-(-late >> SHIFT) for late in phases[1::2]]

    def _found(self, output: Path, number: int, dispatch: int, names: Symbols) -> Found:
        measured = read_measurement(output.with_name(f"{output.name}.{number}"))
        windows = measured.vmm_windows.longest
        if measured.mistaken or not windows:
            raise UserError(f"{shown(output)}: the plug-in did not know where it was.")
        self._note(measured, names)
        longest = windows[0]
        most = max(longest.blocks, key=lambda block: block.instructions)
        place = f"from {names.place(longest.begin)}, most in {names.function(most.linear)}"
        return Found(longest.instructions, dispatch, place)

    def _note(self, measured: Measurement, names: Symbols) -> None:
        """Keep what was seen of the masked sections."""
        rows = masked.Sections(names).stretches(measured)
        self.wrong += masked.wrong(rows, measured)
        for name, length in masked.lengths(rows).items():
            self.sections[name] = max(length, self.sections.get(name, 0))


def _victim(built: Built, name: str) -> int:
    """Return the physical address of a variable of the victim."""
    region = built.checked.layout.guests[built.names.index("victim")]
    return region.start + variable_address(BUILD / "tests" / "dispatch.elf", name)
