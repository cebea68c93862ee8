# SPDX-License-Identifier: Apache-2.0
"""What the figures of two levels may be at most, of which some are a machine's latencies."""

import tomllib
from pathlib import Path

import pytest

from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench import two_level_limits
from gandalf.bench.latency import SHIFT_FULL
from gandalf.bench.limits import limits
from gandalf.bench.machines import SYSTEMS
from gandalf.bench.realtime_targets import Realtime
from gandalf.bench.results import Results
from gandalf.bench.summary import summary
from gandalf.bench.switch import OPERATION as SWITCH
from gandalf.bench.targets import targets

from .fakes import DAY, result, results

SYSTEM = two_level_limits.SYSTEM
LOAD = "dispatch_latency_hackbench"


def levels() -> Results:
    """Return results with two levels, of which some keep their limits, and others of no limit."""
    rows = [
        result(SYSTEM, "syscall").model_copy(update={"ratio": 1.51}),
        result(SYSTEM, "page_fault", vmm_entries=3.0).model_copy(update={"ratio": 1.30}),
        result(SYSTEM, "context_switch").model_copy(update={"ratio": 9.0}),
        result(SYSTEM, LOAD, mean=701.0).model_copy(update={"maximum": 2500}),
        result(SYSTEM, SWITCH, 601),
        result("gandalf-two-level-global", SWITCH, 9000),
        result("gandalf-shared", LOAD, mean=9000.0),
    ]
    found = results(*rows)
    return found.model_copy(update={"limits": limits(found)})


def test_figures_keep_their_limits_or_not() -> None:
    found = {(limit.operation, limit.what): limit.kept for limit in levels().limits}
    assert found == {
        ("syscall", "median, in native"): False,
        ("page_fault", "median, in native"): True,
        ("page_fault", "entries into the VMM"): False,
        (LOAD, "mean"): False,
        (LOAD, "maximum"): True,
        (SWITCH, "median"): False,
    }


def test_the_summary_and_the_reports_have_them() -> None:
    """The figures of several CPUs are others, of which nothing is said."""
    found = levels()
    assert summary(found)[-1] == (
        "Limits: with two levels 2 of 6 figures keep their limits; furthest off: page_fault of "
        f"{SYSTEM} (entries into the VMM), 3 where 2 is the most."
    )
    assert "several CPUs" not in summary(found)[0]
    assert f"| {LOAD} | {SYSTEM} | mean | 701 | 700 | - | broken |" in bench_report.markdown(
        found, DAY
    )


def test_each_operation_with_a_limit_is_measured() -> None:
    measured = {name for target in targets() if target.name == SYSTEM for name in target.operations}
    assert {*two_level_limits.RATIOS, SWITCH, LOAD} <= measured


def test_the_machine_of_the_task_has_two_levels_and_differs_in_nothing_else() -> None:
    usual, levels = (
        tomllib.loads((SYSTEMS / f"{name}.toml").read_text())
        for name in ("gandalf-realtime", "gandalf-two-level-realtime")
    )
    assert levels["machine"].pop("rings") == "two-level"
    assert levels == usual


def test_a_second_of_the_task_beside_a_load(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The machine of the full set, which an emulator takes less time for."""
    monkeypatch.setattr(benching, "FOLDER", tmp_path)
    target = Realtime(LOAD, SYSTEM, "gandalf-two-level-realtime", 1, SHIFT_FULL)
    found = benching.bench(benching.Plan(), [target], lambda _: None)
    assert not found.absent
    assert found.results[0].samples >= 1000
    assert [limit.what for limit in found.limits] == ["mean", "maximum"]
    assert all(limit.kept for limit in found.limits), found.limits
