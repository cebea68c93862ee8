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
    more = Step("core/time.c", "schedule_gives_way", "")
    gone = replace(walk, steps=(*walk.steps[:-1], more, walk.steps[-1]))
    gone = replace(gone, limit=7)
    assert wrong_walks([gone], VMM) == [f"{walk.name}: schedule_gives_way is not in core/time.c"]


def test_a_walk_through_too_many_files_is_named() -> None:
    walk = read_walks()[0]
    few = replace(walk, limit=2)
    assert wrong_walks([few], VMM) == [f"{walk.name} crosses 6 files, at most 2"]


def test_a_walk_that_goes_back_and_forth_is_named() -> None:
    walk = read_walks()[0]
    again = (*walk.steps[:3], walk.steps[1], *walk.steps[3:])
    assert wrong_walks([replace(walk, steps=again)], VMM) == [
        f"{walk.name} goes down 2 times, and not 1"
    ]
    said = replace(walk, steps=again, descents=2, why="a reason")
    assert wrong_walks([said], VMM) == []


def test_a_walk_that_need_not_go_down_again_does_not_say_so() -> None:
    walk = read_walks()[0]
    assert wrong_walks([replace(walk, descents=2, why="a reason")], VMM) == [
        f"{walk.name} goes down 1 times, and not 2"
    ]
    timer = next(walk for walk in read_walks() if walk.name == "rtos-timer")
    assert wrong_walks([replace(timer, why="")], VMM) == [
        "rtos-timer: a reason is what a walk has that goes down more than once"
    ]


def test_a_walk_that_does_not_come_up_again_is_named() -> None:
    walk = read_walks()[0]
    assert wrong_walks([replace(walk, steps=walk.steps[:-1])], VMM) == [
        f"{walk.name} does not come up again to arch/ia32/entry.S"
    ]


def test_an_old_picture_is_named(tmp_path: Path) -> None:
    for walk in read_walks():
        (tmp_path / f"walk-{walk.name}.svg").write_text(draw(walk))
    assert check_walks(VMM, tmp_path) == []
    (tmp_path / "walk-rtos-timer.svg").write_text("")
    assert check_walks(VMM, tmp_path) == [
        "walk-rtos-timer.svg is old: run python -m gandalf.walls.walks"
    ]
