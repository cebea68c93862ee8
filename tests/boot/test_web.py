# SPDX-License-Identifier: Apache-2.0
"""An RTOS serves a web page with its latencies, and nothing that its network brings disturbs it.

Another RTOS fetches the page first (guest/web/fetch.c), which needs no Linux. Linux does so, too.
"""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import pytest

from gandalf.base.paths import ROOT

from .systems import PATIENCE, Boot, describe, linux
from .workload import build_initrd_with

NETWORK = '[[network]]\nname = "lan"\nbetween = ["{}", "rtos"]\n'
KERNEL = "build/linux/complete/vmlinux"
UP = r"^web: the network is up\n"
DOWN = r"^web: the network is down\n"
ANSWER = r"^fetch: (\d+) bytes\n"
SITE = "10.0.0.2"
FRAMES = 20000  # of workload/frames.c
PAGES = ("/", "/latency.json")
# Cycles that an activation of the demo may take to begin, beside guests that do what they like.
LATENCY_MAXIMUM = 2000


def guest(name: str, image: str, priority: int) -> str:
    """Return the part of a description for an image of guest/web."""
    return f"""\
[[guest]]
name = "{name}"
kind = "rtos"
image = "build/web/{image}.elf"
memory = "1M"
priority = {priority}
"""


def check_latency(text: str) -> dict[str, Any]:
    """Check that the figures of the JSON fit together; return them."""
    found: dict[str, Any] = json.loads(text)
    bars = found["histogram"]
    assert sum(bar["count"] for bar in bars) == found["activations"]
    limits = [bar["up_to"] for bar in bars]
    assert limits == sorted(set(limits))
    assert found["minimum"] <= limits[0]
    assert found["maximum"] <= limits[-1]
    assert found["minimum"] <= found["mean"] <= found["p99.9"] <= found["maximum"]
    assert found["missed"] == 0
    return found


def check_page(text: str) -> int:
    """Check that the page is whole and has a bar for each count; return the activations."""
    kind, _, page = text.partition("\n")
    assert kind == "<!DOCTYPE html>"
    root = ElementTree.fromstring(page)  # noqa: S314 - our own
    rows = [[cell.text for cell in row] for row in root.iter("tr") if row.find("td") is not None]
    activations = int(rows[0][0] or "")
    assert sum(int(row[1] or "") for row in rows[1:]) == activations
    assert len(list(root.iter("div"))) == len(rows) - 1
    return activations


# Two RTOSes


def answer_to(machine: Boot, command: str) -> tuple[str, str]:
    """Have the client ask something; return the answer's first line and its content."""
    machine.skip("client")
    start = len(machine.text("client"))
    machine.send("client", f"{command}\n")
    match = machine.expect("client", ANSWER, PATIENCE)
    pieces = re.findall(r"^(?:\x1b\[K)?\|(.*)\n", machine.text("client")[start:], re.M)
    text = "".join(pieces).replace("~", "\n")
    assert len(text) == int(match[1])
    header, _, content = text.partition("\n\n\n\n")
    length = re.search(r"^Content-Length: (\d+)$", header, re.M)
    assert length
    assert len(content) == int(length[1])
    return header.splitlines()[0], content


def latency(machine: Boot) -> dict[str, Any]:
    """Have the client fetch the JSON."""
    status, content = answer_to(machine, "get /latency.json")
    assert status == "HTTP/1.1 200 OK"
    return check_latency(content)


@pytest.fixture(scope="module")
def pair() -> Iterator[Boot]:
    """The server, and a client that is less urgent."""
    parts = (guest("rtos", "web", 10), guest("client", "fetch", 5), NETWORK.format("client"))
    with Boot.start(describe("web", *parts, memory="32M")) as machine:
        machine.expect("rtos", UP, PATIENCE)
        yield machine


def test_the_page_and_its_figures_arrive_and_grow(pair: Boot) -> None:
    activations = 0
    for _ in range(5):
        figures = latency(pair)
        assert figures["activations"] > activations
        status, content = answer_to(pair, "get /")
        assert status == "HTTP/1.1 200 OK"
        activations = check_page(content)
        assert activations > figures["activations"]


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("get /nothing", "404 Not Found"),
        ("get /latency.json/", "404 Not Found"),
        ("raw GET", "400 Bad Request"),
        ("raw rubbish", "400 Bad Request"),
        ("raw GET / HTTP/9", "400 Bad Request"),
        ("raw POST / HTTP/1.1", "405 Method Not Allowed"),
    ],
)
def test_whatever_is_asked_gets_an_answer(pair: Boot, command: str, status: str) -> None:
    assert answer_to(pair, command) == (f"HTTP/1.1 {status}", f"{status}\n")


def test_guests_that_do_nothing_ring_nobody(pair: Boot) -> None:
    """All interrupts of the server are its timer's, but for what lwIP does each second."""
    before = pair.counters("rtos")
    pair.next_latency()
    pair.next_latency()
    more = pair.counters("rtos") - before
    assert more["timer_expiries"] > 900
    assert more["deliveries"] + more["deferrals"] - more["timer_expiries"] < 20


def test_frames_of_random_bytes_disturb_nothing(pair: Boot) -> None:
    with pair.rtos_undisturbed():
        pair.skip("client")
        pair.send("client", "garbage\n")
        pair.expect("client", r"^garbage: \d+ frames\n", PATIENCE)
        latency(pair)


@pytest.mark.parametrize("name", ["client", "rtos"])
def test_a_restart_of_either_is_survived(pair: Boot, name: str) -> None:
    for _ in range(3):
        pair.skip("rtos")
        pair.vmm(f"restart {name}", rf"^guest {name} stopped: by command\n")
        pair.expect("rtos", UP, PATIENCE)
        latency(pair)
    pair.next_latency()  # of this life


def test_a_broken_ring_is_whole_after_a_restart(pair: Boot) -> None:
    pair.skip("rtos")
    pair.send("client", "break\n")
    pair.expect("rtos", DOWN, PATIENCE)
    with pair.rtos_undisturbed():
        pass
    pair.skip("rtos")
    pair.vmm("restart client", r"^guest client stopped: by command\n")
    pair.expect("rtos", UP, PATIENCE)
    latency(pair)


def test_no_activation_was_missed_or_late(pair: Boot) -> None:
    """Beside a client that is less urgent, whatever it has done."""
    assert len(pair.latencies()) >= 5
    for line in pair.latencies():
        assert line.missed == 0
        assert line.maximum < LATENCY_MAXIMUM
    assert not re.search("assertion|overflow", pair.text("rtos") + pair.text("client"))


# Linux and the RTOS.


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """Linux with an address and a program that sends random frames, beside the server."""
    initrd = build_initrd_with("frames")
    parts = (linux(kernel=KERNEL, initrd=initrd, more="control = true"), guest("rtos", "web", 10))
    with Boot.start(describe("web-linux", *parts, NETWORK.format("linux"))) as started:
        started.wait_for_shell()
        started.shell(
            "ip addr add 10.0.0.1/24 dev lan; ip link set lan up; "
            "until grep -q 1 /sys/class/net/lan/carrier; do sleep 0.1; done"
        )
        started.expect("rtos", UP, PATIENCE)
        yield started


def fetch(machine: Boot, path: str = "/latency.json") -> str:
    """Fetch a page in Linux; what a restart has lost TCP sends again."""
    return machine.shell(f"wget -q -O - http://{SITE}{path}")


def ask(machine: Boot, text: str) -> str:
    """Send the server some bytes, as printf has them, and return its answer."""
    return machine.shell(f"printf '{text}' | nc -w 60 {SITE} 80").replace("\r", "")


def test_linux_fetches_the_page_again_and_again(machine: Boot) -> None:
    figures = check_latency(fetch(machine))
    for _ in range(10):
        following = check_latency(fetch(machine))
        assert following["activations"] > figures["activations"]
        figures = following
    assert check_page(fetch(machine, "/")) > figures["activations"]
    machine.shell(
        f"for i in $(seq 100); do wget -q -O /tmp/page http://{SITE}/ && "
        "tail -n 1 /tmp/page | grep -q '</html>' || exit 1; done"
    )


def test_linux_pings_the_rtos(machine: Boot) -> None:
    assert "5 packets received, 0% packet loss" in machine.shell(f"ping -c 5 -W 20 {SITE}")


def test_bad_requests_of_linux_get_an_answer(machine: Boot) -> None:
    assert "404 Not Found" in machine.shell(f"wget -O - http://{SITE}/x 2>&1; true")
    assert ask(machine, r"rubbish\r\n\r\n").startswith("HTTP/1.1 400 Bad Request\n")
    assert ask(machine, r"PUT / HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 405 ")
    long = machine.shell(f"(head -c 30000 /dev/zero | tr '\\0' a) | nc -w 60 {SITE} 80")
    assert long.startswith("HTTP/1.1 431 ")
    head = ask(machine, r"HEAD / HTTP/1.1\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\n")
    assert head.endswith("Connection: close\n\n")
    check_latency(fetch(machine))


def test_connections_that_say_nothing_end(machine: Boot) -> None:
    """More than there can be at once: the last ones are refused, and there is room again soon."""
    machine.shell(
        f"for i in 1 2 3 4 5 6; do (sleep 100 | nc {SITE} 80 >/dev/null 2>&1) & done; sleep 1; "
        "sleep 20"
    )
    check_latency(fetch(machine))
    machine.shell("killall sleep; true")


def test_a_restart_of_the_rtos_is_survived_by_linux(machine: Boot) -> None:
    for _ in range(3):
        before = check_latency(fetch(machine))
        machine.skip("rtos")
        machine.shell(f"(wget -q -O /dev/null http://{SITE}/ &); gandalfctl restart rtos")
        machine.expect("rtos", UP, PATIENCE)
        after = check_latency(fetch(machine))
        assert after["activations"] < before["activations"] or before["activations"] < 1000
    machine.next_latency()  # of this life


def goes_down_and_up(machine: Boot) -> None:
    """Have Linux's interface do so; the RTOS learns both."""
    machine.skip("rtos")
    machine.shell("ip link set lan down")
    machine.expect("rtos", DOWN, PATIENCE)
    machine.shell("ip link set lan up")
    machine.expect("rtos", UP, PATIENCE)


def test_an_interface_that_goes_down_comes_up_again(machine: Boot) -> None:
    for _ in range(3):
        goes_down_and_up(machine)
        check_latency(fetch(machine))


def test_random_frames_of_linux_disturb_nothing(machine: Boot) -> None:
    sent = "cat /sys/class/net/lan/statistics/tx_packets"
    before = int(machine.shell(sent))
    with machine.rtos_undisturbed():
        assert "frames: sent" in machine.shell("frames")
    assert int(machine.shell(sent)) - before > FRAMES / 2  # those without room are lost
    check_latency(fetch(machine))
    machine.kernel_is_sane()


def test_fetching_disturbs_nothing(machine: Boot) -> None:
    with machine.rtos_undisturbed():
        machine.shell(f"for i in $(seq 50); do wget -q -O /dev/null http://{SITE}/; done")


def test_no_activation_was_missed_or_late_beside_linux(machine: Boot) -> None:
    assert len(machine.latencies()) >= 5
    for line in machine.latencies():
        assert line.missed == 0
        assert line.maximum < LATENCY_MAXIMUM
    assert not re.search("assertion|overflow", machine.text("rtos"))


def test_the_system_that_comes_with_it_serves_the_page() -> None:
    with Boot.start(ROOT / "systems" / "web.toml") as shipped:
        shipped.wait_for_shell()
        shipped.shell("ip addr add 10.0.0.1/24 dev lan; ip link set lan up")
        for path in PAGES:
            assert fetch(shipped, path)
