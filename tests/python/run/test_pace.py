# SPDX-License-Identifier: Apache-2.0
"""What `gandalf run` does where QEMU takes the pacer, and where it does not."""

import os
from pathlib import Path

import pytest

from gandalf.run import verbs
from gandalf.run.emulator import Options, qemu_command
from gandalf.run.pace import PACER, build_pacer


def fake_qemu(folder: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> Path:
    """Put a QEMU in front of the real one; returns the file that gets its arguments."""
    program, words = folder / "qemu-system-i386", folder / "words"
    program.write_text(f'#!/bin/sh\necho "$@" >{words}\nexit {status}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return words


def test_this_qemu_takes_the_pacer() -> None:
    assert build_pacer() == PACER


def test_qemu_is_asked_before_it_gets_the_pacer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = fake_qemu(tmp_path, monkeypatch, 0)
    assert build_pacer() == PACER
    assert f"-plugin file={PACER},check=1" in words.read_text()


def test_another_qemu_follows_the_hosts_clock_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_qemu(tmp_path, monkeypatch, 1)
    assert verbs._pacer(real_time=False) is None
    said = capsys.readouterr().err
    assert "this QEMU cannot be paced from outside: the clock follows the host's" in said


def test_in_real_time_there_is_no_pacer(capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs._pacer(real_time=True) is None
    assert "latencies include how late the host was" in capsys.readouterr().err


def test_a_paced_machine_counts_instructions_on_the_hosts_date() -> None:
    options = Options(memory=64, kernel=Path("k"), pace=Path("pace.so"))
    command = " ".join(qemu_command(options, Path("uart"), 4))
    assert "-icount shift=0,sleep=off -plugin file=pace.so" in command
    assert "-rtc" not in command
