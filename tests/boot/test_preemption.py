# SPDX-License-Identifier: Apache-2.0
"""vCPUs of a Linux that leave their CPU while an RTOS has it, and come back.

In QEMU two CPUs are two threads of the host: what is tested there is what happens, and not when.
"""

import json
from collections.abc import Iterator

import pytest

from .systems import PATIENCE, Boot, rtos_guest
from .test_cores import describe_cores, on
from .test_migration import place
from .test_smp import ends, online, smp

POLICY = 'control = true\nmigrate = true\nlock_holder_preemption = "on-demand"\n'
BURSTS = r"^bursts=(\d+) missed=\d+\r?$"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The RTOS has CPU 1 for half of each 20 ms."""
    guests = (smp([0, 1], POLICY + 'on_fault = "restart"'), on(1, rtos_guest("burst")))
    with Boot.start(describe_cores("preemption", 2, *guests)) as started:
        started.wait_for_shell()
        yield started


def bursts(machine: Boot) -> int:
    """See the RTOS at work from now on, and return how many bursts there have been."""
    machine.skip("burst")
    return int(machine.expect("burst", BURSTS, PATIENCE).group(1))


def test_a_vcpu_leaves_and_comes_back(machine: Boot) -> None:
    """It does so about once in each burst, and is in both places."""
    assert online(machine) == "0-1"
    assert machine.shell("gandalfctl policy linux") == "on-demand\n"
    begin, before = bursts(machine), place(machine)[1]
    # The vCPU that stays looks, and by sleeps of many lengths, so that not each look is at the same
    # moment of a burst.
    places = machine.shell(
        "taskset -pc 0 $$ > /dev/null; for i in $(seq 20); do gandalfctl list | grep 'vCPU 1'; "
        "usleep $((2000 + i * 900)); done; taskset -pc 0,1 $$ > /dev/null"
    )
    moves, end = place(machine)[1] - before, bursts(machine)
    assert {"vCPU 1: CPU 0,", "vCPU 1: CPU 1,"} <= {
        line.split(" moved")[0].strip() for line in places.splitlines()
    }
    assert 2 <= moves <= 2 * (end - begin) + 2
    machine.kernel_is_sane()


def test_it_goes_on_while_the_rtos_has_its_cpu(machine: Boot) -> None:
    """The load is the same on both vCPUs, whichever CPU they are on."""
    before = place(machine)[1]
    assert "400 tasks" in machine.shell("hackbench -l 5")
    assert place(machine)[1] > before
    machine.kernel_is_sane()
    bursts(machine)


def waited(machine: Boot) -> list[int]:
    """Return for how many milliseconds each vCPU has waited for the RTOS."""
    listed = json.loads(machine.shell("gandalfctl list --json"))
    found = next(guest for guest in listed["guests"] if guest["name"] == "linux")
    return [vcpu["waited_ms"] for vcpu in found["vcpus"]]


def test_list_says_how_long_a_vcpu_waits(machine: Boot) -> None:
    """The first has a CPU of its own. Without a remedy the other waits for half of the time."""
    machine.shell("gandalfctl policy linux none")
    begin = waited(machine)
    machine.shell("taskset -c 1 hackbench -l 20")
    end = waited(machine)
    assert end[0] == begin[0] == 0
    assert end[1] >= begin[1] + 10
    machine.shell("gandalfctl policy linux on-demand")


def test_the_policy_changes_under_load(machine: Boot) -> None:
    output = machine.shell(
        "hackbench -l 15 > /tmp/load & for i in $(seq 10); do gandalfctl policy linux none; "
        "usleep 20000; gandalfctl policy linux on-demand; usleep 20000; done; wait; cat /tmp/load"
    )
    assert "400 tasks" in output
    assert machine.shell("gandalfctl policy linux") == "on-demand\n"
    machine.kernel_is_sane()


def test_without_a_policy_it_stays(machine: Boot) -> None:
    """One that is away is fetched before."""
    machine.shell("gandalfctl policy linux none")
    bursts(machine)
    bursts(machine)
    before = place(machine)
    assert before[0] == 1
    bursts(machine)
    assert place(machine) == before
    assert "400 tasks" in machine.shell("hackbench -l 2")
    assert place(machine) == before
    machine.shell("gandalfctl policy linux on-demand")
    bursts(machine)
    bursts(machine)
    assert place(machine)[1] > before[1]


def test_one_that_was_moved_by_hand_stays_there(machine: Boot) -> None:
    """No RTOS takes CPU 0 from it, so no policy concerns it there."""
    machine.shell("gandalfctl policy linux none")
    bursts(machine)
    bursts(machine)
    machine.shell("gandalfctl move linux 1 0")
    machine.shell("gandalfctl policy linux on-demand")
    moved = place(machine)
    bursts(machine)
    assert place(machine) == moved == (0, moved[1])
    machine.shell("gandalfctl move linux 1 1")
    bursts(machine)
    bursts(machine)
    assert place(machine)[1] > moved[1] + 1


@pytest.mark.parametrize("vcpu", [pytest.param(0, marks=pytest.mark.long), 1])
def test_its_guest_ends_meanwhile(machine: Boot, vcpu: int) -> None:
    ends(machine, f"taskset -c {vcpu} sh -c 'echo c > /proc/sysrq-trigger'")
    before = place(machine)[1]
    assert "400 tasks" in machine.shell("hackbench -l 5")
    assert place(machine)[1] > before
    machine.kernel_is_sane()
