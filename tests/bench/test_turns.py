# SPDX-License-Identifier: Apache-2.0
"""What the page-table cache finds with processes in turn: the measurement, its table and its plot.

The table of docs/two-level.md is from `gandalf bench --page-table-cache`.
"""

import pytest
from typer.testing import CliRunner

from gandalf.base.paths import UserError
from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench import turns, turns_target
from gandalf.bench.results import Result, Results
from gandalf.bench.turns import CACHES, OPERATIONS, PROCESSES, Cache
from gandalf.bench.workload import parse
from gandalf.cli import app

from .fakes import DAY, result, results

TITLE = "The page-table cache, by number of processes"
STATS = "space_hits {hits} address spaces found\nspace_misses {misses} not found\n"


def row(cache: Cache, operation: str, hits: float) -> Result:
    return result(cache.name, operation, 7, mean=7000.0, space_hits=hits, space_misses=100 - hits)


def share(row: Result) -> float:
    return row.events["space_hits"] / (row.events["space_hits"] + row.events["space_misses"])


def test_the_counters_are_those_between() -> None:
    before, behind = STATS.format(hits=5, misses=7), STATS.format(hits=105, misses=8)
    text = f"begin=turns_16\n{before}sample=turns_16\n{behind}end=turns_16\n"
    assert turns.found("turns_16", text) == {"space_hits": 100.0, "space_misses": 1.0}
    for damaged in (text.replace("end=turns_16", ""), text.replace(before, "")):
        with pytest.raises(UserError, match="counters were not printed"):
            turns.found("turns_16", damaged)
    with pytest.raises(UserError, match="turns_1 "):
        turns.found("turns_1", text)


def test_the_table_has_each_cache_that_was_measured() -> None:
    rows = [row(CACHES[1], operation, 20.0) for operation in OPERATIONS]
    found = results(*rows, row(CACHES[0], OPERATIONS[0], 1.0))
    first = [CACHES[1].policy, str(CACHES[1].entries)]
    assert turns.turns_rows(found) == [[*first, *["20", "7,000"] * len(PROCESSES)]]
    assert TITLE in bench_report.markdown(found, DAY)
    assert TITLE not in bench_report.markdown(results(), DAY)


def test_the_plot_has_a_line_for_each_policy_and_number_of_processes() -> None:
    caches = [Cache(policy, entries) for policy in ("lru", "fifo") for entries in (2, 8)]
    rows = [row(cache, name, 10.0 * cache.entries) for cache in caches for name in OPERATIONS]
    figure = turns.turns_plot(results(*rows))
    assert len(figure.data) == 2 * 2 * len(PROCESSES)
    assert {line.name for line in figure.data if line.showlegend} == {"lru", "fifo"}
    found, costs = figure.data[0], figure.data[1]
    assert (found.x, found.y) == ((2, 8), (20.0, 80.0))
    assert (costs.x, costs.y) == ((2, 8), (7000.0, 7000.0))
    assert 'id="turns"' in bench_report.page(results(*rows), DAY)
    assert 'id="turns"' not in bench_report.page(results(), DAY)


@pytest.mark.parametrize("other", ["--cores", "--lhp", "--quick", "--full", "--cache"])
def test_it_is_measured_alone(other: str) -> None:
    done = CliRunner().invoke(app, ["bench", "--page-table-cache", other])
    assert done.exit_code != 0
    assert "Give --page-table-cache without" in str(done.exception)


def measure(*caches: Cache) -> Results:
    plan = benching.Plan(tuple(cache.name for cache in caches))
    found = benching.bench(plan, turns_target.targets(), lambda _: None)
    assert not found.absent
    return found


def test_a_cache_finds_the_processes_for_which_it_has_entries() -> None:
    cache = Cache("bimodal", 8)
    found = {row.operation: row for row in measure(cache).results}
    # The shell and what it starts have entries, too.
    assert share(found["turns_4"]) > 0.9
    assert 0.1 < share(found["turns_16"]) < 0.6
    assert share(found["turns_64"]) < 0.1
    assert found["turns_4"].mean < found["turns_16"].mean


def test_the_script_measures_each_number_of_processes() -> None:
    lines = turns.script().splitlines()
    assert [line for line in lines if line.startswith("bench-turns ")] == [
        f"bench-turns sample turns_{count} {2000 // count}" for count in PROCESSES
    ]
    assert parse("\n".join(lines)).samples == ()


@pytest.mark.long
def test_what_each_cache_finds() -> None:
    found = measure(*CACHES)
    for cache in CACHES:
        for processes, operation in zip(PROCESSES, OPERATIONS, strict=True):
            cell, lru = (
                found.find(other.name, operation) for other in (cache, Cache("lru", cache.entries))
            )
            assert cell is not None
            assert lru is not None
            entries = cache.entries
            # The shell and what it starts have entries, too. One process has hardly a load of CR3.
            if 1 < processes <= entries - 3:
                assert share(cell) > 0.9, (cache, processes)
            # With fewer entries than that, a process comes again too seldom in all the turns, and
            # all policies find next to nothing.
            if cache.policy == "bimodal" and entries < processes <= 2 * entries and entries > 2:
                assert cell.mean < lru.mean, (cache, processes)
            if cache.policy == "bimodal" and entries < processes <= 4 * entries and entries > 2:
                assert share(cell) > share(lru), (cache, processes)
