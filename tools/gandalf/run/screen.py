# SPDX-License-Identifier: Apache-2.0
"""The screen that an emulator shows on a pseudoterminal of its own, which nobody looks at."""

import contextlib
import os
import re
import threading
import tty
from pathlib import Path

from gandalf.base.paths import UserError


def _open(process: int) -> int:
    """Open the other side of the pseudoterminal that a process has made, without its echo."""
    folder = Path(f"/proc/{process}")
    for link in (folder / "fd").iterdir():
        if link.readlink().name == "ptmx":
            about = (folder / "fdinfo" / link.name).read_text()
            number = re.findall(r"tty-index:\s*(\d+)", about)[0]
            screen = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)
            tty.setraw(screen)
            return screen
    raise UserError("The emulator has made no pseudoterminal for its screen.")


class Screen:
    """Reads what a process shows until it ends. A pseudoterminal takes some KiB that nobody reads.

    Then the process would wait, and the machine with it.
    """

    def __init__(self, process: int) -> None:
        self._screen = _open(process)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the process has ended
            while os.read(self._screen, 65536):
                pass

    def close(self) -> None:
        """Is called when the process has ended."""
        self._reader.join(10)
        os.close(self._screen)
