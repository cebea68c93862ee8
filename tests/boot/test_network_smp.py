# SPDX-License-Identifier: Apache-2.0
"""A network of a Linux with two vCPUs: both send and receive at once, and nothing stays behind.

The RTOS on the second CPU serves a web page (test_web.py), and is more urgent: it takes that CPU
from Linux amid whatever its driver does.
"""

import json
from collections.abc import Iterator

import pytest

from .systems import PATIENCE, Boot, linux
from .test_cores import describe_cores, on
from .test_web import NETWORK, SITE, UP, fetch, goes_down_and_up, guest
from .workload import build_initrd_with

KERNEL = "build/linux/complete-smp/vmlinux"
VCPUS = 2
PAGES = 40
RESTART = "gandalfctl restart rtos"
FETCH = f"wget -q -O /dev/null http://{SITE}/"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    initrd = build_initrd_with("frames")
    first = linux(kernel=KERNEL, initrd=initrd, more="control = true")
    first = first.replace("[[guest]]\n", f"[[guest]]\ncpus = {list(range(VCPUS))}\n", 1)
    parts = (first, on(1, guest("rtos", "web", 10)), NETWORK.format("linux"))
    with Boot.start(describe_cores("network-smp", VCPUS, *parts)) as started:
        started.wait_for_shell()
        started.shell("ip addr add 10.0.0.1/24 dev lan; ip link set lan up")
        started.expect("rtos", UP, PATIENCE)
        yield started


def on_each(line: str) -> str:
    """Return a line that runs another one on each vCPU at once; it fails if one of them does."""
    started = "".join(f"taskset -c {vcpu} sh -c '{line}' & p{vcpu}=$!; " for vcpu in range(VCPUS))
    return started + " && ".join(f"wait $p{vcpu}" for vcpu in range(VCPUS))


def serves(machine: Boot) -> None:
    """See a page arrive whole; its latencies are the host's."""
    assert json.loads(fetch(machine))["activations"] > 0


def statistic(machine: Boot, name: str) -> int:
    return int(machine.shell(f"cat /sys/class/net/lan/statistics/{name}"))


def test_both_fetch_at_once(machine: Boot) -> None:
    machine.shell(on_each(f"for i in $(seq {PAGES}); do {FETCH} || exit 1; done"))
    serves(machine)


def test_what_both_send_at_once_is_sent(machine: Boot) -> None:
    """A queue that was full and is not woken would have them wait for ever; one that is woken too
    early has the driver drop a frame, which it does for no other reason here."""
    before = statistic(machine, "tx_packets")
    sent = machine.shell(on_each("frames"))
    assert sent.count("frames: sent") == VCPUS
    assert statistic(machine, "tx_packets") > before
    assert statistic(machine, "tx_dropped") == 0
    serves(machine)
    machine.kernel_is_sane()


def test_it_goes_down_and_up_while_both_fetch(machine: Boot) -> None:
    """Each time both sides know of one another again."""
    machine.shell(f"(while :; do timeout 1 {FETCH}; done) >/dev/null 2>&1 & echo $! > /tmp/loop")
    for _ in range(8):
        goes_down_and_up(machine)
        serves(machine)
    machine.shell("kill $(cat /tmp/loop)")
    machine.kernel_is_sane()


def test_restarts_of_the_other_side_are_survived(machine: Boot) -> None:
    for _ in range(5):
        machine.skip("rtos")
        machine.shell(f"for i in 0 1; do (taskset -c $i {FETCH} 2>/dev/null &); done; {RESTART}")
        machine.expect("rtos", UP, PATIENCE)
        serves(machine)
    machine.kernel_is_sane()
