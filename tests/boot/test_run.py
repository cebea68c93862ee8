# SPDX-License-Identifier: Apache-2.0
"""The command `gandalf run` as a user meets it: with a terminal, without one, and for a time."""

import os
import re
import shlex
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from pexpect.fdpexpect import fdspawn

from gandalf.base.paths import ROOT

from .systems import DEFAULT, DEMO, FEW_INSTRUCTIONS, PROMPT, Boot, describe, linux

# Seconds of the host, for hangs only.
LONG = 3600
COMMAND = [sys.executable, "-m", "gandalf.cli", "run"]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command without a terminal."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, text=True, capture_output=True, check=False,
        stdin=subprocess.DEVNULL, timeout=LONG,
    )  # fmt: skip


def spawn(program: str, *arguments: str) -> "pexpect.spawn[str]":
    """Run a program on a terminal of its own."""
    return pexpect.spawn(
        program, list(arguments), cwd=ROOT, timeout=LONG, encoding="utf-8",
        dimensions=(30, 100), echo=False,
    )  # fmt: skip


@pytest.fixture
def terminal() -> Iterator["pexpect.spawn[str]"]:
    """The command on a terminal, with the default system."""
    running = spawn(*COMMAND, str(DEFAULT), "--deterministic")
    yield running
    running.close(force=True)


def expect(terminal: "pexpect.spawn[str]", pattern: str) -> "re.Match[str]":
    """Wait for a pattern and return what matched."""
    terminal.expect(pattern)
    assert isinstance(terminal.match, re.Match)
    return terminal.match


def state_of(terminal: "pexpect.spawn[str]") -> list[object]:
    """Return the terminal's settings at this moment."""
    return list(termios.tcgetattr(terminal.child_fd))


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_a_description_may_have_any_name(tmp_path: Path, emulator: str) -> None:
    """Emulators take a space or a comma in what they load for the end of a name."""
    description = tmp_path / "my own, first system.toml"
    description.write_text((ROOT / "systems" / "freertos.toml").read_text())
    with Boot.start(description, emulator=emulator, ips=FEW_INSTRUCTIONS) as machine:
        assert machine.next_latency().activations == 1000


def test_without_a_terminal_it_shows_all_consoles() -> None:
    """However long that takes the host."""
    running = subprocess.Popen(
        [*COMMAND, str(DEFAULT), "--deterministic", "--for", str(LONG)],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert running.stdout
    terminal = fdspawn(running.stdout.fileno(), timeout=LONG, encoding="utf-8")
    try:
        terminal.expect(r"Gandalf \d\.\d: 2 guests")
        terminal.expect("Linux version 6")
        terminal.expect(r"\[rtos\] activations=\d+ ")
        terminal.expect(PROMPT)
    finally:
        running.terminate()
        running.wait()


def test_it_ends_when_the_time_is_over() -> None:
    done = run(str(DEFAULT), "--deterministic", "--for", "0.1")
    assert done.returncode == 0, done.stderr
    assert "the time is over" in done.stdout + done.stderr


def test_a_mistake_in_the_description_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(DEFAULT.read_text().replace('"shared"', '"sahred"'))
    done = run(str(path))
    assert done.returncode == 1
    assert re.search(r"wrong\.toml:\d+: ", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_a_x_leaves_and_restores_the_terminal(terminal: "pexpect.spawn[str]") -> None:
    before = state_of(terminal)
    terminal.expect(PROMPT)
    assert state_of(terminal) != before
    terminal.send("echo $((6 * 7))\r")
    terminal.expect(r"\n42\r")
    terminal.send("\x01n")
    assert expect(terminal, r"\[console (\w+) has the keyboard\]")[1] in ("vmm", "rtos")
    terminal.send("\x01x")
    terminal.expect("the user left")
    assert state_of(terminal) == before
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 0


def test_names_of_other_consoles_stand_in_front(terminal: "pexpect.spawn[str]") -> None:
    terminal.expect(PROMPT)
    terminal.expect(r"\[rtos\]\S* activations=\d+ ")
    terminal.send("\x01x")
    terminal.expect(pexpect.EOF)


def test_it_ends_when_the_machine_switches_itself_off() -> None:
    running = spawn(*COMMAND, str(describe("off", linux())), "--deterministic")
    running.expect(PROMPT)
    running.send("poweroff\r")
    running.expect("all guests are off")
    running.expect("The machine has switched itself off")
    running.expect(pexpect.EOF)
    running.wait()
    assert running.exitstatus == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(number: signal.Signals) -> None:
    """A shell on the same terminal looks at it before and after."""
    command = shlex.join([*COMMAND, str(describe("signal", DEMO, memory="32M"))])
    shell = spawn("sh", "-c", f"stty -g; sh -c 'echo pid=$$; exec {command}'; stty -g")
    stty = r"((?:[0-9a-f]+:){10,}[0-9a-f]+)\r?\n"
    before, settings = expect(shell, stty)[1], state_of(shell)
    process = int(expect(shell, r"pid=(\d+)")[1])
    shell.expect(r"activations=\d+ ")
    assert state_of(shell) != settings
    os.kill(process, number)
    assert expect(shell, stty)[1] == before
    shell.expect(pexpect.EOF)
    shell.close()
