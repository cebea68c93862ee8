# SPDX-License-Identifier: Apache-2.0
"""Attacks on what docs/isolation.md promises, one guest each."""

import pytest

from .systems import PATIENCE, Boot, describe
from .test_guests import beside_a_heartbeat, pc


@pytest.mark.parametrize("mode", ["shared", "dedicated"])
def test_virtual_8086_mode_leaves_no_privilege(mode: str) -> None:
    """QEMU lets a process enter the mode with IOPL 3 and IF 0: neither outlives it."""
    with Boot.start(describe(f"pc-virtual-{mode}", pc("pc-virtual", mode), memory="64M")) as machine:
        machine.expect("linux", r"^PASS pc-virtual\n", PATIENCE)


def test_a_process_in_virtual_8086_mode_does_not_hold_the_cpu() -> None:
    """With IF 0, which QEMU lets it have there: the RTOS beside it misses nothing."""
    with beside_a_heartbeat("pc-virtual-loop") as machine:
        machine.expect("linux", r"^pc-virtual-loop: .*\n", 30)
