# SPDX-License-Identifier: Apache-2.0
"""The uITRON demo: alone, beside Linux, beside Linux and FreeRTOS, and on a bare PC."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.build.build import build_itron
from tests.boot.systems import Boot, describe

from .native import run_native

SYSTEMS = ROOT / "systems"
BANNER = r"^uITRON 4\.0, tick 1 ms, time stamp counter \d+ kHz\n"
LINE = r"activations=(\d+) minimum=(\d+) mean=(\d+) p99\.9=(\d+) maximum=(\d+) missed=(\d+)"
HELP = ["help", "reset", "spin SECONDS", "hang", "float on|off"]


@contextmanager
def undisturbed(machine: Boot, name: str) -> Iterator[None]:
    """Check that the demo's task runs in every millisecond of the block and of two more lines."""
    before = machine.next_latency(name)
    first = len(machine.latencies(name)) - 1
    yield
    machine.next_latency(name)
    machine.next_latency(name)
    lines = machine.latencies(name)[first:]
    assert before.missed == lines[-1].missed, lines
    for line, following in pairwise(lines):
        assert following.activations == line.activations + 1000, (line, following)


@pytest.fixture(scope="module")
def alone() -> Iterator[Boot]:
    with Boot.start(SYSTEMS / "uitron.toml") as machine:
        machine.expect("rtos", BANNER)
        yield machine


def test_alone_it_misses_nothing(alone: Boot) -> None:
    with undisturbed(alone, "rtos"):
        alone.next_latency("rtos")
    line = alone.latencies("rtos")[-1]
    assert line.missed == 0
    assert 0 < line.minimum <= line.mean <= line.maximum
    assert line.most <= line.maximum


def test_its_commands(alone: Boot) -> None:
    alone.demo("help", r"^float on\|off: ")
    for command in HELP:
        assert f"\n{command}: " in alone.text("rtos").replace(" : ", ": ")
    alone.demo("nonsense", r"^nonsense: no such command; help lists them\n")
    alone.demo("reset", r"^reset: the figures begin anew\n")
    # The first line behind it, which may have come already.
    assert int(alone.expect("rtos", LINE)[1]) <= 1000


def test_floating_point_survives_preemption(alone: Boot) -> None:
    alone.demo("float on", r"^float: ok 500\n")
    alone.demo("float off", r"^float: off\n")
    assert "WRONG" not in alone.text("rtos")


def test_time_lost_to_a_locked_cpu_is_made_up_for(alone: Boot) -> None:
    """Expiries that the VMM has merged count as ticks: a line still stands for 1000."""
    before = alone.next_latency("rtos")
    alone.demo("spin 2", r"^spin: done\n")
    after = alone.next_latency("rtos")
    assert 1990 <= after.missed - before.missed <= 2010
    total = after.activations + after.missed - before.activations - before.missed
    assert total % 1000 == 0
    assert total >= 3000


def test_a_more_urgent_guest_costs_it_no_tick() -> None:
    """The hog holds the CPU for some seconds; afterwards all ticks are there."""
    system = describe(
        "uitron-twice",
        *(
            f'[[guest]]\nname = "{name}"\nkind = "rtos"\nimage = "build/itron/demo.elf"\n'
            f'memory = "1M"\npriority = {priority}\n'
            for name, priority in (("rtos", 20), ("low", 10))
        ),
        memory="32M",
    )
    with Boot.start(system) as machine:
        before = machine.next_latency("low")
        machine.demo("spin 3", r"^spin: done\n")
        after = machine.next_latency("low")
        assert after.missed - before.missed >= 2990
        total = after.activations + after.missed - before.activations - before.missed
        assert total % 1000 == 0


def test_beside_linux_it_misses_nothing() -> None:
    with Boot.start(SYSTEMS / "linux-uitron.toml") as machine:
        machine.wait_for_shell()
        machine.expect("rtos", BANNER)
        with undisturbed(machine, "rtos"):
            machine.hackbench()
        machine.kernel_is_sane()
        assert machine.latencies("rtos")[-1].missed == 0


def test_two_rtoses_beside_linux_miss_nothing() -> None:
    with Boot.start(SYSTEMS / "rtoses.toml") as machine:
        machine.wait_for_shell()
        assert re.match(BANNER, machine.text("uitron"))
        assert machine.text("freertos").startswith("FreeRTOS V11.2.0 on Gandalf")
        with undisturbed(machine, "uitron"), undisturbed(machine, "freertos"):
            machine.hackbench()
        machine.kernel_is_sane()
        for name in ("uitron", "freertos"):
            assert machine.latencies(name)[-1].missed == 0


def test_the_more_urgent_rtos_waits_for_nobody() -> None:
    """FreeRTOS, which is less urgent, holds the CPU with its interrupts disabled."""
    with Boot.start(SYSTEMS / "rtoses.toml") as machine:
        machine.expect("freertos", r"^activations=")
        machine.skip("freertos")
        with undisturbed(machine, "uitron"):
            machine.send("freertos", "spin 3\n")
            machine.expect("freertos", r"^spin: done\n")
        assert machine.next_latency("freertos").missed >= 2990


def test_on_a_bare_pc() -> None:
    build_itron()
    with run_native(BUILD / "itron" / "native" / "demo.elf") as machine:
        machine.expect(r"uITRON 4\.0, tick 1 ms, time stamp counter (\d+) kHz\r+\n")
        lines = [machine.expect(LINE + r"\r+\n") for _ in range(3)]
        assert [line[6] for line in lines] == ["0"] * 3
        assert int(lines[2][1]) - int(lines[1][1]) == 1000
        machine.send("help")
        machine.expect(r"float on\|off: ")
        machine.send("float on")
        machine.expect(r"float: ok 500\r+\n")
        machine.send("float off")
        machine.expect(r"float: off\r+\n")
        machine.send("reset")
        machine.expect(r"reset: the figures begin anew\r+\n")
        assert int(machine.expect(LINE + r"\r+\n")[1]) <= 1000
        assert "WRONG" not in machine.text
