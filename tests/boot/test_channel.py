# SPDX-License-Identifier: Apache-2.0
"""Channels: bytes between two RTOSes and between Linux and an RTOS, over restarts of either."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from gandalf.base.paths import ROOT

from .systems import PATIENCE, Boot, describe, linux, rtos_guest

ROUND = r"^channel: 65536 bytes\n"
SIZE = 300_000


def channel(*between: str, size: str = "8K") -> str:
    """Return a channel's part of a description."""
    first, second = between
    return f'[[channel]]\nname = "line"\nbetween = ["{first}", "{second}"]\nsize = "{size}"\n'


def test_bytes_between_two_rtoses_survive_no_restart() -> None:
    """Each life counts from 0: a byte of an earlier one would end the guest that counts."""
    count, echo = rtos_guest("channel", "count"), rtos_guest("channel", "echo", priority=12)
    with Boot.start(
        describe("channel", count, echo, channel("count", "echo"), memory="64M")
    ) as machine:
        machine.expect("count", r"^channel: line, side 0, 8192 bytes at 40000\n", PATIENCE)
        machine.expect("echo", r"^channel: line, side 1, 8192 bytes at 40000\n", PATIENCE)
        machine.expect("count", ROUND, PATIENCE)
        for name in ("echo", "count", "echo"):
            machine.skip("count")
            machine.vmm(f"restart {name}", rf"^guest {name} stopped: by command\n")
            machine.expect("count", ROUND, PATIENCE)
        machine.vmm("stop echo", r"^guest echo stopped: by command\n")
        machine.vmm("start echo", r"start echo\n")
        machine.skip("count")
        machine.expect("count", ROUND, PATIENCE)
        for name in ("count", "echo"):
            assert not re.search("FAIL|nonsense|changed", machine.text(name))
            assert machine.counters(name, busy=True)["deliveries"] > 0


@pytest.fixture(scope="module")
def beside_linux() -> Iterator[Boot]:
    """Linux, which may manage guests, and an RTOS that sends back what it receives."""
    echo = rtos_guest("channel", "echo")
    parts = (linux(more="control = true"), echo, channel("linux", "echo"))
    with Boot.start(describe("channel-linux", *parts)) as machine:
        machine.wait_for_shell()
        yield machine


def test_linux_reads_what_comes_back(beside_linux: Boot) -> None:
    machine = beside_linux
    content = (b"0123456789abcde\n" * (SIZE // 16 + 1))[:SIZE]
    make = f"while true; do echo 0123456789abcde; done | head -c {SIZE} > /tmp/out"
    machine.shell(make)
    read = f"head -c {SIZE} < /dev/gandalf-line | sha256sum"
    line = f"({read}) & cat /tmp/out > /dev/gandalf-line; wait"
    assert hashlib.sha256(content).hexdigest() in machine.shell(line)
    assert int(re.findall(r"^ *10: +(\d+)", machine.shell("cat /proc/interrupts"), re.M)[0]) > 0


def test_a_restart_of_the_rtos_is_the_end_of_the_file(beside_linux: Boot) -> None:
    machine = beside_linux
    found = machine.shell(
        "(cat /dev/gandalf-line; echo ended) & sleep 1; echo one > /dev/gandalf-line; sleep 1; "
        "gandalfctl restart echo; wait"
    )
    assert re.search(r"^one\nended\n", found, re.M), found
    found = machine.shell(
        "gandalfctl stop echo; echo lost > /dev/gandalf-line; gandalfctl start echo; sleep 1; "
        "(head -c 4 < /dev/gandalf-line; echo '|') & "
        "(echo new > /dev/gandalf-line; echo new > /dev/gandalf-line) 2> /tmp/error; wait"
    )
    assert "lost" not in found.replace("echo lost", "")


def test_a_write_that_a_restart_cuts_short_is_told(beside_linux: Boot) -> None:
    """It waits for room when the other side, which is paused, starts again."""
    machine = beside_linux
    machine.shell("(head -c 6 < /dev/gandalf-line) & sleep 1; echo fresh > /dev/gandalf-line; true")
    machine.shell("gandalfctl pause echo; head -c 8192 /dev/zero > /tmp/out")
    machine.shell("cat /tmp/out > /dev/gandalf-line 2> /tmp/error & sleep 1; kill -0 $!")
    machine.shell("gandalfctl restart echo; wait $!", status=1)
    assert machine.shell("cat /tmp/error") == "cat: write error: Connection reset by peer\n"


def test_a_restart_of_linux_begins_anew(beside_linux: Boot) -> None:
    machine = beside_linux
    machine.shell("echo stale > /dev/gandalf-line; sleep 1")
    machine.skip("echo")
    machine.skip("linux")
    machine.send("linux", "reboot -f\n")
    machine.expect("echo", r"^channel: a new epoch\n", PATIENCE)
    machine.wait_for_next_shell()
    line = "(head -c 6 < /dev/gandalf-line) & echo fresh > /dev/gandalf-line; wait"
    found = machine.shell(line)
    assert re.search(r"^fresh\n", found, re.M), found
    assert "stale" not in found


@pytest.fixture(scope="module", params=["motor", "motor-uitron"])
def motor(request: pytest.FixtureRequest) -> Iterator[Boot]:
    """The example that comes with Gandalf, with FreeRTOS and with uITRON."""
    with Boot.start(ROOT / "systems" / f"{request.param}.toml") as machine:
        machine.wait_for_shell()
        yield machine


def _rows(text: str) -> list[tuple[int, int]]:
    """Return the answers that `setpoint` has drawn: milliseconds and position."""
    found = re.findall(r"^ *(\d+) ms +(-?\d+) \|", text, re.M)
    return [(int(time), int(place)) for time, place in found]


def _nothing_comes(machine: Boot) -> None:
    """A read waits until the time is over; nobody has sent anything."""
    found = machine.shell("timeout 1 head -c 1 < /dev/gandalf-motor", status=143)
    assert not found.replace("Terminated", "").strip(), found


ANSWERS = list(range(0, 300, 5))


def test_a_motor_follows_its_set_points(motor: Boot) -> None:
    has_periodic_task = "FreeRTOS" in motor.text("rtos")
    _nothing_comes(motor)
    with motor.rtos_undisturbed() if has_periodic_task else nullcontext():
        rows = _rows(motor.shell("setpoint 1000 200"))
    assert [time for time, _ in rows] == 2 * ANSWERS
    assert rows[0][1] == 0
    assert 850 < rows[59][1] < 1150
    assert max(place for _, place in rows) > 1200
    assert 50 < rows[119][1] < 350
    assert motor.shell("setpoint", status=2).startswith("usage: setpoint POSITION")
    _nothing_comes(motor)


def test_a_motor_begins_anew_with_its_rtos(motor: Boot) -> None:
    """The restart comes in the middle of its answers; no old one is read behind it."""
    motor.shell("echo 1500 > /dev/gandalf-motor; sleep 0.1; gandalfctl restart rtos; sleep 1")
    rows = _rows(motor.shell("setpoint 500"))
    assert [time for time, _ in rows] == ANSWERS
    assert rows[0][1] == 0
    _nothing_comes(motor)


def test_a_motor_outlives_linux(motor: Boot) -> None:
    """Linux restarts in the middle of the answers, and half a set point is forgotten."""
    motor.skip("linux")
    motor.send("linux", "printf '700\\n12' > /dev/gandalf-motor; sleep 0.1; reboot -f\n")
    motor.wait_for_next_shell()
    _nothing_comes(motor)
    rows = _rows(motor.shell("setpoint 300"))
    assert [time for time, _ in rows] == ANSWERS
    assert rows[0][1] > 300, "a motor that has not been restarted is where it was"
    assert 250 < rows[59][1] < 350
    _nothing_comes(motor)


def test_an_rtos_may_ring_its_peers_only(beside_linux: Boot) -> None:
    """And a Linux without channels has no such devices."""
    names = beside_linux.shell("ls /dev").split()
    assert "gandalf-line" in names
    echo = rtos_guest("channel", "echo")
    with Boot.start(describe("channel-none", linux(), echo)) as machine:
        machine.expect("echo", r"^channel: FAILED: there is none\n|there is none", PATIENCE)
        machine.wait_for_shell()
        assert "gandalf-line" not in machine.shell("ls /dev").split()


def test_an_epoch_that_a_guest_makes_up_keeps_the_switch_from_no_other() -> None:
    """The switch looks, finds that none has begun, and halts: who is less urgent goes on."""
    switch = rtos_guest("switch", priority=8).replace("build/tests/", "build/switch/")
    guests = (switch, rtos_guest("stale"), rtos_guest("heartbeat", priority=5))
    line = '[[network]]\nname = "lan"\nbetween = ["stale", "switch"]\n'
    with Boot.start(describe("stale", *guests, line, memory="64M")) as machine:
        machine.expect("stale", r"^stale: another epoch\n", PATIENCE)
        machine.skip("heartbeat")
        for _ in range(3):
            machine.expect("heartbeat", r"^beats=\d+ missed=\d+\n", PATIENCE)
