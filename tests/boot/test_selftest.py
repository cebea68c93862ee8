# SPDX-License-Identifier: Apache-2.0
"""The self-test of a PC says what the machine is, and measures it."""

import re

import pytest

from gandalf.base.paths import ROOT

from .systems import FEW_INSTRUCTIONS, PATIENCE, Boot

SYSTEM = ROOT / "systems" / "self-test.toml"
POLLED = r"^self-test: polled_ms=(\d+) stolen=(\d+) longest_ns=(\d+)\n"
TIMER = r"^self-test: expiries=(\d+) minimum_ns=(\d+) mean_ns=(\d+) maximum_ns=(\d+) missed=(\d+)\n"


def figures(machine: Boot, pattern: str) -> list[int]:
    """Return the numbers of the next line that looks so."""
    return [int(text) for text in machine.expect("selftest", pattern, PATIENCE).groups()]


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_a_machine_is_described_and_measured(emulator: str) -> None:
    with Boot.start(SYSTEM, emulator=emulator, ips=FEW_INSTRUCTIONS) as machine:
        machine.expect(
            "selftest", r"^self-test: CPU by GenuineIntel, family 6, model 7, ", PATIENCE
        )
        machine.expect("selftest", r"^self-test: it has PSE TSC APIC .*CMOV FXSR SSE", PATIENCE)
        khz = int(machine.expect("selftest", r"time stamp counter (\d+) kHz", PATIENCE)[1])
        # QEMU counts an instruction as a nanosecond. A millionth is 86 ms a day.
        wanted, within = (1_000_000, 1e-6) if emulator == "qemu" else (100_000, 1e-3)
        assert khz == pytest.approx(wanted, rel=within)
        # Nothing below the VMM takes time from an emulated machine.
        assert figures(machine, POLLED) == [100, 0, 0]
        expiries, minimum, mean, maximum, missed = figures(machine, TIMER)
        assert expiries == 1000
        assert 0 < minimum <= mean <= maximum < 100_000
        assert missed == 0
        assert figures(machine, POLLED)[0] == 200


def test_its_name_is_that_of_the_cpu() -> None:
    with Boot.start(SYSTEM, cpu="n270") as machine:
        name = machine.expect("selftest", r"^self-test: it calls itself (.*)\n", PATIENCE)[1]
        assert re.search(r"Atom.*N270", name)
