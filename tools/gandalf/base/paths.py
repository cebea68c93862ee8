# SPDX-License-Identifier: Apache-2.0
"""Where things are in the tree, and the one exception for mistakes of the user."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
VMM_IMAGE = BUILD / "vmm" / "gandalf.elf"
# An installed SDK (gandalf.sdk.install) has this file. It has what was built of the tree, and not
# what it is built from; nothing is written there.
INSTALLED_MARK = "INSTALLED"
INSTALLED = (ROOT / INSTALLED_MARK).is_file()
# The command, and how users call it: PREFIX/bin/gandalf for PREFIX/share/gandalf.
COMMAND = ROOT.parents[1] / "bin" / "gandalf" if INSTALLED else BUILD / "venv" / "bin" / "gandalf"


class UserError(Exception):
    """Something the user can put right; the text is a sentence that says how."""


def system_folder(description: Path) -> Path:
    """Return the folder for what is built from a system description.

    It is below the tree's build/, or below one beside a description that is not in the tree.
    Descriptions of the same name in different folders have different ones.
    """
    path = description.resolve().with_suffix("")
    if not path.is_relative_to(ROOT):
        return path.parent / "build" / path.name
    if path.parent == ROOT / "systems":
        return BUILD / "systems" / path.name
    base = BUILD if path.is_relative_to(BUILD) else ROOT
    return BUILD / "systems" / "-".join(path.relative_to(base).parts)


_held = 0


@contextmanager
def building() -> Iterator[None]:
    """Keep other processes that build in this tree waiting, so that everything is built once.

    Test suites run side by side and share what is under build/. The lock may be taken again by
    the process that holds it. An installed SDK is complete, and shares nothing that is built.
    """
    global _held
    if _held or INSTALLED:
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
