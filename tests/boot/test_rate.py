# SPDX-License-Identifier: Apache-2.0
"""The VMM measures the time stamp counter to a millionth, and Linux's clock goes by that.

In QEMU an instruction is a nanosecond by all of the machine's clocks, so the counter has 1,000 MHz.
"""

import re
from collections.abc import Iterator

import pytest

from .systems import DEMO, Boot, describe, linux
from .workload import build_initrd_with

MILLIONTH = 1e-6
TOLD = r"^\[ *(\d+\.\d+)\] gandalf: the clock goes by (\d+\.\d{5}) MHz$"
CURRENT = "cat /sys/devices/system/clocksource/clocksource0/current_clocksource"
WAIT = f"until dmesg | grep -q 'gandalf: the clock'; do sleep 1; done; {CURRENT}"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    guest = linux(initrd=build_initrd_with("rate"), more="control = true")
    with Boot.start(describe("rate", guest, DEMO)) as running:
        running.wait_for_shell()
        yield running


def told(machine: Boot) -> tuple[float, float]:
    """Return when Linux learned the frequency, in seconds since its start, and that in MHz."""
    found = re.search(TOLD, machine.shell("dmesg"), re.M)
    assert found
    return float(found[1]), float(found[2])


def frequency(machine: Boot) -> float:
    """Return how many ticks are a second by Linux's clock."""
    ticks, nanoseconds = (int(word, 16) for word in machine.shell("rate 9").split())
    assert nanoseconds > 9e9
    return ticks / nanoseconds * 1e9


def test_linux_s_clock_is_right_to_a_millionth(machine: Boot) -> None:
    assert machine.shell(WAIT) == "gandalf\n"
    seconds, megahertz = told(machine)
    assert 1 < seconds < 10
    assert abs(megahertz / 1000 - 1) < MILLIONTH
    assert abs(frequency(machine) / 1e9 - 1) < MILLIONTH
    machine.kernel_is_sane()


def test_a_linux_that_starts_later_knows_it_at_once(machine: Boot) -> None:
    machine.skip("linux")
    machine.vmm("restart linux", r"^restart linux\n")
    machine.wait_for_shell()
    assert machine.shell(WAIT) == "gandalf\n"
    seconds, megahertz = told(machine)
    assert seconds < 1
    assert abs(megahertz / 1000 - 1) < MILLIONTH
    assert abs(frequency(machine) / 1e9 - 1) < MILLIONTH
