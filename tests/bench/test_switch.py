# SPDX-License-Identifier: Apache-2.0
"""Switches between Linux and an RTOS: what is read out of the runs, and a machine's own figures."""

import pytest

from gandalf.base.paths import UserError
from gandalf.bench import switch as bench_switch
from gandalf.bench.bench import Plan, bench
from gandalf.bench.switch import OPERATION, RINGS
from gandalf.bench.targets import Switch
from gandalf.measure.measurement import Interval, Measurement

from .fakes import measurement


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


def half(count: int, median: int) -> Interval:
    return Interval.model_validate({
        "from": 1, "to": 2, "count": count, "repeated": 0, "minimum": median - 1,
        "mean": median + 0.5, "median": median, "p999": median + 2, "maximum": median + 3,
    })  # fmt: skip


def seen(count: int, heard: int) -> Measurement:
    halves = (half(count, 300), half(heard, 400))
    return measurement(10 * count, 2 * count).model_copy(update={"intervals": halves})


def test_a_switch_is_the_sum_of_both_halves() -> None:
    sample = bench_switch.sample(seen(80, 80).intervals)
    assert (sample.operation, sample.samples) == (OPERATION, 80)
    assert (sample.minimum, sample.median, sample.mean, sample.maximum) == (698, 700, 701.0, 706)


def test_runs_are_those_of_the_script() -> None:
    found = bench_switch.brackets(tuple(seen(count, count) for count in RINGS))
    assert [bracket.operations for bracket in found] == list(RINGS)
    assert all(f"ring {count};" in bench_switch.script() for count in RINGS)
    with pytest.raises(UserError, match="1 runs"):
        bench_switch.brackets((seen(20, 20),))
    with pytest.raises(UserError, match=r"Of 80 .* \[80, 79\]"):
        bench_switch.brackets((seen(20, 20), seen(80, 79)))


def test_what_the_shell_does_in_other_rings_is_left_out() -> None:
    whole = measurement(1000, 20)
    rings = ((0, 3, 0, 20), (3, 0, 0, 7), (0, 0, 0, 0), (20, 7, 0, 0))
    both = whole.model_copy(update={"crossings": rings, "events": {"iret": (5, 6, 7, 8)}})
    left = bench_switch.of_ring_0(both)
    assert left.ring_changes == both.ring_changes - 14
    assert left.entries == both.entries
    assert left.events == {"iret": (5, 0, 0, 0)}


def test_a_switch_takes_a_hypercall_each_way() -> None:
    """Every one of them takes the same way: nothing else happens on it."""
    found = bench(Plan(operations=(OPERATION,)), [Switch()], quiet)
    assert not found.absent
    (result,) = found.results
    assert result.samples == RINGS[1]
    assert result.minimum == result.instructions == result.maximum
    assert result.events["entry 0x1e hypercall"] == 2.0
    assert "interrupts" not in result.events
    both = result.events["halt_to_linux"] + result.events["doorbell_to_rtos"]
    assert result.instructions == both
