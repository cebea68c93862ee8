# SPDX-License-Identifier: Apache-2.0
"""`make run` in a fresh clone: it builds what it needs, or says at once why it cannot.

The clone has what HEAD has: in a tree with changes that are not committed, they are not tested. Of
the parent's environment nothing comes with it but what says how to reach the network, and where
pip, Cargo and ccache keep what they had before. Debian's packages are there already.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT

from .test_first_sight import expect_figures, leave, make_run

# Variables by which the tree that runs this test, or who debugs it, would have a say in another.
_LEAKS = re.compile(r"(MAKE|MFLAGS|PYTHON|VIRTUAL_ENV|GANDALF|FREERTOS|GIT_|PYTEST|SYSTEM$|ARGS$)")


@pytest.fixture(autouse=True)
def nothing_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in filter(_LEAKS.match, list(os.environ)):
        monkeypatch.delenv(name)
    paths = os.environ["PATH"].split(":")
    monkeypatch.setenv("PATH", ":".join(path for path in paths if not path.startswith(f"{ROOT}/")))


def clone_to(folder: Path) -> Path:
    """Clone this tree."""
    if not (ROOT / ".git").exists():
        pytest.skip("this tree is no clone, so that there is nothing to clone")
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    return folder


def test_a_fresh_clone_builds_all_it_needs_and_shows_the_demo(tmp_path: Path) -> None:
    clone = clone_to(tmp_path / "gandalf")
    assert not (clone / "build").exists()
    with make_run("SYSTEM=systems/freertos.toml", tree=clone) as terminal:
        terminal.expect("setup: everything for 'run' is there\r")
        terminal.expect("gandalf: building FreeRTOS\r")
        terminal.expect("gandalf: building the VMM\r")
        terminal.expect(r"Gandalf \d+\.\d+: 1 guest\r")
        expect_figures(terminal)
        leave(terminal)
    own = subprocess.run(
        [clone / "build/venv/bin/python", "-c", "import gandalf; print(gandalf.__file__)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert own.stdout == f"{clone}/tools/gandalf/__init__.py\n"
    changed = ["git", "-C", str(clone), "status", "--porcelain"]
    assert subprocess.run(changed, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize("name", ["with space", "a:colon", "a,comma", "a$dollar"])
def test_a_path_that_make_cannot_take_is_refused_at_once(tmp_path: Path, name: str) -> None:
    clone = clone_to(tmp_path / name)
    done = subprocess.run(["make", "run"], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"setup: The tree lies in {clone}, and" in done.stderr
    assert not (clone / "build").exists()
