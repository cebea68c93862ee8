# SPDX-License-Identifier: Apache-2.0
"""The dispatch latency of FreeRTOS's 1 ms task: what Linux does meanwhile, and what is printed.

Linux's script says where a phase begins and ends. The RTOS prints a distribution each second; those
that lie in a phase as a whole are its figures. The order of the lines on the serial port tells.

An instruction of the machine takes 2^shift ns, and the RTOS measures in nanoseconds.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gandalf.bench.workload import CLOCKSOURCE, Output, Sample, parse
from gandalf.console.demultiplex import VMM_CONSOLE, Demultiplexer

# Whole seconds of a phase, of 1,000 activations each: usually, and of the full set.
SECONDS, SECONDS_FULL = 10, 100
# The full set's machine is eight times slower: a second of it is 125 million instructions and not
# 1,000 million, which an emulator takes ten seconds and more for.
SHIFT, SHIFT_FULL = 0, 3
# Those that a phase begins and ends in, and one that a long command may need.
_MARGIN = 3
# A command of Linux that loads it, for each operation; repeated until the phase is over.
PHASES = {
    "dispatch_latency_idle": "sleep 1",
    "dispatch_latency_hackbench": "hackbench -g 2 -l 20 >/dev/null",
    "dispatch_latency_fork": "/bin/true; /bin/true; /bin/true; /bin/true",
    "dispatch_latency_stress": "stress-ng --vm 1 --vm-bytes 16M --mmap 1 --mmap-bytes 16M --fork 1 "
    "--switch 1 -t 2 >/dev/null 2>&1",
    "dispatch_latency_flush": "bench flush 4",
}
_LATENCY = re.compile(r"^latency=(\d+) count=(\d+)$", re.M)
_LINE = re.compile(
    r"^activations=(\d+) minimum=(\d+) mean=(\d+) p99\.9=\d+ maximum=(\d+) missed=(\d+)$"
)


def loop(operation: str, command: str) -> str:
    """Return the line that repeats a load until $end, and complains if it fails."""
    complaint = f"echo bench: {operation}: its load failed"
    now = "$(cut -d. -f1 /proc/uptime)"
    return f"while [ {now} -lt $end ]; do {{ {command}; }} || {complaint}; done"


def phase(operation: str, command: str, seconds: int) -> list[str]:
    """Return the lines of a phase in which Linux repeats a command.

    Who measures from outside begins at the first umask; between it and times there is nothing yet.
    """
    return [
        f"end=$(($(cut -d. -f1 /proc/uptime) + {seconds + _MARGIN}))",
        "umask 22",
        "times >/dev/null",
        f"echo phase={operation}",
        loop(operation, command),
        "echo phase=none",
    ]


def script(operations: Iterable[str], seconds: int) -> str:
    """Return Linux's script for these operations. seconds: whole ones of each."""
    clocksource = f'echo "clocksource=$(cat {CLOCKSOURCE})"'
    lines = ["dmesg -n 1", 'echo "kernel=$(uname -r)"', clocksource, "sleep 2"]
    for operation in operations:
        lines += phase(operation, PHASES[operation], seconds)
    lines += [clocksource, 'echo "bench: the script is done"', "poweroff -f", ""]
    return "\n".join(lines)


@dataclass
class Second:
    """What the RTOS printed in a second. counts: of latencies."""

    activations: int
    minimum: int
    mean: int
    maximum: int
    missed: int
    counts: Counter[int] = field(default_factory=Counter)


@dataclass
class Reader:
    """Reads the consoles' lines in the order in which they came."""

    phase: str = "none"
    # The phase when the second before ended: a whole second has one phase.
    _before: str = "none"
    _whole: bool = False
    _rest: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, list[Second]] = field(default_factory=dict)

    def feed(self, console: str, text: str) -> None:
        """Take text of a console, whole lines or not."""
        lines = (self._rest.get(console, "") + text.replace("\r", "")).split("\n")
        self._rest[console] = lines.pop()
        for line in lines:
            if found := re.fullmatch(r"phase=(\w+)", line):
                self.phase = found[1]
            elif found := _LINE.match(line):
                activations, minimum, mean, maximum, missed = map(int, found.groups())
                self._add(Second(activations, minimum, mean, maximum, missed))
            elif (found := _LATENCY.match(line)) and self._whole:
                self.seconds[self._before][-1].counts[int(found[1])] += int(found[2])

    def _add(self, second: Second) -> None:
        self._whole = self.phase == self._before and self.phase != "none"
        self._before = self.phase
        if self._whole:
            self.seconds.setdefault(self.phase, []).append(second)


def sample(operation: str, seconds: list[Second], shift: int = 0) -> Sample:
    """Return the figures of a phase in instructions.

    The median is exact to the width of a bucket, 1/64; so is, of a slower machine, all else to an
    instruction.
    """
    counts: Counter[int] = Counter()
    for second in seconds:
        for latency, count in second.counts.items():
            counts[latency >> shift] += count
    activations = sum(second.activations for second in seconds)
    seen = 0
    median = 0
    for latency in sorted(counts):
        seen += counts[latency]
        if 2 * seen >= activations:
            median = latency
            break
    mean = sum(second.mean * second.activations for second in seconds) / activations
    minimum = min(second.minimum for second in seconds)
    maximum = max(second.maximum for second in seconds)
    # What is not a whole instruction counts as one.
    return Sample(
        operation, activations, minimum >> shift, median, round(mean / (1 << shift), 2),
        -(-maximum >> shift), 0, tuple(sorted(counts.items())),
    )  # fmt: skip


def mistake(seconds: list[Second]) -> str | None:
    """Return what is wrong with a phase."""
    missed = sum(second.missed for second in seconds)
    if missed:
        return f"{missed} activations were missed"
    if sum(sum(second.counts.values()) for second in seconds) != sum(
        second.activations for second in seconds
    ):
        return "the distribution is not complete"
    return None


def consoles(names: Iterable[str], stream: bytes) -> dict[str, str]:
    """Return what each guest and the VMM have printed. names: of the guests."""
    found = dict.fromkeys([*names, VMM_CONSOLE], b"")
    for name, text in Demultiplexer(list(found)).feed(stream):
        found[name] += text
    return {name: text.decode(errors="replace") for name, text in found.items()}


def guests_text(names: Iterable[str], stream: bytes) -> str:
    """Return what all guests have printed, one after the other."""
    texts = consoles(names, stream)
    return "\n".join(text for name, text in texts.items() if name != VMM_CONSOLE)


def latencies(names: Iterable[str], stream: bytes, shift: int = 0) -> Output:
    """Return the output of a machine with a sample for each phase. names: of its guests."""
    guests, reader = list(names), Reader()
    for name, text in Demultiplexer([*guests, VMM_CONSOLE]).feed(stream):
        reader.feed(name, text.decode(errors="replace"))
    samples = tuple(sample(phase, seconds, shift) for phase, seconds in reader.seconds.items())
    complaints = {
        phase: why
        for phase, seconds in reader.seconds.items()
        if (why := mistake(seconds)) is not None
    }
    output = parse(guests_text(guests, stream))
    return replace(output, samples=samples, complaints=output.complaints | complaints)
