# SPDX-License-Identifier: Apache-2.0
"""What each measure saves: the table, and the systems that lack one."""

import tomllib

import pytest

from gandalf.bench import report as bench_report
from gandalf.bench.ablation import MORE, WITHOUT, ablation_plot, ablation_rows, systems
from gandalf.bench.machines import SYSTEMS
from gandalf.bench.targets import Ablation, TwoLevel, targets
from gandalf.description.description import Machine
from gandalf.description.levels import MEASURES

from .fakes import DAY, result, results

TITLE = "What each measure saves"


def test_the_table_has_what_a_measure_saves() -> None:
    less = result("s" + WITHOUT + "m", "pipe", 1250, vmm_entries=10.0, cr3_load=12.0)
    whole = result("s", "pipe", 1000, vmm_entries=9.0, cr3_load=12.0)
    found = results(whole, less, result("s" + WITHOUT + "m", "boot", 7), result("s", "syscall"))
    assert ablation_rows(found) == [
        ["s-no-m, pipe", "1,250", "1,000", "250 (20.0 %)", "10.0", "9.0", "12.0", "12.0", "-", "-"],
    ]
    text = bench_report.markdown(found, DAY)
    assert TITLE in text
    assert "| s-no-m, pipe | 1,250 | 1,000 | 250 (20.0 %) |" in text
    assert TITLE not in bench_report.markdown(results(whole), DAY)


def test_the_plot_has_what_is_slower_without_a_measure() -> None:
    less, other = (
        result("s" + WITHOUT + "m", "pipe", 1250),
        result("s" + WITHOUT + "n", "pipe", 990),
    )
    found = results(result("s", "pipe", 1000), less, other, result("s", "syscall", 7))
    shown = [(bar.name, bar.x, bar.y) for bar in ablation_plot(found).data]
    # Nobody has counted page walks.
    assert shown == [("s-no-m", ("pipe",), (125.0,)), ("s-no-n", ("pipe",), (99.0,))]
    assert 'id="ablation"' in bench_report.page(found, DAY)
    assert 'id="ablation"' not in bench_report.page(results(result("s", "pipe", 1000)), DAY)


@pytest.mark.parametrize(("more", "whole"), [(more, whole) for more, (whole, _) in MORE.items()])
def test_a_measure_that_a_system_has_more(more: str, whole: str) -> None:
    """It saves page walks, and no instructions."""
    found = results(
        result(whole, "syscall", 371, page_walk=30.0), result(more, "syscall", 371, page_walk=24.0)
    )
    name = f"{whole} (with it: {more})"
    (row,) = ablation_rows(found)
    assert row[:4] == [f"{name}, syscall", "371", "371", "0 (0.0 %)"]
    assert row[-2:] == ["30.0", "24.0"]
    bars = [(bar.name, bar.x, bar.y, bar.showlegend) for bar in ablation_plot(found).data]
    assert bars == [
        (name, ("syscall",), (100.0,), True), (name, ("syscall",), (125.0,), False),
    ]  # fmt: skip


def test_what_is_not_counted_and_what_costs() -> None:
    less, whole = result("s" + WITHOUT + "m", "boot", 1000), result("s", "boot", 1010)
    assert ablation_rows(results(less, whole)) == [
        ["s-no-m, boot", "1,000", "1,010", "-10 (-1.0 %)", *6 * ["-"]],
    ]


@pytest.mark.parametrize(("name", "whole", "field"), [*systems()])
def test_the_systems_differ_in_nothing_else(name: str, whole: str, field: str) -> None:
    usual, less = (
        tomllib.loads((SYSTEMS / f"{system}.toml").read_text()) for system in (whole, name)
    )
    assert less["machine"].pop(field) == (False if field != "coherence" else "detect")
    assert usual == less
    (target,) = (target for target in targets() if target.name == name)
    assert isinstance(target, Ablation)
    assert target.native == whole


@pytest.mark.parametrize(
    ("more", "whole", "field"), [(more, *found) for more, found in MORE.items()]
)
def test_a_system_with_a_measure_more_differs_in_nothing_else(
    more: str, whole: str, field: str
) -> None:
    usual, other = (
        tomllib.loads((SYSTEMS / f"{system}.toml").read_text()) for system in (whole, more)
    )
    assert other["machine"].pop(field) is True
    assert usual == other
    (target,) = (target for target in targets() if target.name == more)
    assert isinstance(target, TwoLevel)
    assert target.native == whole


def test_each_measure_has_a_system() -> None:
    """The page-table cache's size and policy are choices, and no measures that one has or not."""
    usual = {name: Machine.model_fields[name].default for name in MEASURES}
    assert {field for _, _, field in systems()} == {
        *(name for name, default in usual.items() if default is True), "coherence",
    }  # fmt: skip
    assert {field for _, field in MORE.values()} == {
        name for name, default in usual.items() if default is False
    }
