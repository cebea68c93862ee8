# SPDX-License-Identifier: Apache-2.0
"""Several RTOSes: those of one priority share the CPU in turn, a higher one preempts them."""

import re

from .systems import PATIENCE, Boot, describe, linux, rtos_guest

BEATS = r"^beats=\d+ missed=0\n"
SECONDS = 3


def _ran(machine: Boot) -> dict[str, int]:
    """Return the milliseconds that each guest has had the CPU."""
    start = len(machine.text("vmm"))
    machine.vmm("status", r"^pool: ", busy=True)
    found = re.findall(r"^(\w+): \w+, .* ran (\d+) ms", machine.text("vmm")[start:], re.M)
    return {name: int(number) for name, number in found}


def test_guests_of_one_priority_share_the_cpu() -> None:
    """Three never halt and get a third each; a higher one misses nothing, a lower starves."""
    names = ("first", "second", "third")
    hogs = [rtos_guest("hog", name) for name in names]
    high = rtos_guest("heartbeat", priority=20)
    low = rtos_guest("heartbeat", "low", priority=5)
    with Boot.start(describe("turns", *hogs, high, low, memory="64M")) as machine:
        for name in names:
            machine.expect(name, r"^hog: ", PATIENCE)
        before = _ran(machine)
        machine.skip("heartbeat")
        for _ in range(SECONDS):
            machine.expect("heartbeat", BEATS, PATIENCE)
        after = _ran(machine)
        ran = {name: after[name] - before[name] for name in after}
        shares = [ran[name] for name in names]
        # An answer is printed in steps, between which turns end: its lines are not of one moment.
        assert max(shares) - min(shares) <= 2 * len(names), ran
        assert sum(shares) > 900 * (SECONDS - 1), ran
        assert ran["low"] == 0, ran
        for name in names:
            # A turn is a millisecond, interrupted by each beat.
            assert machine.counters(name, busy=True)["switches_in"] > 300 * (SECONDS - 1)


def test_eight_rtoses_run_beside_linux() -> None:
    """As many as there may be, in pairs of one priority."""
    beats = [rtos_guest("heartbeat", f"beat{i}", priority=10 + i // 2) for i in range(8)]
    with Boot.start(describe("eight", linux(), *beats)) as machine:
        machine.wait_for_shell()
        machine.hackbench()
        for i in range(8):
            machine.skip(f"beat{i}")
        for i in range(8):
            machine.expect(f"beat{i}", BEATS, PATIENCE)
            assert not re.search(r"missed=[1-9]", machine.text(f"beat{i}"))
