# SPDX-License-Identifier: Apache-2.0
"""vCPUs that are gathered on few CPUs and spread again, while they work."""

import json
import re
import time
from collections.abc import Iterator

import pytest

from .systems import Boot
from .test_cores import beats
from .test_migration import describe_moving
from .test_smp import online

# How often a CPU is looked at, and how often it may be found otherwise: housekeeping and messages.
LOOKS, AWAKE = 50, 5
# Seconds of the host between two looks, in which the machine goes on.
BETWEEN = 0.01


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with Boot.start(describe_moving("gathering", [0, 1, 2, 3])) as started:
        started.wait_for_shell()
        assert online(started) == "0-3"
        yield started


def places(machine: Boot) -> list[int]:
    """Return the CPU of each vCPU."""
    listed = json.loads(machine.shell("gandalfctl list --json"))
    guest = next(guest for guest in listed["guests"] if guest["name"] == "linux")
    return [vcpu["cpu"] for vcpu in guest["vcpus"]]


def halted(machine: Boot) -> dict[int, int]:
    """Return how often each CPU was found halted, at as many moments of a machine that runs."""
    found = dict.fromkeys(range(4), 0)
    machine.resume()
    for _ in range(LOOKS):
        time.sleep(BETWEEN)
        text = machine.hmp("info registers -a")
        for cpu, halt in re.findall(r"CPU#(\d+).*?HLT=(\d)", text, re.S):
            found[int(cpu)] += int(halt)
    machine.pause()
    return found


@pytest.mark.parametrize(
    ("cpus", "wanted"),
    [(2, [0, 1, 0, 1]), (1, [0, 0, 0, 0]), (4, [0, 1, 2, 3]), (3, [0, 1, 2, 0])],
)  # fmt: skip
def test_under_load_nothing_is_lost(machine: Boot, cpus: int, wanted: list[int]) -> None:
    machine.shell("(hackbench -g 2 -l 20 > /tmp/load; echo done $? >> /tmp/load) & true")
    told = machine.shell(f"gandalfctl gather {cpus}")
    assert re.findall(r"vCPU (\d) is on CPU (\d)", told) == [
        (str(vcpu), str(wanted[vcpu])) for vcpu in (1, 2, 3)
    ]
    assert places(machine) == wanted
    assert "done 0" in machine.shell("wait; cat /tmp/load")
    for vcpu in range(4):
        assert machine.shell(f"taskset -c {vcpu} echo works") == "works\n"
    machine.kernel_is_sane()
    beats(machine, "beat")


def test_the_other_cpus_halt(machine: Boot) -> None:
    """Not those that work: each vCPU has a loop."""
    loops = "for c in 0 1 2 3; do taskset -c $c sh -c 'while :; do :; done' & done; true"
    machine.shell(f"gandalfctl gather 2; {loops}; sleep 1")
    found = halted(machine)
    assert min(found[2], found[3]) >= LOOKS - AWAKE, found
    assert max(found[0], found[1]) <= AWAKE, found
    machine.shell("gandalfctl gather 4")
    found = halted(machine)
    assert max(found.values()) <= AWAKE, found
    machine.shell("kill $(jobs -p); wait")


def test_a_processor_that_linux_has_switched_off_moves_too(machine: Boot) -> None:
    machine.shell("echo 0 > /sys/devices/system/cpu/cpu3/online; gandalfctl gather 1")
    assert places(machine) == [0, 0, 0, 0]
    machine.shell("echo 1 > /sys/devices/system/cpu/cpu3/online; gandalfctl gather 4")
    assert places(machine) == [0, 1, 2, 3]
    assert machine.shell("taskset -c 3 echo works") == "works\n"


def test_what_the_machine_has_not_is_refused(machine: Boot) -> None:
    assert "the machine has 4 CPUs" in machine.shell("gandalfctl gather 5 2>&1", status=1)
