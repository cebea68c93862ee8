# SPDX-License-Identifier: Apache-2.0
"""The policies against lock-holder preemption: an RTOS has one of three CPUs for half of the time.

In QEMU three CPUs are threads of the host: what is tested is what happens, and not when.
`gandalf bench --lhp` has what each policy is worth (docs/migration.md).
"""

import json
import re
from collections.abc import Iterator

import pytest

from .systems import Boot, rtos_guest
from .test_cores import describe_cores, on
from .test_preemption import bursts
from .test_smp import online, smp
from .workload import build_initrd_with

# With two levels of privilege there are the policies none and on-demand only.
pytestmark = pytest.mark.rings
POLICIES = ("none", "delayed", "trap", "on-demand", "pull")
MORE = 'control = true\nmigrate = true\nlock_holder_preemption = "pull"\ndelay_limit_us = 200\n'
# How often a load is tried again in which something happens now and then.
TRIES = 10
# Each umask is a system call.
CALLS_MADE = 5000
CALLS = f"i=0; while [ $i -lt {CALLS_MADE} ]; do umask 22; i=$((i + 1)); done"
FORKS = "for i in $(seq 60); do taskset -c 1 true; done"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The RTOS has CPU 1 for half of each 20 ms."""
    guests = (smp([0, 1, 2], MORE), on(1, rtos_guest("burst")))
    with Boot.start(describe_cores("policies", 3, *guests)) as started:
        started.wait_for_shell()
        yield started


def policy(machine: Boot, name: str) -> None:
    """Set a policy, with all vCPUs at home. By "pull" they stay wherever there was room."""
    machine.shell("gandalfctl policy linux none")
    bursts(machine)
    machine.shell("gandalfctl move linux 1 1; gandalfctl move linux 2 2")
    assert [vcpu["cpu"] for vcpu in vcpus(machine)] == [0, 1, 2]
    machine.shell(f"gandalfctl policy linux {name}")
    bursts(machine)


def counter(machine: Boot, name: str) -> int:
    """Return a counter of the RTOS."""
    counters = json.loads(machine.shell("gandalfctl stats burst --json"))["counters"]
    return int(counters[name])


def vcpus(machine: Boot) -> list[dict[str, int]]:
    listed = json.loads(machine.shell("gandalfctl list --json"))
    return next(guest["vcpus"] for guest in listed["guests"] if guest["name"] == "linux")


def stolen(machine: Boot) -> list[int]:
    """Return what /proc/stat says that others have had of each CPU, in hundredths of a second."""
    text = machine.shell("cat /proc/stat")
    return [int(line.split()[8]) for line in text.splitlines() if re.match(r"cpu\d", line)]


def test_the_description_says_which_it_is(machine: Boot) -> None:
    assert online(machine) == "0-2"
    assert machine.shell("gandalfctl policy linux") == "pull\n"


def test_linux_learns_what_others_have_of_its_cpus(machine: Boot) -> None:
    """A process has CPU 1 that never sleeps; CPU 0 is nobody else's."""
    policy(machine, "none")
    before = stolen(machine)
    machine.shell("taskset -c 1 sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'")
    after = stolen(machine)
    assert after[1] - before[1] >= 5
    assert after[0] == before[0]


def test_an_rtos_waits_for_spin_locks(machine: Boot) -> None:
    policy(machine, "delayed")
    for _ in range(TRIES):
        assert "40 tasks" in machine.shell("taskset -c 1 hackbench -g 1 -l 200")
        if counter(machine, "delays") > 0:
            break
    delays, limits = counter(machine, "delays"), counter(machine, "delay_limits")
    assert 0 <= limits <= delays
    assert delays > 0
    machine.kernel_is_sane()
    policy(machine, "none")
    before = counter(machine, "delays")
    machine.shell("taskset -c 1 hackbench -g 1 -l 20")
    assert counter(machine, "delays") == before


def moves(machine: Boot) -> list[int]:
    """Return how often each vCPU moves while the second and the third have work."""
    before = [vcpu["moves"] for vcpu in vcpus(machine)]
    machine.shell("taskset -c 1,2 hackbench -g 1 -l 400")
    return [vcpu["moves"] - then for vcpu, then in zip(vcpus(machine), before, strict=True)]


def test_turns_end_on_idle_cpus(machine: Boot) -> None:
    """CPU 0 is idle. The RTOS takes CPU 1 only: so the third vCPU moves for no other reason."""
    policy(machine, "on-demand")
    first, second, third = moves(machine)
    assert (first, third) == (0, 0)
    assert second > 0
    policy(machine, "pull")
    found = [moves(machine) for _ in range(TRIES // 2)]
    assert sum(third for _, _, third in found) > 0
    assert {first for first, _, _ in found} == {0}
    machine.kernel_is_sane()


@pytest.mark.parametrize("name", ["on-demand", "pull"])
def test_the_cpu_is_lent_to_work_for_one_that_is_to_leave(machine: Boot, name: str) -> None:
    policy(machine, name)
    before = counter(machine, "loans")
    for _ in range(TRIES):
        machine.shell(FORKS)
        if counter(machine, "loans") > before:
            break
    assert counter(machine, "loans") > before
    machine.kernel_is_sane()


def test_the_kernel_stays_away_from_an_rtos(machine: Boot) -> None:
    """Each system call of a process on the second vCPU takes it to another CPU, and back.

    While the RTOS has that CPU the process is on another one anyway: for half of the time, or more
    of the calls if the host is busy.
    """
    policy(machine, "trap")
    before = vcpus(machine)
    machine.shell(f"taskset -c 1 sh -c '{CALLS}'")
    after = vcpus(machine)
    moved = [vcpu["moves"] - then["moves"] for vcpu, then in zip(after, before, strict=True)]
    assert moved[1] > CALLS_MADE / 2
    assert moved[0] == moved[2] == 0
    machine.kernel_is_sane()
    policy(machine, "none")
    before = vcpus(machine)
    machine.shell(f"taskset -c 1 sh -c '{CALLS}'")
    assert [vcpu["moves"] for vcpu in vcpus(machine)] == [vcpu["moves"] for vcpu in before]
    machine.kernel_is_sane()


def test_it_begins_anew_while_its_kernel_is_away(machine: Boot) -> None:
    """The kernel that switches the CPU off and on is elsewhere; its process comes home again."""
    policy(machine, "trap")
    machine.shell(f"taskset -c 1 sh -c '{CALLS}'")
    machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
    machine.shell("echo 1 > /sys/devices/system/cpu/cpu1/online")
    assert online(machine) == "0-2"
    before = vcpus(machine)[1]["moves"]
    machine.shell(f"taskset -c 1 sh -c '{CALLS}'")
    assert vcpus(machine)[1]["moves"] > before + CALLS_MADE / 2
    machine.kernel_is_sane()
    policy(machine, "none")


def test_what_is_moved_by_hand_stays(machine: Boot) -> None:
    policy(machine, "trap")
    machine.shell(f"taskset -c 1 sh -c '{CALLS}'")
    machine.shell("gandalfctl move linux 1 0")
    machine.shell(f"taskset -c 1 sh -c '{CALLS}'")
    assert vcpus(machine)[1]["cpu"] == 0
    policy(machine, "none")


STRESSORS = "--fork 1 --vm 1 --vm-bytes 4M --mmap 1 --mmap-bytes 4M --switch 1 --futex 1 --fp 1"
LOADS = (
    "hackbench -g 1 -l 40",
    f"stress-ng {STRESSORS} --verify -t 2",
)


@pytest.mark.parametrize("count", [2000, pytest.param(100_000, marks=pytest.mark.long)])
def test_nothing_is_lost_by_so_many_moves(count: int) -> None:
    """By "trap" each system call is two. Time goes on, whatever CPU it is read on."""
    more = MORE.replace("pull", "trap")
    moving = smp([0, 1, 2], more, build_initrd_with("clock", whole=True))
    guests = (moving, on(1, rtos_guest("burst")))
    load = "; ".join(f"{line} > /tmp/load 2>&1 || echo load failed" for line in LOADS)
    with Boot.start(describe_cores("many-moves", 3, *guests)) as machine:
        machine.wait_for_shell()
        machine.shell(
            f"(while [ ! -e /tmp/end ]; do {load}; done; clock /tmp/end 3) > /tmp/said 2>&1 & "
            "clock /tmp/end 3 > /tmp/clock 2>&1 & true"
        )
        while vcpus(machine)[1]["moves"] < count:
            machine.shell("sleep 2")
        machine.shell("touch /tmp/end; wait")
        assert machine.shell("cat /tmp/said /tmp/clock") == "clock: forward\n" * 2
        machine.kernel_is_sane()
        bursts(machine)
        assert [vcpu["moves"] for vcpu in vcpus(machine)][::2] == [0, 0]


def test_long_spins_are_counted(machine: Boot) -> None:
    """A vCPU that the RTOS preempts holds a lock now and then, for which the others spin."""
    policy(machine, "none")
    before = sum(vcpu["spins"] for vcpu in vcpus(machine))
    for _ in range(TRIES):
        machine.shell("hackbench -g 2 -l 60")
        if sum(vcpu["spins"] for vcpu in vcpus(machine)) > before:
            break
    assert sum(vcpu["spins"] for vcpu in vcpus(machine)) > before
    assert "spun for long" in machine.shell("gandalfctl list")


def test_each_follows_each_under_load(machine: Boot) -> None:
    orders = " ".join(f"{first} {then}" for first in POLICIES for then in POLICIES)
    output = machine.shell(
        f"hackbench -l 15 > /tmp/load & for p in {orders}; do gandalfctl policy linux $p; "
        "usleep 30000; done; wait; cat /tmp/load"
    )
    assert "400 tasks" in output
    machine.kernel_is_sane()
    bursts(machine)
    machine.shell("gandalfctl policy linux pull")
    assert "400 tasks" in machine.shell("hackbench -l 5")
    machine.kernel_is_sane()
