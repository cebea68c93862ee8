# SPDX-License-Identifier: Apache-2.0
"""The ring of task switches as bytes, and the tracks that are made of it."""

import struct
from pathlib import Path
from typing import Any

import pytest
from fakes import RTOS_ELF

from gandalf.build.structures import Place
from gandalf.build.symbols import Image
from gandalf.measure.ring import Event, Ring
from gandalf.measure.task_trace import TaskSwitch, TaskTrace
from gandalf.measure.trace import Names, Timeline, records

BASE, SIZE = 0x100000, 0x10000
RING, COUNT, NEXT, ON = 0x2000, 4, 0x3000, 0x3004
SWITCH = struct.Struct("<QII")


class Memory:
    """An RTOS's memory, and what is read of it."""

    def __init__(self, *switches: tuple[int, int, int], next_: int) -> None:
        self.bytes = bytearray(SIZE)
        for slot, switch in enumerate(switches):
            SWITCH.pack_into(self.bytes, RING + slot * SWITCH.size, *switch)
        struct.pack_into("<I", self.bytes, NEXT, next_)

    def string(self, address: int, text: bytes) -> None:
        self.bytes[address : address + len(text)] = text

    def __call__(self, address: int, size: int) -> bytes:
        assert address >= BASE
        assert address + size <= BASE + SIZE
        return bytes(self.bytes[address - BASE : address - BASE + size])


@pytest.fixture
def trace(tmp_path: Path) -> TaskTrace:
    (tmp_path / "rtos.elf").write_bytes(RTOS_ELF)
    image = Image(tmp_path / "rtos.elf", "rtos")
    return TaskTrace(
        "rtos", image, range(BASE, BASE + SIZE), BASE + ON,
        Place(BASE + RING, COUNT * SWITCH.size), BASE + NEXT,
    )  # fmt: skip


def test_an_empty_ring(trace: TaskTrace) -> None:
    assert trace.read(Memory(next_=0)) == ()


def test_a_ring_that_has_not_gone_round(trace: TaskTrace) -> None:
    memory = Memory((5, 1, 0x500), (6, 2, 0x540), next_=2)
    memory.string(0x500, b"periodic\0")
    memory.string(0x540, b"IDLE\0rest")
    assert trace.read(memory) == (TaskSwitch(5, 1, "periodic"), TaskSwitch(6, 2, "IDLE"))


@pytest.mark.parametrize("next_", [6, 0xFFFFFFFE])
def test_a_ring_that_has(trace: TaskTrace, next_: int) -> None:
    memory = Memory((9, 1, 0x500), (10, 1, 0x500), (7, 1, 0x500), (8, 1, 0x500), next_=next_)
    assert [switch.time for switch in trace.read(memory)] == [7, 8, 9, 10]


def test_names_that_are_none(trace: TaskTrace) -> None:
    """An RTOS may write there what it wants."""
    memory = Memory((1, 1, 0xFFFFFFF0), (2, 1, SIZE - 1), (3, 1, 0x700), next_=3)
    memory.string(SIZE - 1, b"x")
    memory.string(0x700, b"\xff" * 100)
    names = [switch.name for switch in trace.read(memory)]
    assert names == ["0xfffffff0", "x", "�" * 32]


def shown(*switches: TaskSwitch) -> list[dict[str, Any]]:
    names = Names(("linux", "rtos"), frozenset({"rtos"}), {}, lambda *_: None)
    events = (Event(1_000, "trap", 0, 1, 0), Event(5_000, "trap", 0, 1, 0))
    ring = Ring(events, False, 1_000_000)
    every = records(Timeline(ring, names, tasks={"rtos": switches}))
    tracks = {row["tid"]: row["args"]["name"] for row in every if row["name"] == "thread_name"}
    return [
        row for row in every if tracks.get(row.get("tid")) == "rtos: tasks" and row["ph"] == "X"
    ]


def test_a_task_runs_until_the_next_does_within_the_span() -> None:
    rows = shown(
        TaskSwitch(500, 1, "early"), TaskSwitch(900, 2, "IDLE"), TaskSwitch(2_000, 1, "periodic"),
        TaskSwitch(2_500, 2, "IDLE"), TaskSwitch(6_000, 1, "late"),
    )  # fmt: skip
    assert [(row["name"], row["ts"], row["dur"]) for row in rows] == [
        ("IDLE", 1.0, 1.0), ("periodic", 2.0, 0.5), ("IDLE", 2.5, 2.5),
    ]  # fmt: skip
    assert [row["args"]["task"] for row in rows] == ["0x2", "0x1", "0x2"]


def test_without_a_switch_there_is_no_track() -> None:
    assert shown() == []
