# SPDX-License-Identifier: Apache-2.0
"""What the cgroups of the kernels `complete` and `complete-smp` bound, they bound."""

from collections.abc import Iterator

import pytest

from gandalf.guests.places import Variant

from .systems import SMALL, Boot
from .test_complete import CPUS, ONE, SEVERAL, describe_complete

CONTROLLERS = {ONE: {"cpu", "memory", "pids"}, SEVERAL: {"cpuset", "cpu", "memory", "pids"}}
# Where the folder of a group is, and by which file and words it is stopped and goes on.
FREEZERS = {"v1": "freezer.state FROZEN THAWED", "v2": "cgroup.freeze 1 0"}
# The shell is in a group, and becomes a program.
INSIDE = "sh -c 'echo $$ > /mnt/a/group/cgroup.procs && exec {}'"


@pytest.fixture(scope="module", params=CPUS)
def kernel(request: pytest.FixtureRequest) -> Variant:
    found: Variant = request.param
    return found


@pytest.fixture(scope="module")
def machine(kernel: Variant) -> Iterator[Boot]:
    with Boot.start(describe_complete(f"{kernel}-cgroups", kernel, initrd=SMALL)) as started:
        started.wait_for_shell()
        started.shell("mkdir -p /mnt/a /mnt/b && mount -t cgroup2 none /mnt/a && cd /mnt/a && "
                      "for name in $(cat cgroup.controllers); do "
                      "echo +$name > cgroup.subtree_control; done")  # fmt: skip
        yield started


@pytest.fixture
def group(machine: Boot) -> Iterator[Boot]:
    """Give the machine with the folder of a group as its current one, and remove the group."""
    machine.shell("mkdir /mnt/a/group && cd /mnt/a/group")
    yield machine
    machine.shell("cd /; until rmdir /mnt/a/group 2>/dev/null; do sleep 0.1; done")


def inside(machine: Boot, command: str, status: int = 0) -> str:
    return machine.shell(INSIDE.format(command), status)


def test_it_has_its_controllers(machine: Boot, kernel: Variant) -> None:
    found = set(machine.shell("cat /mnt/a/cgroup.controllers").split())
    assert found >= CONTROLLERS[kernel]


def test_so_many_processes(group: Boot) -> None:
    group.shell("echo 3 > pids.max")
    text = inside(group, 'sh -c "for i in 1 2 3 4 5; do sleep 1 & done; wait" 2>&1', 2)
    assert "Resource temporarily unavailable" in text


def test_so_much_time(group: Boot) -> None:
    """Of each tenth of a second it has a hundredth; a program that stops itself stops later."""
    group.shell("echo 10000 100000 > cpu.max")
    inside(group, 'timeout 1 sh -c "while :; do :; done"', 143)
    words = group.shell("cat cpu.stat").split()
    found = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert 50_000 < found["usage_usec"] < 300_000
    assert found["nr_throttled"] > 5


def test_so_much_memory(group: Boot) -> None:
    group.shell("echo 8M > memory.max")
    inside(group, "dd if=/dev/zero of=/dev/null bs=4M count=1 2>/dev/null")
    assert "oom_kill 0\n" in group.shell("cat memory.events")
    inside(group, "dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null", 137)
    assert "oom_kill 1\n" in group.shell("cat memory.events")
    assert int(group.shell("cat memory.peak")) <= 8 << 20
    group.kernel_is_sane()


@pytest.mark.parametrize("freezer", FREEZERS)
def test_it_stops_and_goes_on(group: Boot, freezer: str) -> None:
    name, stopped, going = FREEZERS[freezer].split()
    if freezer == "v1":
        group.shell("mount -t cgroup -o freezer none /mnt/b && mkdir /mnt/b/group && "
                    "cd /mnt/b/group")  # fmt: skip
    group.shell('sh -c "while :; do echo >> /tmp/times; sleep 0.05; done" & '
                "echo $! > cgroup.procs")  # fmt: skip
    look = "sleep 1; wc -l < /tmp/times"
    text = group.shell(f"{look}; echo {stopped} > {name}; {look}; {look}; echo {going} > {name}; "
                       f"{look}; kill %1; rm /tmp/times")  # fmt: skip
    _, once, again, last = map(int, text.split()[:4])
    assert 0 < once == again < last
    if freezer == "v1":
        group.shell("cd /; until rmdir /mnt/b/group 2>/dev/null; do sleep 0.1; done; umount /mnt/b")


def test_a_share_of_the_cpu(group: Boot) -> None:
    """Three times the weight is three times the time, more or less where time is the host's."""
    group.shell("mkdir /mnt/a/other && echo 300 > cpu.weight && echo 100 > ../other/cpu.weight")
    busy = 'taskset 1 timeout 600 sh -c "while :; do :; done"'
    other = INSIDE.format(busy).replace("/group/", "/other/")
    look = "sed -n 's/usage_usec //p' cpu.stat ../other/cpu.stat"
    # What counts is a second in which both are at work, however late either began.
    text = group.shell(f"{INSIDE.format(busy)} & {other} & sleep 1; {look}; sleep 1; {look}; "
                       "kill $(cat cgroup.procs ../other/cgroup.procs); wait")  # fmt: skip
    most, least, more, less = map(int, text.split()[:4])
    assert 2 < (more - most) / (less - least) < 4
    group.shell("until rmdir ../other 2>/dev/null; do sleep 0.1; done")


def test_a_cpu_of_its_own(group: Boot, kernel: Variant) -> None:
    """Linux has them where it has several."""
    if kernel == ONE:
        assert "cpuset" not in group.shell("cat cgroup.controllers")
        return
    for cpu in (0, 1):
        group.shell(f"echo {cpu} > cpuset.cpus")
        assert inside(group, "grep Cpus_allowed_list /proc/self/status").split()[1] == str(cpu)
        inside(group, f"taskset {2 >> cpu} true 2>/dev/null", 1)
