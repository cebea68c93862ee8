# SPDX-License-Identifier: Apache-2.0
"""What the plug-in of `gandalf.stress.boundaries` writes, and what is a mistake in it."""

import pytest

from gandalf.stress.boundaries import Operation, parse

PATH = "path 3 0x10+ 0x12  0x14  0x16- 0x18 "
ROUNDS = [
    "round 3 0 missed same",
    "round 3 1 missed same",
    "round 3 2 hit 1 0x12 460 1 same",
    "round 3 3 hit 2 0x14 460 1 same",
    "round 3 4 hit 4 0x18 461 1 same",
]


def operation(*rounds: str, path: str = PATH) -> Operation:
    (found,) = parse("\n".join([path, *rounds, "handlers 7"])).values()
    found.name = "fill"
    return found


def test_all_is_well() -> None:
    found = operation(*ROUNDS)
    assert found.open == {0, 1, 2, 4}
    assert (found.rounds, found.missed, found.latency) == (5, [], 461)
    assert found.mistakes() == []


@pytest.mark.parametrize(
    ("index", "line", "mistake"),
    [
        (2, "round 3 2 missed same", "1 boundaries were not hit: 0x12"),
        (2, "round 3 2 hit 1 0x12 460 1 memory=0x5000", "interrupted at 0x12, left something else"),
        (1, "round 3 1 missed table=0x40000000", "round 1 left something else: table=0x40000000"),
        (1, "round 3 1 hit 3 0x16 460 1 same", "at 0x16 came elsewhere"),
        (1, "round 3 1 hit 2 0x15 460 1 same", "at 0x15 came elsewhere"),
        (1, "round 3 1 hit 9 0x14 460 1 same", "at 0x14 came elsewhere"),
        (2, "round 3 2 hit 1 0x12 0 1 same", "1 boundaries were not hit: 0x12"),
        (2, "round 3 2 hit 1 0x12 1001 1 same", "1 boundaries were not hit: 0x12"),
        (2, "round 3 2 hit 1 0x12 612 2 same", "1 boundaries were not hit: 0x12"),
    ],
)
def test_mistakes(index: int, line: str, mistake: str) -> None:
    (found,) = operation(*ROUNDS[:index], line, *ROUNDS[index + 1 :]).mistakes()
    assert mistake in found


def test_an_interrupt_behind_another_has_a_latency_of_its_own() -> None:
    found = operation(*ROUNDS, "round 3 4 hit 4 0x18 612 2 same")
    assert (found.latency, found.latency_behind(1)) == (461, 612)
    assert found.mistakes() == []


def test_a_vmm_that_keeps_interrupts_out_is_one() -> None:
    found = operation("round 3 1 missed same", path="path 3 0x10- 0x12-")
    assert found.mistakes() == ["fill: the VMM let no interrupt in."]
