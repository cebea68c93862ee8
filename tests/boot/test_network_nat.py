# SPDX-License-Identifier: Apache-2.0
"""A Linux between two others: it is a router with NAT and a packet filter, or a bridge.

By Linux's own means, nft(8) and ip(8). Each Linux has a CPU, and two switches join them: `inside`,
near, `router`, far, `outside`. Nobody tells `outside` a way to the network of `inside`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .systems import PATIENCE, PROMPT, SMALL, WHOLE, Boot, linux
from .test_cores import describe_cores, on

KERNEL = "build/linux/complete/vmlinux"
INSIDE, ROUTER_INSIDE = "10.0.0.2", "10.0.0.1"
OUTSIDE, ROUTER_OUTSIDE = "10.0.1.2", "10.0.1.1"
# What the switches join: a network's name, which is the interface's, and the guests it is of.
NETWORKS = {
    "in": ("inside", "near"),
    "lan": ("router", "near"),
    "wan": ("router", "far"),
    "out": ("outside", "far"),
}
ADDRESSES = [
    ("inside", "in", INSIDE),
    ("router", "lan", ROUTER_INSIDE),
    ("router", "wan", ROUTER_OUTSIDE),
    ("outside", "out", OUTSIDE),
]
# A page that says whom the server takes for its client.
PAGE = "/root/cgi-bin/peer"
SERVE = (
    rf"mkdir -p /root/cgi-bin; printf '#!/bin/sh\necho; echo peer $REMOTE_ADDR\n' > {PAGE}; "
    f"chmod +x {PAGE}; httpd -p 0.0.0.0:80 -h /root"
)
MASQUERADE = (
    "add table ip nat",
    "add chain ip nat out { type nat hook postrouting priority srcnat; }",
    "add rule ip nat out oifname wan masquerade",
)
FORWARD = (
    "add table ip nat",
    "add chain ip nat in { type nat hook prerouting priority dstnat; }",
    f"add rule ip nat in iifname wan tcp dport 8080 dnat to {INSIDE}:80",
)
FILTER = (
    "add table ip filter",
    "add chain ip filter forward { type filter hook forward priority filter; }",
)
COUNT = "/proc/sys/net/netfilter/nf_conntrack_count"


def switch(name: str) -> str:
    return f"""\
[[guest]]
name = "{name}"
kind = "rtos"
image = "build/switch/switch.elf"
memory = "64K"
priority = 1
"""


def described(name: str, initrd: str, memory: str) -> str:
    """Return the part of a description for one of the three."""
    guest = linux(kernel=KERNEL, initrd=initrd, memory=memory)
    return guest.replace('name = "linux"', f'name = "{name}"', 1)


def run(machine: Boot, name: str, line: str, status: int = 0) -> str:
    """Run a command in one of the Linuxes, check its exit status, and return its output."""
    text = machine.command(name, f'{line}; echo "status:$?"', PROMPT, PATIENCE)
    output, _, found = text.rpartition("status:")
    assert int(found) == status, f"{name}: {line}: status {found}\n{output}"
    return output


def wait_for_carrier(machine: Boot, name: str, interface: str) -> None:
    run(machine, name, f"until grep -q 1 /sys/class/net/{interface}/carrier; do sleep 0.1; done")


def ping(machine: Boot, name: str, address: str, received: int) -> None:
    """See three packets go, and so many of them answered. What a busy host delays is not lost."""
    wait = 20 if received else 5
    found = run(machine, name, f"ping -c 3 -W {wait} {address}", status=not received)
    assert f"3 packets transmitted, {received} packets received" in found


def peer(machine: Boot, name: str, server: str) -> str:
    """Fetch the page, and return whom the server took for its client."""
    found = run(machine, name, f"wget -q -O - http://{server}/cgi-bin/peer")
    match = re.search(r"^peer (\S+)\n", found, re.M)
    assert match, found
    return match[1]


def is_out_of_reach(machine: Boot, name: str, server: str) -> bool:
    """Return whether the page does not come in some seconds, or is refused."""
    page = f"http://{server}/cgi-bin/peer"
    return "peer" not in run(machine, name, f"timeout 5 wget -q -O - {page} 2>/dev/null; true")


@contextmanager
def rules(machine: Boot, *lines: str) -> Iterator[None]:
    """Have these rules in the router."""
    for line in lines:
        run(machine, "router", f"nft '{line}'")
    yield
    run(machine, "router", "nft flush ruleset")


def newer(address: str) -> str:
    """Return an IPv6 address in the place of one of the above."""
    _, _, network, host = address.split(".")
    return f"fd00:{network}::{host}"


def echoes(machine: Boot) -> int:
    """Return how many requests for an echo have come to the outer Linux."""
    rows = run(machine, "outside", "grep ^Icmp: /proc/net/snmp").splitlines()
    names, values = (row.split() for row in rows)
    return int(values[names.index("InEchos")])


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """All three with their addresses and ways; each serves the page."""
    guests = [
        on(0, described("router", WHOLE, "96M")),
        on(1, described("inside", SMALL, "64M")),
        on(2, described("outside", SMALL, "64M")),
        on(1, switch("near")),
        on(2, switch("far")),
    ]
    networks = [
        f'[[network]]\nname = "{name}"\nbetween = ["{guest}", "{joined}"]\n'
        for name, (guest, joined) in NETWORKS.items()
    ]
    with Boot.start(describe_cores("nat", 3, *guests, *networks)) as started:
        for name in ("router", "inside", "outside"):
            started.wait_for_prompt(name)
            run(started, name, "stty columns 500; dmesg -n 1")
        for name, interface, address in ADDRESSES:
            run(started, name, f"ip addr add {address}/24 dev {interface}; "
                               f"ip link set {interface} up")  # fmt: skip
        for name, interface, _ in ADDRESSES:
            wait_for_carrier(started, name, interface)
        run(started, "inside", f"ip route add default via {ROUTER_INSIDE}")
        run(started, "router", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        for name in ("inside", "router", "outside"):
            run(started, name, SERVE)
        yield started


def test_without_masquerading_nothing_comes_back(machine: Boot) -> None:
    """Although what is sent arrives."""
    before = echoes(machine)
    ping(machine, "inside", OUTSIDE, 0)
    assert echoes(machine) == before + 3
    assert is_out_of_reach(machine, "inside", OUTSIDE)


def test_a_masquerade_has_the_router_speak_for_the_inner_network(machine: Boot) -> None:
    with rules(machine, *MASQUERADE):
        ping(machine, "inside", OUTSIDE, 3)
        assert peer(machine, "inside", OUTSIDE) == ROUTER_OUTSIDE
    assert is_out_of_reach(machine, "inside", OUTSIDE)


def test_what_was_masqueraded_is_forgotten_with_its_interface(machine: Boot) -> None:
    with rules(machine, *MASQUERADE):
        assert peer(machine, "inside", OUTSIDE) == ROUTER_OUTSIDE
        assert int(run(machine, "router", f"cat {COUNT}")) > 0
        run(machine, "router", "ip link set wan down; "
            f"until grep -qx 0 {COUNT}; do sleep 0.1; done; ip link set wan up")  # fmt: skip
        wait_for_carrier(machine, "router", "wan")
        assert peer(machine, "inside", OUTSIDE) == ROUTER_OUTSIDE


def test_a_port_of_the_router_leads_inside(machine: Boot) -> None:
    door = f"{ROUTER_OUTSIDE}:8080"
    assert is_out_of_reach(machine, "outside", door)
    with rules(machine, *FORWARD):
        assert peer(machine, "outside", door) == OUTSIDE
    assert is_out_of_reach(machine, "outside", door)


def test_a_filter_drops_and_counts(machine: Boot) -> None:
    drop = "add rule ip filter forward icmp type echo-request counter drop"
    with rules(machine, *MASQUERADE, *FILTER, drop):
        ping(machine, "inside", OUTSIDE, 0)
        found = run(machine, "router", "nft list chain ip filter forward")
        assert "echo-request counter packets 3 bytes 252 drop" in found
        assert peer(machine, "inside", OUTSIDE) == ROUTER_OUTSIDE
        run(machine, "router", "nft flush chain ip filter forward")
        ping(machine, "inside", OUTSIDE, 3)


def test_a_filter_knows_who_has_begun(machine: Boot) -> None:
    """Answers to what was asked inside come in, and nothing that begins outside."""
    drop = "add rule ip filter forward iifname wan ct state new counter drop"
    with rules(machine, *MASQUERADE, *FORWARD[1:], *FILTER, drop):
        assert is_out_of_reach(machine, "outside", f"{ROUTER_OUTSIDE}:8080")
        assert peer(machine, "inside", OUTSIDE) == ROUTER_OUTSIDE
        found = run(machine, "router", "nft list chain ip filter forward")
        assert re.search(r"ct state new counter packets [1-9]", found)


def test_a_refusal_says_so(machine: Boot) -> None:
    """In a table for both internet protocols."""
    refuse = "add rule inet filter forward tcp dport 80 counter reject with tcp reset"
    with rules(machine, *MASQUERADE, *(line.replace("ip ", "inet ") for line in FILTER), refuse):
        found = run(machine, "inside", f"wget -q -O - http://{OUTSIDE}/ 2>&1", status=1)
        assert "Connection refused" in found
        ping(machine, "inside", OUTSIDE, 3)


def test_a_port_leads_to_the_router_itself(machine: Boot) -> None:
    redirect = "add rule ip nat in tcp dport 8081 redirect to :80"
    with rules(machine, *FORWARD[:2], redirect):
        assert peer(machine, "outside", f"{ROUTER_OUTSIDE}:8081") == OUTSIDE
    assert is_out_of_reach(machine, "outside", f"{ROUTER_OUTSIDE}:8081")


def test_a_rate_has_a_limit(machine: Boot) -> None:
    """One packet passes, and no other for an hour."""
    slow = (
        "add rule ip filter forward icmp type echo-request limit rate over 1/hour burst 1 packets"
    )
    with rules(machine, *MASQUERADE, *FILTER, f"{slow} drop"):
        found = run(machine, "inside", f"ping -c 4 -W 5 {OUTSIDE}; true")
        assert "4 packets transmitted, 1 packets received" in found


def test_a_masquerade_is_for_the_newer_protocol_too(machine: Boot) -> None:
    lines = [line.replace(" ip ", " ip6 ") for line in MASQUERADE]
    for name, interface, address in ADDRESSES:
        run(machine, name, f"ip addr add {newer(address)}/64 dev {interface}")
    for name, interface, _ in ADDRESSES:
        run(machine, name, f"while ip addr show {interface} | grep tentative; do sleep 0.1; done")
    run(machine, "inside", f"ip route add default via {newer(ROUTER_INSIDE)}")
    run(machine, "router", "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    line = f"ping6 -c 3 -W 5 {newer(OUTSIDE)}"
    assert "0 packets received" in run(machine, "inside", line, 1)
    with rules(machine, *lines):
        assert "3 packets received" in run(machine, "inside", line)


def test_a_bridge_makes_one_network_of_two(machine: Boot) -> None:
    """The router has no address in it, and forwards no packets: it passes frames on."""
    ends = {"inside": ("in", "10.0.2.1"), "outside": ("out", "10.0.2.2")}
    run(machine, "router", "echo 0 > /proc/sys/net/ipv4/ip_forward; ip link add br0 type bridge; "
        "for i in lan wan; do ip addr flush dev $i; ip link set $i master br0; done; "
        "ip link set br0 up")  # fmt: skip
    for name, (interface, address) in ends.items():
        run(machine, name, f"ip addr add {address}/24 dev {interface}")
    for name, address in (("inside", ends["outside"][1]), ("outside", ends["inside"][1])):
        ping(machine, name, address, 3)
        assert peer(machine, name, address) == ends[name][1]
    run(machine, "router", "ip link set wan nomaster")
    ping(machine, "inside", ends["outside"][1], 0)


def test_nothing_of_it_upset_a_kernel(machine: Boot) -> None:
    for name in ("router", "inside", "outside"):
        found = run(machine, name, "dmesg | sed -nE '/Oops|BUG:|WARNING:|INFO: /p'")
        assert not found.strip(), found
