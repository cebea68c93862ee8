# SPDX-License-Identifier: Apache-2.0
"""What the bench has Linux do: the programs of bench/workload, and the script that runs them.

The script is the login shell's own (/root/.profile), so nobody types anything: whatever a system
does from its start to the script's end depends on its files alone.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT, UserError, write_whole
from gandalf.build.build import make
from gandalf.guests import cpio

SOURCES = ROOT / "bench" / "workload"
PROGRAMS = BUILD / "bench" / "programs"
# Where the bench's script for `shell` is in the root file system.
COMMANDS = "usr/lib/bench/commands.sh"
# A program of Debian's that is linked dynamically, small, and in every root file system.
DYNAMIC = "/usr/bin/hackbench"
# Printed by the script and by an RTOS however little is asked for.
BY_ITSELF = ("boot", "hypercall", "privileged_instruction")
DONE = r"bench: the script is done\r*\n"
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


@dataclass(frozen=True)
class Work:
    """How often an operation is measured.

    samples: one by one. few, many: the lengths of two runs that are measured from outside; their
    difference leaves out what begins and ends a run. Short enough that no timer interrupts them,
    where that is possible. sleeps: the CPU does meanwhile, and so instructions are no measure of
    the time that passes. program: the one of bench/workload that has the operation.
    """

    operation: str
    samples: int
    few: int
    many: int
    argument: str = ""
    sleeps: bool = False
    program: str = "bench"

    def lines(self) -> list[str]:
        """Return the lines of the script."""
        tail = f" {self.argument}" if self.argument else ""
        return [
            f"{self.program} sample {self.operation} {self.samples}{tail}",
            f"{self.program} count {self.operation} {self.few}{tail}",
            f"{self.program} count {self.operation} {self.many}{tail}",
        ]


WORK = (
    Work("syscall", 1000, 20, 1020),
    Work("signal", 500, 20, 220),
    Work("page_fault", 900, 20, 220),
    Work("mmap", 500, 20, 80),
    Work("mprotect", 500, 20, 140),
    Work("pipe_self", 500, 20, 320),
    Work("pipe", 500, 20, 140),
    Work("context_switch", 100, 4, 24),
    Work("fork_exit", 100, 2, 10),
    Work("fork_exec", 60, 2, 8),
    Work("exec_dynamic", 20, 1, 2, DYNAMIC),
    Work("shell", 5, 1, 3, f"/{COMMANDS}"),
    Work("rtc_latency", 500, 10, 110, sleeps=True),
)
# What a process of Linux loses each time that an RTOS has its turn: for a machine of its own.
TASK = Work("rtos_task_cost", 1000, 20, 120)
# Bytes between Linux and an RTOS: for a machine of its own, too.
CHANNEL = (
    Work("channel_round_trip", 500, 20, 120),
    Work("channel_throughput", 500, 20, 80),
    Work("channel_throughput_back", 500, 20, 80),
)
# Frames between Linux and an RTOS: likewise, and with a kernel that has networks.
NETWORK = (Work("network_send", 500, 20, 120), Work("network_round_trip", 500, 20, 120))
# ICMP and TCP between Linux and lwIP: likewise. A run of a stream is of 16 segments, each of which
# is an operation.
INTERNET_PROGRAM = "bench-internet"
PEER = "10.0.0.2"
INTERNET = (
    Work("network_ping", 500, 4, 24, PEER, program=INTERNET_PROGRAM),
    Work("network_tcp_send", 500, 1, 2, PEER, program=INTERNET_PROGRAM),
    Work("network_tcp_receive", 500, 1, 2, PEER, program=INTERNET_PROGRAM),
    Work("network_tcp_round_trip", 500, 4, 14, PEER, program=INTERNET_PROGRAM),
)
# What waits for a clock: the others' runs are as long on every system as their instructions are.
SLEEPING = tuple(part.operation for part in WORK if part.sleeps)


@dataclass(frozen=True)
class Sample:
    """What `bench sample` prints. others: interrupts that nothing of the bench explains.

    distribution: largest value and count of each bucket, if somebody kept a histogram.
    """

    operation: str
    samples: int
    minimum: int
    median: int
    mean: float
    maximum: int
    others: int
    distribution: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Bracket:
    """What `bench count` prints: a run that is measured from outside as well."""

    operation: str
    operations: int
    ticks: int
    timer: int
    others: int


@dataclass(frozen=True)
class Output:
    """Everything that the script and an RTOS printed. complaints: by operation."""

    kernel: str
    clocksources: tuple[str, ...]
    samples: tuple[Sample, ...]
    brackets: tuple[Bracket, ...]
    complaints: dict[str, str]


def build_programs(bits: int) -> dict[str, Path]:
    """Build the programs; returns the files of the root file system by their path there."""
    make(SOURCES)
    folder = PROGRAMS / str(bits)
    return {
        "bin/bench": folder / "bench",
        "bin/bench-nothing": folder / "bench-nothing",
        COMMANDS: SOURCES / "commands.sh",
    }


def script(work: tuple[Work, ...], first: tuple[str, ...] = ()) -> str:
    """Return the script. first: lines before the operations."""
    clocksource = f'echo "clocksource=$(cat {CLOCKSOURCE})"'
    return "\n".join([
        "bench boot",
        "dmesg -n 1",
        'echo "kernel=$(uname -r)"',
        clocksource,
        *first,
        *(line for part in work for line in part.lines()),
        clocksource,
        'echo "bench: the script is done"',
        "poweroff -f",
        "",
    ])  # fmt: skip


def files(
    bits: int, work: tuple[Work, ...], folder: Path, first: tuple[str, ...] = ()
) -> dict[str, Path]:
    """Build the programs and write the script to a folder; returns both as build_programs()."""
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / "profile"
    profile.write_text(script(work, first))
    programs = {f"bin/{part.program}": PROGRAMS / str(bits) / part.program for part in work}
    return {**build_programs(bits), **programs, "root/.profile": profile}


def extended(rootfs: Path, added: dict[str, Path], output: Path) -> Path:
    """Write a root file system with further files.

    Linux unpacks archives in a row, of which only the last may be packed: the others come first.
    """
    entries = [*cpio.parents(list(added)), *(cpio.file(name, added[name]) for name in added)]
    write_whole(output, cpio.archive(entries) + rootfs.read_bytes())
    return output


def _fields(line: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S*)", line))


def _sample(line: str) -> Sample:
    found = _fields(line)
    samples, minimum, median, maximum, others = (
        int(found[name]) for name in ("samples", "minimum", "median", "maximum", "others")
    )
    mean = int(found["mean_times_100"]) / 100
    return Sample(found["sample"], samples, minimum, median, mean, maximum, others)


def _bracket(line: str) -> Bracket:
    found = _fields(line)
    operations, ticks, timer, others = (
        int(found[name]) for name in ("operations", "ticks", "timer", "others")
    )
    return Bracket(found["count"], operations, ticks, timer, others)


# What a shell says to the terminal (ECMA-48, operating system command), as /etc/profile does.
_TERMINAL_COMMAND = re.compile(r"\x1b\][^\x07]*\x07")


def parse(text: str) -> Output:
    """Read what was printed. Raises UserError if a line is cut off."""
    text = _TERMINAL_COMMAND.sub("", text)
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines()]
    try:
        samples = tuple(_sample(line) for line in lines if line.startswith("sample="))
        brackets = tuple(_bracket(line) for line in lines if line.startswith("count="))
    except (KeyError, ValueError) as error:
        raise UserError(f"The bench's output is damaged: {error}.\n{text}") from error
    complaints = dict(re.findall(r"^bench: (\w+): (.+)$", "\n".join(lines), re.M))
    said = {
        name: tuple(line.partition("=")[2] for line in lines if line.startswith(f"{name}="))
        for name in ("kernel", "clocksource")
    }
    kernel = said["kernel"][0] if said["kernel"] else ""
    return Output(kernel, said["clocksource"], samples, brackets, complaints)
