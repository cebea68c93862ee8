# SPDX-License-Identifier: Apache-2.0
"""`gandalf new` and the parts of the SDK: what can be known without installing it."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gandalf.base.paths import COMMAND, ROOT, UserError, system_folder
from gandalf.cli import app
from gandalf.description.check import check
from gandalf.sdk.create import Kind, create
from gandalf.sdk.parts import PARTS

LICENCES = (ROOT / "docs" / "licences.md").read_text()


@pytest.mark.parametrize("kind", list(Kind))
def test_an_application_has_its_name_everywhere(kind: Kind, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "thing-1"
    files = create(kind, folder, "thing-1")
    assert {path.name for path in folder.iterdir()} == set(files)
    assert {"Makefile", "main.c", "system.toml", "test_application.py", ".gitignore"} <= set(files)
    for path in folder.iterdir():
        assert not re.search("@[A-Z]+@", path.read_text()), path
    makefile = (folder / "Makefile").read_text().splitlines()
    assert makefile[:2] == [f"GANDALF ?= {COMMAND}", "NAME := thing-1"]
    assert f"sdk --makefile {kind})" in makefile[2]
    (mistake,) = check(folder / "system.toml").system.messages()
    assert "there is no file" in mistake  # all but the image, which is not built, is right
    assert system_folder(folder / "system.toml") == folder / "build" / "system"


def test_an_empty_directory_that_is_there_is_taken(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    assert create(Kind.BARE, tmp_path / "app", "app")


def test_the_command_is_called_by_its_name_where_path_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gandalf.sdk.create.shutil.which", lambda _: str(COMMAND))
    create(Kind.BARE, tmp_path / "app", "app")
    assert (tmp_path / "app" / "Makefile").read_text().startswith("GANDALF ?= gandalf\n")


@pytest.mark.parametrize(
    ("folder", "name", "sentence"),
    [
        ("app", "Caps", '"Caps" cannot be the name of a guest'),
        ("app", "much-longer-than-that", "at most 15 small letters"),
        ("app", "", "choose one with --name"),
        ("my app", "app", "whose path has a space in it: choose another"),
        ("a$b", "app", 'whose path has "$" in it: choose another'),
        ("full", "app", "is there and is not empty: choose another directory."),
        ("file", "app", "is a file: choose another directory."),
        ("file/app", "app", "cannot be written: Not a directory."),
    ],
)
def test_what_cannot_be_made_is_said_and_nothing_is_touched(
    tmp_path: Path, folder: str, name: str, sentence: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=re.escape(sentence)):
        create(Kind.BARE, tmp_path / folder, name)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    done = CliRunner().invoke(app, ["new", "vxworks", "app"])
    assert done.exit_code == 2
    for kind in Kind:
        assert kind in done.output


def test_each_part_of_the_tree_has_the_licence_that_it_is_said_to_have() -> None:
    for part in PARTS:
        if part.path.startswith("build/"):
            continue  # fetched
        for pattern in part.files:
            for path in (ROOT / part.path).glob(pattern):
                if path.suffix in (".c", ".h", ".S", ".mk", ".ld", ".py", ".cfg"):
                    head = path.read_text().splitlines()[:2]
                    assert f"SPDX-License-Identifier: {part.licence}" in "".join(head), path


def test_no_part_that_is_linked_has_a_licence_that_the_table_does_not_name() -> None:
    section = LICENCES.partition("## What an application is linked with")[2].partition("\n## ")[0]
    named = set(re.findall(r"\b(?:MIT|Apache-2\.0|BSD-3-Clause|GPL\S*|LGPL\S*)\b", section))
    assert {part.licence for part in PARTS if part.linked} - {"0BSD"} == named
