# SPDX-License-Identifier: Apache-2.0
"""A clone where make cannot work says so, instead of failing later with another reason."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT


@pytest.mark.parametrize("name", ["with space", "a:colon", "a,comma", "a$dollar"])
def test_a_path_that_make_cannot_take_is_refused_at_once(tmp_path: Path, name: str) -> None:
    clone = tmp_path / name
    (clone / "tools").mkdir(parents=True)
    for part in ("Makefile", "tools/setup"):
        shutil.copy(ROOT / part, clone / part)
    done = subprocess.run(
        ["make", "run"], cwd=clone, capture_output=True, text=True, check=False,
        env={name: text for name, text in os.environ.items() if not name.startswith("MAKE")},
    )  # fmt: skip
    assert done.returncode != 0
    assert f"setup: The tree lies in {clone}, and" in done.stderr
    assert not (clone / "build").exists()
