# SPDX-License-Identifier: Apache-2.0
"""Chooses of what `gandalfctl trace` has shown, and writes docs/lock-holder.toml.

The trace does not say who holds a lock. So a sample is taken only if it proves it: a vCPU has
spun for long while no other than the one that has lost its CPU was without one.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from gandalf.base.paths import ROOT, UserError
from gandalf.bench import lock_holder, shares
from gandalf.walls.preemption import TEXT, Preemption, events_of

# The policies, and how often a sample says at least that somebody spins.
POLICIES = {"none": 20, "pull": 3}
GUESTS = ("linux", "rtos")
SYMBOLS = ROOT / "build" / "linux" / "smp" / "System.map"
# Microseconds that are drawn around the RTOS's turn. It lasts longer than the least, unless the
# VMM has lent the CPU away.
_AROUND, _LEAST = 60, 450
# No two hypercalls of one that spins are so far apart.
_APART = 40
_KERNEL, _VMM = 0xC0000000, 0xFC000000
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Two lock-holder preemptions, of which docs/migration.md tells. Recorded and written by
#
#     python -m gandalf.walls.lock_holder --record
#
# `trace` has lines that `gandalfctl trace` has printed, unchanged: those of all CPUs from begin_us
# to end_us, and the last one before in which the vCPU has loaded a page directory. The RTOS gets
# the CPU at lost_us. `function` is what Linux's System.map has for the EIP at which the vCPU was
# interrupted for that.
"""
_PART = '''
[[preemption]]
policy = "{name}"
guests = [{guests}]
function = "{function}"
lost_us = {lost}
begin_us = {begin}
end_us = {end}
trace = """
{trace}
"""
'''


def function_at(address: int, symbols: str) -> str:
    """Return which function of a kernel an address is in. symbols: what System.map has."""
    rows = [line.split() for line in symbols.splitlines()]
    at = bisect_right([int(row[0], 16) for row in rows], address)
    return rows[at - 1][2]


def _candidates(sample: str, policy: str, symbols: str) -> Iterator[tuple[Preemption, list[str]]]:
    """Yield each turn of the RTOS that a sample has, with the lines that are needed."""
    lines = [line for line in sample.splitlines() if line.startswith("CPU ")]
    events = [events_of(line)[0] for line in lines]
    cpu = lock_holder.CPU
    own = [event for event in events if event.cpu == cpu and event.kind == "switch_to"]
    for lost, done in pairwise(own):
        if (lost.who, done.who) != GUESTS or done.time - lost.time < _LEAST:
            continue
        earlier = [e for e in events if e.cpu == cpu and e.time <= lost.time]
        interrupts = [e for e in earlier if e.kind == "interrupt"]
        loads = [e for e in earlier if e.kind == "cr3"]
        if not interrupts or not _KERNEL <= interrupts[-1].numbers[1] < _VMM:
            continue
        begin = max(lost.time - _AROUND, events[0].time)
        end = min(done.time + _AROUND, events[-1].time)
        kept = [
            line
            for line, event in zip(lines, events, strict=True)
            if begin <= event.time <= end or event in loads[-1:]
        ]
        function = function_at(interrupts[-1].numbers[1], symbols)
        found = events_of("\n".join(kept))
        yield Preemption(policy, GUESTS, function, lost.time, begin, end, found), kept


def proves(seen: Preemption) -> bool:
    """Tell whether somebody spins for the vCPU that has lost its CPU.

    All others still have their CPUs when he first says so, and he does until it has one again.
    """
    spin = min(seen.spins(), key=lambda spin: spin.times[0], default=None)
    if spin is None or seen.back is None or len(seen.cpus) < shares.CPUS:
        return False
    if spin.times[-1] + _APART < seen.back:
        return False
    first = spin.times[0]
    others = (turn for cpu in seen.cpus if cpu != seen.cpu for turn in seen.turns(cpu))
    return not any(
        turn.who != seen.guests[0] and turn.begin <= first and turn.end > seen.lost
        for turn in others
    )


def choose(samples: list[str], policy: str, symbols: str) -> tuple[Preemption, list[str]]:
    """Return the first preemption that is proved. Raises UserError without one."""
    for sample in samples:
        for seen, lines in _candidates(sample, policy, symbols):
            if proves(seen):
                return seen, lines
    raise UserError(f"No sample shows a lock-holder preemption by the policy {policy}.")


def text_of(seen: Preemption, lines: list[str]) -> str:
    """Return a preemption as a part of the file."""
    return _PART.format(
        name=seen.name, guests=", ".join(f'"{guest}"' for guest in seen.guests),
        function=seen.function, lost=seen.lost, begin=seen.begin, end=seen.end,
        trace="\n".join(lines),
    )  # fmt: skip


def record_all(log: Callable[[str], None], path: Path = TEXT) -> None:
    """Record a preemption by each policy, and write all of them."""
    parts = [_HEAD]
    for policy, least in POLICIES.items():
        samples = lock_holder.record(policy, least, log)
        parts.append(text_of(*choose(samples, policy, SYMBOLS.read_text())))
    path.write_text("".join(parts))
