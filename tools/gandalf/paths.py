# SPDX-License-Identifier: Apache-2.0
"""Where things are in the tree, and the one exception for mistakes of the user."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
VMM_IMAGE = BUILD / "vmm" / "gandalf.elf"


class UserError(Exception):
    """Something the user can put right; the text is a sentence that says how."""


def system_folder(description: Path) -> Path:
    """Return the folder under build/ for what is built from a system description."""
    return BUILD / "systems" / description.stem


def shown(path: Path) -> str:
    """Return a path as messages print it: short if it lies in the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
