# SPDX-License-Identifier: Apache-2.0
"""A Linux that has CPU 0 to itself, and guests of the VMM on CPU 1, which it does not notice.

While it runs the serial port is its own, so the others are seen by gandalfctl, or once it is off.
"""

import json
from collections.abc import Iterator

import pytest

from gandalf.base.paths import ROOT

from .systems import PATIENCE, PROMPT, Boot
from .test_cores_control import state
from .test_dedicated import INTERRUPTS, busy, counters

# With two levels of privilege no Linux has a CPU to itself.
pytestmark = pytest.mark.rings

SYSTEM = ROOT / "systems" / "cores-dedicated.toml"
# Seconds that the other Linux waits before it stops the dedicated one, which boots meanwhile.
WHILE = 12
# So many earlier lines of a console may still run.
PROMPTS = 4
# One in two has an upcall.
ATTEMPTS = 20


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with Boot.start(SYSTEM) as started:
        started.wait_for_shell()
        yield started


def runs(machine: Boot) -> None:
    """See the RTOS at work from now on."""
    machine.skip("rtos")
    machine.expect("rtos", r"^activations=\d+ ", PATIENCE)


def counted(machine: Boot, name: str, counter: str) -> int:
    found = json.loads(machine.shell(f"gandalfctl stats {name} --json"))
    return int(found["counters"][counter])


def test_others_run_beside_it(machine: Boot) -> None:
    before = counted(machine, "rtos", "timer_expiries")
    machine.hackbench()
    machine.shell("sleep 3")
    assert counted(machine, "rtos", "timer_expiries") > before
    assert state(machine, "linux2") == "running"
    machine.kernel_is_sane()


def test_its_interrupts_are_its_own(machine: Boot) -> None:
    """What comes amid the VMM's work for it is an upcall, as on a machine with one CPU.

    Where each CPU is a thread of the host it is chance whether one comes there.
    """
    before = counters(machine)
    for _ in range(ATTEMPTS):
        busy(machine, INTERRUPTS)
        seen = counters(machine) - before
        if seen["upcalls"] > 0:
            break
    assert seen["upcalls"] > 0
    assert seen["upcall_refusals"] == 0


def test_it_manages_a_guest_of_the_other_cpu(machine: Boot) -> None:
    for action, wanted in (("pause", "paused"), ("resume", "running"), ("restart", "running")):
        assert machine.shell(f"gandalfctl {action} rtos") == ""
        assert state(machine, "rtos") == wanted
    machine.kernel_is_sane()


def second(machine: Boot, line: str) -> str:
    return machine.command("linux2", line, PROMPT, PATIENCE)


def second_says(machine: Boot, line: str, wanted: str) -> str:
    """Repeat a line until its output is that of this one: prompts of earlier ones end it, too."""
    for _ in range(PROMPTS):
        if wanted in (text := second(machine, line)):
            return text
    raise AssertionError(f"{line} does not show {wanted}")


def test_when_it_is_off_the_others_are_seen(machine: Boot) -> None:
    machine.send("linux", "poweroff\n")
    machine.expect("vmm", r"^guest linux is off", PATIENCE)
    runs(machine)
    machine.wait_for_prompt("linux2")
    second(machine, "stty columns 500")
    assert "linux off" in " ".join(second(machine, "gandalfctl list").split())


def test_a_guest_of_the_other_cpu_starts_and_stops_it(machine: Boot) -> None:
    """Orders come to a CPU whose interrupts are the dedicated Linux's.

    What that prints meanwhile is on the serial port as it is, on whosever console.
    """
    machine.send("linux2", "gandalfctl start linux; "
                 f"sleep {WHILE}; gandalfctl list --json >/tmp/list; "
                 "gandalfctl pause linux; gandalfctl resume linux; "
                 "gandalfctl stop linux; echo status:$? >/tmp/status\n")  # fmt: skip
    machine.expect("vmm", r"^guest linux stopped: by command", PATIENCE)
    runs(machine)
    second_says(machine, "cat /tmp/status", "status:0")
    text = second_says(machine, "cat /tmp/list", "{")
    rows = json.loads(text[text.index("{") :])["guests"]
    assert [row["state"] for row in rows if row["name"] == "linux"] == ["running"]


def test_the_machine_ends_with_the_last_guest(machine: Boot) -> None:
    second(machine, "gandalfctl stop rtos")
    machine.expect("vmm", r"^CPU 1: guest rtos stopped: by command", PATIENCE)
    machine.send("linux2", "poweroff\n")
    assert machine.wait_off().clean
