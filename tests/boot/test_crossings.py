# SPDX-License-Identifier: Apache-2.0
"""Another core takes a page away at each instruction of the VMM's work for a vCPU that uses it."""

from pathlib import Path

import pytest

from gandalf.stress.crossings import run

from .changed import SMP, changed_debug, substitute

# The least instructions of the VMM in each operation, by its number in siblings_crossings.c.
LEAST = {1: 200, 2: 200, 3: 200, 4: 200, 6: 200}


# Of a load of CR3.
LEAST_OF_LOAD = {5: 1000}


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("crossings", LEAST),
        pytest.param("crossings long", LEAST_OF_LOAD, marks=pytest.mark.long),
    ],
)
def test_each_instruction_can_be_crossed(name: str, least: dict[int, int]) -> None:
    outcome = run(name)
    assert outcome.passed, outcome.text
    assert outcome.operations.keys() == least.keys()
    for number, operation in outcome.operations.items():
        assert len(operation.path) >= least[number], number
        assert operation.hits == operation.path, number


def entries_are_stored(folder: Path) -> None:
    """Have accessed and dirty bits stored over whatever the entry is by then."""
    substitute(
        folder / "vmm" / "several" / "entry_access.h",
        "__sync_bool_compare_and_swap(entry, old, *now)",
        "(*(volatile u32 *)entry = *now, true)",
    )


@pytest.mark.long
def test_an_entry_that_comes_back_is_found() -> None:
    outcome = run("crossings", changed_debug("crossings", entries_are_stored, SMP))
    assert not outcome.passed
    assert "not ok" in outcome.text
