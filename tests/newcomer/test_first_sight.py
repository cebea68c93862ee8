# SPDX-License-Identifier: Apache-2.0
"""`make run` on a terminal: its figures are the VMM's, whatever the host does meanwhile.

What is compared with the host's clock is compared in the direction in which a busy host cannot
break it.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from gandalf.base.paths import ROOT
from gandalf.measure.measure import SHELL_PROMPT
from gandalf.run import busy

# Seconds of the host, for hangs only.
PATIENCE = 3600
LINES = 5
# Instructions. The task's timer may expire at the beginning of any section in which interrupts are
# masked, and its latency is longer by that: README says so, and docs/masked-sections.md which.
LONGEST_SECTION = 1000
# Seconds by which the machine may be ahead: what it makes good after it was too slow, and a period.
AHEAD = 0.2
_FIGURES = re.compile(
    r"activations=\d+ minimum=(\d+) mean=(\d+) p99\.9=\d+ maximum=(\d+) missed=(\d+)"
)


@contextmanager
def make_run(
    *arguments: str, tree: Path = ROOT, environment: dict[str, str] | None = None
) -> Iterator["pexpect.spawn[str]"]:
    """Run `make run` on a terminal of 100 by 30, as if no other make had been there before."""
    plain = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    running = pexpect.spawn(
        "make", ["run", *arguments], cwd=tree, timeout=PATIENCE, encoding="utf-8",
        dimensions=(30, 100), echo=False, env=plain | (environment or {}),
    )  # fmt: skip
    try:
        yield running
    finally:
        running.close(force=True)


def leave(terminal: "pexpect.spawn[str]") -> None:
    terminal.send("\x01x")
    terminal.expect("the user left; the machine is switched off")
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 0


def uptime(terminal: "pexpect.spawn[str]") -> float:
    """Return how many seconds have gone by for Linux."""
    terminal.send("cat /proc/uptime\r")
    terminal.expect(r"(\d+\.\d\d) \d+\.\d\d\r")
    assert isinstance(terminal.match, re.Match)
    return float(terminal.match[1])


def expect_figures(terminal: "pexpect.spawn[str]") -> None:
    """Wait for some of the demo's lines, whose figures must be the VMM's."""
    for _ in range(LINES):
        terminal.expect(_FIGURES)
        assert isinstance(terminal.match, re.Match)
        minimum, mean, maximum, missed = map(int, terminal.match.groups())
        assert 0 < minimum <= mean <= maximum <= minimum + LONGEST_SECTION
        assert missed == 0


@pytest.mark.parametrize("environment", [{}, {busy.VARIABLE: "1"}], ids=["idle", "busy"])
def test_the_demo_shows_the_vmms_figures(environment: dict[str, str]) -> None:
    with make_run(environment=environment) as terminal:
        terminal.expect(SHELL_PROMPT)
        expect_figures(terminal)
        leave(terminal)


def test_the_machine_is_not_ahead_of_the_host_and_echoes_keys() -> None:
    """A machine that sleeps would be, by hours: nothing but the pacer holds it back."""
    with make_run() as terminal:
        terminal.expect(SHELL_PROMPT)
        begun = time.monotonic()
        first = uptime(terminal)
        terminal.send("sleep 3; echo $((6 * 7))\r")
        terminal.expect(r"\n42\r")
        passed = uptime(terminal) - first
        assert 3 <= passed <= time.monotonic() - begun + AHEAD
        leave(terminal)


def test_in_real_time_the_tool_says_whose_latencies_are_shown() -> None:
    with make_run("ARGS=--real-time --for 1") as terminal:
        terminal.expect("the clock follows the host's; latencies include how late the host was")
        terminal.expect("the time is over")
        terminal.expect(pexpect.EOF)


def test_the_second_run_builds_nothing_and_says_nothing_of_it() -> None:
    for first in (True, False):
        with make_run("SYSTEM=systems/freertos.toml", "ARGS=--for 1") as terminal:
            terminal.expect("the keyboard goes to ")
            assert first or "building" not in str(terminal.before)
            terminal.expect(r"Gandalf \d+\.\d+: 1 guest\r")
            terminal.expect("the time is over")
            terminal.expect(pexpect.EOF)
