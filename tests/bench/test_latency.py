# SPDX-License-Identifier: Apache-2.0
"""The dispatch latency: which of the RTOS's lines belong to which phase of Linux's script."""

import pytest
from typer.testing import CliRunner

from gandalf.base.paths import UserError
from gandalf.bench import latency as bench_latency
from gandalf.bench import two_level_limits
from gandalf.bench.latency import PHASES, Reader
from gandalf.bench.realtime_targets import Realtime
from gandalf.bench.targets import targets
from gandalf.cli import app

IDLE, BUSY = "dispatch_latency_idle", "dispatch_latency_hackbench"


def second(mean: int, *latencies: int, missed: int = 0) -> str:
    line = f"minimum={min(latencies)} mean={mean} p99.9=9 maximum={max(latencies)}"
    lines = [f"activations={len(latencies)} {line} missed={missed}"]
    lines += [f"latency={value} count={latencies.count(value)}" for value in set(latencies)]
    return "".join(f"{text}\r\n" for text in lines)


def read(*pieces: tuple[str, str]) -> Reader:
    reader = Reader()
    for console, text in pieces:
        reader.feed(console, text)
    return reader


def phase(name: str) -> tuple[str, str]:
    return ("linux", f"phase={name}\n")


def rtos(text: str) -> tuple[str, str]:
    return ("rtos", text)


def test_a_second_counts_if_it_lies_in_one_phase() -> None:
    reader = read(
        rtos(second(7, 7)), phase(IDLE), rtos(second(1, 1)), rtos(second(2, 2, 2, 8)),
        rtos(second(4, 4)), phase("none"), rtos(second(9, 9)), phase(BUSY), rtos(second(5, 5)),
        rtos(second(6, 6)), phase("none"), rtos(second(3, 3)),
    )  # fmt: skip
    assert list(reader.seconds) == [IDLE, BUSY]
    sample = bench_latency.sample(IDLE, reader.seconds[IDLE])
    assert (sample.samples, sample.minimum, sample.median, sample.maximum) == (4, 2, 2, 8)
    assert sample.mean == (3 * 2 + 4) / 4
    assert sample.distribution == ((2, 2), (4, 1), (8, 1))
    assert [row.minimum for row in reader.seconds[BUSY]] == [6]


def test_a_slower_machine_has_longer_instructions() -> None:
    """It measures nanoseconds: 8 of them are one instruction, and so is a part of it."""
    reader = read(phase(IDLE), rtos(second(1, 1)), rtos(second(12, 8, 12, 17)))
    sample = bench_latency.sample(IDLE, reader.seconds[IDLE], 3)
    assert (sample.samples, sample.minimum, sample.median, sample.maximum) == (3, 1, 1, 3)
    assert sample.mean == 1.5
    assert sample.distribution == ((1, 2), (2, 1))


def test_lines_may_come_in_pieces() -> None:
    text = second(2, 2, 3)
    pieces = [rtos(text[i : i + 5]) for i in range(0, len(text), 5)]
    reader = read(phase(IDLE), rtos(second(1, 1)), *pieces)
    assert bench_latency.sample(IDLE, reader.seconds[IDLE]).samples == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (second(2, 2, 2), None),
        (second(2, 2, missed=3), "3 activations were missed"),
        (second(2, 2, 2).replace("count=2", "count=1"), "not complete"),
    ],
)
def test_what_is_wrong_is_told(text: str, why: str | None) -> None:
    reader = read(phase(IDLE), rtos(second(1, 1)), rtos(text))
    found = bench_latency.mistake(reader.seconds[IDLE])
    assert (why is None) == (found is None)
    assert found is None or str(why) in found


def test_the_full_set_has_ten_times_as_many_activations() -> None:
    """Each load in a machine of its own, of which an emulator does a second in one."""
    for full, seconds, shift in ((False, 10, 0), (True, 100, 3)):
        loads = [target for target in targets(full) if isinstance(target, Realtime)]
        assert [(load.name, load.operations) for load in loads] == [
            (system, (name,))
            for system in ("gandalf-shared", two_level_limits.SYSTEM)
            for name in PHASES
        ]
        assert {(load.seconds, load.shift) for load in loads} == {(seconds, shift)}
        # A thousand a second, and what the phase begins and ends in.
        for load in loads:
            lines = bench_latency.script(load.operations, seconds)
            assert lines.count(f"+ {seconds + 3}))") == 1
    done = CliRunner().invoke(app, ["bench", "--quick", "--full"])
    assert isinstance(done.exception, UserError)
    assert "not both" in str(done.exception)


def test_the_script_has_every_phase() -> None:
    lines = bench_latency.script(PHASES, 10)
    for name, command in PHASES.items():
        assert f"echo phase={name}\n" in lines
        assert f"do {{ {command}; }} || echo bench: {name}: its load failed;" in lines
    # Somebody outside begins to measure at the first, and ends at the power-off.
    assert "umask 22\ntimes >/dev/null\n" in lines
    assert lines.endswith("poweroff -f\n")
