# SPDX-License-Identifier: Apache-2.0
"""Reads lock-holder preemptions out of the trace in docs/lock-holder.toml.

The text is what `gandalfctl trace` has printed. lock_holder_record.py has it recorded, and
lock_holder.py draws it.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.measure.move_trace import moved

TEXT = ROOT / "docs" / "lock-holder.toml"
# What the text has of a vCPU that no guest has.
IDLE = "idle"
_LINE = re.compile(r"CPU (\d+): (\d+) us, ([\w-]+): (\w+): (.*)")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")


@dataclass(frozen=True)
class Event:
    """A line of the trace. who: had the CPU; numbers: the two of the event."""

    cpu: int
    time: int
    who: str
    kind: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Turn:
    """From when until when somebody has a CPU. victim: it is the vCPU that the picture is about."""

    who: str
    begin: int
    end: int
    victim: bool


@dataclass(frozen=True)
class Spin:
    """A stretch in which a CPU does nothing but spin, by the times at which it has said so."""

    cpu: int
    times: tuple[int, ...]


@dataclass(frozen=True)
class Preemption:
    """What is seen around the beginning of an RTOS's turn, by the policy that the name is.

    guests: by their places, Linux first. function: of Linux's kernel, in which the vCPU lost its
    CPU. lost: when that was. begin, end: of what is drawn, as all times in microseconds.
    """

    name: str
    guests: tuple[str, ...]
    function: str
    lost: int
    begin: int
    end: int
    events: tuple[Event, ...]

    @property
    def cpus(self) -> list[int]:
        return sorted({event.cpu for event in self.events})

    @cached_property
    def cpu(self) -> int:
        """Return the CPU that is lost."""
        return next(
            event.cpu
            for event in self.events
            if event.time == self.lost and event.kind == "switch_to" and event.who == self.guests[0]
        )

    @cached_property
    def move(self) -> tuple[Event, Event] | None:
        """Return departure and arrival of the vCPU, if it leaves while the RTOS has its CPU."""
        ends = [event for event in self.events if event.kind in ("stop", "start")]
        for left in ends:
            to = moved(left.numbers[1])
            if left.kind == "start" or left.cpu != self.cpu or left.time < self.lost or not to:
                continue
            word = abi()["TRACE_MOVES"] | to[0] << 8 | left.cpu
            for come in ends:
                if come.cpu == to[1] and come.numbers[1] == word and come.time >= left.time:
                    return left, come
        return None

    @property
    def vcpu(self) -> int:
        """Return the number of the vCPU that has lost its CPU: one that stays has the CPU's."""
        found = self.move and moved(self.move[0].numbers[1])
        return found[0] if found else self.cpu

    @cached_property
    def back(self) -> int | None:
        """Return when the vCPU has a CPU again; None: not in what was recorded.

        Where it comes to it loads the page directory that it had.
        """
        if self.move is None:
            turns = (turn.begin for turn in self.turns(self.cpu) if turn.victim)
            return next((begin for begin in turns if begin > self.lost), None)
        came = self.move[1]
        had = [e for e in self._of("cr3", self.cpu) if e.time <= self.lost]
        for event in self._of("cr3", came.cpu):
            if had and event.time > came.time and event.numbers[0] == had[-1].numbers[0]:
                before = [e for e in self._of("switch_to", came.cpu) if e.time <= event.time]
                return before[-1].time
        return None

    def _of(self, kind: str, cpu: int) -> list[Event]:
        return [event for event in self.events if event.kind == kind and event.cpu == cpu]

    def turns(self, cpu: int) -> Iterator[Turn]:
        """Yield who has a CPU, and when.

        The vCPU that comes to another one's CPU takes turns with that one, so that each switch
        from Linux to Linux is from one of the two to the other.
        """
        linux = self.guests[0]
        home = cpu == self.cpu
        events = [event for event in self.events if event.cpu == cpu]
        who, since, victim = events[0].who, self.begin, home
        for event in events:
            if event.kind != "switch_to":
                continue
            if event.time > since:
                yield Turn(who, since, min(event.time, self.end), victim and who == linux)
            place, last = event.numbers[0], who
            who = self.guests[place] if place < len(self.guests) else IDLE
            since = max(event.time, self.begin)
            if home:
                victim = self.move is None or event.time <= self.lost
            elif event.time == self.back:
                victim = True
            else:
                both = self.back is not None and event.time > self.back and last == who == linux
                victim = both and not victim
        if since < self.end:
            yield Turn(who, since, self.end, victim and who == linux)

    def spins(self) -> list[Spin]:
        """Return all stretches in which a vCPU spins, since the CPU was lost.

        It says so again and again. Whatever else happens there but an interrupt, which is the
        VMM's alone, ends the stretch.
        """
        number, found = abi()["HYPERCALL_YIELD"], []
        for cpu in self.cpus:
            times: list[int] = []
            for event in (event for event in self.events if event.cpu == cpu):
                if event.kind == "hypercall" and event.numbers[0] == number:
                    if event.who == self.guests[0] and self.lost <= event.time <= self.end:
                        times.append(event.time)
                elif event.kind != "interrupt" and times:
                    found.append(Spin(cpu, tuple(times)))
                    times = []
            found += [Spin(cpu, tuple(times))] if times else []
        return found


def events_of(text: str) -> tuple[Event, ...]:
    """Return the events of a text, in the order of time. Raises ValueError for another line."""
    events = []
    for line in text.splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise ValueError(f"no line of a trace: {line}")
        numbers = tuple(int(word, 0) for word in _NUMBER.findall(found[5]))
        events.append(Event(int(found[1]), int(found[2]), found[3], found[4], numbers))
    return tuple(sorted(events, key=lambda event: event.time))


def read_preemptions(path: Path = TEXT) -> list[Preemption]:
    """Read what was recorded. Raises KeyError or ValueError if a part is missing or wrong."""
    return [
        Preemption(
            row["policy"], tuple(row["guests"]), row["function"], row["lost_us"],
            row["begin_us"], row["end_us"], events_of(row["trace"]),
        )
        for row in tomllib.loads(path.read_text())["preemption"]
    ]  # fmt: skip
