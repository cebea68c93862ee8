# SPDX-License-Identifier: Apache-2.0
"""A Linux that begins on CPU 1, and has a vCPU on CPU 0, too, which an RTOS shares.

The mainboard is on CPU 1 then. CPU 0, which has the UART and switches the machine off, knows the
guest as one of another CPU, although one of its vCPUs is its own.
"""

from collections.abc import Iterator

import pytest

from .systems import PATIENCE, Boot, rtos_guest
from .test_cores import describe_cores, on
from .test_migration import ENDS, place
from .test_preemption import POLICY, bursts
from .test_smp import ends, online, pause, smp


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The RTOS has CPU 0 for half of each 20 ms."""
    linux = smp([1, 0], POLICY + 'on_fault = "restart"\non_reboot = "restart"')
    guests = linux, on(0, rtos_guest("burst"))
    with Boot.start(describe_cores("home", 2, *guests)) as started:
        started.wait_for_shell()
        yield started


def test_the_vcpu_on_cpu_0_leaves_and_comes_back(machine: Boot) -> None:
    """By each policy by which it does. The load is the same on both vCPUs."""
    assert online(machine) == "0-1"
    assert place(machine, 0) == (1, 0)
    for policy in ("on-demand", "pull"):
        machine.shell(f"gandalfctl policy linux {policy}")
        before = place(machine)[1]
        assert "400 tasks" in machine.shell("taskset -c 1 hackbench -l 5")
        assert place(machine)[1] > before
        bursts(machine)
    machine.kernel_is_sane()


def test_all_are_gathered_where_the_first_is(machine: Boot) -> None:
    machine.shell("gandalfctl policy linux none")
    bursts(machine)
    bursts(machine)
    assert "vCPU 1 is on CPU 1\n" in machine.shell("gandalfctl gather 1")
    assert place(machine)[0] == 1
    assert machine.shell("taskset -c 1 echo works") == "works\n"
    assert "vCPU 1 is on CPU 0\n" in machine.shell("gandalfctl gather 2")
    assert place(machine)[0] == 0
    machine.shell("gandalfctl policy linux on-demand")


def test_the_console_of_the_vmm_knows_it_whole(machine: Boot) -> None:
    """Also while the vCPU of CPU 0 is switched off."""
    machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
    machine.vmm("status", r"^linux: running, ")
    machine.vmm("restart linux", r"^CPU 1: guest linux stopped: by command\n")
    machine.select("linux")
    machine.wait_for_next_shell()
    assert online(machine) == "0-1"
    pause(machine)
    machine.vmm("resume linux", r"resume linux\n")
    assert machine.shell("taskset -c 1 echo works") == "works\n"


@pytest.mark.parametrize("end", ENDS)
def test_the_end_of_a_life_is_cpu_1s_to_say(machine: Boot, end: str) -> None:
    ends(machine, end, "CPU 1: guest linux restarts")
    bursts(machine)


def test_the_machine_is_on_as_long_as_it_runs(machine: Boot) -> None:
    """No other guest does, and no vCPU of CPU 0."""
    machine.vmm("stop burst", r"^guest burst stopped: by command\n")
    machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online; sleep 1")
    assert machine.shell("echo works") == "works\n"
    machine.kernel_is_sane()
    machine.send("linux", "poweroff -f\n")
    assert machine.wait_off(PATIENCE).clean
    assert machine.text("vmm").endswith("CPU 1: guest linux is off\nall guests are off\n")
