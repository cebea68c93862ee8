# SPDX-License-Identifier: Apache-2.0
"""What the kernel and the plug-in of `gandalf.stress.moves` write, and what is a mistake in it."""

import pytest

from gandalf.stress.moves import parse

TEXT = "1 tell rounds=2 interrupts=1 asked=3\nPASS pc-moves\n"
WRITTEN = [
    "path 1 0 0x10 0x12",
    "hit 1 1 0x10",
    "asked 1 1 0 amid",
    "behind 1 1 same",
    "hit 1 2 0x12",
    "asked 1 2 5 amid",
    "behind 1 2 same",
    "path 1 3 0x10 0x12",
]


def mistakes(index: int, line: str, text: str = TEXT) -> list[str]:
    """Return the mistakes if another line is in the place of one of the plug-in's."""
    return parse(text, "\n".join([*WRITTEN[:index], line, *WRITTEN[index + 1 :]])).mistakes()


def test_all_is_well() -> None:
    outcome = parse(TEXT, "\n".join(WRITTEN))
    assert outcome.mistakes() == []
    operation = outcome.operations["tell"]
    assert operation.seen.hits == operation.seen.path == [0x10, 0x12]
    assert (operation.rounds, operation.amid, operation.at_once) == (2, 2, 1)
    assert (operation.interrupts, operation.asked) == (1, 3)


@pytest.mark.parametrize(
    ("index", "line", "mistake"),
    [
        (3, "behind 1 1 memory=0x5000", "the move of round 1 left something else: memory=0x5000"),
        (2, "asked 1 1 9 after", "of 2 rounds the vCPU has moved in 2, and in 1 before it went on"),
        (4, "hit 1 2 0x10", "1 instructions were not hit: 0x12"),
        (0, "path 1 0 0x10 0x12 0x14", "1 instructions were not hit: 0x14"),
    ],
)
def test_mistakes(index: int, line: str, mistake: str) -> None:
    (found,) = mistakes(index, line)
    assert mistake in found


def test_a_round_that_was_not_compared_is_one() -> None:
    (found,) = mistakes(3, "path 1 0 0x10 0x12")
    assert "1 of them were compared" in found


def test_a_path_that_differs_needs_further_rounds() -> None:
    text = TEXT.replace("rounds=2", "rounds=3")
    stray = ["hit 1 2 0x11", "asked 1 2 0 amid", "behind 1 2 same"]
    outcome = parse(text, "\n".join([*WRITTEN[:4], *stray, *WRITTEN[4:]]))
    assert outcome.mistakes() == []


def test_a_kernel_that_fails_is_one() -> None:
    text = TEXT.replace("PASS", "# round 1: time went back\nFAIL")
    assert mistakes(0, WRITTEN[0], text) == [text]


def test_an_operation_of_which_the_vmm_does_nothing_is_one() -> None:
    (found,) = parse(TEXT.replace("rounds=2", "rounds=0"), "path 1 0\npath 1 1").mistakes()
    assert "0 instructions were not hit" in found
