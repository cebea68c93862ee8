# SPDX-License-Identifier: Apache-2.0
"""Arrows of a trace, from the CPU that a vCPU has left to the one that it has come to.

The VMM writes a move down as a stop on the one CPU and a start on the other (abi/control.h).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from gandalf.base.abi import abi
from gandalf.measure.ring import Event


class Line(Protocol):
    """The events of a CPU."""

    @property
    def cpu(self) -> int | None: ...

    @property
    def process(self) -> int: ...

    @property
    def events(self) -> Sequence[Event]: ...

    def microseconds(self, time: int) -> float: ...


def moved(word: int) -> tuple[int, int] | None:
    """Return which vCPU moves, and the CPU that it leaves for or comes from.

    word: the second of a start or a stop. None: it is no move.
    """
    return (word >> 8 & 0xFF, word & 0xFF) if word & abi()["TRACE_MOVES"] else None


def move_text(event: Event, guest: str) -> str:
    """Return what one end of a move is called."""
    vcpu, cpu = moved(event.second) or (0, 0)
    return f"{guest}'s vCPU {vcpu} moves {'from' if event.kind == 'start' else 'to'} CPU {cpu}"


def _ends(lines: Sequence[Line]) -> list[tuple[Event, Line]]:
    found = [
        (event, line)
        for line in lines
        for event in line.events
        if event.kind in ("start", "stop") and moved(event.second)
    ]
    return sorted(found, key=lambda end: end[0].time)


def _pairs(lines: Sequence[Line]) -> Iterator[tuple[tuple[Event, Line], ...]]:
    """Yield the departure and the arrival of each move of which both are in the rings."""
    left: dict[tuple[int, int], tuple[Event, Line]] = {}
    for event, line in _ends(lines):
        vcpu, cpu = moved(event.second) or (0, 0)
        if event.kind == "stop":
            left[event.first, vcpu] = event, line
            continue
        before = left.pop((event.first, vcpu), None)
        if before is not None and before[1].cpu == cpu:
            yield before, (event, line)


def arrows(lines: Sequence[Line], track: Callable[[int], int]) -> Iterator[dict[str, Any]]:
    """Yield both ends of an arrow for each move.

    An end belongs to the slice that its time is in: of who had the core that the vCPU left, and
    that it has come to. track: the track of who is in an event.
    """
    for number, ends in enumerate(_pairs(lines), 1):
        for phase, (event, line) in zip("sf", ends, strict=True):
            vcpu, _ = moved(event.second) or (0, 0)
            yield {
                "ph": phase, "pid": line.process, "tid": track(event.vcpu),
                "ts": line.microseconds(event.time), "name": f"vCPU {vcpu} moves", "cat": "move",
                "id": number, "bp": "e",
            }  # fmt: skip
