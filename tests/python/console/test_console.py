# SPDX-License-Identifier: Apache-2.0
"""The terminal: keys, colours, and that it is left as it was found."""

import os
import pty
import signal
import subprocess
import sys
import termios
import textwrap
import time
import tty
from pathlib import Path

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gandalf.console.console import Colouring, KeyFilter


@pytest.mark.parametrize(
    ("pieces", "passed", "left"),
    [
        ([b"abc"], b"abc", False),
        ([b"a\x01xb"], b"a", True),
        ([b"a\x01", b"x"], b"a", True),
        ([b"\x01n", b"\x01", b"h"], b"\x01n\x01h", False),
        ([b"\x01a"], b"\x01a", False),
        ([b"\x01\x01x"], b"\x01\x01x", False),
        ([b"x\x03\x04"], b"x\x03\x04", False),
        ([b"x\x01my", b"\x01", b"mz"], b"xyz", False),
    ],
)
def test_keys(pieces: list[bytes], passed: bytes, left: bool) -> None:
    keys = KeyFilter()
    assert b"".join(keys.feed(piece) for piece in pieces) == passed
    assert keys.left is left


@pytest.mark.parametrize(
    ("keys", "muted"),
    [
        (b"\x01m", True), (b"\x01M", True), (b"\x01m\x01m", False), (b"m", False),
        (b"\x01mvi\x01a", True), (b"\x01m\x01n", False), (b"\x01m\x01h", False),
        (b"\x01m\x01\x01", False),
    ],
)  # fmt: skip
def test_keys_that_mute(keys: bytes, muted: bool) -> None:
    passing = KeyFilter()
    passing.feed(keys)
    assert passing.muted is muted


def test_names_get_colours() -> None:
    colours = Colouring(["linux", "rtos"])
    output = colours.feed(b"[rtos] a\r\nx [rtos] b\r\n\r\x1b[K[linux] c\r\n[other] d\r\n[li")
    assert output == (
        b"\x1b[33m[rtos]\x1b[0m a\r\nx [rtos] b\r\n"
        b"\r\x1b[K\x1b[36m[linux]\x1b[0m c\r\n[other] d\r\n"
    )
    assert colours.feed(b"nux] e") == b"\x1b[36m[linux]\x1b[0m e"


def test_what_is_held_back_is_shown_in_the_end() -> None:
    colours = Colouring(["linux"])
    assert colours.feed(b"[li") == b""
    assert colours.flush() == b"[li"
    assert colours.feed(b"nux] x\r\n") == b"nux] x\r\n"


PARTS = st.sampled_from([b"\r", b"\n", b"\x1b[K", b"[", b"linux", b"] ", b"x"])


@given(st.lists(PARTS, max_size=30), st.integers(1, 7))
def test_colours_add_and_lose_nothing(parts: list[bytes], piece: int) -> None:
    data = b"".join(parts)
    colours = Colouring(["linux"])
    output = b"".join(colours.feed(data[n : n + piece]) for n in range(0, len(data), piece))
    output += colours.flush()
    assert output.replace(b"\x1b[36m", b"").replace(b"\x1b[0m", b"") == data


# Connects to the pseudoterminal named on its command line, in the way that is asked for.
PROGRAM = """
import os, signal, sys, threading
from gandalf.console.console import connect, read_line
line = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
alive = lambda: True
if sys.argv[2] == "crash":
    def alive(): raise RuntimeError("a bug")
print("started", flush=True)
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else None
print(connect(line, lambda: read_line(line), ["linux", "vmm"], seconds, alive).name)
"""


class Terminal:
    """A user's terminal with the program in it, and the machine's end of the line."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        script = folder / "program.py"
        script.write_text(textwrap.dedent(PROGRAM))
        self.machine, self.far_end = pty.openpty()
        tty.setraw(self.far_end)
        name = os.ttyname(self.far_end)
        command = f"{sys.executable} {script} {name} {' '.join(arguments)}"
        self.child: pexpect.spawn[bytes] = pexpect.spawn(
            "/bin/sh", ["-c", f"{command}; echo status $?; read x"], timeout=3600
        )
        self.child.expect(b"started")

    def wait_for_raw(self) -> None:
        end = time.monotonic() + 3600
        while termios.tcgetattr(self.child.child_fd)[3] & termios.ICANON:
            assert time.monotonic() < end, "the terminal never became raw"
            time.sleep(0.02)

    def close(self) -> None:
        self.child.close(force=True)
        os.close(self.machine)
        os.close(self.far_end)


@pytest.fixture(params=["leave", "crash", "term", "time"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_terminal_is_restored(tmp_path: Path, way: str) -> None:
    terminal = Terminal(tmp_path, way, *(["0.5"] if way == "time" else []))
    if way in ("leave", "term"):
        terminal.wait_for_raw()
    if way == "leave":
        terminal.child.send(b"\x01x")
    if way == "term":
        group = os.tcgetpgrp(terminal.child.child_fd)
        os.kill(_child_of(group), signal.SIGTERM)
    expected = {"leave": b"status 0", "crash": b"status 1", "term": b"status 143"}
    terminal.child.expect(expected.get(way, b"status 0"))
    flags = termios.tcgetattr(terminal.child.child_fd)[3]
    assert flags & termios.ICANON
    assert flags & termios.ECHO
    assert flags & termios.ISIG
    terminal.close()


def _child_of(parent: int) -> int:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return int(children[0])


def test_others_are_muted_while_the_user_wants_it(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "leave")
    terminal.wait_for_raw()
    os.write(terminal.machine, b"\r\n[console linux has the keyboard]\r\n~ # ")
    terminal.child.expect(rb"~ # ")
    terminal.child.send(b"\x01mvi\r")
    received = b""
    while len(received) < 3:
        received += os.read(terminal.machine, 100)
    assert received == b"vi\r"  # and nothing else of the keys
    os.write(terminal.machine, b"\r\x1b[K[vmm] a line\r\n~ # edited")
    terminal.child.expect(rb"edited")
    assert b"a line" not in (terminal.child.before or b"")
    terminal.child.send(b"\x01m")
    terminal.child.expect(rb"\r\x1b\[K\x1b\[\d+m\[vmm\]\x1b\[0m a line\r\n~ # edited")
    terminal.child.send(b"\x01x")
    terminal.child.expect(b"LEFT")
    terminal.close()


def test_bytes_pass_both_ways(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "leave")
    terminal.wait_for_raw()
    terminal.child.send(b"ls\x03\r")
    received = b""
    while len(received) < 4:
        received += os.read(terminal.machine, 100)
    assert received == b"ls\x03\r"
    os.write(terminal.machine, b"\r\n[linux] hello\r\n")
    terminal.child.expect(rb"\x1b\[36m\[linux\]\x1b\[0m hello\r\n")
    terminal.child.send(b"\x01x")
    terminal.child.expect(b"LEFT")
    terminal.close()


def test_without_a_terminal_there_is_output_only(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    machine, far_end = pty.openpty()
    tty.setraw(far_end)
    os.write(machine, b"[linux] hello\r\n")
    done = subprocess.run(
        [sys.executable, str(script), os.ttyname(far_end), "leave", "0.5"],
        input=b"typed\n", capture_output=True, timeout=3600, check=True,
    )  # fmt: skip
    assert done.stdout == b"started\n[linux] hello\r\nTIME\n"
    os.set_blocking(machine, False)
    with pytest.raises(BlockingIOError):
        os.read(machine, 10)
    os.close(machine)
    os.close(far_end)
