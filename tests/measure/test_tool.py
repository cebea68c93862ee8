# SPDX-License-Identifier: Apache-2.0
"""What `gandalf measure` says of mistakes, and the names that it finds for addresses."""

import subprocess
import sys
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT, UserError
from gandalf.build.build import build_vmm
from gandalf.build.symbols import Entries, Image, vector_text
from gandalf.measure.measurement import read_measurement


def gandalf(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gandalf.cli", "measure", *arguments],
        cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def test_help_explains_every_option() -> None:
    output = gandalf("--help").stdout
    for option in ("--command", "--for", "--json", "--interval"):
        assert option in output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--command", "true", "--for", "1"], "not both"),
        (["--interval", "vmm:trap_attend"], "FROM..TO"),
        (["--interval", "vmm:trap_attend..vmm:nothing"], '"vmm:nothing" is no address'),
        (["--command", "true"], "needs a Linux guest"),
    ],
)
def test_mistakes_are_sentences(arguments: list[str], why: str) -> None:
    done = gandalf("systems/freertos.toml", *arguments)
    assert done.returncode == 1
    assert why in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "why"), [(None, "wrote no"), ("{}", "rebuild the plug-in"), ("", "rebuild")]
)
def test_a_result_that_is_none(tmp_path: Path, content: str | None, why: str) -> None:
    path = tmp_path / "out.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=why):
        read_measurement(path)


def test_vectors_are_known_by_their_stubs() -> None:
    entries = Entries(0x1000, 16, 2)
    assert Entries(0x1000, 16, 2, 256).vector(0x1000 + 256 * 16) == 0x1E
    assert entries.vector(0x1000 + 3 * 16) == 3
    assert entries.vector(0x1000 + 14 * 16 + 2) == 14  # its error code is the CPU's
    assert entries.vector(0x1000 + 255 * 16) == 255
    assert entries.vector(0x1000 + 256 * 16) is None
    assert entries.vector(0x0FF0) is None
    assert entries.vector(0x1001) is None
    assert vector_text(14) == "0x0e #PF"
    assert vector_text(0x77) == "0x77"


def test_functions_are_known_by_their_addresses() -> None:
    vmm = Image(build_vmm(), "vmm")
    trap = vmm.addresses["trap_attend"]
    assert vmm.find(trap) == ("trap_attend", 0)
    assert vmm.find(trap + 3) == ("trap_attend", 3)
    assert vmm.find(0x0804_8000) is None  # between the boot code and the rest
    moved = Image(build_vmm(), "vmm", 0x1000)
    assert moved.find(trap + 0x1000) == ("trap_attend", 0)
