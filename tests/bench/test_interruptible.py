# SPDX-License-Identifier: Apache-2.0
"""What it costs that the VMM can be interrupted: the table, and both systems in one run."""

import tomllib
from pathlib import Path

import pytest

from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench.interruptible import NOT, cost_rows
from gandalf.bench.machines import SYSTEMS
from gandalf.bench.targets import Uninterruptible, targets

from .fakes import DAY, result, results


def test_nothing_gained_is_nothing() -> None:
    rows = [result(name, "pipe", masked_ring_0=7.0) for name in ("s", "s" + NOT)]
    (cells,) = cost_rows(results(*rows))
    assert cells[3] == "+0.00 %"
    assert cells[-3:] == ["7", "7", "0.00 %"]


def test_the_table_has_cost_and_gain() -> None:
    with_it = result("s", "fork_exit", 1010, 1020.0, masked_ring_0=100.0)
    without = result("s" + NOT, "fork_exit", 1000, 1000.0, masked_ring_0=800.0)
    bare = result("s", "boot", 5, 5.0)
    found = results(with_it, bare, without, result("s" + NOT, "boot", 5, 5.0), result("t"))
    assert cost_rows(found) == [
        ["s, fork_exit", "1,010", "1,000", "+1.00 %", "1,020", "1,000", "+2.00 %", "100", "800",
         "87.50 %"],
        ["s, boot", "5", "5", "+0.00 %", "5", "5", "+0.00 %", "-", "-", "-"],
    ]  # fmt: skip
    text = bench_report.markdown(found, DAY)
    assert "| s, fork_exit | 1,010 | 1,000 | +1.00 % |" in text
    assert "interruptible or not" not in bench_report.markdown(results(with_it), DAY)


@pytest.mark.parametrize("name", ["gandalf-shared", "gandalf-dedicated", "gandalf-dedicated-lines"])
def test_the_systems_differ_in_nothing_else(name: str) -> None:
    usual, other = (
        tomllib.loads((SYSTEMS / f"{system}.toml").read_text()) for system in (name, name + NOT)
    )
    assert other["machine"].pop("interruptible") is False
    assert usual == other
    (target,) = (target for target in targets() if target.name == name + NOT)
    assert isinstance(target, Uninterruptible)
    assert target.native == name


def test_interrupts_are_masked_for_less_of_a_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What issue and papers ask for: at least 80 % less, and at most 4,000 instructions."""
    monkeypatch.setattr(benching, "FOLDER", tmp_path)
    plan = benching.Plan(("gandalf-shared" + NOT,), ("fork_exit",))
    found = benching.bench(plan, targets(), lambda _: None)
    assert not found.absent
    row, other = (found.find(name, "fork_exit") for name in ("gandalf-shared", plan.systems[0]))
    assert row is not None
    assert other is not None
    assert 0 < row.events["masked_ring_0"] <= 4000
    assert row.events["masked_ring_0"] <= 0.2 * other.events["masked_ring_0"]
    assert row.mean <= 1.02 * other.mean
    assert len(cost_rows(found)) == 1
