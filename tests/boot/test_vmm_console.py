# SPDX-License-Identifier: Apache-2.0
"""The commands of the VMM's own console, and the keys by which the keyboard goes to another one."""

import re

from .systems import PATIENCE, Boot, describe, rtos_guest

# How often the keyboard goes round: one of few notices only comes while the UART waits for an RTOS.
ROUNDS = 20


def test_the_keyboard_goes_on_while_an_rtos_never_halts() -> None:
    """Nothing else is printed meanwhile, which would have shown a notice that waits."""
    with Boot.start(describe("keys", rtos_guest("hog"))) as machine:
        machine.expect("hog", r"^hog: ", PATIENCE)
        for console in ("vmm", "hog") * ROUNDS:
            machine.select(console)


def test_help_lists_the_commands(machine: Boot) -> None:
    for command in ("help", "status", "counters GUEST", "trace GUEST", "start GUEST"):
        machine.vmm("help", rf"^{command}: \w")
    assert machine.vmm("help", r"^stop GUEST: .*\n")


def test_status_lists_the_guests(machine: Boot) -> None:
    for name, priority, size in (("linux", 0, 196608), ("rtos", 10, 1024)):
        pattern = rf"^{name}: running, priority {priority}, {size} KiB, ran (\d+) ms, up (\d+) ms"
        match = machine.vmm("status", pattern)
        assert int(match[1]) <= int(match[2]) > 0
    pool = machine.vmm("status", r"^pool: (\d+) of (\d+) frames free\n")
    assert 0 < int(pool[1]) < int(pool[2])


def test_counters_of_each_path_move(machine: Boot) -> None:
    before = machine.counters()
    machine.hackbench()
    machine.shell("sleep 1")
    machine.shell("for i in $(seq 50); do /bin/true; done; usleep 1000")
    after = machine.counters()
    moved = (
        "entries", "interrupts", "switches_in", "exceptions", "deliveries", "deferrals",
        "alias_faults", "returns", "hypercalls", "halts", "emulations", "port_accesses",
        "cr3_loads", "flushes", "page_faults", "guest_page_faults", "shadow_fills",
        "shadow_prefills", "space_hits", "space_misses", "tls_loads", "timer_expiries",
    )  # fmt: skip
    still = [name for name in moved if after[name] <= before[name]]
    assert not still


def test_a_wait_can_end_at_a_return_to_ring_3(machine: Boot) -> None:
    """The return fault is rare: an interrupt must come between Linux's last look and its IRET."""
    for _ in range(20):
        if machine.counters()["return_faults"]:
            break
        machine.shell("hackbench -g 2 -l 100 > /dev/null")
    assert machine.counters()["return_faults"]


def test_counters_of_an_rtos_move(machine: Boot) -> None:
    before = machine.counters("rtos")
    machine.next_latency()
    machine.next_latency()
    after = machine.counters("rtos")
    for name in ("entries", "hypercalls", "halts", "timer_expiries", "switches_in"):
        assert after[name] >= before[name] + 1000, name
    assert after["timer_overruns"] == 0


def test_trace_shows_the_last_events(machine: Boot) -> None:
    for name in ("linux", "rtos"):
        start = len(machine.text("vmm"))
        machine.vmm(f"trace {name}", r"(^  \d+ us, vCPU \d+: \w+ [0-9a-f]+, [0-9a-f]+\n){40}")
        events = re.findall(r"^  (\d+) us, vCPU (\d+): ", machine.text("vmm")[start:], re.M)
        times = [int(time) for time, _ in events]
        assert times == sorted(times)
        assert len({vcpu for _, vcpu in events}) == 1


def test_mistakes_are_answered(machine: Boot) -> None:
    machine.vmm("dance", r"^no such command; help lists them\n")
    machine.vmm("counters", r"^counters needs the name of a guest; status lists them\n")
    machine.vmm("stop nobody", r"^stop needs the name of a guest; status lists them\n")
    machine.vmm("start rtos", r"^guest rtos is running\n")
    machine.vmm("x" * 200, r"no such command; help lists them\n")
    machine.vmm("sta\x7f\x7fo\x7ftatus", r"^pool: ")


def test_linux_can_be_stopped_and_started(machine: Boot) -> None:
    with machine.rtos_undisturbed():
        machine.vmm("stop linux", r"^guest linux stopped: by command\n")
        machine.vmm("status", r"^linux: off, ")
        machine.vmm("stop linux", r"^guest linux is off\n")
        machine.next_latency()
        machine.start_linux()
        machine.hackbench()


def test_the_rtos_can_be_stopped_and_started(machine: Boot) -> None:
    machine.vmm("stop rtos", r"^guest rtos stopped: by command\n")
    machine.hackbench()
    machine.skip("rtos")
    machine.vmm("start rtos", r"start rtos")
    machine.expect("rtos", r"^FreeRTOS V", PATIENCE)
    machine.hackbench()
    line = machine.next_latency()
    assert line.missed == 0


def test_frames_come_back(machine: Boot) -> None:
    """Restarts lose no frame of the pool."""

    def restart() -> int:
        machine.vmm("stop linux", r"^guest linux stopped: by command\n")
        free = machine.vmm("status", r"^pool: (\d+) of \d+ frames free\n")
        machine.start_linux()
        return int(free[1])

    first = restart()
    assert [restart() for _ in range(2)] == [first, first]
