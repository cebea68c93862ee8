# SPDX-License-Identifier: Apache-2.0
"""The archives that become Linux's root file system, as the cpio of the host reads them."""

import re
import subprocess
from pathlib import Path

import pytest

from gandalf.guests import cpio

LINE = re.compile(r"(\S+) +\d+ +(\d+) +(\d+) +(\d+(?:, +\d+)?) \w+ +\d+ +[\d:]+ (.*)")


def listing(archive: bytes) -> dict[str, tuple[str, ...]]:
    """Return what `cpio -tv` says of each entry: mode, owner, group, size or device."""
    command = ["cpio", "--list", "--verbose", "--quiet", "--numeric-uid-gid"]
    text = subprocess.run(command, input=archive, capture_output=True, check=True).stdout.decode()
    found = [match.groups() for match in map(LINE.fullmatch, text.splitlines()) if match]
    assert len(found) == len(text.splitlines())
    return {fields[-1]: fields[:-1] for fields in found}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_bytes(b"12345")
    path.chmod(0o700)
    return path


def test_every_kind_of_entry(program: Path) -> None:
    text = program.with_name("text")
    text.write_bytes(b"")
    archive = cpio.archive([
        cpio.folder("bin"), cpio.file("bin/program", program), cpio.file("text", text),
        cpio.link("bin/sh", "program"), cpio.device("console", 5, 1),
    ])  # fmt: skip
    found = listing(archive)
    assert {name: fields[0] for name, fields in found.items()} == {
        "bin": "drwxr-xr-x", "bin/program": "-rwxr-xr-x", "text": "-rw-r--r--",
        "bin/sh -> program": "lrwxrwxrwx", "console": "crw-------",
    }  # fmt: skip
    assert found["bin/program"][1:] == ("0", "0", "5")
    assert found["text"][1:] == ("0", "0", "0")
    assert found["console"][3].split() == ["5,", "1"]


def test_contents_of_every_length_come_back(tmp_path: Path) -> None:
    sources, target = tmp_path / "sources", tmp_path / "target"
    sources.mkdir()
    target.mkdir()
    names = [f"{'n' * length}{length}" for length in range(6)]
    for length, name in enumerate(names):
        (sources / name).write_bytes(bytes(range(length)))
    archive = cpio.archive([cpio.file(name, sources / name) for name in names])
    subprocess.run(["cpio", "-i", "--quiet"], input=archive, cwd=target, check=True)
    assert [(target / name).read_bytes() for name in names] == [
        bytes(range(length)) for length in range(6)
    ]


def test_the_bytes_depend_on_the_entries_only(program: Path) -> None:
    copy = program.with_name("copy")
    copy.write_bytes(program.read_bytes())
    copy.chmod(0o755)
    first, second = (cpio.archive([cpio.file("program", path)]) for path in (program, copy))
    assert first == second


def test_folders_come_before_what_they_hold() -> None:
    entries = cpio.parents(["a/b/file", "c"], ["proc", "x/y"])
    assert [entry.name for entry in entries] == ["a", "a/b", "proc", "x", "x/y"]
