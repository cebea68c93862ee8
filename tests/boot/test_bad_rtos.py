# SPDX-License-Identifier: Apache-2.0
"""An RTOS that goes wrong beside Linux is stopped with a report; Linux works on.

The demo commits each misdeed of guest/rtos/misdeed.c while Linux runs hackbench, and the guests
bad-*.elf commit them again from a bare start, seven beside one Linux. What only segment limits
prevent is refused by the demo here, because QEMU does not enforce them; tests/isolation has it.
With --rings two-level pages prevent it, and it is tried, too.
"""

import re
from collections.abc import Iterator

import pytest

from gandalf.base.paths import ROOT
from gandalf.explain.watch import ReportWatch

from .systems import DEMO, HACKBENCH, PATIENCE, TWO_LEVEL, Boot, World, describe, linux, rtos_guest

_FOUND = re.findall(
    r'\{ "([a-z-]+)",\s*"[^"]*",\s*\w+,\s*(true|false) \}',
    (ROOT / "guest" / "rtos" / "misdeed.c").read_text(),
)
NEED_LIMITS = [name for name, needs in _FOUND if needs == "true"]
UNHANDLED = r"general protection \(#GP\) without a handler"
REASONS = {
    "bad-hypercall": r"unknown hypercall 30583",
    "linux-hypercall": r"unknown hypercall 16",
    "bad-pointer": r"hypercall 5 with bad address [0-9a-f]+",
    "wrapping-pointer": r"hypercall 6 with bad address fffffff0",
    "bad-handlers": r"hypercall 1 with bad address [0-9a-f]+",
    # Where limits hold it is a general protection fault.
    "bad-handler": r"page fault \(#PF\) without a handler",
    "unknown-instruction": UNHANDLED,
    "debug-register": UNHANDLED,
    "port": UNHANDLED,
    "undefined": r"invalid opcode \(#UD\) without a handler",
    "divide": r"divide error \(#DE\) without a handler",
    "bad-selector": UNHANDLED,
    "jump-vmm": UNHANDLED,
    "jump-outside": UNHANDLED,
    "return-vmm": UNHANDLED,
    "triple-fault": r"its stack is outside its memory",
}
if World.rings == TWO_LEVEL:
    FAULT = r"page fault \(#PF\) without a handler: it (reads|writes) [0-9a-f]+"
    REASONS |= dict.fromkeys(["bad-handler", "jump-outside", *NEED_LIMITS], FAULT)
    NEED_LIMITS = []
# However far the machine runs until the test looks again, the misdeed comes in the middle.
BACKGROUND = f"while [ ! -e /tmp/enough ]; do {HACKBENCH}; done"
# With Linux and a heartbeat these are the nine guests that a system may have.
SIDE_BY_SIDE = 7


def test_every_misdeed_is_tried_here_or_needs_limits() -> None:
    assert {name for name, _ in _FOUND} == set(REASONS) | set(NEED_LIMITS)


@pytest.fixture(scope="module")
def booted() -> Iterator[Boot]:
    """Linux and the demo."""
    with Boot.start(describe("victim", linux(), DEMO)) as machine:
        machine.wait_for_shell()
        yield machine


@pytest.fixture
def victim(booted: Boot) -> Iterator[Boot]:
    """The same, with the demo started again for the next test, whatever became of this one."""
    yield booted
    if booted.vmm("status", r"^rtos: (\w+), ")[1] != "running":
        booted.skip("rtos")
        booted.vmm("start rtos", r"start rtos\n")
        booted.expect("rtos", r"^FreeRTOS V", PATIENCE)


def start_hackbench(machine: Boot) -> None:
    machine.shell(f"rm -f /tmp/enough; ({BACKGROUND}) > /tmp/during 2>&1 & true")


def finish_hackbench(machine: Boot) -> None:
    """Check that the hackbench started before still runs, and completes."""
    machine.shell("kill -0 $!")
    machine.shell("touch /tmp/enough; wait $!")
    during = machine.shell("cat /tmp/during")
    assert during.count("Running in process mode") == len(re.findall(r"^Time: \d", during, re.M))
    assert "Time: " in during
    machine.kernel_is_sane()


@pytest.mark.parametrize("kind", REASONS)
def test_a_bad_demo_is_stopped_and_linux_works_on(victim: Boot, kind: str) -> None:
    machine = victim
    machine.hackbench()
    start_hackbench(machine)
    machine.skip("vmm")
    machine.demo(f"crash {kind}", r"^crash: \w")
    reason = machine.stop_report("rtos")
    assert re.fullmatch(REASONS[kind], reason), reason
    finish_hackbench(machine)
    machine.hackbench()
    assert "was let pass" not in machine.text("rtos")
    machine.vmm("status", r"^rtos: stopped, ")
    machine.skip("rtos")
    machine.vmm("start rtos", r"start rtos\n")
    machine.expect("rtos", r"^FreeRTOS V", PATIENCE)
    assert machine.next_latency().missed == 0


@pytest.mark.parametrize("kind", NEED_LIMITS)
def test_the_demo_does_not_try_what_qemu_does_not_stop(victim: Boot, kind: str) -> None:
    victim.demo(f"crash {kind}", rf"QEMU does not enforce segment limits; try {kind} in Bochs\n")


@pytest.mark.parametrize("first", range(0, len(REASONS), SIDE_BY_SIDE))
def test_bad_guests_beside_linux_and_a_heartbeat(first: int) -> None:
    """All go wrong while Linux is loaded, and each again while it runs hackbench."""
    kinds = list(REASONS)[first : first + SIDE_BY_SIDE]
    bad = [
        rtos_guest(f"bad-{kind.removeprefix('bad-')}", f"bad{i}") for i, kind in enumerate(kinds)
    ]
    heartbeat = rtos_guest("heartbeat", priority=20)
    with Boot.start(describe(f"bad-{first}", linux(), heartbeat, *bad)) as machine:
        machine.wait_for_shell()
        # Of eight reports at once the log may have lost lines; below they come one by one.
        for i in range(len(kinds)):
            machine.vmm("status", rf"^bad{i}: stopped, ")
        machine.hackbench()
        for i, kind in enumerate(kinds):
            start_hackbench(machine)
            machine.vmm(f"start bad{i}", rf"start bad{i}\n")
            reason = machine.stop_report(f"bad{i}")
            assert re.fullmatch(REASONS[kind], reason), (kind, reason)
            finish_hackbench(machine)
            assert "not ok" not in machine.text(f"bad{i}")
        machine.skip("heartbeat")
        machine.expect("heartbeat", r"^beats=\d+ missed=0\n", PATIENCE)
        assert not re.search(r"missed=[1-9]", machine.text("heartbeat"))


def test_a_faulty_guest_restarts_as_often_as_allowed() -> None:
    faulty = rtos_guest("bad-divide", more='on_fault = "restart"\nrestart_limit = 2')
    with Boot.start(describe("restart-limit", linux(), faulty)) as machine:
        for number in (1, 2):
            assert re.fullmatch(REASONS["divide"], machine.stop_report("bad-divide"))
            machine.expect("vmm", rf"^guest bad-divide restarts, {number} of 2\n")
        assert re.fullmatch(REASONS["divide"], machine.stop_report("bad-divide"))
        machine.expect("vmm", r"^guest bad-divide stays stopped after 2 restarts\n")
        machine.wait_for_shell()
        machine.hackbench()
        assert machine.text("vmm").count("guest bad-divide stopped: ") == 3
        assert machine.counters("bad-divide")["restarts"] == 2


def test_a_report_is_explained_with_a_backtrace() -> None:
    """As `gandalf run` does while the machine runs on."""
    description = describe("explained", rtos_guest("bad-divide"), rtos_guest("heartbeat"))
    with Boot.start(description) as machine:
        watch = ReportWatch(machine.built, machine.emulator.memory)
        machine.stop_report("bad-divide")
        whole_lines = machine.stream[: machine.stream.rindex(b"\n") + 1]
        lines = (watch.feed(whole_lines) + watch.feed(b"")).decode().splitlines()
    assert lines[0] == "gandalf: guest bad-divide stopped: divide error (#DE) without a handler"
    assert lines[1].startswith("gandalf:   at commit_divide+")
    assert "(guest/rtos/misdeed.c:" in lines[1]
    assert lines[3].startswith("gandalf:   called from main+")
