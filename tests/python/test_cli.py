# SPDX-License-Identifier: Apache-2.0
"""The command: help on every verb, and errors that are one sentence without a traceback."""

import os
import pty
import socket
import subprocess
import sys
import threading
import tty
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD

VERBS = ["check", "build", "run", "image", "console", "size", "measure", "trace", "masked",
         "itron-configure"]  # fmt: skip


def gandalf(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gandalf.cli", *arguments],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=3600, check=False,
        env={**os.environ, "COLUMNS": "150"},
    )  # fmt: skip


def test_help_names_every_verb() -> None:
    output = gandalf("--help").stdout
    for verb in VERBS:
        assert f" {verb} " in output


@pytest.mark.parametrize("verb", VERBS)
def test_help_on_every_verb(verb: str) -> None:
    done = gandalf(verb, "--help")
    assert done.returncode == 0
    assert "Usage:" in done.stdout
    assert len(done.stdout.splitlines()) > 8


def test_version() -> None:
    assert gandalf("--version").stdout.startswith("gandalf ")


def test_check_of_a_good_description(describe: Callable[[str], Path]) -> None:
    done = gandalf("check", str(describe(GOOD)))
    assert done.returncode == 0
    assert done.stderr == ""
    assert "IRQ 4" in done.stdout


@pytest.mark.parametrize("verb", ["check", "build", "run", "image"])
def test_every_verb_refuses_a_bad_description(describe: Callable[[str], Path], verb: str) -> None:
    path = describe(GOOD.replace('"128M"', '"x"').replace("priority = 10", "priority = 0"))
    done = gandalf(verb, str(path))
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:2", f"{path}:16"]


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    done = gandalf("check", str(tmp_path / "none.toml"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No such file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--emulator", "vax"], '"qemu" or "bochs"'),
        (["--emulator", "bochs", "--gdb"], "no interface for gdb"),
        (["--emulator", "bochs", "--real-time"], "always counts instructions"),
        (["--deterministic", "--real-time"], "not both"),
        (["--memory", "lots"], "must be a size"),
    ],
)
def test_bad_options_of_run(
    describe: Callable[[str], Path], arguments: list[str], part: str
) -> None:
    done = gandalf("run", str(describe(GOOD)), *arguments)
    assert done.returncode == 1
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_console_of_nothing(tmp_path: Path) -> None:
    done = gandalf("console", str(tmp_path / "none"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    (tmp_path / "file").write_text("x")
    assert "neither a serial port nor a socket" in gandalf("console", str(tmp_path / "file")).stderr
    assert (
        "cannot run at 7 baud" in gandalf("console", str(tmp_path / "file"), "--baud", "7").stderr
    )


def test_console_on_a_pseudoterminal() -> None:
    machine, far_end = pty.openpty()
    tty.setraw(far_end)
    writer = threading.Timer(0.5, lambda: os.write(machine, b"[vmm] hello\r\n"))
    writer.start()
    done = gandalf("console", os.ttyname(far_end), "--for", "2")
    writer.join()
    os.close(machine)
    os.close(far_end)
    assert done.returncode == 0
    assert "[vmm] hello" in done.stdout
    assert "the machine runs on" in done.stderr


def test_console_on_a_socket(tmp_path: Path) -> None:
    path = tmp_path / "uart"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            connection.sendall(b"[vmm] hello\r\n")
            connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        done = gandalf("console", str(path), "--for", "20")
        thread.join()
    assert done.returncode == 0
    assert "hello" in done.stdout
    assert "closed the line" in done.stderr
