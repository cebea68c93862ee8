# SPDX-License-Identifier: Apache-2.0
"""What is said while make runs: that something is built, if it is."""

from pathlib import Path

from gandalf.base.making import run_make

MAKEFILE = """\
all: result
result: source FORCE
	@[ source -ot result ] || { echo "  CC source"; cp source result; }
FORCE:
"""


def test_only_what_is_built_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "source").write_text("one")
    said: list[str] = []
    assert run_make(tmp_path, what="it", log=said.append).returncode == 0
    assert said == ["building it"]
    assert run_make(tmp_path, what="it", log=said.append).returncode == 0
    assert said == ["building it"]


def test_what_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\t@echo the reason >&2; false\n")
    said: list[str] = []
    done = run_make(tmp_path, what="it", log=said.append)
    assert (done.returncode, said) == (2, ["building it"])
    assert done.stdout.startswith("the reason\n")
