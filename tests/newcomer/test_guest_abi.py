# SPDX-License-Identifier: Apache-2.0
"""docs/guest-abi.md: its structures are those of the headers, and its guest is one that boots."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.run.machine import Machine

TEXT = (ROOT / "docs" / "guest-abi.md").read_text()
_TIMES = "\N{MULTIPLICATION SIGN}"
_ROW = re.compile(rf"^\| (\d+) \| `(\w+)` \| ([\d {_TIMES}]+) \| [^|]+ \| [^|]+ \|$", re.M)
# What the host tool tells the VMM at boot is no guest's affair.
BOOT = re.findall(r"^struct (gandalf_\w+) \{", (ROOT / "abi" / "table.h").read_text(), re.M)
SYSTEM = """\
[machine]
memory = "32M"

[[guest]]
name = "guest"
kind = "rtos"
image = "./guest.elf"
memory = "64K"
priority = 10
"""


def documented() -> dict[str, list[tuple[str, str, str]]]:
    """Return offset, field and bytes of each row, by the structure that a section names first."""
    found = {}
    for section in re.split(r"^##+ ", TEXT, flags=re.MULTILINE):
        rows = _ROW.findall(section)
        if rows:
            name = re.search(r"`struct (\w+)`", section)
            assert name is not None, section
            found[name[1]] = rows
    return found


def bytes_text(kind: Any) -> str:
    """Return how the page writes the size of a field: an array's as elements times bytes."""
    if issubclass(kind, ctypes.Array) and ctypes.sizeof(kind._type_) > 1:
        return f"{kind._length_} {_TIMES} {ctypes.sizeof(kind._type_)}"
    return str(ctypes.sizeof(kind))


def test_every_structure_is_there_with_all_its_fields() -> None:
    expected = {
        name: [
            (str(getattr(structure, field).offset), field, bytes_text(kind))
            for field, kind in structure._fields_
        ]
        for name, structure in abi().structures.items()
        if name not in BOOT
    }
    assert "gandalf_shared" in expected
    assert documented() == expected


def test_every_hypercall_is_there_with_its_number() -> None:
    expected = {
        name: value
        for name, value in abi().constants.items()
        if name.startswith("GANDALF_HYPERCALL_") and name != "GANDALF_HYPERCALL_VECTOR"
    }
    rows = re.findall(r"^\| (\d+) \| `(GANDALF_HYPERCALL_\w+)` \|", TEXT, re.MULTILINE)
    assert {name: int(number) for number, name in rows} == expected


def block(language: str) -> str:
    """Return the page's only block of a language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.M | re.S)
    return str(text)


def test_the_complete_guest_is_short_and_boots(tmp_path: Path) -> None:
    source = block("c")
    assert len(source.splitlines()) == 20
    (tmp_path / "guest.c").write_text(source)
    (tmp_path / "system.toml").write_text(SYSTEM)
    commands = block("sh").replace("guest.", f"{tmp_path}/guest.")
    done = subprocess.run(["sh", "-ec", commands], cwd=ROOT, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    with Machine(tmp_path / "system.toml") as machine:
        machine.expect("guest", r"\A(tick\n){3}", 60)
        assert "stopped" not in machine.text("vmm")
