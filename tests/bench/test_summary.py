# SPDX-License-Identifier: Apache-2.0
"""What the bench says at first sight: how long it takes, and what came of it."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gandalf.base.paths import UserError
from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench.progress import Progress, duration
from gandalf.bench.results import LONGEST, Absent, Result, Results
from gandalf.bench.summary import summary
from gandalf.bench.target import Log, Target
from gandalf.cli import app

from .fakes import DAY, Fake, result, results

SYSTEMS = ("gandalf-dedicated", "xen-pv", "gandalf-shared", "gandalf-dedicated-lines")


def rows(system: str) -> list[Result]:
    """Return operations of a system: twice and eight times native, and a longest stretch."""
    ratios = {"pipe": 2.0, "fork_exit": 8.0}
    found = [
        result(system, operation).model_copy(update={"ratio": ratio})
        for operation, ratio in ratios.items()
    ]
    return [*found, result(system, LONGEST, masked_ring_0=1234.0)]


@pytest.fixture
def found() -> Results:
    """Results of the native system and four hypervisors."""
    every = [row for system in SYSTEMS for row in rows(system)]
    return results(result("native-i386"), *every)


def test_five_lines_tell_what_came_of_it(found: Results) -> None:
    lines = summary(found)
    assert len(lines) == 5
    assert lines[0] == (
        "Verdict: Linux in gandalf-shared needs 4.00 times the instructions of native Linux; "
        "figures measured: 13, missing or invalid: 0."
    )
    assert lines[1] == (
        "gandalf-shared: 4.00 times native, geometric mean of 2 operations; "
        "most: fork_exit, 8.00 times."
    )
    assert [line.partition(":")[0] for line in lines[2:4]] == ["gandalf-dedicated", "xen-pv"]
    assert "1,234 in gandalf-shared, 1,234 in gandalf-dedicated, 1,234 in xen-pv" in lines[4]


def test_what_is_missing_is_in_the_verdict() -> None:
    absent = Absent(system="xen-pv", operation=None, invalid=False, reason="No network.")
    assert summary(results(result("native-i386"), absent=(absent,))) == [
        "Verdict: figures measured: 1, missing or invalid: 1."
    ]


def test_reports_open_with_verdict_date_versions_and_meaning(found: Results) -> None:
    versions = {"gandalf": "0.1.0", "qemu": "7.2", "compiler": "gcc 12", "linux of x": "6.1"}
    dated = found.model_copy(update={"versions": versions})
    page = bench_report.page(dated, DAY).partition("<h1>")[2]
    for text in (bench_report.markdown(dated, DAY), re.sub(r"<[^>]*>", "", page)):
        opening = text[: text.index("lower is better")]
        assert opening.index("Verdict: Linux in gandalf-shared") < 60
        assert "Measured on 2024-02-29 with gandalf 0.1.0, qemu 7.2, compiler gcc 12." in opening


def test_the_time_that_is_left_follows_from_the_machines_before() -> None:
    now = [100.0]
    targets: list[Target] = [Fake("one"), Fake("two"), Fake("three")]
    for target, share in zip(targets, (10.0, 20.0, 30.0), strict=True):
        target.share = share
    progress = Progress(targets, lambda: now[0])
    assert progress.text(0) == "1 of 3"
    now[0] += 40
    assert progress.text(1) == "2 of 3, about 3 minutes left"
    now[0] += 20
    assert progress.text(2) == "3 of 3, about 1 minute left"
    assert duration(59) == "less than a minute"


@dataclass
class Kernel(Fake):
    """A system whose kernel takes long to build."""

    def prepare(self, log: Log) -> None:
        log(f"compiling for {self.name}")
        if self.text is None:
            raise UserError("There is no compiler.")


def test_kernels_are_built_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benching, "FOLDER", tmp_path)
    said: list[str] = []
    plan = benching.Plan(operations=("syscall",))
    measured = benching.bench(plan, [Kernel("one"), Kernel("two", text=None)], said.append)
    assert [line.partition(" (")[0] for line in said if not line.endswith("operations")] == [
        "compiling for one", "compiling for two", "measuring one", "measuring two",
    ]  # fmt: skip
    assert [absent.system for absent in measured.absent] == ["two"]


def test_no_time_is_promised_where_kernels_may_have_to_be_built() -> None:
    words = CliRunner().invoke(app, ["bench", "--help"], env={"COLUMNS": "200"}).output
    assert "three minutes" not in words
    assert "Only the 32-bit systems" in words
