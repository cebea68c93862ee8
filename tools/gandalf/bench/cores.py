# SPDX-License-Identifier: Apache-2.0
"""What Linux does for `gandalf bench --cores`, and what it and RTOSes print of it.

Time is Bochs': its time stamp counter, which all CPUs share, counts the mean of what they execute
in their turns, a block of code each, and counts on while CPUs halt. So a stamp depends on the other
CPUs' code a little: the same hypercall has taken 181 ticks and 193, as another CPU waited in one
loop or another. Single stamps are off by up to a turn, so figures are means of many.
"""

import re
from dataclasses import dataclass, field

from gandalf.base.paths import UserError
from gandalf.bench.workload import CLOCKSOURCE, DYNAMIC, Output, Sample, parse

# How many instructions a CPU of Bochs executes in a second of its time.
RATE = 100_000_000
# Operations that one process on each CPU does, and how often: without and with --full. Of 40 times
# fork_exit the ticks of the timer that happened to hit one CPU alone were 2 %.
TOGETHER = {
    "syscall": (4000, 40_000),
    "page_fault": (1000, 1000),
    "pipe": (1500, 5000),
    "fork_exit": (400, 2000),
}
STORM, HACKBENCH = "fork_storm", "hackbench"
IPI, SHOOTDOWN = "ipi", "shootdown"
LATENCY = "dispatch_latency_hackbench"
MESSAGE, ROUND_TRIP = "message", "channel_round_trip"
# Linux with several vCPUs: the beginning of the systems' names.
SMP = "gandalf-smp-"
WITHIN, ACROSS = "gandalf-channel-1", "gandalf-channel-2"
# In the footprint.
SEVERAL, PER_CORE = "gandalf, several CPUs", "memory of a further CPU beside its pool, bytes"
# CPUs of the shootdown, at least.
SHOOTDOWN_CPUS = 4
_CALLS = (200, 2000)
_LOOPS = (10, 100)
# What the line before still has in the bare machine's UART would interrupt whoever measures. With
# this pause a flush of four CPUs' TLBs there counts no other interrupt than the timer's.
_PRINTED = "sleep 0.5"
DONE = 'echo "bench: the script is done"'


def framed(lines: list[str]) -> str:
    """Return a script of these lines, with what is printed around all that is measured.

    The bare machine would halt with a part of this in its UART: who reads it ends the machine.
    """
    clocksource = f'echo "clocksource=$(cat {CLOCKSOURCE})"'
    head = ["dmesg -n 1", 'echo "kernel=$(uname -r)"', clocksource]
    return "\n".join([*head, *lines, clocksource, DONE, "sleep 9", ""])


@dataclass(frozen=True)
class Share:
    """What one of several processes has done. began, ended: time stamps."""

    operation: str
    cpu: int
    operations: int
    began: int
    ended: int

    @property
    def mean(self) -> float:
        return (self.ended - self.began) / self.operations


@dataclass
class CoresOutput:
    """What the script printed beside what `parse()` knows.

    alone, together: by operation, of each CPU. elapsed: ticks of each run. busy: ticks in which
    each CPU was not idle, around the same.
    """

    plain: Output
    cpus: int = 0
    alone: dict[str, dict[int, Share]] = field(default_factory=dict)
    together: dict[str, dict[int, Share]] = field(default_factory=dict)
    elapsed: dict[str, list[int]] = field(default_factory=dict)
    busy: dict[str, dict[int, list[float]]] = field(default_factory=dict)


def operations_for(cpus: int) -> tuple[str, ...]:
    """Return what a Linux with so many CPUs can measure."""
    several = (STORM, HACKBENCH, IPI) if cpus > 1 else ()
    return (*TOGETHER, *several, *((SHOOTDOWN,) if cpus >= SHOOTDOWN_CPUS else ()))


def script(cpus: int, full: bool, operations: tuple[str, ...]) -> str:
    """Return the script of a Linux with so many CPUs: each operation on each, then on all."""
    names = "".join(map(str, range(cpus)))
    lines = ['echo "cpus=$(grep -c ^processor /proc/cpuinfo)"']
    for name, counts in TOGETHER.items():
        if name in operations or (name == "fork_exit" and STORM in operations):
            groups = [*names, names] if cpus > 1 else [names]
            lines += [f"bench together {name} {counts[full]} {group}" for group in groups]
    if HACKBENCH in operations:
        lines.append(f"bench elapsed {HACKBENCH} {DYNAMIC} -g 2 -l {_LOOPS[full]}")
    for name in (IPI, SHOOTDOWN):
        if name in operations:
            lines += [_PRINTED, f"bench sample {name} {_CALLS[full]} {cpus}"]
    return framed(lines)


def _fields(line: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S*)", line))


def _shares(lines: list[str]) -> list[Share]:
    found = [_fields(line) for line in lines if line.startswith("together=")]
    return [
        Share(
            row["together"], int(row["cpu"]), int(row["operations"]), int(row["began"]),
            int(row["ended"]),
        )
        for row in found
    ]  # fmt: skip


def read(text: str, rate: int = RATE) -> CoresOutput:
    """Read what a Linux printed. Raises UserError if a line is cut off."""
    output = CoresOutput(parse(text))
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines()]
    try:
        shares = _shares(lines)
        for row in map(_fields, lines):
            if "elapsed" in row:
                output.elapsed.setdefault(row["elapsed"], []).append(int(row["ticks"]))
            elif "idle" in row:
                busy = int(row["ticks"]) - int(row["idle_ns"]) * rate / 1e9
                cpus = output.busy.setdefault(row["idle"], {})
                cpus.setdefault(int(row["cpu"]), []).append(busy)
            elif "cpus" in row and len(row) == 1:
                output.cpus = int(row["cpus"])
    except (KeyError, ValueError) as error:
        raise UserError(f"The bench's output is damaged: {error}.\n{text}") from error
    _sort(shares, output)
    return output


def _sort(shares: list[Share], output: CoresOutput) -> None:
    """Tell what was done alone from what was done by all: those stand last, one for each CPU."""
    for name in dict.fromkeys(share.operation for share in shares):
        rows = [share for share in shares if share.operation == name]
        last = rows[-output.cpus :]
        output.together[name] = {share.cpu: share for share in last}
        output.alone[name] = {share.cpu: share for share in rows[: -output.cpus] or last}
    for name, kinds in output.together.items():
        if len(kinds) != output.cpus or len(output.alone[name]) != output.cpus:
            output.plain.complaints[name] = f"not each of {output.cpus} CPUs tells of it"


def together_sample(name: str, output: CoresOutput) -> Sample:
    """Return an operation that each CPU does: its mean on each, of the CPUs the least and so on."""
    means = sorted(share.mean for share in output.together[name].values())
    count = sum(share.operations for share in output.together[name].values())
    return Sample(
        name, count, round(means[0]), round(means[len(means) // 2]),
        round(sum(means) / len(means), 2), round(means[-1]), 0,
    )  # fmt: skip


def together_events(name: str, output: CoresOutput) -> dict[str, float]:
    """Return what it took each CPU alone and with all, and by how much that is more at most.

    Of one CPU both are the same run, so there is nothing to compare.
    """
    alone, together = output.alone[name], output.together[name]
    found = {f"alone_{cpu}": round(share.mean, 2) for cpu, share in alone.items()}
    found |= {f"together_{cpu}": round(share.mean, 2) for cpu, share in together.items()}
    if alone == together:
        return found
    slower = max(together[cpu].mean / share.mean for cpu, share in alone.items())
    return {**found, "slowdown": round(slower, 4)}


def storm_sample(output: CoresOutput) -> Sample:
    """Return how long it took until all were done with fork_exit."""
    shares = output.together["fork_exit"].values()
    took = max(share.ended for share in shares) - min(share.began for share in shares)
    return _once(STORM, took)


def storm_events(output: CoresOutput) -> dict[str, float]:
    """Return how long each CPU has worked for it: none of them is ever idle."""
    shares = output.together["fork_exit"].items()
    return {f"busy_{cpu}": float(share.ended - share.began) for cpu, share in shares}


def elapsed_sample(name: str, output: CoresOutput) -> Sample:
    runs = sorted(output.elapsed[name])
    return Sample(
        name, len(runs), runs[0], runs[len(runs) // 2], sum(runs) / len(runs), runs[-1], 0
    )


def elapsed_events(name: str, output: CoresOutput) -> dict[str, float]:
    return {f"busy_{cpu}": round(sum(runs) / len(runs)) for cpu, runs in output.busy[name].items()}


def _once(name: str, value: int) -> Sample:
    return Sample(name, 1, value, value, float(value), value, 0)


# --- Two Linux systems ---

# The whole seconds since the start at which turns begin, and how long one is: a boot takes less.
_FIRST_TURN, _TURN = 8, (2, 8)
# Both Linux systems are; the RTOSes, which have halted, never are.
BOTH_OFF = r"(guest linux\d is off\r?\n.*){2}"


def turns_script(cpu: int, full: bool) -> str:
    """Return the script of one of two Linux systems on CPUs of their own.

    Four turns: 0 and 1 measure alone, then 0 measures while 1 works, then 1 while 0 does.
    """
    measure = [f"bench together {name} {counts[full]} 0" for name, counts in TOGETHER.items()]
    work = "; ".join(f"{line} >/dev/null" for line in measure)
    end = _FIRST_TURN + (3 - cpu) * _TURN[full] + _TURN[full]
    lines = [
        "dmesg -n 1", 'echo "kernel=$(uname -r)"', f'echo "clocksource=$(cat {CLOCKSOURCE})"',
        "echo cpus=1",
        "now() { cut -d. -f1 /proc/uptime; }",
        "turn() { until [ $(now) -ge $1 ]; do sleep 0.1; done; }",
        f"measure() {{ {'; '.join(measure)}; }}",
        f"work() {{ until [ $(now) -ge $1 ]; do {work}; done; }}",
        "in_time() { [ $(now) -lt $1 ] || echo bench: syscall: its turn is too short; }",
    ]  # fmt: skip
    begins = [_FIRST_TURN + number * _TURN[full] for number in range(5)]
    own = [f"turn {begins[cpu]}", "measure", f"in_time {begins[cpu + 1]}"]
    both = [f"turn {begins[2 + cpu]}", "sleep 0.3", "measure", f"in_time {begins[3 + cpu]}"]
    other = [f"turn {begins[3 - cpu]}", f"work {end}"]
    lines += [*own, *(both + other if cpu == 0 else other + both)]
    lines += [f"turn {begins[4]}", f'echo "clocksource=$(cat {CLOCKSOURCE})"', DONE, "poweroff -f"]
    return "\n".join([*lines, ""])


def joined(outputs: list[CoresOutput]) -> CoresOutput:
    """Return what systems of one CPU each have measured, as if it were one of several."""
    found = CoresOutput(outputs[0].plain, len(outputs))
    for cpu, output in enumerate(outputs):
        found.plain.complaints.update(output.plain.complaints)
        for name, shares in output.together.items():
            found.together.setdefault(name, {})[cpu] = shares[0]
        for name, shares in output.alone.items():
            found.alone.setdefault(name, {})[cpu] = shares[0]
    return found


def memory_of_core(log: str) -> dict[str, dict[str, int]]:
    """Return what the VMM says that CPU 1 takes, as a footprint."""
    found = re.search(r"^CPU 1 takes (\d+) KiB beside its pool\r?$", log, re.M)
    return {SEVERAL: {PER_CORE: int(found[1]) << 10}} if found else {}


# --- RTOSes ---


def round_trip_sample(operation: str, text: str) -> Sample:
    """Return the last thousand round trips that were printed."""
    found = re.findall(r"^round_trip: (\d+)\r?$", text, re.M)
    if not found:
        raise UserError(f"No round trip was measured.\n{text}")
    ticks = int(found[-1])
    return Sample(operation, 1000, ticks, ticks, float(ticks), ticks, 0)


def message_sample(operation: str, text: str) -> tuple[Sample, dict[str, float]]:
    """Return what a message takes on both sides, and what on each."""
    found = re.findall(r"^message: (sends|takes)=(\d+) ticks_times_100=(\d+)\r?$", text, re.M)
    sides = {side: (int(count), int(ticks) / 100) for side, count, ticks in found}
    if set(sides) != {"sends", "takes"}:
        raise UserError(f"One side of the messages was not measured.\n{text}")
    parts = {f"{side}_ticks": ticks for side, (_, ticks) in sides.items()}
    total = sum(parts.values())
    whole = round(total)
    return Sample(operation, sides["sends"][0], whole, whole, total, whole, 0), parts
