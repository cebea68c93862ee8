# SPDX-License-Identifier: Apache-2.0
"""The plug-in with two CPUs, of which it measures one: several.S, known by number."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gandalf.build.symbols import Image
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run.emulator import Outcome, Qemu

from .conftest import FOLDER, Program, link

# Where the other CPU's code is copied to.
PAGE = 0x8000
OWN, OTHER = 0, 1
# mov, and 100 times pause, dec, jnz
OWN_INSTRUCTIONS = 1 + 100 * 3
# incl, 7 nops, pause
OTHER_INSTRUCTIONS = 9

Start = Callable[..., Outcome]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Program:
    build_plugin()
    output = link(FOLDER / "several.S", tmp_path_factory.mktemp("several"), "-m32")
    return Program(output, Image(output, "image").addresses)


@pytest.fixture
def start(pair: Program) -> Start:
    """Return a function that runs the image with the plug-in, and returns how the machine ended."""

    def run(*, in_turn: bool = True, **options: str | int) -> Outcome:
        plain = pair.options(*plugin_arguments(**options))
        qemu = Qemu(replace(plain, cpus=2, in_turn=in_turn))
        try:
            return qemu.outcome()
        finally:
            qemu.stop()

    return run


def measure(start: Start, output: Path, **options: str | int) -> Measurement:
    outcome = start(out=str(output), **options)
    assert outcome.clean, outcome
    result = read_measurement(output)
    assert result.mistaken == 0
    return result


def test_what_the_other_cpu_executes_is_not_counted(
    start: Start, pair: Program, tmp_path: Path
) -> None:
    """It has its turn at each PAUSE; the image ends otherwise if it had none."""
    stretch = {"begin": pair.at["own_begin"], "end": pair.at["own_end"]}
    result = measure(start, tmp_path / "own", vcpu=OWN, **stretch)
    assert result.instructions == OWN_INSTRUCTIONS
    assert sum(state.instructions for state in result.states) == OWN_INSTRUCTIONS
    assert sum(block.instructions for block in result.profile) == OWN_INSTRUCTIONS


def test_the_other_cpu_is_measured(start: Start, pair: Program, tmp_path: Path) -> None:
    begin, end = (pair.at[name] - pair.at["other"] + PAGE for name in ("other_from", "other_to"))
    result = measure(start, tmp_path / "other", vcpu=OTHER, from_=begin, to=end)
    (interval,) = result.intervals
    assert interval.count >= OWN_INSTRUCTIONS // 3
    assert interval.minimum == interval.maximum == OTHER_INSTRUCTIONS


def test_two_runs_are_the_same(start: Start, tmp_path: Path) -> None:
    first, second = (measure(start, tmp_path / name, vcpu=OTHER) for name in ("one", "two"))
    assert first == second
    assert first.instructions > OWN_INSTRUCTIONS


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "vcpu= is to say which is measured"),
        ({"vcpu": 2}, "there is no such CPU"),
        ({"vcpu": 0, "cache": 1}, "vcpu= takes no cache="),
        ({"vcpu": 0, "time": 1}, "vcpu= takes no cache="),
        ({"vcpu": 0, "record": 1}, "vcpu= takes no cache="),
        ({"vcpu": 0, "in_turn": False}, "threads of their own"),
    ],
)
def test_what_cannot_be_measured(
    start: Start, tmp_path: Path, options: dict[str, int], why: str
) -> None:
    outcome = start(out=str(tmp_path / "never.json"), **options)
    assert not outcome.clean
    assert why in outcome.sentence
