# SPDX-License-Identifier: Apache-2.0
"""The VMM's trace ring as bytes, and as a time line: with events that were made up."""

import io
import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import RTOS_ELF
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.build.structures import Place, Structure
from gandalf.build.symbols import apic_vector
from gandalf.measure.core_trace import instance_reader
from gandalf.measure.measurement import Recorded
from gandalf.measure.ring import Event, Layout, Ring, parse, read_history, read_layout, read_ring
from gandalf.measure.trace import (
    IDLE,
    Names,
    Timeline,
    document,
    hypercall_name,
    records,
    sentence,
    show,
    write,
)

TIMER = apic_vector("TIMER")
KINDS = ("trap", "interrupt", "switch_to")
CAPACITY = 4
EVENT = struct.Struct("<QHHII")
FIELDS = {
    "time": Place(0, 8), "type": Place(8, 2), "vcpu": Place(10, 2), "first": Place(12, 4),
    "second": Place(16, 4),
}  # fmt: skip
ENUMERATIONS = {
    "trace_type": dict(enumerate(KINDS)),
    "decoded_operation": {1: "MOV_TO_CR"},
    "vcpu_state": {1: "RUNNING", 2: "HALTED"},
    "vm_state": {2: "STOPPED"},
}
RING = Structure(
    4 + CAPACITY * EVENT.size, {"next": Place(0, 4), "events": Place(4, CAPACITY * EVENT.size)}
)
RINGS = 3
VARIABLES = {"trace_rings": Place(0x1000, RINGS * RING.size), "time_tsc_khz": Place(0x2004, 4)}
LAYOUT = Layout(Structure(EVENT.size, FIELDS), RING, ENUMERATIONS, VARIABLES)


def locate(guest: str, address: int) -> str | None:
    return "code+0x1" if (guest, address) in (("rtos", 0x1001), ("", 0xFC500000)) else None


NAMES = Names(("linux", "rtos"), frozenset({"rtos"}), ENUMERATIONS, locate)


def slots(*times: int, kind: int = 0) -> bytes:
    """Return a ring whose slots have these times; the first argument of each is its time too."""
    return b"".join(EVENT.pack(time, kind, 0, time & 0xFFFFFFFF, 0) for time in times)


def ring_of(next_: int, memory: bytes) -> bytes:
    return struct.pack("<I", next_) + memory


def times(memory: bytes, next_: int) -> list[int]:
    return [event.time for event in parse(ring_of(next_, memory), LAYOUT)]


def line(*events: Event, windows: tuple[Recorded, ...] = (), since: int = 0) -> Timeline:
    return Timeline(Ring(events, False, 1_000_000), NAMES, windows, since)


def shown(timeline: Timeline) -> list[dict[str, Any]]:
    """Return all but the names of the tracks, with the track's name instead of its number."""
    every = records(timeline)
    tracks = {row["tid"]: row["args"]["name"] for row in every if row["name"] == "thread_name"}
    return [row | {"tid": tracks[row["tid"]]} for row in every if row["ph"] != "M"]


def slices(timeline: Timeline) -> list[tuple[str, float, float]]:
    return [(row["tid"], row["ts"], row["dur"]) for row in shown(timeline) if row["ph"] == "X"]


# --- The ring ---


def test_an_image_without_a_ring(tmp_path: Path) -> None:
    (tmp_path / "vmm.elf").write_bytes(RTOS_ELF)
    with pytest.raises(UserError, match="trace ring"):
        read_layout(tmp_path / "vmm.elf")


def test_an_empty_ring() -> None:
    assert times(slots(0, 0, 0, 0), 0) == []
    assert records(line())[1:] == []
    assert sentence(line()) == "the VMM did nothing in that time"


@pytest.mark.parametrize(
    ("memory", "next_", "expected"),
    [
        (slots(5, 6, 0, 0), 2, [5, 6]),
        (slots(9, 6, 7, 8), 5, [6, 7, 8, 9]),
        (slots(9, 10, 7, 8), 1 << 31 | 2, [7, 8, 9, 10]),
        (slots(9, 10, 7, 8), 2, [7, 8, 9, 10]),  # next has passed 2^32
        (slots(9, 10, 12, 11), 8, [9, 10, 11, 12]),  # an interrupt came in between
        (slots(9, 6, 7, 8), 6, [6, 7, 8, 9]),  # the last has no time stamp yet
        (slots(5, 0, 0, 0), 2, [5]),
    ],
)
def test_order(memory: bytes, next_: int, expected: list[int]) -> None:
    assert times(memory, next_) == expected


def test_events_of_the_same_time_stay_in_order() -> None:
    memory = b"".join(EVENT.pack(7, 0, 0, number, 0) for number in (2, 3, 0, 1))
    assert [event.first for event in parse(ring_of(6, memory), LAYOUT)] == [0, 1, 2, 3]


def test_an_unknown_type() -> None:
    with pytest.raises(UserError, match="unknown type 3"):
        parse(ring_of(4, slots(1, 2, 3, 4, kind=3)), LAYOUT)
    with pytest.raises(UserError, match='does not know the event "surprise"'):
        records(line(Event(1, "surprise", 0, 0, 0)))


def written(count: int, vcpu: int, since: int = 100) -> bytes:
    """Return a ring that was given so many events, one each tick."""
    memory = bytearray(slots(0, 0, 0, 0))
    for number in range(count):
        EVENT.pack_into(memory, number % CAPACITY * EVENT.size, since + number, 1, vcpu, number, 9)
    return ring_of(count, bytes(memory))


def read_from(*rings: bytes, guests: tuple[int, ...]) -> Ring:
    """Return what read_ring() makes of a memory in which only these rings can be read."""
    machine = {0x1000 + index * RING.size: ring for index, ring in enumerate(rings)}
    machine[0x2004] = struct.pack("<I", 1000)
    return read_ring(LAYOUT, lambda address, size: machine[address][:size], guests)


@given(st.integers(0, 3 * CAPACITY))
def test_the_last_events_are_read(count: int) -> None:
    ring = read_from(written(0, 0xFFFF), written(count, 5), guests=(0,))
    first = max(count - CAPACITY, 0)
    assert ring.lost == (count >= CAPACITY)
    assert ring.events == tuple(
        Event(100 + number, "interrupt", 5, number, 9) for number in range(first, count)
    )


def test_events_of_several_rings_are_in_order() -> None:
    ring = read_from(written(1, 0xFFFF, 101), written(2, 0), written(3, 1, 101), guests=(0, 1))
    assert [(event.time, event.vcpu) for event in ring.events] == [
        (100, 0), (101, 0xFFFF), (101, 0), (101, 1), (102, 1), (103, 1),
    ]  # fmt: skip
    assert not ring.lost


def test_what_one_ring_has_lost_is_left_out_of_all() -> None:
    """Else it would seem that nothing happened where the others reach further back."""
    ring = read_from(written(0, 0xFFFF), written(3, 0), written(9, 1, 98), guests=(0, 1))
    assert [(event.time, event.vcpu) for event in ring.events] == [
        (103, 1), (104, 1), (105, 1), (106, 1),
    ]  # fmt: skip
    assert ring.lost


def test_a_ring_of_a_guest_that_is_elsewhere_is_not_read() -> None:
    ring = read_from(written(1, 0xFFFF), b"", written(1, 1), guests=(1,))
    assert [event.vcpu for event in ring.events] == [0xFFFF, 1]


def test_a_history_has_each_event_once(tmp_path: Path) -> None:
    """Slots that were copied before they were written have what they had before, or nothing."""
    history = tmp_path / "history"
    history.write_bytes(slots(0, 7, 8, 7, 10, 9))
    ring = read_history(LAYOUT, lambda *_: struct.pack("<I", 1000), history)
    assert [event.time for event in ring.events] == [7, 8, 9, 10]
    assert (ring.tsc_khz, ring.lost) == (1000, False)


def test_a_clock_that_is_not_measured_yet() -> None:
    with pytest.raises(UserError, match="time stamp counter"):
        read_ring(LAYOUT, lambda _, size: bytes(size), ())


# --- The time line ---


def test_turns_follow_one_another() -> None:
    timeline = line(
        Event(1_000, "trap", 0, 14, 0),
        Event(2_000, "switch_to", 0, 1, 1),
        Event(2_500, "trap", 1, 30, 0x1001),
        Event(3_000, "switch_to", 1, IDLE, 2),
        Event(4_000, "switch_to", IDLE, 0, 1),
        Event(4_500, "trap", 0, 14, 0),
    )
    assert slices(timeline) == [
        ("linux", 1.0, 1.0), ("rtos", 2.0, 1.0), ("idle", 3.0, 1.0), ("linux", 4.0, 0.5),
    ]  # fmt: skip
    turns = [row["args"] for row in shown(timeline) if row["ph"] == "X"]
    assert turns[0] == {"cut": "begin", "left": "running"}
    assert turns[1] == {"vcpu": "0x1", "left": "halted"}
    assert turns[3]["cut"] == "end"


@pytest.mark.parametrize(
    ("event", "track", "name", "args"),
    [
        (("trap", 1, 30, 0x1001), "entries into the VMM", "trap 0x1e hypercall",
         {"vector": "0x1e", "eip": "0x1001", "at": "code+0x1", "vcpu": "rtos"}),
        (("interrupt", 0, TIMER, 7), "interrupts", f"{TIMER:#x} APIC timer",
         {"vector": f"{TIMER:#x}", "eip": "0x7", "vcpu": "linux"}),
        (("hypercall", 1, 3, 0), "entries into the VMM", "hypercall halt",
         {"number": "0x3", "ebx": "0x0", "vcpu": "rtos"}),
        (("emulate", 0, 1, 7), "entries into the VMM", "emulate mov to cr",
         {"operation": "0x1", "eip": "0x7", "vcpu": "linux"}),
        (("port", 0, 0x103F8, 65), "entries into the VMM", "out 0x3f8",
         {"port": "0x103f8", "value": "0x41", "vcpu": "linux"}),
        (("port", 0, 0x3FD, 96), "entries into the VMM", "in 0x3fd",
         {"port": "0x3fd", "value": "0x60", "vcpu": "linux"}),
        (("page_fault", 0, 0x8048000, 4), "entries into the VMM", "page fault 0x8048000",
         {"address": "0x8048000", "eip": "0x4", "vcpu": "linux"}),
        (("cr3", 0, 0x5000, 1), "entries into the VMM", "cr3, shadow cached",
         {"directory": "0x5000", "hit": "0x1", "vcpu": "linux"}),
        (("start", IDLE, 1, 0x1000), "entries into the VMM", "start rtos",
         {"guest": "0x1", "entry": "0x1000", "vcpu": "idle"}),
        (("stop", 1, 1, 2), "entries into the VMM", "stop rtos: stopped",
         {"guest": "0x1", "reason": "0x2", "vcpu": "rtos"}),
        (("deliver", 1, 48, 0x1001), "rtos", "deliver timer",
         {"vector": "0x30", "eip": "0x1001", "at": "code+0x1"}),
        (("deliver", 1, 36, 0), "rtos", "deliver IRQ 4", {"vector": "0x24", "eip": "0x0"}),
        (("deliver", 0, 48, 0), "linux", "deliver 0x30", {"vector": "0x30", "eip": "0x0"}),
        (("upcall", 0, 48, 7), "linux", "upcall 0x30", {"vector": "0x30", "eip": "0x7"}),
        (("defer", 0, 0, 7), "linux", "defer", {"unused": "0x0", "eip": "0x7"}),
        (("exception", 0, 14, 7), "linux", "exception 0x0e #PF", {"vector": "0xe", "eip": "0x7"}),
    ],
)  # fmt: skip
def test_instants(
    event: tuple[str, int, int, int], track: str, name: str, args: dict[str, str]
) -> None:
    (row,) = (row for row in shown(line(Event(5_000, *event))) if row["ph"] == "i")
    assert (row["tid"], row["name"], row["args"], row["ts"]) == (track, name, args, 5.0)


def test_masked_windows_lie_in_the_span() -> None:
    windows = (
        Recorded(clock=100, instructions=899, begin=0, end=0),
        Recorded(clock=900, instructions=200, begin=0xFC500000, end=0x8048000),
        Recorded(clock=2_001, instructions=500, begin=0, end=0),
    )
    timeline = line(Event(1_000, "trap", 0, 1, 0), Event(2_000, "trap", 0, 1, 0), windows=windows)
    (row,) = (row for row in shown(timeline) if row["tid"] == "interrupts masked")
    assert (row["ts"], row["dur"]) == (0.9, 0.2)
    assert row["args"] == {
        "instructions": 200, "begin": "0xfc500000", "begins at": "code+0x1", "end": "0x8048000",
    }  # fmt: skip


def test_what_lies_before_the_recording_is_left_out() -> None:
    events = [Event(time, "trap", 0, 1, 0) for time in (1_000, 2_000, 3_000)]
    every = Ring(tuple(events), False, 1_000_000)
    assert "2 events in 0.001 ms" in sentence(Timeline(every, NAMES, since=1_500))
    assert "all there were" in sentence(Timeline(every, NAMES, since=1_500))
    assert "others are lost" in sentence(Timeline(replace(every, lost=True), NAMES))
    assert "all there were" in sentence(line(*events))


def test_the_longer_of_two_comes_first() -> None:
    window = Recorded(clock=1_000, instructions=100, begin=0, end=0)
    timeline = line(Event(1_000, "trap", 0, 1, 0), Event(9_000, "trap", 0, 1, 0), windows=(window,))
    assert [row["name"] for row in shown(timeline)[:3]] == [
        "linux", "interrupts masked", "trap 0x01 #DB",
    ]  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.integers(1, 1 << 40), st.sampled_from(KINDS), st.sampled_from([0, 1, IDLE]),
            st.sampled_from([0, 1, IDLE]),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_any_events(made_up: list[tuple[int, str, int, int]]) -> None:
    """Times never go back, turns cover the span without a gap, every event is there."""
    events = sorted((Event(*item, 1) for item in made_up), key=lambda event: event.time)
    timeline = line(*events)
    rows = shown(timeline)
    assert [row["ts"] for row in rows] == sorted(row["ts"] for row in rows)
    switches = sum(event.kind == "switch_to" for event in events)
    assert sum(row["ph"] == "i" for row in rows) == len(events) - switches
    turns = [row for row in rows if row["ph"] == "X"]
    assert len(turns) == (switches + 1 if events else 0)
    whole = events[-1].time - events[0].time if events else 0
    assert sum(row["dur"] for row in turns) == pytest.approx(whole / 1000, abs=0.1)


def test_names_of_hypercalls() -> None:
    assert hypercall_name(5) == "console_write"
    assert hypercall_name(30) == "30"  # the vector of hypercalls


def test_the_file(tmp_path: Path) -> None:
    timeline = line(Event(1_000, "trap", 0, 1, 0))
    output = tmp_path / "new" / "trace.json"
    write([timeline], output)
    assert output.read_text() == document([timeline])
    content = json.loads(output.read_text())
    assert content["traceEvents"] == records(timeline)
    assert content["otherData"] == {"complete": True, "tsc_khz": 1_000_000}
    with pytest.raises(UserError, match="cannot be written"):
        write([timeline], output / "below-a-file")


def test_each_of_several_cpus_has_tracks_of_its_own(tmp_path: Path) -> None:
    lines = [replace(line(Event(cpu + 1, "trap", 0, 1, 0)), cpu=cpu) for cpu in range(2)]
    write(lines, tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    processes = {row["pid"]: row["args"]["name"] for row in rows if row["name"] == "process_name"}
    traps = [(processes[row["pid"]], row["ts"]) for row in rows if row["ph"] == "i"]
    assert traps == [("CPU 0", 0.001), ("CPU 1", 0.002)]
    assert sentence(lines[1]).startswith("CPU 1: 1 events in ")
    output = io.StringIO()
    show(lines, Console(file=output, width=100))
    assert "CPU 1: entries into the VMM" in output.getvalue()


# --- An instance's memory ---

DIRECTORY, TABLE, LARGE = 0x5000, 0x6000, 0x800000


def instance_memory(directory_entry: int) -> bytearray:
    """Return a machine whose directory leads to the VMM by this entry, and a table by pages.

    The table has the first two pages of the image at 0x9000 and 0x7000.
    """
    memory = bytearray(LARGE + 0x400000)
    for at, entry in (
        (DIRECTORY + 4 * (0xFC400000 >> 22), directory_entry),
        (TABLE, 0x9003), (TABLE + 4, 0x7003),
    ):  # fmt: skip
        memory[at : at + 4] = entry.to_bytes(4, "little")
    memory[0x9FFE:0xA000] = b"ab"
    memory[0x7000:0x7003] = b"cde"
    memory[LARGE + 0xFFE : LARGE + 0x1001] = b"xyz"
    return memory


@pytest.mark.parametrize(
    ("directory_entry", "content"), [(TABLE | 0x003, b"abc"), (LARGE | 0x083, b"xyz")]
)
def test_an_instance_is_read_by_its_page_tables(directory_entry: int, content: bytes) -> None:
    memory = instance_memory(directory_entry)
    read = instance_reader(lambda at, size: bytes(memory[at : at + size]), DIRECTORY)
    assert read(0xFFE, 3) == content


@pytest.mark.parametrize(("directory_entry", "address"), [(0, 0), (TABLE | 0x003, 0x2000)])
def test_an_instance_that_is_not_mapped(directory_entry: int, address: int) -> None:
    memory = instance_memory(directory_entry)
    read = instance_reader(lambda at, size: bytes(memory[at : at + size]), DIRECTORY)
    with pytest.raises(UserError, match="do not lead to the VMM"):
        read(address, 4)


# --- vCPUs that move ---


def moves(kind: str, time: int, cpu: int, vcpu: int = 1) -> Event:
    return Event(time, kind, IDLE, 0, abi()["TRACE_MOVES"] | vcpu << 8 | cpu)


def of_cpu(cpu: int, *events: Event) -> Timeline:
    return replace(line(*events), cpu=cpu)


def arrows_of(*lines: Timeline) -> list[dict[str, Any]]:
    found = json.loads(document(lines))["traceEvents"]
    return [record for record in found if record["ph"] in "sf"]


def test_an_arrow_leads_where_a_vcpu_moves() -> None:
    there = of_cpu(1, moves("stop", 2000, 0), moves("start", 9000, 0))
    back = of_cpu(0, moves("start", 5000, 1), moves("stop", 7000, 1))
    ends = [(record["ph"], record["pid"], record["ts"]) for record in arrows_of(there, back)]
    assert ends == [("s", 2, 2.0), ("f", 1, 5.0), ("s", 1, 7.0), ("f", 2, 9.0)]
    numbers = [record["id"] for record in arrows_of(there, back)]
    assert numbers == [1, 1, 2, 2]
    assert shown(there)[1]["name"] == "linux's vCPU 1 moves to CPU 0"
    assert "linux's vCPU 1 moves from CPU 1" in document([back])


def test_half_a_move_has_no_arrow() -> None:
    """Its other end is lost, is of another vCPU or CPU, or it is no move at all."""
    left = of_cpu(1, moves("stop", 2000, 0))
    assert arrows_of(left) == []
    assert arrows_of(left, of_cpu(0, moves("start", 5000, 1, vcpu=2))) == []
    assert arrows_of(left, of_cpu(0, moves("start", 5000, 3))) == []
    assert arrows_of(left, of_cpu(0, moves("start", 1000, 1))) == []
    plain = Event(5000, "start", IDLE, 0, 0x100000)
    assert arrows_of(left, of_cpu(0, plain)) == []
