# SPDX-License-Identifier: Apache-2.0
"""tools/setup: costs nothing when everything is there, and says what is missing when not."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT

SETUP = ROOT / "tools" / "setup"
# What the script itself uses, apart from Debian's tools.
BASICS = ["sh", "dirname", "cat", "sed", "cksum", "df", "awk", "mkdir", "rm", "id", "head", "wc"]


def setup(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run(
        [str(SETUP), *arguments], capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH of a machine that is no Debian and has none of what is needed."""
    for name in BASICS:
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    return str(tmp_path)


def test_the_second_run_does_nothing() -> None:
    assert setup("run", "test").returncode == 0
    before = {path: path.stat().st_mtime_ns for path in BUILD.glob("setup*")}
    done = setup("run", "test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path: path.stat().st_mtime_ns for path in BUILD.glob("setup*")} == before


def test_another_distribution_gets_the_missing_tools_by_name(bare_path: str) -> None:
    done = setup("run", path=bare_path)
    assert done.returncode == 1
    assert "This is not Debian; install these" in done.stderr
    for tool in ("qemu-system-i386 (qemu-system-x86)", "gcc (gcc)", "cargo 1.85 or later", "flex"):
        assert tool in done.stderr


def test_an_unknown_set_is_refused() -> None:
    done = setup("everything")
    assert done.returncode == 1
    assert done.stderr == "setup: tools/setup knows run, test, image and lock, not everything.\n"


def test_every_requirement_is_pinned_with_checksums() -> None:
    for name in ("requirements.txt", "requirements-test.txt"):
        text = (ROOT / "tools" / name).read_text().replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
        assert len(lines) > 5
        for line in lines:
            assert "==" in line
            assert "--hash=sha256:" in line
        assert "://" not in text
