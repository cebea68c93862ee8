# SPDX-License-Identifier: Apache-2.0
"""The walks of the tour: text, sources and pictures agree."""

from dataclasses import replace
from pathlib import Path

from gandalf.base.paths import ROOT
from gandalf.walls.walks import Step, check_walks, draw, read_walks, wrong_walks

VMM = ROOT / "vmm"


def test_the_walks_are_as_they_are_drawn() -> None:
    assert check_walks(VMM) == []
    assert len(read_walks()) == 4


def test_a_function_that_is_elsewhere_is_named() -> None:
    walk = read_walks()[0]
    gone = replace(walk, steps=(*walk.steps, Step("core/time.c", "schedule_gives_way", "")))
    gone = replace(gone, limit=7)
    assert wrong_walks([gone], VMM) == [f"{walk.name}: schedule_gives_way is not in core/time.c"]


def test_a_walk_through_too_many_files_is_named() -> None:
    walk = read_walks()[0]
    few = replace(walk, limit=2)
    assert wrong_walks([few], VMM) == [f"{walk.name} crosses 6 files, at most 2"]


def test_an_old_picture_is_named(tmp_path: Path) -> None:
    for walk in read_walks():
        (tmp_path / f"walk-{walk.name}.svg").write_text(draw(walk))
    assert check_walks(VMM, tmp_path) == []
    (tmp_path / "walk-rtos-timer.svg").write_text("")
    assert check_walks(VMM, tmp_path) == [
        "walk-rtos-timer.svg is old: run python -m gandalf.walls.walks"
    ]
