# SPDX-License-Identifier: Apache-2.0
"""A Linux on CPU 1 manages the RTOSes of CPU 0, one of which must not notice (docs/control.md)."""

import json
from collections.abc import Iterator

import pytest

from .systems import PATIENCE, Boot, linux, rtos_guest
from .test_control import root_file_system
from .test_cores import beats, describe_cores, on
from .test_smp import smp


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """`lab` and `shy`, which falls silent when it is told to, are what Linux manages."""
    manager = linux(initrd=root_file_system(), memory="128M", more="control = true")
    guests = (
        on(0, rtos_guest("heartbeat", "beat", priority=20)),
        on(0, rtos_guest("heartbeat", "lab", priority=5)),
        on(0, rtos_guest("silent", "shy", priority=4, more="watchdog_ms = 300")),
        on(1, manager),
    )
    with Boot.start(describe_cores("cores-control", 2, *guests)) as started:
        started.wait_for_shell()
        yield started


def state(machine: Boot, name: str) -> str:
    found = json.loads(machine.shell("gandalfctl list --json"))
    (guest,) = (guest for guest in found["guests"] if guest["name"] == name)
    return str(guest["state"])


def restarts(machine: Boot, name: str) -> int:
    """Return how often a guest that ran was restarted: a life may be too short to print a line."""
    found = json.loads(machine.shell("gandalfctl list --json"))
    (guest,) = (guest for guest in found["guests"] if guest["name"] == name)
    return int(guest["restarts"])


def test_each_action_is_done_when_it_returns(machine: Boot) -> None:
    for action, wanted in (
        ("pause", "paused"), ("resume", "running"), ("stop", "off"), ("start", "running"),
        ("restart", "running"),
    ):  # fmt: skip
        assert machine.shell(f"gandalfctl {action} lab") == ""
        assert state(machine, "lab") == wanted
    beats(machine, "lab")
    beats(machine, "beat")


def test_what_is_not_possible_is_refused(machine: Boot) -> None:
    refused = machine.shell("gandalfctl start lab 2>&1", status=1)
    assert "guest lab is running, and only one that is off or stopped can be started" in refused
    refused = machine.shell("gandalfctl load lab /root/uitron.elf 2>&1", status=1)
    assert "guest lab is running: stop it first" in refused


def test_an_image_is_loaded_and_typed_to(machine: Boot) -> None:
    """The other guest of that CPU goes on."""
    for image, line in (("uitron", r"^uITRON 4.0"), ("heartbeat", r"^beats=\d+ ")) * 2:
        machine.shell("gandalfctl stop lab")
        assert machine.shell(f"gandalfctl load lab /root/{image}.elf") == ""
        machine.skip("lab")
        assert machine.shell("gandalfctl start lab") == ""
        machine.expect("lab", line, PATIENCE)
        if image == "uitron":
            typed = machine.shell("(echo help; sleep 1) | gandalfctl console lab")
            assert "lists the commands" in typed
        beats(machine, "beat")


def test_a_load_that_is_killed_leaves_no_image(machine: Boot) -> None:
    """Whatever came of it, the guest starts with a whole image or not at all."""
    machine.shell("gandalfctl stop lab")
    machine.shell(
        "for i in 1 2 3 4 5 6 7 8; do "
        "gandalfctl load lab /root/uitron.elf & sleep 0.0$i; kill -9 $!; wait; done 2> /dev/null"
    )
    answer = machine.shell("gandalfctl start lab 2>&1 || true")
    assert answer == "" or "guest lab has no complete image: load one" in answer
    machine.shell("gandalfctl stop lab 2> /dev/null; gandalfctl load lab /root/heartbeat.elf")
    assert machine.shell("gandalfctl start lab") == ""
    beats(machine, "lab")
    beats(machine, "beat")


def test_the_watchdog_of_another_cpus_guest(machine: Boot) -> None:
    """It loops with interrupts disabled when it is told so: nobody else minds, and it ends."""
    for how in "lh":
        machine.skip("shy")
        machine.shell("gandalfctl restart shy")
        machine.expect("shy", r"^silent: alive\n", PATIENCE)
        machine.skip("vmm")
        machine.shell(f"(printf {how}; sleep 1) | gandalfctl console shy")
        machine.expect("vmm", r"^guest shy stopped: no sign of life for 300 ms\n", PATIENCE)
        assert state(machine, "shy") == "stopped"
        report = machine.shell("gandalfctl report shy")
        assert report.startswith("guest shy stopped: no sign of life for 300 ms")
    beats(machine, "beat")


# Restarts of a guest, each by a command that waits for its answer, and meanwhile has one and then
# the other of Linux's processors taken away by a loop that is moved between them.
RESTARTS = 20
HOG = (
    "sh -c 'while :; do :; done' & hog=$!; "
    "while :; do for mask in 1 2; do taskset -p $mask $hog; usleep 500; done; done"
)


def test_of_two_commands_at_once_each_is_done_once(machine: Boot) -> None:
    """Each waits until the other one has its answer, which it would take for none and ask again.

    One that finds the guest starting asks for nothing, and comes again.
    """
    machine.shell("gandalfctl restart shy")
    before = restarts(machine, "shy")
    again = "until gandalfctl restart shy 2> /dev/null; do usleep 5000; done"
    loop = f"for n in $(seq {RESTARTS}); do {again}; done"
    machine.shell(f"({loop}) & {loop}; wait")
    assert restarts(machine, "shy") == before + 2 * RESTARTS


def test_a_manager_on_several_cpus_gives_each_order_once() -> None:
    """Its commands do not ask again on another CPU, which would give the order a second time."""
    guests = (
        on(0, rtos_guest("heartbeat", "beat", priority=20)),
        on(0, rtos_guest("silent", "shy", priority=4)), smp([1, 2], "control = true"),
    )  # fmt: skip
    with Boot.start(describe_cores("cores-control-apart", 3, *guests)) as machine:
        machine.wait_for_shell()
        machine.shell(f"({HOG}) 2>&1 > /dev/null & true")
        for _ in range(RESTARTS):
            assert machine.shell("gandalfctl restart shy 2>&1") == ""
        beats(machine, "beat")
        assert restarts(machine, "shy") == RESTARTS
