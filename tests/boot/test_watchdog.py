# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: silence is a fault, unless somebody else is the cause of it."""

import pytest

from .systems import PATIENCE, Boot, describe, rtos_guest

LIMIT = 50
ALIVE = r"^silent: alive\n"
MORE = f'watchdog_ms = {LIMIT}\non_fault = "restart"\nrestart_limit = 5'


@pytest.mark.parametrize("how", ["l", "h"])
def test_a_silent_guest_is_stopped_and_restarted(how: str) -> None:
    heartbeat = rtos_guest("heartbeat", priority=20)
    silent = rtos_guest("silent", more=MORE)
    with Boot.start(describe(f"silent-{how}", silent, heartbeat, memory="64M")) as machine:
        for number in (1, 2):
            machine.expect("silent", ALIVE, PATIENCE)
            # It lives for many times its limit before.
            machine.expect("heartbeat", r"^beats=", PATIENCE)
            assert f"restarts, {number} of" not in machine.text("vmm")
            machine.send("silent", how)
            assert machine.stop_report("silent") == f"no sign of life for {LIMIT} ms"
            machine.expect("vmm", rf"^guest silent restarts, {number} of 5\n", PATIENCE)
        machine.expect("silent", ALIVE, PATIENCE)
        assert "missed=0" in machine.text("heartbeat")
        assert "missed=1" not in machine.text("heartbeat")


def test_who_is_paused_or_has_no_watchdog_may_be_silent() -> None:
    watched = rtos_guest("silent", more=MORE)
    free = rtos_guest("silent", "free")
    heartbeat = rtos_guest("heartbeat", priority=20)
    with Boot.start(describe("paused", watched, free, heartbeat, memory="64M")) as machine:
        machine.expect("silent", ALIVE, PATIENCE)
        machine.send("free", "h")
        machine.expect("free", r"^silent: from now on\n", PATIENCE)
        for _ in range(2):
            machine.vmm("pause silent", r"pause silent\n")
            ran = machine.vmm("status", r"^silent: paused, .* ran (\d+) ms, up (\d+) ms")
            machine.skip("heartbeat")
            machine.expect("heartbeat", r"^beats=", PATIENCE)
            machine.expect("heartbeat", r"^beats=", PATIENCE)
            later = machine.vmm("status", r"^silent: paused, .* ran (\d+) ms, up (\d+) ms")
            assert later[1] == ran[1]
            assert int(later[2]) > int(ran[2]) + 10 * LIMIT
            machine.vmm("resume silent", r"resume silent\n")
            machine.vmm("status", r"^silent: running, ")
        assert "stopped" not in machine.text("vmm")


def test_who_is_kept_from_the_cpu_may_be_silent() -> None:
    """The hog ends only when it is stopped; until then nobody below it can show life."""
    hog = rtos_guest("hog", priority=30)
    watched = rtos_guest("silent", more=MORE)
    with Boot.start(describe("kept", watched, hog, memory="64M")) as machine:
        machine.expect("hog", r"^hog: ", PATIENCE)
        machine.vmm("stop hog", r"^guest hog stopped: by command\n")
        machine.expect("silent", ALIVE, PATIENCE)
        machine.vmm("start hog", r"start hog\n")
        machine.expect("hog", r"^hog: ", PATIENCE)
        # The log's remark comes after ten seconds.
        machine.expect("vmm", r"^hog has held the CPU for 10 seconds", PATIENCE)
        machine.vmm("stop hog", r"^guest hog stopped: by command\n")
        machine.vmm("status", r"^silent: running, ")
        assert "silent stopped" not in machine.text("vmm")
