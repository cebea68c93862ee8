# SPDX-License-Identifier: Apache-2.0
"""The suites of `make test` are counted right, and run in the order that ends soonest."""

import os
import sys
from pathlib import Path

import pytest

from gandalf import suite
from gandalf.base.paths import BUILD
from gandalf.suite import (
    PARTS,
    QUICK,
    SUITES,
    Count,
    Suite,
    cache_compilers,
    lanes,
    main,
    order,
    parse_count,
    run_suites,
)


@pytest.mark.parametrize(
    ("output", "status", "count"),
    [
        ("x\n3 passed, 0 failed\n", 0, Count(3, 0)),
        ("x\n3 passed, 2 failed\n", 1, Count(3, 2)),
        ("=== 1 failed, 12 passed, 2 skipped in 3.1s ===\n", 1, Count(12, 1)),
        ("=== 5 passed, 1 error in 3.1s ===\n", 1, Count(5, 1)),
        ("=== 5 passed in 3.1s ===\nwarning\n", 0, Count(5, 0)),
        ("3 passed, 0 failed\n", 2, Count(3, 1)),
        ("no tests ran in 0.01s\n", 5, Count(0, 1)),
        ("0 passed, 0 failed\n", 0, Count(0, 1)),
        ("", 0, Count(0, 1)),
    ],
)
def test_counts(output: str, status: int, count: Count) -> None:
    assert parse_count(output, status) == count


def test_sums() -> None:
    assert str(Count(3, 1) + Count(2, 0)) == "5 passed, 1 failed"


# Waits for another file and writes its own: it ends only if the other suite runs meanwhile.
MEET = """
import pathlib, sys, time
own, other = (pathlib.Path(word) for word in sys.argv[1:3])
own.touch()
end = time.monotonic() + 60
while not other.exists() and time.monotonic() < end:
    time.sleep(0.01)
print(f"{int(other.exists())} passed, {int(not other.exists())} failed")
"""
FAILS = "print('FAILED x.py::y\\n1 passed, 2 failed'); exit(1)"


def test_the_longest_suites_begin_first() -> None:
    seconds = [(SUITES | PARTS)[name].seconds for name in order([*SUITES, *PARTS])]
    assert seconds == sorted(seconds, reverse=True)
    assert set(QUICK) <= set(SUITES | PARTS)


def test_two_cpus_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the seconds that suites take, where a lane has the next one when it has ended one."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    ends = [0] * lanes()
    for name in order(list(SUITES)):
        ends[ends.index(min(ends))] += SUITES[name].seconds
    assert max(ends) - min(ends) <= 60
    assert max(ends) <= 34 * 60


def test_suites_run_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / name) for name in "ab"]
    meets = {
        "a": Suite(1, ([sys.executable, "-c", MEET, *files],)),
        "b": Suite(2, ([sys.executable, "-c", MEET, *reversed(files)],)),
        "two": Suite(0, ([sys.executable, "-c", "print('3 passed')"],
                         [sys.executable, "-c", FAILS])),
    }  # fmt: skip
    monkeypatch.setattr(suite, "SUITES", meets)
    monkeypatch.setattr(suite, "BUILD", tmp_path)
    monkeypatch.setattr(suite, "prepare", lambda: None)
    assert run_suites(["a", "b", "two"], 2) == Count(6, 2)
    shown = capsys.readouterr().out
    assert shown.endswith(
        "b: 1 passed, 0 failed\na: 1 passed, 0 failed\ntwo: 4 passed, 2 failed\n"
        "two-2: FAILED x.py::y\n6 passed, 2 failed\n"
    )
    assert (tmp_path / "test" / "two-2.log").read_text().endswith("1 passed, 2 failed\n")


def test_a_suite_by_itself_is_shown_as_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = {"one": Suite(1, ([sys.executable, "-c", "print('line'); print('2 passed')"],))}
    monkeypatch.setattr(suite, "SUITES", alone)
    monkeypatch.setattr(suite, "BUILD", tmp_path)
    assert run_suites(["one"], 2) == Count(2, 0)
    assert "line\n2 passed\n=== one: 2 passed, 0 failed" in capsys.readouterr().out


def test_suites_find_compilers_that_remember(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are; a folder for what they remember that somebody has chosen stays."""
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("CCACHE_DIR", "/chosen")
    monkeypatch.setattr(suite, "CACHED_COMPILERS", (str(tmp_path), str(tmp_path / "none")))
    cache_compilers()
    assert os.environ["PATH"] == f"{tmp_path}:/usr/bin"
    assert os.environ["CCACHE_DIR"] == "/chosen"
    monkeypatch.delenv("CCACHE_DIR")
    cache_compilers()
    assert os.environ["CCACHE_DIR"] == str(BUILD / "cache" / "compiler")


def test_a_suite_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a typing mistake in it nothing runs."""
    monkeypatch.setattr("sys.argv", ["suite", "unit", "bot"])
    with pytest.raises(SystemExit, match=r"^no suite bot: there are boot, "):
        main()
