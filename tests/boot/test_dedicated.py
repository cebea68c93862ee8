# SPDX-License-Identifier: Apache-2.0
"""A Linux with a CPU of its own, and with the lines of the patch that only make it faster.

The serial port is its own, so that nobody can type on the VMM's console: Linux asks for its
counters with gandalfctl. tests/boot/test_life.py has the kernel without a changed line.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from .systems import WHOLE, Boot, describe, linux
from .test_interruptible import (
    STRESS,
    fork_loop,
    not_interruptible,
    processes_check_their_data,
)

# With two levels of privilege no Linux has a CPU to itself.
pytestmark = pytest.mark.rings

LINES, NATIVE = "build/linux/dedicated/vmlinux", "build/linux/native/vmlinux"


# Processes and mappings that come and go, and a timer that interrupts ten thousand times a second.
# Of the clock, one each 100 us, which hit whatever runs then: often it is the VMM, at work for one
# of the processes.
INTERRUPTS = 20_000
BUSY = (
    "cyclictest -q -i 100 -p 80 -l {interrupts} >/tmp/latency & "
    "stress-ng --verify --fork 2 --vm 2 --vm-bytes 14M --mmap 2 --mmap-bytes 12M --switch 2 "
    "--pipe 2 -t {seconds}; wait; cat /tmp/latency"
)


def start(name: str, kernel: str) -> Boot:
    """Start a system of a Linux that may ask for its own counters, and wait for its shell."""
    running = Boot.start(describe(name, linux("dedicated", kernel, WHOLE, more="control = true")))
    running.wait_for_shell()
    return running


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with start("dedicated-lines", LINES) as running:
        yield running


def counters(machine: Boot) -> Counter[str]:
    return Counter(json.loads(machine.shell("gandalfctl stats linux --json"))["counters"])


def moved(machine: Boot) -> Counter[str]:
    """Return what is counted while Linux makes processes that talk to one another."""
    before = counters(machine)
    fork_loop(machine)
    machine.hackbench()
    return counters(machine) - before


def busy(machine: Boot, interrupts: int) -> None:
    """Have Linux change page tables in every way while its clock interrupts."""
    line = BUSY.format(interrupts=interrupts, seconds=max(1, interrupts // 10_000))
    output = machine.shell(line, timeout=600)
    assert "successful run completed" in output
    assert re.search(rf"^T: 0 .* C: +{interrupts} Min:", output, re.M), output


def test_page_tables_outlive_a_load_of_cr3(machine: Boot) -> None:
    seen = moved(machine)
    print(seen)
    assert seen["flushes"] > 0
    assert seen["tls_loads"] > 0
    # A process is loaded far more often than it is made.
    assert seen["space_hits"] > 5 * seen["space_misses"] > 0
    # TLS is handed over, and the GDT need not be watched.
    assert seen["gdt_writes"] == 0
    machine.kernel_is_sane()


def test_the_interrupt_flag_is_the_processor_s(machine: Boot) -> None:
    """Interrupts and ports are Linux's own, and it returns from them without the VMM.

    What wakes it from a halt is delivered by the VMM, which had halted for it.
    """
    before = counters(machine)
    machine.shell("sleep 2")
    machine.hackbench()
    seen = counters(machine) - before
    for name in ("interrupts", "deferrals", "alias_faults", "return_faults", "returns",
                 "port_accesses"):  # fmt: skip
        assert seen[name] == 0, name
    assert seen["halts"] > 0


def test_processes_find_their_own_data(machine: Boot) -> None:
    """Whoever saw a stale page table would compute something else."""
    processes_check_their_data(machine)
    output = machine.shell(STRESS, timeout=600)
    assert "successful run completed" in output
    assert not re.search(r"fail|corrupt|mismatch", output), output
    machine.kernel_is_sane()


def test_the_clocks_of_a_dedicated_linux_go(machine: Boot) -> None:
    output = machine.shell("cyclictest -q -p 80 -l 200")
    assert re.search(r"^T: 0 .* C: +200 Min:", output, re.M), output


def test_interrupts_that_hit_the_vmm_are_served_there_and_then(machine: Boot) -> None:
    before = counters(machine)
    busy(machine, INTERRUPTS)
    seen = counters(machine) - before
    print(seen)
    assert seen["upcalls"] > 0
    assert seen["upcall_refusals"] == 0
    machine.kernel_is_sane()


def test_it_switches_the_machine_off(machine: Boot) -> None:
    """Last, because it ends the machine."""
    machine.send("linux", "poweroff\n")
    outcome = machine.wait_off()
    assert outcome.clean, outcome


def test_the_old_way_keeps_them_out() -> None:
    guest = linux("dedicated", LINES, WHOLE, more="control = true")
    with Boot.start(not_interruptible("dedicated-old", guest)) as machine:
        machine.wait_for_shell()
        busy(machine, INTERRUPTS // 4)
        seen = counters(machine)
        assert seen["flushes"] > 0
        assert seen["upcalls"] == seen["upcall_refusals"] == 0


def test_without_the_lines_nothing_is_kept() -> None:
    with start("dedicated-native", NATIVE) as machine:
        seen = moved(machine)
        assert seen["flushes"] == seen["tls_loads"] == 0
        assert seen["space_misses"] > seen["space_hits"]
        # One behind a change of the page tables takes the long way.
        assert seen["gdt_writes"] >= seen["gdt_quick_writes"] > 0.9 * seen["gdt_writes"]
