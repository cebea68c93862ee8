# SPDX-License-Identifier: Apache-2.0
"""Floating point in Linux and in RTOSes at once: nobody sees another's registers."""

import re

import pytest

from .systems import DEMO, Boot, describe, linux, rtos_guest

# Adds up what is not exact, so that one wrong bit of one register shows in the sum.
SUM = "awk 'BEGIN { for (i = 1; i <= 8000; i++) s += 1 / (i * 1.1); printf \"%.17g\\n\", s }'"


@pytest.mark.parametrize("cpu", ["pentium3", "pentium2,-fxsr"], ids=["fxsave", "fnsave"])
def test_registers_stay_with_their_owners(cpu: str) -> None:
    """Three owners beside Linux, which has two processes that compute.

    The CPU without FXSAVE has no SSE, either.
    """
    system = describe(
        "float",
        linux(),
        DEMO,
        rtos_guest("fpu", "fpu-a", 11),
        rtos_guest("fpu", "fpu-b", 12),
    )
    with Boot.start(system, cpu=cpu) as machine:
        machine.wait_for_shell()
        for name in ("fpu-a", "fpu-b"):
            machine.expect(name, r"^PASS fpu\n", 300)
        alone = machine.shell(SUM)
        assert re.fullmatch(r"-?\d+\.\d{12,}\n", alone)
        switches = machine.counters()["fpu_switches"]
        with machine.rtos_undisturbed():
            machine.demo("float on", r"^float: ok \d+\n")
            together = machine.shell(f"{SUM} & {SUM}; wait; for i in 1 2 3; do {SUM}; done")
            machine.demo("float off", r"^float: off\n")
        assert re.findall(r"^-?\d+\.\d+$", together, re.M) == [alone.strip()] * 5
        assert "WRONG" not in machine.text("rtos")
        assert machine.counters()["fpu_switches"] > switches + 100
