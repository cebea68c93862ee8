# SPDX-License-Identifier: Apache-2.0
"""The plug-in of QEMU that keeps a clock which counts instructions at the host's pace."""

import shutil
import subprocess
from pathlib import Path

from gandalf.base.making import Log, quiet
from gandalf.base.paths import BUILD, INSTALLED, ROOT
from gandalf.build.build import make

PACER = BUILD / "measure" / "pace.so"


def build_pacer(log: Log = quiet, program: str = "qemu-system-i386") -> Path | None:
    """Return the plug-in, built; None if this QEMU does not take it.

    It uses functions that QEMU's binary happens to export, and a release may have others. An
    installed SDK has it.
    """
    if not INSTALLED:
        make(ROOT / "measure", str(PACER), what="QEMU's pacer", log=log)
    # A QEMU that is not there is the emulator's to report.
    found = shutil.which(program)
    return PACER if found is None or _is_taken(found) else None


def _is_taken(program: str) -> bool:
    """Ask QEMU to load the plug-in, and to end."""
    done = subprocess.run(
        [program, "-machine", "none", "-display", "none", "-plugin", f"file={PACER},check=1"],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0
