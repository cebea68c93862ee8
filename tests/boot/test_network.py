# SPDX-License-Identifier: Apache-2.0
"""Networks: two Linuxes on two CPUs that reach each other through the switch, over restarts."""

import hashlib
import re
from collections.abc import Iterator

import pytest

from gandalf.base.paths import ROOT

from .systems import PATIENCE, PROMPT, Boot

SYSTEM = ROOT / "systems" / "network.toml"
SIZE = 500_000
CONTENT = (b"0123456789abcde\n" * (SIZE // 16 + 1))[:SIZE]
MAKE = f"while true; do echo 0123456789abcde; done | head -c {SIZE} > /tmp/out"
FIRST, SECOND = "10.0.0.1", "10.0.0.2"


def other(machine: Boot, line: str) -> str:
    """Run a command in the second Linux and return its output."""
    return machine.command("linux2", line, PROMPT, PATIENCE)


def up(address: str, interface: str) -> str:
    """Return the command that gives an interface its address."""
    return f"ip addr add {address}/24 dev {interface}; ip link set {interface} up"


def wait_for_carrier(machine: Boot, interface: str, carrier: int) -> None:
    """Wait in the first Linux until an interface has a carrier, or has none."""
    machine.shell(f"until grep -q {carrier} /sys/class/net/{interface}/carrier; do sleep 0.1; done")


def reaches(machine: Boot) -> None:
    """See the second Linux answer. What a busy host delays is not lost."""
    found = machine.shell(f"ping -c 5 -W 20 {SECOND}")
    assert "5 packets transmitted, 5 packets received, 0% packet loss" in found


@pytest.fixture(scope="module")
def pair() -> Iterator[Boot]:
    """Both Linuxes with their addresses."""
    with Boot.start(SYSTEM) as machine:
        machine.wait_for_shell()
        machine.wait_for_prompt("linux2")
        other(machine, "stty columns 500; dmesg -n 1")
        machine.shell(up(FIRST, "lan"))
        other(machine, up(SECOND, "lan2"))
        yield machine


def test_two_linuxes_reach_each_other(pair: Boot) -> None:
    wait_for_carrier(pair, "lan", 1)
    reaches(pair)
    assert re.search(r"^switch: lan2 is up\n", pair.text("switch"), re.M)


def test_each_has_an_address_of_its_own(pair: Boot) -> None:
    addresses = [pair.shell("cat /sys/class/net/lan/address"),
                 other(pair, "cat /sys/class/net/lan2/address")]  # fmt: skip
    found = [re.search(r"(02(:[0-9a-f]{2}){5})", text) for text in addresses]
    assert found[0]
    assert found[1]
    assert found[0][1] != found[1][1]


def test_a_page_arrives_as_it_is(pair: Boot) -> None:
    """By TCP, in both directions."""
    digest = hashlib.sha256(CONTENT).hexdigest()
    other(pair, f"{MAKE}; httpd -h /tmp")
    assert digest in pair.shell(f"wget -q -O - http://{SECOND}/out | sha256sum")
    pair.shell(f"{MAKE}; httpd -h /tmp")
    assert digest in other(pair, f"wget -q -O - http://{FIRST}/out | sha256sum")


def _count(machine: Boot) -> tuple[int, int]:
    """Return the frames that the first Linux has received, and its doorbells."""
    frames = machine.shell("cat /sys/class/net/lan/statistics/rx_packets")
    rings = machine.shell("cat /proc/interrupts")
    return int(frames), int(re.findall(r"^ *10: +(\d+)", rings, re.M)[0])


def test_a_doorbell_is_for_many_frames(pair: Boot) -> None:
    frames, rings = _count(pair)
    pair.shell(f"wget -q -O /dev/null http://{SECOND}/out")
    more_frames, more_rings = _count(pair)
    assert more_frames - frames >= SIZE / 1500
    assert more_rings - rings < (more_frames - frames) / 2


def test_a_restart_of_the_switch_is_survived(pair: Boot) -> None:
    pair.skip("switch")
    pair.shell("gandalfctl stop switch")
    wait_for_carrier(pair, "lan", 0)
    pair.shell("gandalfctl start switch")
    wait_for_carrier(pair, "lan", 1)
    pair.expect("switch", r"^switch: lan2 is up\n", PATIENCE)
    reaches(pair)


def test_a_restart_of_the_other_linux_is_survived(pair: Boot) -> None:
    pair.skip("switch")
    pair.skip("linux2")
    pair.send("linux2", "reboot -f\n")
    pair.expect("switch", r"^switch: lan2 is down\n", PATIENCE)
    pair.wait_for_prompt("linux2")
    other(pair, up(SECOND, "lan2"))
    pair.expect("switch", r"^switch: lan2 is up\n", PATIENCE)
    reaches(pair)


def test_an_interface_that_is_down_has_no_carrier_at_the_other_end(pair: Boot) -> None:
    pair.skip("switch")
    pair.shell("ip link set lan down")
    pair.expect("switch", r"^switch: lan is down\n", PATIENCE)
    pair.shell("ip link set lan up")
    wait_for_carrier(pair, "lan", 1)
    reaches(pair)
