# SPDX-License-Identifier: Apache-2.0
"""What an interruptible VMM saves, as the README's second table has it."""

import pytest

from gandalf.measure import measure as measuring
from tests.boot.systems import DEMO, WHOLE, describe, linux
from tests.boot.test_interruptible import not_interruptible
from tests.readme import figures

FORKS = "i=0; while [ $i -lt 50 ]; do busybox true; i=$((i+1)); done"
HACKBENCH = "hackbench -g 2 -l 20"


def measured(command: str, interruptible: bool) -> list[float]:
    """Return the instructions with interrupts masked, all of the run in millions, and the longest
    stretch."""
    guests = linux(initrd=WHOLE), DEMO
    system = (describe if interruptible else not_interruptible)("readme", *guests)
    result, _ = measuring.measure(system, measuring.Task(command), lambda _: None)
    windows = result.vmm_windows
    found = [windows.total, result.instructions / 1e6, windows.longest[0].instructions]
    print(command, interruptible, *found)
    return found


@pytest.mark.parametrize(
    ("row", "command", "part"),
    [("50 times fork and exec", FORKS, 0.05), ("`hackbench", HACKBENCH, 0.35)],
    ids=["forks", "hackbench"],
)
def test_the_readme_says_what_is_measured(row: str, command: str, part: float) -> None:
    """part: by which runs may differ. Which of its processes run first is hackbench's chance."""
    for told, interruptible in zip(figures(row), (True, False), strict=True):
        masked, whole, longest = measured(command, interruptible)
        assert told[-3:-1] == pytest.approx([masked, whole], rel=part)
        assert told[-1] == pytest.approx(longest, rel=max(part, 0.1))
