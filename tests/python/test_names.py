# SPDX-License-Identifier: Apache-2.0
"""What comments and the tour name is there: files, and functions of the VMM."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FILE = re.compile(r"(?<![\w./<*-])(?:[\w-]+/)*\w+\.(?:c|h|S|pml|py)\b")
FUNCTION = re.compile(r"\b([a-z]\w*_\w+)\(\)")
QUOTED = re.compile(r"`([a-z]\w*_\w+)`")
FOLDERS = ("abi", "vmm", "guest/rtos", "guest/demo", "guest/freertos", "tests/measure")
# Files of Linux and of other projects, and functions of Linux.
FOREIGN = {"head_32.S", "modify_ldt", "flush_tlb_mm_range"}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (
            path for path in (ROOT / folder).rglob("*") if path.suffix in {".c", ".h", ".S"}
        )


def files_of_the_tree() -> set[str]:
    """Return each path from each of its folders on."""
    folders = ("abi", "vmm", "guest", "tests", "tools", "measure", "bench")
    paths = [
        path.relative_to(ROOT).parts for name in folders for path in (ROOT / name).rglob("*.*")
    ]
    return {"/".join(parts[i:]) for parts in paths for i in range(len(parts))}


def words(*folders: str) -> set[str]:
    """Return all words of sources but for those of their comments."""
    texts = (COMMENT.sub("", path.read_text()) for path in sources(*folders))
    return {word for text in texts for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_in_comments_are_there(folder: str) -> None:
    known = files_of_the_tree() | FOREIGN
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources(folder)
        for comment in COMMENT.findall(path.read_text())
        for name in FILE.findall(comment)
        if name not in known
    ]
    assert missing == []


def test_functions_in_comments_are_there() -> None:
    known = words("abi", "vmm", "tests", "guest") | FOREIGN
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources("abi", "vmm")
        for comment in COMMENT.findall(path.read_text())
        for name in FUNCTION.findall(comment)
        if name not in known
    ]
    assert missing == []


def test_what_the_tour_names_is_there() -> None:
    known = words("abi", "vmm") | set(re.findall(r"\w+", (ROOT / "abi" / "table.h").read_text()))
    text = (ROOT / "docs" / "tour.md").read_text()
    named = {*QUOTED.findall(text), *FUNCTION.findall(text)}
    assert len(named) > 10
    assert named - known == set()
