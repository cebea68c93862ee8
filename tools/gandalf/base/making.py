# SPDX-License-Identifier: Apache-2.0
"""Runs make, and says what is built if anything is."""

import subprocess
from collections.abc import Callable
from pathlib import Path

Log = Callable[[str], None]


def quiet(_: str) -> None:
    """Log nothing."""


def run_make(
    folder: Path, *arguments: str, what: str = "", log: Log = quiet
) -> subprocess.CompletedProcess[str]:
    """Run make in a folder, and return how it ended with all that it printed.

    what: is logged as being built, once make does something: its own lines, which say that there
    is nothing to be done, begin with its name, and all others with a command's.
    """
    command = ["make", "--no-print-directory", "-C", str(folder), *arguments]
    lines: list[str] = []
    said = False
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout or ():
            if not said and not line.startswith("make"):
                log(f"building {what}")
                said = True
            lines.append(line)
    return subprocess.CompletedProcess(command, process.returncode, "".join(lines), "")
