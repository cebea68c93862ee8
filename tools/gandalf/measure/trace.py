# SPDX-License-Identifier: Apache-2.0
"""Turns the events of the VMM into a file that https://ui.perfetto.dev and Chrome show.

The format is Chrome's trace events in JSON. A track for each vCPU shows when it had the core and
what the VMM gave to it, one for each RTOS that tells it (task_trace.py) which of its tasks ran;
others show the entries into the VMM, the interrupts, and the stretches with interrupts masked,
which the plug-in of measure/ has recorded. Each of several CPUs has tracks of its own, and an arrow
leads from one to another where a vCPU has moved. Times are
microseconds since the machine's start, as the VMM's own messages have them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.build.build import Built
from gandalf.build.symbols import Symbols, vector_text
from gandalf.description.description import RtosGuest
from gandalf.measure.measurement import Recorded
from gandalf.measure.move_trace import arrows, move_text, moved
from gandalf.measure.ring import Event, Layout, Ring
from gandalf.measure.task_trace import TaskSwitch

IDLE = 0xFFFF
_PROCESS = 1
# Tracks by their numbers; those of vCPUs follow in order.
_VMM, _INTERRUPTS, _MASKED, _IDLE, _VCPUS = range(1, 6)
# Behind them those of the RTOSes' tasks.
_TASKS = 1000
_TRACKS = {
    _VMM: "entries into the VMM", _INTERRUPTS: "interrupts", _MASKED: "interrupts masked",
    _IDLE: "idle",
}  # fmt: skip
_PORT_WRITE = 0x10000
_HYPERCALL = "GANDALF_HYPERCALL_"

Record = dict[str, Any]
# Names an address of the code of a guest, by the guest's name and EIP; None if it has no name.
Locate = Callable[[str, int], str | None]


@dataclass(frozen=True)
class Names:
    """What numbers in events mean. guests: by vCPU; rtoses: those of them that are RTOSes."""

    guests: Sequence[str]
    rtoses: frozenset[str]
    enumerations: dict[str, dict[int, str]]
    locate: Locate

    def vcpu(self, number: int) -> str:
        if number == IDLE:
            return "idle"
        return self.guests[number] if number < len(self.guests) else f"vCPU {number}"

    def place(self, vcpu: int, address: int) -> str:
        """Return where a vCPU is, if its EIP is this: in the VMM, in a kernel, or in a process."""
        owner = self.vcpu(vcpu)
        found = self.locate(owner, address)
        return found.partition("+")[0] if found else f"{owner}'s processes"

    def member(self, enumeration: str, number: int) -> str:
        """Return the name of a number as text: "LGDT" is "lgdt"."""
        return self.enumerations[enumeration].get(number, hex(number)).lower().replace("_", " ")

    def delivered(self, vcpu: int, vector: int) -> str:
        """Return an interrupt as the guest knows it."""
        if self.vcpu(vcpu) not in self.rtoses:
            return f"{vector:#04x}"
        own = {abi()["VECTOR_TIMER"]: "timer", abi()["VECTOR_CONSOLE"]: "console"}
        return own.get(vector, f"IRQ {vector - abi()['VECTOR_IRQ']}")


def hypercall_name(number: int) -> str:
    """Return what abi/gandalf.h calls a hypercall, in small letters."""
    for name, value in abi().constants.items():
        if value == number and name.startswith(_HYPERCALL) and not name.endswith("_VECTOR"):
            return name.removeprefix(_HYPERCALL).lower()
    return str(number)


def _track(vcpu: int) -> int:
    return _IDLE if vcpu == IDLE else _VCPUS + vcpu


@dataclass(frozen=True)
class _Shown:
    """How an event is shown. args: its two numbers by their names; place: the one that is EIP."""

    track: int
    name: str
    args: tuple[str, str]
    place: int | None = None


def _shown(event: Event, names: Names) -> _Shown | None:
    """Return how an event is shown; none if it shows by other means."""
    first, second = event.first, event.second
    own = _track(event.vcpu)
    vector_eip = ("vector", "eip")
    match event.kind:
        case "trap":
            return _Shown(_VMM, f"trap {vector_text(first)}", vector_eip, second)
        case "interrupt":
            return _Shown(_INTERRUPTS, vector_text(first), vector_eip, second)
        case "exception":
            return _Shown(own, f"exception {vector_text(first)}", vector_eip, second)
        case "deliver" | "upcall":
            name = f"{event.kind} {names.delivered(event.vcpu, first)}"
            return _Shown(own, name, vector_eip, second)
        case "defer":
            return _Shown(own, "defer", ("unused", "eip"), second)
        case "switch_to":
            return None
    return _shown_entry(event, names)


def _shown_entry(event: Event, names: Names) -> _Shown:
    """Return how an event is shown that says what an entry into the VMM was for."""
    first, second = event.first, event.second
    match event.kind:
        case "hypercall":
            return _Shown(_VMM, f"hypercall {hypercall_name(first)}", ("number", "ebx"))
        case "emulate":
            operation = names.member("decoded_operation", first)
            return _Shown(_VMM, f"emulate {operation}", ("operation", "eip"), second)
        case "page_fault":
            return _Shown(_VMM, f"page fault {first:#x}", ("address", "eip"), second)
        case "port":
            direction = "out" if first & _PORT_WRITE else "in"
            name = f"{direction} {first & ~_PORT_WRITE:#x}"
            return _Shown(_VMM, name, ("port", "value"))
        case "cr3":
            name = "cr3, shadow cached" if second else "cr3, no shadow"
            return _Shown(_VMM, name, ("directory", "hit"))
        case "start" | "stop" if moved(second):
            return _Shown(_VMM, move_text(event, names.vcpu(first)), ("guest", "move"))
        case "start":
            return _Shown(_VMM, f"start {names.vcpu(first)}", ("guest", "entry"))
        case "stop":
            reason = names.member("vm_state", second)
            return _Shown(_VMM, f"stop {names.vcpu(first)}: {reason}", ("guest", "reason"))
    raise UserError(
        f'The tool does not know the event "{event.kind}" yet (tools/gandalf/measure/trace.py).'
    )


@dataclass(frozen=True)
class Timeline:
    """What is to be shown.

    windows: with interrupts masked, since a time on the same clock. tasks: the switches of the
    guests that tell them. cpu: of several, the one that it is the time line of.
    """

    ring: Ring
    names: Names
    windows: Sequence[Recorded] = ()
    since: int = 0
    tasks: Mapping[str, Sequence[TaskSwitch]] = field(default_factory=dict)
    cpu: int | None = None

    @property
    def process(self) -> int:
        """The process as which the file has it: what a viewer groups tracks by."""
        return _PROCESS + (self.cpu or 0)

    @property
    def events(self) -> Sequence[Event]:
        """What there is of the time in which windows were recorded."""
        return [event for event in self.ring.events if event.time >= self.since]

    @property
    def complete(self) -> bool:
        """Whether no event is missing."""
        return not self.ring.lost

    @property
    def span(self) -> tuple[int, int]:
        """The time stamps of the first and the last event."""
        events = self.events
        return (events[0].time, events[-1].time) if events else (0, 0)

    def microseconds(self, time: int) -> float:
        return round(time * 1000 / self.ring.tsc_khz, 3)

    def overlapping(self) -> list[Recorded]:
        """Return the windows that lie in the span, at least in part."""
        first, last = self.span
        return [
            window
            for window in self.windows
            if window.clock <= last and window.clock + window.instructions >= first
        ]


def event_text(event: Event, names: Names) -> str:
    """Return what an event is called."""
    shown = _shown(event, names)
    return shown.name if shown else f"switch to {names.vcpu(event.first)}"


def _record(
    line: Timeline, track: int, name: str, phase: str, start: float, args: Record
) -> Record:
    return {
        "ph": phase, "pid": line.process, "tid": track, "ts": start, "name": name, "args": args,
    }  # fmt: skip


def _slice(line: Timeline, track: int, name: str, start: int, end: int, args: Record) -> Record:
    begin = line.microseconds(start)
    length = round(line.microseconds(end) - begin, 3)
    return _record(line, track, name, "X", begin, args) | {"dur": length}


def _instants(line: Timeline) -> Iterator[Record]:
    for event in line.events:
        shown = _shown(event, line.names)
        if shown is None:
            continue
        guest = line.names.vcpu(event.vcpu)
        args = dict(zip(shown.args, (hex(event.first), hex(event.second)), strict=True))
        place = None if shown.place is None else line.names.locate(guest, shown.place)
        if place is not None:
            args["at"] = place
        if shown.track in _TRACKS:
            args["vcpu"] = guest
        start = line.microseconds(event.time)
        yield _record(line, shown.track, shown.name, "i", start, args) | {"s": "t"}


def _turns(line: Timeline) -> Iterator[Record]:
    """Yield a slice for each time that a vCPU had the core; the first and last are cut off."""
    events = line.events
    if not events:
        return
    start, vcpu, args = events[0].time, events[0].vcpu, {"cut": "begin"}
    for event in events:
        if event.kind != "switch_to":
            continue
        args |= {"left": line.names.member("vcpu_state", event.second)}
        yield _slice(line, _track(vcpu), line.names.vcpu(vcpu), start, event.time, args)
        start, vcpu = event.time, event.first
        args = {"vcpu": hex(vcpu)}
    args |= {"cut": "end"}
    yield _slice(line, _track(vcpu), line.names.vcpu(vcpu), start, events[-1].time, args)


def _windows(line: Timeline) -> Iterator[Record]:
    for window in line.overlapping():
        args: Record = {"instructions": window.instructions}
        for name, address in (("begin", window.begin), ("end", window.end)):
            args[name] = hex(address)
            place = line.names.locate("", address)
            if place is not None:
                args[f"{name}s at"] = place
        end = window.clock + window.instructions
        yield _slice(line, _MASKED, "interrupts masked", window.clock, end, args)


def _tasks(line: Timeline) -> Iterator[Record]:
    """Yield a slice for each stretch in which an RTOS had a task running, whoever had the core."""
    first, last = line.span
    for guest, switches in line.tasks.items():
        track = _TASKS + line.names.guests.index(guest)
        end = TaskSwitch(last, 0, "")
        for switch, following in pairwise([*switches, end]):
            start, stop = max(switch.time, first), min(following.time, last)
            if start < stop:
                args: Record = {"task": hex(switch.task)}
                yield _slice(line, track, switch.name, start, stop, args)


def _metadata(line: Timeline, tracks: Iterable[int]) -> Iterator[Record]:
    process = "Gandalf" if line.cpu is None else f"CPU {line.cpu}"
    yield {"ph": "M", "pid": line.process, "name": "process_name", "args": {"name": process}}
    for track in sorted(tracks):
        common = {"ph": "M", "pid": line.process, "tid": track}
        yield common | {"name": "thread_name", "args": {"name": track_name(line, track)}}
        yield common | {"name": "thread_sort_index", "args": {"sort_index": track}}


def track_name(line: Timeline, track: int) -> str:
    """Return what a track is called."""
    if track >= _TASKS:
        return f"{line.names.vcpu(track - _TASKS)}: tasks"
    return _TRACKS.get(track) or line.names.vcpu(track - _VCPUS)


def records(line: Timeline) -> list[Record]:
    """Return the trace events in order of time, the names of the tracks before them."""
    shown = [*_turns(line), *_instants(line), *_windows(line), *_tasks(line)]
    # Of what begins at the same time the longer one comes first, so that the other lies in it.
    shown.sort(key=lambda record: (record["ts"], -record.get("dur", 0)))
    return [*_metadata(line, {record["tid"] for record in shown}), *shown]


def document(lines: Sequence[Timeline]) -> str:
    """Return the whole file, with a line for each event; lines: of each CPU, at least one."""
    complete = all(line.complete for line in lines)
    other = {"complete": complete, "tsc_khz": lines[0].ring.tsc_khz}
    head = json.dumps({"displayTimeUnit": "ns", "otherData": other}).removesuffix("}")
    shown = [*(record for line in lines for record in records(line)), *arrows(lines, _track)]
    events = ",\n".join(map(json.dumps, shown))
    return f'{head}, "traceEvents": [\n{events}\n]}}\n'


# --- From a system ---


def _locate(symbols: Symbols) -> Locate:
    """Return a function that names places; a guest's by the guest's own addresses."""

    def locate(guest: str, address: int) -> str | None:
        for image in sorted(symbols.images, key=lambda image: image.owner != guest):
            base = image.base if image.owner == guest else 0
            found = image.find(address + base)
            if found:
                owner = "" if image is symbols.vmm else f"{image.owner}: "
                return f"{owner}{found[0]}+{found[1]:#x}"
        return None

    return locate


def names_of(built: Built, symbols: Symbols, layout: Layout) -> Names:
    """Return what numbers in a system's events mean."""
    guests = [guest for _, guest in built.checked.system.guests]
    rtoses = frozenset(guest.name for guest in guests if isinstance(guest, RtosGuest))
    return Names([guest.name for guest in guests], rtoses, layout.names, _locate(symbols))


def write(lines: Sequence[Timeline], output: Path) -> None:
    """Write the file. Raises UserError if it cannot be written."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(document(lines))
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}.") from error


def _of_cpu(line: Timeline) -> str:
    return "" if line.cpu is None else f"CPU {line.cpu}: "


def sentence(line: Timeline) -> str:
    """Return how much the file shows."""
    count, cpu = len(line.events), _of_cpu(line)
    if not count:
        return f"{cpu}the VMM did nothing in that time"
    first, last = (line.microseconds(time) / 1000 for time in line.span)
    reach = "all there were" if line.complete else "others are lost"
    return (
        f"{cpu}{count:,} events in {last - first:.3f} ms, from {first:.3f} to {last:.3f} ms after "
        f"the machine's start; {reach}"
    )


def show(lines: Sequence[Timeline], console: RichConsole) -> None:
    """Print how much each track holds."""
    table = Table(show_edge=False)
    table.add_column("track")
    table.add_column("slices", justify="right")
    table.add_column("events", justify="right")
    for line in lines:
        _show_tracks(line, table)
    console.print(table)


def _show_tracks(line: Timeline, table: Table) -> None:
    counts = Counter((record.get("tid"), record["ph"]) for record in records(line))
    for track in sorted({track for track, phase in counts if track is not None and phase != "M"}):
        slices, instants = counts[track, "X"], counts[track, "i"]
        name = f"{_of_cpu(line)}{track_name(line, track)}"
        table.add_row(name, f"{slices:,}", f"{instants:,}")
