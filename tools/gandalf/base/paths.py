# SPDX-License-Identifier: Apache-2.0
"""Where things are in the tree, and the one exception for mistakes of the user."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
VMM_IMAGE = BUILD / "vmm" / "gandalf.elf"


class UserError(Exception):
    """Something the user can put right; the text is a sentence that says how."""


def system_folder(description: Path) -> Path:
    """Return the folder under build/ for what is built from a system description.

    Descriptions of the same name in different folders of the tree have different ones.
    """
    path = description.resolve().with_suffix("")
    if path.parent == ROOT / "systems" or not path.is_relative_to(ROOT):
        return BUILD / "systems" / path.name
    base = BUILD if path.is_relative_to(BUILD) else ROOT
    return BUILD / "systems" / "-".join(path.relative_to(base).parts)


_held = 0


@contextmanager
def building() -> Iterator[None]:
    """Keep other processes that build in this tree waiting, so that everything is built once.

    Test suites run side by side and share what is under build/. The lock may be taken again by
    the process that holds it.
    """
    global _held
    if _held:
        yield
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _held += 1
        try:
            yield
        finally:
            _held -= 1


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that others may be reading: they see the old one or the new one."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content)
    beside.replace(path)


def shown(path: Path) -> str:
    """Return a path as messages print it: short if it lies in the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
