# SPDX-License-Identifier: Apache-2.0
"""Reboot, power-off and panic of Linux concern Linux alone; the last guest's end is the machine's.

The RTOS beside it misses no activation.
"""

import re
from collections.abc import Iterator

import pytest

from .systems import DEMO, PATIENCE, Boot, describe, linux

PANIC = "echo c > /proc/sysrq-trigger"


def start(name: str, more: str = "") -> Boot:
    machine = Boot.start(describe(name, linux(more=more), DEMO))
    machine.wait_for_shell()
    return machine


@pytest.fixture(scope="module")
def restarting() -> Iterator[Boot]:
    """Linux starts again after a reset."""
    with start("restarts", 'on_reboot = "restart"') as machine:
        yield machine


@pytest.mark.parametrize("command", ["reboot", "reboot -f", PANIC])
def test_linux_restarts(restarting: Boot, command: str) -> None:
    machine = restarting
    with machine.rtos_undisturbed():
        machine.hackbench()
        machine.shell("touch /tmp/earlier")
        machine.skip("vmm")
        start = len(machine.text("linux"))
        machine.send("linux", command + "\n")
        machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
        machine.wait_for_next_shell()
        machine.shell("test -e /tmp/earlier", status=1)
        machine.hackbench()
    if command == PANIC:
        assert "sysrq triggered crash" in machine.text("linux")[start:]


def test_restarts_are_counted(restarting: Boot) -> None:
    status = restarting.vmm("status", r"^linux: running, .*, (\d+) restarts\n")
    assert int(status[1]) == restarting.counters()["restarts"] == 3


@pytest.fixture(scope="module")
def staying() -> Iterator[Boot]:
    """Linux stays off after its end, until it is started by command."""
    with start("stays", 'on_reboot = "stop"') as machine:
        yield machine


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("reboot", "guest linux asked for a reset and stays off"),
        ("poweroff", "guest linux is off"),
        ("halt", "guest linux is off"),
        (PANIC, "guest linux asked for a reset and stays off"),
    ],
)
def test_linux_stays_down(staying: Boot, command: str, sentence: str) -> None:
    machine = staying
    with machine.rtos_undisturbed():
        machine.hackbench()
        machine.skip("vmm")
        machine.send("linux", command + "\n")
        machine.expect("vmm", rf"^{sentence}\n", PATIENCE)
        machine.next_latency()  # behind what Linux said last
        silent = len(machine.text("linux"))
        for _ in range(3):
            machine.next_latency()
    assert len(machine.text("linux")) == silent
    machine.vmm("status", r"^linux: off, ")
    machine.start_linux()


def test_the_machine_ends_with_its_last_guest(staying: Boot) -> None:
    machine = staying
    machine.skip("vmm")
    machine.send("linux", "poweroff\n")
    machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
    machine.vmm(
        "stop rtos",
        r"^guest rtos stopped: by command\n(?s:.*)^all guests are off\n",
    )
    outcome = machine.wait_off()
    assert outcome.clean, outcome


def test_a_lonely_linux_restarts_and_switches_the_machine_off() -> None:
    """With words for init, which stand behind all that Linux needs, in each of its lives."""
    guest = linux(command_line="console=ttyS0 -- words", more='on_reboot = "restart"')
    with Boot.start(describe("alone", guest)) as machine:
        machine.wait_for_shell()
        line = machine.shell("cat /proc/cmdline")
        assert re.fullmatch(r"console=ttyS0 reservetop=.* tsc_early_khz=\d+ +-- words\n", line)
        machine.hackbench()
        machine.send("linux", "reboot\n")
        machine.wait_for_next_shell()
        assert machine.shell("cat /proc/cmdline") == line
        machine.hackbench()
        machine.send("linux", "poweroff\n")
        outcome = machine.wait_off()
        assert outcome.clean, outcome
        assert re.search(r"^guest linux is off\nall guests are off\n", machine.text("vmm"), re.M)


def dedicated() -> Boot:
    kernel = "build/linux/native/vmlinux"
    machine = Boot.start(describe("dedicated", linux("dedicated", kernel)))
    machine.wait_for_shell()
    machine.hackbench()
    return machine


@pytest.mark.rings
def test_a_dedicated_linux_switches_the_machine_off() -> None:
    with dedicated() as machine:
        machine.shell("cyclictest -q -p 80 -l 200")
        machine.kernel_is_sane()
        machine.send("linux", "poweroff\n")
        outcome = machine.wait_off()
        assert outcome.clean, outcome
        assert re.search(r"^guest linux is off\nall guests are off\n", machine.text("vmm"), re.M)


@pytest.mark.rings
def test_a_dedicated_linux_resets_the_machine_itself() -> None:
    """It has the ports of the hardware's reset; QEMU runs with -no-reboot."""
    with dedicated() as machine:
        machine.send("linux", "reboot\n")
        assert "reset" in machine.wait_off().sentence
