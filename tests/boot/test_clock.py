# SPDX-License-Identifier: Apache-2.0
"""An RTOS that holds the CPU: Linux waits, loses nothing of its clock, and the log tells of it."""

import json
import re
from collections.abc import Iterator

import pytest

from .systems import DEMO, PATIENCE, Boot, describe, linux, rtos_guest

STARVED = r"^\w+ has held the CPU for 10 seconds; guests of lower priority wait\n"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The default system, whose Linux may ask for the VMM's time."""
    with Boot.start(describe("clock", linux(more="control = true"), DEMO)) as running:
        running.wait_for_shell()
        yield running


def _times(machine: Boot) -> tuple[float, float, float]:
    """Linux's wall clock and uptime, and the VMM's own time, in seconds."""
    output = machine.shell("date +%s; cat /proc/uptime; gandalfctl list --json")
    wall, uptime, *found = output.splitlines()
    return float(wall), float(uptime.split()[0]), json.loads("".join(found))["uptime_ms"] / 1000


def test_linux_loses_no_time_while_an_rtos_holds_the_cpu(machine: Boot) -> None:
    machine.hackbench()
    before = _times(machine)
    machine.demo("spin 5", r"^spin: holds the CPU for 5 s\n")
    machine.expect("rtos", r"^spin: done\n", PATIENCE)
    machine.hackbench()
    after = _times(machine)
    wall, uptime, real = (late - early for early, late in zip(before, after, strict=True))
    assert real >= 5
    # What passes between one look at a clock and the next; the wall clock shows whole seconds.
    assert abs(uptime - real) < 0.5, (before, after)
    assert abs(wall - real) < 1.5, (before, after)
    assert not re.search(STARVED, machine.text("vmm"), re.M)
    machine.kernel_is_sane()


def test_starvation_is_told_once(machine: Boot) -> None:
    machine.hackbench()
    start = len(machine.text("vmm"))
    machine.demo("spin 12", r"^spin: holds the CPU for 12 s\n")
    machine.expect("rtos", r"^spin: done\n", PATIENCE)
    machine.hackbench()
    told = re.findall(STARVED, machine.text("vmm")[start:], re.M)
    assert told == ["rtos has held the CPU for 10 seconds; guests of lower priority wait\n"]


def test_a_hung_rtos_is_told_once_and_can_be_stopped(machine: Boot) -> None:
    machine.hackbench()
    start = len(machine.text("vmm"))
    machine.skip("vmm")
    machine.demo("hang", r"^hang: holds the CPU for ever\n")
    machine.expect("vmm", STARVED, PATIENCE)
    machine.send("rtos", "nobody reads this\n")
    told = re.findall(STARVED, machine.text("vmm")[start:], re.M)
    assert len(told) == 1


def test_two_rtoses_starve_linux_until_the_urgent_one_halts() -> None:
    """The hog has a higher priority than the demo, which starves as well."""
    system = describe("hog", linux(), DEMO, rtos_guest("hog", priority=20))
    with Boot.start(system) as machine:
        machine.expect("vmm", r"^hog has held the CPU for 10 seconds", PATIENCE)
        assert "activations" not in machine.text("rtos")
