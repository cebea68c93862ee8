# SPDX-License-Identifier: Apache-2.0
"""The machine of the real-time task: the slow one of the full set measures what the usual does."""

from pathlib import Path

import pytest

from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench.latency import SHIFT, SHIFT_FULL
from gandalf.bench.results import Results
from gandalf.bench.rows import record_rows
from gandalf.bench.targets import Realtime

from .fakes import DAY

LOAD = "dispatch_latency_fork"
SECONDS = 1
# Instructions: the timer's frequency is rounded in nanoseconds.
AGREEMENT = 30


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Results]:
    """Return the results of both, by the shift."""
    results = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benching, "FOLDER", tmp_path_factory.mktemp("bench"))
        for shift in (SHIFT, SHIFT_FULL):
            target = Realtime(LOAD, seconds=SECONDS, shift=shift)
            results[shift] = benching.bench(benching.Plan(), [target], lambda _: None)
    return results


def test_both_machines_have_the_same_latency(found: dict[int, Results]) -> None:
    """In instructions, though one needs eight times as long for them."""
    for results in found.values():
        assert not results.absent
        assert results.results[0].samples >= 1000 * SECONDS
    usual, slow = (found[shift].results[0] for shift in (SHIFT, SHIFT_FULL))
    assert slow.minimum == pytest.approx(usual.minimum, abs=AGREEMENT)
    assert slow.mean == pytest.approx(usual.mean, abs=AGREEMENT)
    assert slow.minimum <= slow.instructions <= slow.maximum
    (machine,) = found[SHIFT_FULL].machines.values()
    assert f"shift={SHIFT_FULL}" in machine


@pytest.mark.parametrize("shift", [SHIFT, SHIFT_FULL])
def test_the_record_is_that_of_the_load(found: dict[int, Results], shift: int) -> None:
    """All of it is in ring 0."""
    (row,) = found[shift].results
    assert row.events["masked_longest"] == row.events["masked_longest_ring_0"] > 0
    assert " at 0xfc" in row.places["ring_0"]
    assert f", in {LOAD}" in row.places["ring_0"]
    ((system, what, length, place),) = record_rows(found[shift])
    assert (system, what, place) == ("gandalf-shared", LOAD, row.places["ring_0"])
    assert int(length.replace(",", "")) == row.events["masked_longest_ring_0"]


def test_the_report_says_where(found: dict[int, Results], tmp_path: Path) -> None:
    """And leaves open what was not counted."""
    bench_report.write(found[SHIFT_FULL], tmp_path, DAY)
    text, page = ((tmp_path / f"report.{kind}").read_text() for kind in ("md", "html"))
    (row,) = found[SHIFT_FULL].results
    assert row.places["ring_0"] in text
    assert row.places["ring_0"] in page
    assert f"| {LOAD} | {row.instructions:,} |" in text
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {LOAD} | "))
    assert line.count(" | - ") >= 4
