# SPDX-License-Identifier: Apache-2.0
"""`gandalf module`, as far as it needs no kernel: tests/boot/test_complete.py loads one."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gandalf.base.paths import UserError
from gandalf.guests import modules
from gandalf.guests.places import Variant


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a makefile; the kernel is there and not to be built."""
    monkeypatch.setattr(modules, "build_kernel", lambda *_: None)
    (tmp_path / "Makefile").write_text("obj-m := one.o two.o\n")
    return tmp_path


def make_does(monkeypatch: pytest.MonkeyPatch, status: int, *made: Path) -> list[list[str]]:
    """Have make end so, having made these. Returns the commands, which come later."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        for path in made:
            path.parent.mkdir(exist_ok=True)
            path.touch()
        return subprocess.CompletedProcess(command, status, "one.c is made\n", "one.c:3: error\n")

    monkeypatch.setattr(subprocess, "run", run)
    return commands


@pytest.mark.parametrize("kernel", ["complete", "complete-smp"])
def test_all_modules_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kernel: Variant
) -> None:
    wanted = [folder / "one.ko", folder / "sub" / "two.ko"]
    commands = make_does(monkeypatch, 0, *wanted)
    assert modules.build_modules(folder, folder, print, kernel) == wanted
    (command,) = commands
    assert command[0] == "make"
    assert command[-1] == "modules"
    assert f"M={folder}" in command
    assert f"O={folder}/build/linux/{kernel}" in command
    assert any(item.startswith("KCPPFLAGS=-include ") for item in command)


@pytest.mark.parametrize("status", [0, 2])
def test_what_the_compiler_says_is_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Also where no module has come of it, though nothing failed."""
    make_does(monkeypatch, status)
    with pytest.raises(UserError, match=r"one\.c:3: error\nBuilding modules in .* failed\.$"):
        modules.build_modules(folder, folder, print)


def test_a_folder_without_a_makefile_is_no_module(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no Makefile with obj-m"):
        modules.build_modules(tmp_path, tmp_path, print)
    with pytest.raises(UserError, match="has no Makefile with obj-m"):
        modules.build_modules(tmp_path / "none", tmp_path, print)


@pytest.mark.parametrize("name", ["a module", "a:module"])
def test_a_name_that_linux_cannot_build_in_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "Kbuild").touch()
    with pytest.raises(UserError, match="below a name with a space or a colon"):
        modules.build_modules(folder, tmp_path, print)
