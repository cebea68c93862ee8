# SPDX-License-Identifier: Apache-2.0
"""`gandalf measure` on whole systems: the figures agree with one another and with the VMM's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT, UserError
from gandalf.build.symbols import Symbols
from gandalf.measure import measure as measuring
from gandalf.measure.measurement import Measurement
from gandalf.measure.tables import shares

DEFAULT = ROOT / "systems" / "default.toml"
FORKS = "i=0; while [ $i -lt 5 ]; do /bin/true; i=$((i+1)); done"


def quiet(_: str) -> None:
    """Swallow what the build has to say."""


@pytest.fixture(scope="module")
def forks() -> tuple[Measurement, Symbols]:
    return measuring.measure(DEFAULT, measuring.Task(FORKS), quiet)


def test_sums_agree(forks: tuple[Measurement, Symbols]) -> None:
    result, _ = forks
    assert sum(state.instructions for state in result.states) == result.instructions
    masked = sum(result.executed(ring, masked=True) for ring in range(4))
    assert masked == result.windows.total
    assert result.executed(0, masked=True, vmm=True) == result.vmm_windows.total
    assert sum(result.windows.lengths) == result.windows.count
    assert sum(block.instructions for block in result.profile) == result.executed(0, vmm=True)
    # All that enters ring 0 does so by a vector.
    stays = [handler for handler in result.handlers if handler.ring == 0]
    assert sum(sum(handler.from_rings[1:]) for handler in stays) == result.entries
    assert abs(sum(handler.stays for handler in stays) - result.entries) <= 1


def test_the_real_flag_stays_set_outside_the_vmm(forks: tuple[Measurement, Symbols]) -> None:
    result, _ = forks
    assert result.executed(1, masked=True) == result.executed(3, masked=True) == 0
    assert result.executed(1) > 0
    assert result.executed(3) > 0


def test_the_vmm_is_known_by_its_functions(forks: tuple[Measurement, Symbols]) -> None:
    result, symbols = forks
    functions = dict(shares(result.profile, symbols))
    assert {"trap_page_fault", "entry", "shadow_fill"} <= functions.keys()
    vectors = {symbols.entries.vector(handler.linear) for handler in result.handlers
               if handler.ring == 0}  # fmt: skip
    assert {0x0E, 0x1E} <= vectors
    assert None not in vectors


def test_a_failing_command_is_told() -> None:
    with pytest.raises(UserError, match="failed in Linux"):
        measuring.measure(DEFAULT, measuring.Task("false"), quiet)


def test_an_interval_in_an_rtos(tmp_path: Path) -> None:
    """Its tick is a hypercall per millisecond; the verb writes what it measured."""
    output = tmp_path / "out.json"
    interval = "rtos:xTaskIncrementTick..rtos:xTaskIncrementTick"
    done = subprocess.run(
        [
            sys.executable, "-m", "gandalf.cli", "measure", "systems/freertos.toml",
            "--for", "0.2", "--json", str(output), "--interval", interval,
        ],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Intervals" in done.stdout
    result = json.loads(output.read_text())
    (ticks,) = result["intervals"]
    assert 190 <= ticks["count"] <= 210
    assert 200e6 <= result["nanoseconds"] <= 202e6


CORES = ROOT / "systems" / "cores-linux.toml"


@pytest.mark.parametrize(("cpu", "own", "other"), [(0, "linux", "linux2"), (1, "linux2", "linux")])
def test_one_of_several_cpus_is_measured(cpu: int, own: str, other: str) -> None:
    """What the Linux of that CPU executes counts, and the VMM's instance there, and no more."""
    task = measuring.Task(FORKS, cpu=cpu)
    result, symbols = measuring.measure(CORES, task, quiet)
    assert {guest.name for guest in symbols.guests} >= {own}
    assert other not in {guest.name for guest in symbols.guests}
    assert result.executed(1) > 0
    assert result.executed(3) > 0
    functions = dict(shares(result.profile, symbols))
    assert {"trap_page_fault", "entry", "shadow_fill"} <= functions.keys()


def test_a_cpu_of_a_linux_on_several_is_measured() -> None:
    """A loop counts where it runs, wherever the shell is that starts it."""
    system = ROOT / "systems" / "cores-apart.toml"
    loop = "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done"
    own, other = (
        measuring.measure(system, measuring.Task(f"taskset -c {vcpu} sh -c '{loop}'", cpu=2), quiet)
        for vcpu in (1, 0)
    )
    assert own[0].executed(3) > 3_000_000
    assert other[0].executed(3) < own[0].executed(3) / 3


def test_a_cpu_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(UserError, match=r"There is no CPU 2: the machine's last one is 1\."):
        measuring.measure(CORES, measuring.Task(cpu=2, command=None), quiet)
