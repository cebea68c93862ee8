# SPDX-License-Identifier: Apache-2.0
"""A Linux with more vCPUs than CPUs: those of a CPU take turns, and the RTOS there comes first.

In QEMU two CPUs are two threads of the host: what is tested there is what happens, and not when. A
machine with one CPU has a deterministic clock, so turns are compared there.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.profile import find_profile

from .systems import FEW_INSTRUCTIONS, PATIENCE, WHOLE, Boot, World, rtos_guest
from .test_cores import beats, describe_cores
from .test_smp import ATTEMPTS, LOAD, PROFILES, online, smp
from .workload import build_initrd_with

VCPUS = range(4)
# Turns as short as they may be: a lock whose holder waits for its turn costs no more than one.
SHORT = "slice_us = 500"
REBOOT, PANIC = "reboot -f", "sh -c 'echo c > /proc/sysrq-trigger'"


def describe_sharing(name: str, cpus: list[int], more: str = "") -> Path:
    """Describe a Linux with a vCPU on each of `cpus`, and an RTOS beside the first."""
    guests = (smp(cpus, more, WHOLE), rtos_guest("heartbeat", "beat"))
    return describe_cores(name, max(cpus) + 1, *guests)


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with Boot.start(describe_sharing("sharing", [0, 0, 1, 1], "control = true")) as started:
        started.wait_for_shell()
        yield started


def test_linux_finds_all(machine: Boot) -> None:
    assert machine.built.vmm == find_profile(PROFILES[World.rings]).image
    assert online(machine) == "0-3"


@pytest.mark.parametrize("vcpu", VCPUS)
def test_each_works(machine: Boot, vcpu: int) -> None:
    """Ports are the first vCPU's, which may be on the same CPU: the clock, and the console."""
    line = f"taskset -c {vcpu} cut -d' ' -f39 /proc/self/stat"
    assert machine.shell(line).strip() == str(vcpu)
    assert "400 tasks" in machine.shell(f"taskset -c {vcpu} hackbench -l 2")
    assert "2024" in machine.shell(f"taskset -c {vcpu} hwclock -r")


def test_all_work_at_once(machine: Boot) -> None:
    machine.hackbench()
    assert "successful run" in machine.shell(LOAD)
    machine.kernel_is_sane()
    beats(machine, "beat")


@pytest.mark.parametrize("vcpu", VCPUS[1:])
def test_a_vcpu_is_taken_away_and_comes_back(machine: Boot, vcpu: int) -> None:
    place = f"/sys/devices/system/cpu/cpu{vcpu}/online"
    machine.shell(f"echo 0 > {place}")
    assert "400 tasks" in machine.shell("hackbench -l 2")
    machine.shell(f"echo 1 > {place}")
    assert online(machine) == "0-3"
    assert "400 tasks" in machine.shell(f"taskset -c {vcpu} hackbench -l 2")
    machine.kernel_is_sane()


def test_clocks_agree(machine: Boot) -> None:
    """Time that vCPUs read in turn does not go back."""
    line = (
        "p=0; for i in $(seq 100); do n=$(taskset -c $((i % 4)) cut -d' ' -f1 /proc/uptime | "
        "tr -d .); [ $n -ge $p ] || echo back; p=$n; done"
    )
    assert machine.shell(line) == ""


def test_all_of_it_is_paused(machine: Boot) -> None:
    machine.pause_linux()
    beats(machine, "beat")
    machine.vmm("resume linux", r"resume linux\n")
    for vcpu in VCPUS:
        assert machine.shell(f"taskset -c {vcpu} echo works") == "works\n"


def test_the_console_of_the_vmm_restarts_it(machine: Boot) -> None:
    machine.vmm("restart linux", r"^guest linux stopped: by command\n")
    machine.select("linux")
    machine.wait_for_next_shell()
    assert online(machine) == "0-3"


@pytest.mark.parametrize(
    ("vcpu", "end"),
    [
        (0, REBOOT),
        (1, PANIC),
        (3, PANIC),
        *(
            pytest.param(*way, marks=pytest.mark.long)
            for way in ((0, PANIC), (1, REBOOT), (3, REBOOT))
        ),
    ],
)
def test_it_restarts_by_any(machine: Boot, vcpu: int, end: str) -> None:
    """All others compute for ever then, and the same one, too."""
    loops = "".join(f"taskset -c {each} sh -c 'while :; do :; done' & " for each in VCPUS)
    machine.skip("vmm")
    machine.send("linux", f"{loops} taskset -c {vcpu} {end}\n")
    machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
    machine.wait_for_next_shell()
    assert online(machine) == "0-3"
    beats(machine, "beat")


def test_it_switches_itself_off(machine: Boot) -> None:
    machine.skip("vmm")
    machine.send("linux", "poweroff -f\n")
    machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
    beats(machine, "beat")


def missed_beats(machine: Boot) -> set[str]:
    """Return what the RTOS says that it has missed, in one line at least."""
    machine.expect("beat", r"^beats=1000 ", PATIENCE)
    told = re.findall(r"^beats=\d+ missed=(\d+)$", machine.text("beat"), re.MULTILINE)
    return set(told)


def test_turns_are_fair() -> None:
    """On one CPU, with the clock that counts instructions: two loops do the same in many turns."""
    loop = "trap 'echo \\$n > /tmp/\\$0; exit' TERM; n=0; while :; do n=\\$((n + 1)); done"
    with Boot.start(describe_sharing("sharing-one", [0, 0], SHORT)) as started:
        started.wait_for_shell()
        counts = started.shell(
            f'taskset -c 0 sh -c "{loop}" a & taskset -c 1 sh -c "{loop}" b & sleep 0.25; '
            "kill %1 %2; wait; cat /tmp/a /tmp/b"
        ).split()
        first, second = map(int, counts[-2:])
        assert 0.4 <= first / (first + second) <= 0.6, counts
        started.kernel_is_sane()
        assert missed_beats(started) == {"0"}


@pytest.mark.parametrize("yields", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_spin_ends_its_turn(yields: bool) -> None:
    """What it waits for may be a vCPU of the same CPU. Where it may not it spins for whole turns.

    The clock counts what the CPU executes, so the time of a load says what spinning costs.
    """
    more = f"slice_us = 1000\nyielding_spin = {str(yields).lower()}"
    with Boot.start(describe_sharing(f"sharing-spin-{yields}", [0, 0], more)) as started:
        started.wait_for_shell()
        started.hackbench()
        print("hackbench:", re.findall(r"^Time: (.*)$", started.text("linux"), re.M))
        print(started.shell("cat /proc/uptime"), started.counters())
        assert (started.counters()["yields"] > 0) == yields
        started.kernel_is_sane()


def test_processes_that_need_all_of_the_pool() -> None:
    """Each has page tables of 3 MiB, three of them run in turn, and the CPU's pool has 8 MiB.

    What a vCPU needs then comes from the spaces that its siblings are about to go on with.
    """
    guests = (smp([0, 0, 0], SHORT, build_initrd_with("spread")), rtos_guest("heartbeat", "beat"))
    with Boot.start(describe_cores("sharing-pool", 1, *guests)) as started:
        started.wait_for_shell()
        before = started.counters()["space_evictions"]
        each = "for n in 0 1 2; do taskset -c $n spread 9 & done; wait"
        # Each may have ended before the next one has begun.
        for _ in range(ATTEMPTS):
            assert started.shell(each).count("spread: ") == len("012")
            if started.counters()["space_evictions"] > before:
                break
        assert started.counters()["space_evictions"] > before
        started.kernel_is_sane()
        beats(started, "beat")


@pytest.mark.long
def test_no_beat_is_missed_in_bochs() -> None:
    """Whatever vCPUs of its CPU do to each other, the RTOS has it when it needs it."""
    description = describe_sharing("sharing-bochs", [0, 0, 1, 1], SHORT)
    with Boot.start(description, emulator="bochs", ips=FEW_INSTRUCTIONS) as started:
        started.wait_for_shell()
        assert online(started) == "0-3"
        for vcpu in VCPUS:
            assert "80 tasks" in started.shell(f"taskset -c {vcpu} hackbench -g 2 -l 1")
        started.kernel_is_sane()
        assert missed_beats(started) == {"0"}
