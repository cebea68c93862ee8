# SPDX-License-Identifier: Apache-2.0
"""Names the self-checking guests of guest/tests and builds them."""

import subprocess
from pathlib import Path

from gandalf.paths import UserError


def _make(root: Path, *arguments: str) -> str:
    """Run make in guest/tests; returns its output or raises UserError with the last lines."""
    command = ["make", "--no-print-directory", "-C", str(root / "guest" / "tests"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()[-20:]
        raise UserError("\n".join([*lines, "Building the test guests failed; see above."]))
    return done.stdout


def names(root: Path) -> list[str]:
    """Return the names of all test guests, without .elf."""
    return _make(root, "--silent", "list").split()


def build(root: Path, *guests: str) -> list[Path]:
    """Build test guests by name, all if none is named; returns their images."""
    images = [root / "build" / "tests" / f"{guest}.elf" for guest in guests or names(root)]
    _make(root, *map(str, images))
    return images
