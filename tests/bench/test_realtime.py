# SPDX-License-Identifier: Apache-2.0
"""The machine of the real-time task: the slow one of the full set measures what the usual does.

In a second of its time it executes an eighth of the instructions, so the usual one needs --long.
"""

from pathlib import Path

import pytest

from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench.latency import SHIFT, SHIFT_FULL
from gandalf.bench.realtime_targets import Realtime
from gandalf.bench.results import Results
from gandalf.bench.rows import record_rows

from .fakes import DAY

LOAD = "dispatch_latency_fork"
SECONDS = 1
# Instructions: the timer's frequency is rounded in nanoseconds.
AGREEMENT = 30


def measure(shift: int, folder: Path) -> Results:
    """Measure the task on the machine whose instructions take two to the power of it ns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benching, "FOLDER", folder)
        target = Realtime(LOAD, seconds=SECONDS, shift=shift)
        results = benching.bench(benching.Plan(), [target], lambda _: None)
    assert not results.absent
    assert results.results[0].samples >= 1000 * SECONDS
    return results


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return measure(SHIFT_FULL, tmp_path_factory.mktemp("bench"))


@pytest.mark.long
def test_both_machines_have_the_same_latency(found: Results, tmp_path: Path) -> None:
    """In instructions, though one needs eight times as long for them."""
    results = measure(SHIFT, tmp_path)
    check_record(results)
    (usual,), (slow,) = results.results, found.results
    assert slow.minimum == pytest.approx(usual.minimum, abs=AGREEMENT)
    assert slow.mean == pytest.approx(usual.mean, abs=AGREEMENT)
    assert slow.minimum <= slow.instructions <= slow.maximum
    (machine,) = found.machines.values()
    assert f"shift={SHIFT_FULL}" in machine


def test_the_record_is_that_of_the_load(found: Results) -> None:
    check_record(found)


def check_record(found: Results) -> None:
    """All of it is in ring 0."""
    (row,) = found.results
    assert row.events["masked_longest"] == row.events["masked_longest_ring_0"] > 0
    assert " at 0xfc" in row.places["ring_0"]
    assert f", in {LOAD}" in row.places["ring_0"]
    ((system, what, length, place),) = record_rows(found)
    assert (system, what, place) == ("gandalf-shared", LOAD, row.places["ring_0"])
    assert int(length.replace(",", "")) == row.events["masked_longest_ring_0"]


def test_the_report_says_where(found: Results, tmp_path: Path) -> None:
    """And leaves open what was not counted."""
    bench_report.write(found, tmp_path, DAY)
    text, page = ((tmp_path / f"report.{kind}").read_text() for kind in ("md", "html"))
    (row,) = found.results
    assert row.places["ring_0"] in text
    assert row.places["ring_0"] in page
    assert f"| {LOAD} | {row.instructions:,} |" in text
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {LOAD} | "))
    assert line.count(" | - ") >= 4
