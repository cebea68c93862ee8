# SPDX-License-Identifier: Apache-2.0
"""A Linux with several vCPUs, beside an RTOS on its first CPU.

QEMU runs each CPU in a thread of the host: what is tested there is what happens, and not when.
Bochs lets them take turns, so that time can be compared.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gandalf.build.profile import find_profile

from .systems import (
    FEW_INSTRUCTIONS,
    FOUR,
    PATIENCE,
    SMALL,
    TWO_LEVEL,
    WHOLE,
    Boot,
    World,
    linux,
    rtos_guest,
)
from .test_cores import BESIDE_POOL, ONE_CPU, beats, beside_pools, describe_cores, on
from .test_rate import WAIT, told

KERNEL = "build/linux/smp/vmlinux"
# What has such a Linux, by what keeps its kernel from its processes.
PROFILES = {FOUR: "smp", TWO_LEVEL: "two-level-smp"}
ATTEMPTS = 10
# Processes that do what changes page tables most, on all CPUs.
LOAD = (
    "stress-ng --fork 2 --vm 2 --vm-bytes 8M --mmap 2 --mmap-bytes 8M --switch 2 --futex 2 "
    "--pthread 2 -t 2 2>&1 | tail -1"
)
# All of these, and a disk's, for a minute; then as many runs of hackbench as fit into another.
MINUTE = (
    "stress-ng --fork 2 --vm 2 --vm-bytes 8M --mmap 2 --mmap-bytes 8M --switch 2 --futex 2 "
    "--pthread 2 --hdd 1 --hdd-bytes 4M -t 60 2>&1 | tail -1"
)
MINUTE_OF_HACKBENCH = (
    "n=0; end=$(($(date +%s) + 60)); while [ $(date +%s) -lt $end ]; do "
    "hackbench -g 2 -l 20 > /tmp/run || break; n=$((n + 1)); done; echo $n"
)
LONG = 4000
# Of each CPU in a second of Bochs' clock, of which it simulates all CPUs in turn: a minute of four
# takes some ten of the host's.
VERY_FEW_INSTRUCTIONS = FEW_INSTRUCTIONS // 4


def smp(cpus: list[int], more: str = "", initrd: str = SMALL) -> str:
    """Return a Linux on several CPUs."""
    guest = linux(kernel=KERNEL, initrd=initrd, memory="128M", more=more)
    return guest.replace("[[guest]]\n", f"[[guest]]\ncpus = {cpus}\n", 1)


def describe_smp(name: str, cpus: int, more: str = "", initrd: str = SMALL) -> Path:
    """Describe a Linux on so many CPUs, with an RTOS beside its first vCPU."""
    guests = (smp(list(range(cpus)), more, initrd), rtos_guest("heartbeat", "beat"))
    return describe_cores(name, cpus, *guests)


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    more = 'control = true\non_fault = "restart"'
    with Boot.start(describe_smp("smp-two", 2, more, WHOLE)) as started:
        started.wait_for_shell()
        yield started


def ends(machine: Boot, line: str, said: str = "guest linux restarts") -> None:
    """Have a line end Linux, which the VMM says and starts again with both vCPUs."""
    machine.skip("vmm")
    machine.send("linux", f"{line}\n")
    machine.expect("vmm", rf"^{said}\n", PATIENCE)
    machine.wait_for_next_shell()
    assert online(machine) == "0-1"


def pause(machine: Boot) -> None:
    """Pause Linux, which is refused while the VMM works for it."""
    for _ in range(20):
        machine.vmm("pause linux", r"pause linux\n")
        if machine.vmm("status", r"^linux: (\w+), ")[1] == "paused":
            break
    machine.vmm("status", r"^linux: paused, ")


def online(machine: Boot) -> str:
    return machine.shell("cat /sys/devices/system/cpu/online").strip()


def test_linux_finds_both(machine: Boot) -> None:
    assert machine.built.vmm == find_profile(PROFILES[World.rings]).image
    assert online(machine) == "0-1"
    assert machine.shell("grep -c ^processor /proc/cpuinfo").strip() == "2"


def test_the_other_cpu_takes_little_beside_its_pool(machine: Boot) -> None:
    (size,) = beside_pools(machine)
    assert size <= BESIDE_POOL


def test_its_clock_goes_by_what_the_vmm_has_measured(machine: Boot) -> None:
    """Here the machine's clocks are the host's, which lets a thread wait between two of them.

    So it may take long to measure them, and the figure has no bound but what the VMM itself says.
    """
    assert machine.shell(WAIT) == "gandalf\n"
    first = re.search(r"^TSC (\d+) kHz", machine.text("vmm"), re.M)
    assert first
    assert abs(told(machine)[1] * 1000 / int(first[1]) - 1) < 1e-3


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_process_runs_where_it_is_told(machine: Boot, cpu: int) -> None:
    line = f"taskset -c {cpu} cut -d' ' -f39 /proc/self/stat"
    assert machine.shell(line).strip() == str(cpu)


@pytest.mark.parametrize("cpu", [0, 1])
def test_each_works(machine: Boot, cpu: int) -> None:
    """Ports are the first vCPU's, and the second asks it for them: the clock, and the console."""
    assert "400 tasks" in machine.shell(f"taskset -c {cpu} hackbench -l 20")
    assert "2024" in machine.shell(f"taskset -c {cpu} hwclock -r")
    machine.kernel_is_sane()


def test_both_work_at_once(machine: Boot) -> None:
    machine.hackbench()
    assert "successful run" in machine.shell(LOAD)
    machine.kernel_is_sane()
    beats(machine, "beat")


def test_they_interrupt_each_other(machine: Boot) -> None:
    """An interrupt that finds its vCPU at work is delivered as it comes, and so counted.

    Each process that CPU 1 moves to CPU 0 interrupts a loop there.
    """
    moves = "taskset -c 1 sh -c 'for i in $(seq 50); do taskset -c 0 true; done'"
    before = machine.counters()["quick_ipis"]
    # On a busy host, whose threads the CPUs are, the loop may have no turn at the right moments.
    for _ in range(ATTEMPTS):
        machine.shell(f"(exec taskset -c 0 sh -c 'while :; do :; done') & {moves}; kill $!")
        if machine.counters()["quick_ipis"] > before:
            break
    assert machine.counters()["quick_ipis"] > before
    counts = machine.shell("grep -E '(RES|CAL|TLB|LOC):' /proc/interrupts")
    for name, numbers in re.findall(r"(RES|CAL|LOC):((?: +\d+)+)", counts):
        assert all(int(number) > 0 for number in numbers.split()), (name, counts)


def test_clocks_agree(machine: Boot) -> None:
    """Time that two CPUs read in turn does not go back."""
    line = (
        "p=0; for i in $(seq 200); do n=$(taskset -c $((i % 2)) cut -d' ' -f1 /proc/uptime | "
        "tr -d .); [ $n -ge $p ] || echo back; p=$n; done"
    )
    assert machine.shell(line) == ""


def test_a_cpu_is_taken_away_and_comes_back(machine: Boot) -> None:
    for _ in range(3):
        machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
        assert online(machine) == "0"
        machine.hackbench()
        machine.shell("echo 1 > /sys/devices/system/cpu/cpu1/online")
        assert online(machine) == "0-1"
        assert "400 tasks" in machine.shell("taskset -c 1 hackbench -l 10")
    machine.kernel_is_sane()


def test_the_console_of_the_vmm_stops_and_starts_it(machine: Boot) -> None:
    machine.vmm("stop linux", r"^guest linux stopped: by command\n")
    machine.vmm("status", r"^linux: off, ")
    beats(machine, "beat")
    machine.start_linux()
    assert online(machine) == "0-1"
    machine.vmm("restart linux", r"^guest linux stopped: by command\n")
    machine.select("linux")
    machine.wait_for_next_shell()
    assert online(machine) == "0-1"


def second_cpu_sleeps(machine: Boot) -> bool:
    return "HLT=1" in machine.hmp("info registers -a").partition("CPU#1")[2]


def second_cpu_works(machine: Boot) -> bool:
    """Look a few times: a busy host may keep its thread from it, and a port access halts it."""
    for _ in range(ATTEMPTS):
        if not second_cpu_sleeps(machine):
            return True
        beats(machine, "beat")
    return False


def test_all_of_it_is_paused(machine: Boot) -> None:
    """The second CPU's process computes without end, and not while the guest is paused."""
    machine.shell("taskset -c 1 sh -c 'while :; do :; done' & echo $! > /tmp/busy; sleep 1")
    assert second_cpu_works(machine), machine.shell("ps; cat /proc/interrupts")
    pause(machine)
    for _ in range(3):
        machine.vmm("status", r"^linux: paused, ")
        beats(machine, "beat")
        assert second_cpu_sleeps(machine)
    machine.vmm("resume linux", r"resume linux\n")
    assert machine.shell("taskset -c 1 echo works") == "works\n"
    assert second_cpu_works(machine)
    machine.shell("kill $(cat /tmp/busy)")
    machine.kernel_is_sane()


def test_it_resets_itself(machine: Boot) -> None:
    for line in ("reboot -f", "taskset -c 1 reboot -f"):
        ends(machine, line)


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_panic_of_one_is_the_end_of_all(machine: Boot, cpu: int) -> None:
    """The others are stopped by Linux, also when they compute for ever."""
    machine.skip("vmm")
    machine.send(
        "linux",
        f"(while :; do :; done) & (while :; do :; done) & "
        f"taskset -c {cpu} sh -c 'echo c > /proc/sysrq-trigger'\n",
    )
    machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
    machine.wait_for_next_shell()
    assert online(machine) == "0-1"
    beats(machine, "beat")


def test_two_that_panic_at_once_are_the_end_of_all(machine: Boot) -> None:
    """The one that comes second waits for ever with its interrupts disabled: nothing reaches it."""
    panic = "sh -c 'while [ ! -e /tmp/go ]; do :; done; echo c > /proc/sysrq-trigger'"
    for _ in range(3):
        machine.skip("vmm")
        machine.send(
            "linux", f"taskset -c 0 {panic} & taskset -c 1 {panic} & sleep 1; touch /tmp/go\n"
        )
        machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
        machine.wait_for_next_shell()
        assert online(machine) == "0-1"
    beats(machine, "beat")


def listed(machine: Boot, cpu: int) -> dict[str, Any]:
    """Return what the vCPU on a CPU is told of the machine."""
    found = json.loads(machine.shell(f"taskset -c {cpu} gandalfctl list --json"))
    assert isinstance(found, dict)
    return found


def test_a_report_of_the_second_cpu_is_the_guests(machine: Boot) -> None:
    """A reset by a triple fault there ends as on_fault says, and whichever vCPU asks learns why."""
    machine.skip("vmm")
    machine.send(
        "linux",
        "echo 1 > /sys/kernel/reboot/cpu; echo triple > /sys/kernel/reboot/type; "
        "taskset -c 1 reboot -f\n",
    )
    # CPU 0 restarts it, while CPU 1 still prints the report: either line may come first.
    stopped, restarts = (
        r"CPU 1: guest linux stopped: triple fault",
        r"guest linux restarts, 1 of \d",
    )
    both = rf"^(?=[\s\S]*^{stopped}.*\n)(?=[\s\S]*^{restarts}\n)"
    machine.expect("vmm", both, PATIENCE)
    machine.wait_for_next_shell()
    assert online(machine) == "0-1"
    for cpu in (0, 1):
        report = machine.shell(f"taskset -c {cpu} gandalfctl report linux")
        assert report.startswith("guest linux stopped: triple fault")
        assert "\n  its last events:\n" in report
        found = listed(machine, cpu)
        (own,) = (guest for guest in found["guests"] if guest["self"])
        assert (own["name"], own["state"]) == ("linux", "running")
        assert own["fault_restarts"] == 1
        assert own["reason"].startswith("triple fault")
    beats(machine, "beat")


def test_whichever_vcpu_asks_the_same_is_said(machine: Boot) -> None:
    """All that does not change from one call to the next, and what does goes on."""
    first, second, third = (listed(machine, cpu) for cpu in (0, 1, 0))
    for guest in (*first["guests"], *second["guests"]):
        assert guest["state"] == "running"
    for one, other in pairwise((first, second, third)):
        for before, after in zip(one["guests"], other["guests"], strict=True):
            assert before["ran_ms"] <= after["ran_ms"] < before["ran_ms"] + 60_000
            assert before["uptime_ms"] <= after["uptime_ms"]
            assert before["name"] == after["name"]
            assert before["restarts"] == after["restarts"]
        assert [cpu["state"] for cpu in other["cpus"]] == ["runs", "runs"]
    logs = [machine.shell(f"taskset -c {cpu} gandalfctl log | head -n 3") for cpu in (0, 1)]
    assert logs[0] == logs[1]


def test_the_trace_has_both_cpus(machine: Boot) -> None:
    for cpu in (0, 1):
        line = f"taskset -c {cpu} gandalfctl trace | grep -c '^CPU {{}}: '"
        for other in (0, 1):
            assert int(machine.shell(line.format(other))) > 100
    times = machine.shell("gandalfctl trace | sed 's/.*: \\([0-9]*\\) us,.*/\\1/'").split()
    assert [int(time) for time in times] == sorted(int(time) for time in times)


def test_it_switches_itself_off(machine: Boot) -> None:
    machine.skip("vmm")
    machine.send("linux", "poweroff -f\n")
    machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
    beats(machine, "beat")
    machine.start_linux()
    machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
    machine.skip("vmm")
    machine.send("linux", "poweroff -f\n")
    machine.expect("vmm", r"^guest linux is off\n", PATIENCE)


def test_any_of_four_goes_and_ends_it() -> None:
    """Two go and come back. One panics while all compute for ever, and another switches it off."""
    spin = "".join(f"taskset -c {cpu} sh -c 'while :; do :; done' & " for cpu in range(4))
    description = describe_smp("smp-four", 4, 'on_fault = "restart"')
    with Boot.start(description) as started:
        started.wait_for_shell()
        for cpu, rest in ((3, "0-2"), (1, "0,2-3")):
            place = f"/sys/devices/system/cpu/cpu{cpu}/online"
            started.shell(f"echo 0 > {place}")
            assert online(started) == rest
            started.hackbench()
            started.shell(f"echo 1 > {place}")
            assert online(started) == "0-3"
            assert "400 tasks" in started.shell(f"taskset -c {cpu} hackbench -l 10")
        started.kernel_is_sane()
        started.send("linux", f"{spin} taskset -c 2 sh -c 'echo c > /proc/sysrq-trigger'\n")
        started.expect("vmm", r"^guest linux restarts\n", PATIENCE)
        started.wait_for_next_shell()
        assert online(started) == "0-3"
        started.send("linux", "taskset -c 1 poweroff -f\n")
        started.expect("vmm", r"^guest linux is off\n", PATIENCE)
        beats(started, "beat")


def test_a_cpu_that_the_machine_lacks() -> None:
    """Linux does without it, and asks for it later in vain."""
    both = smp([0, 1]).replace("ttyS0", "ttyS0 gandalf_smp.patience=1")
    description = describe_cores(
        "smp-lacks", 2, both, rtos_guest("heartbeat", "beat"), more="cpus_required = false\n"
    )
    with Boot.start(description, arguments=ONE_CPU) as started:
        started.expect("vmm", r"^CPU 1 does not come up: its guests stay off\n", PATIENCE)
        started.wait_for_shell()
        assert online(started) == "0"
        started.shell("echo 1 > /sys/devices/system/cpu/cpu1/online", status=1)
        started.hackbench()
        started.kernel_is_sane()
        beats(started, "beat")


@pytest.mark.long
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_two_minutes_of_load_on_four(emulator: str) -> None:
    """One of stress-ng, and one of hackbench."""
    description = describe_smp("smp-minutes", 4, initrd=WHOLE)
    with Boot.start(description, emulator=emulator, ips=VERY_FEW_INSTRUCTIONS) as started:
        started.wait_for_shell()
        assert online(started) == "0-3"
        assert "successful run" in started.shell(MINUTE, timeout=LONG)
        started.kernel_is_sane()
        assert int(started.shell(MINUTE_OF_HACKBENCH, timeout=LONG)) > 1
        started.kernel_is_sane()
        beats(started, "beat")


def test_a_cpu_that_could_begin_only_late() -> None:
    """Linux gives it up while an RTOS has its core, starts the next one, and is not harmed by it.

    Both would begin with the same stack. It is there when Linux wants it again, also if Linux did
    so once too early.
    """
    three = smp([0, 1, 2], 'on_fault = "stop"').replace("ttyS0", "ttyS0 gandalf_smp.patience=1")
    held = on(1, rtos_guest("held"))
    place = "/sys/devices/system/cpu/cpu1/online"
    withdrawn = "gandalf: CPU 1 has not begun in 1 s: its start is withdrawn"
    with Boot.start(describe_cores("smp-late", 3, three, held)) as started:
        started.wait_for_shell()
        assert online(started) == "0,2"
        started.shell(f"echo 1 > {place}", status=1)
        assert started.shell("dmesg").count(withdrawn) == 2
        started.send("held", "x")
        started.expect("held", r"^held: leaves the CPU\n", PATIENCE)
        started.select("linux")
        started.hackbench()
        assert online(started) == "0,2"
        for _ in range(2):
            started.shell(f"echo 1 > {place}")
            assert online(started) == "0-2"
            assert "400 tasks" in started.shell("taskset -c 1 hackbench -l 10")
            started.shell(f"echo 0 > {place}")
        started.kernel_is_sane()


@pytest.mark.long
def test_no_beat_is_missed_in_bochs() -> None:
    """Whatever Linux does on both CPUs, the RTOS on the first one has it when it needs it.

    Two vCPUs for each of two CPUs have the same in each run (test_smp_sharing.py).
    """
    description = describe_smp("smp-bochs", 2)
    with Boot.start(description, emulator="bochs", ips=FEW_INSTRUCTIONS) as started:
        started.wait_for_shell()
        assert online(started) == "0-1"
        for cpu in (0, 1):
            assert "80 tasks" in started.shell(f"taskset -c {cpu} hackbench -g 2 -l 2")
        started.hackbench()
        started.kernel_is_sane()
        told = re.findall(r"^beats=(\d+) missed=(\d+)$", started.text("beat"), re.MULTILINE)
        assert told
        assert all(missed == "0" for _, missed in told)
