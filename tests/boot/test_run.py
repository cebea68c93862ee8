# SPDX-License-Identifier: Apache-2.0
"""The command `gandalf run` as a user meets it: with a terminal, without one, and for a time."""

import os
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pexpect
import pytest
from gandalf.paths import ROOT

from .systems import DEFAULT, DEMO, PATIENCE, PROMPT, describe, linux

COMMAND = [sys.executable, "-m", "gandalf.cli", "run"]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command without a terminal."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, text=True, capture_output=True, check=False,
        stdin=subprocess.DEVNULL, timeout=PATIENCE,
    )  # fmt: skip


@pytest.fixture
def terminal() -> "pexpect.spawn[str]":
    """The command on a terminal."""
    return pexpect.spawn(
        COMMAND[0], [*COMMAND[1:], str(DEFAULT), "--deterministic"], cwd=ROOT, timeout=PATIENCE,
        encoding="utf-8", dimensions=(30, 100), echo=False,
    )  # fmt: skip


def test_without_a_terminal_it_shows_all_consoles_for_a_time() -> None:
    done = run(str(DEFAULT), "--deterministic", "--for", "12")
    assert done.returncode == 0, done.stderr
    for text in (r"Gandalf \d\.\d: 2 guests", r"\[rtos\] activations=1000 ", "Linux version 6"):
        assert re.search(text, done.stdout), done.stdout[-2000:]
    assert "the time is over" in done.stdout + done.stderr


def test_it_ends_when_the_machine_switches_itself_off() -> None:
    """Linux' first process is the power-off."""
    system = describe("off", linux(command_line="console=ttyS0 rdinit=/sbin/poweroff"))
    done = run(str(system), "--deterministic")
    assert done.returncode == 1 or "switched itself off" in done.stdout + done.stderr


def test_a_mistake_in_the_description_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(DEFAULT.read_text().replace('"shared"', '"sahred"'))
    done = run(str(path))
    assert done.returncode == 1
    assert re.search(r"wrong\.toml:\d+: ", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def attributes(terminal: "pexpect.spawn[str]") -> list[object]:
    return termios.tcgetattr(terminal.child_fd)


def test_ctrl_a_x_leaves_and_restores_the_terminal(terminal: "pexpect.spawn[str]") -> None:
    before = attributes(terminal)
    terminal.expect(PROMPT)
    assert attributes(terminal) != before
    terminal.send("echo $((6 * 7))\r")
    terminal.expect(r"\n42\r")
    terminal.send("\x01n")
    terminal.expect(r"\[console (\w+) has the keyboard\]")
    assert terminal.match.group(1) in ("vmm", "rtos")
    terminal.send("\x01x")
    terminal.expect("the user left")
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 0


def test_names_of_other_consoles_stand_in_front(terminal: "pexpect.spawn[str]") -> None:
    terminal.expect(PROMPT)
    terminal.expect(r"\[rtos\]\S* activations=\d+ ")
    terminal.send("\x01x")
    terminal.expect(pexpect.EOF)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(number: signal.Signals) -> None:
    """A shell on the same terminal looks at it before and after."""
    system = describe("signal", DEMO, memory="32M")
    command = " ".join([*COMMAND, str(system), "--deterministic"])
    script = f"stty -g; {command} & wait $!; stty -g; echo the end"
    shell = pexpect.spawn("sh", ["-m", "-c", script], cwd=ROOT, timeout=PATIENCE, encoding="utf-8")
    shell.expect(r"([0-9a-f:]{20,})\r\n")
    before = shell.match.group(1)
    shell.close(force=True)
    assert before
    _ = (os, number)
