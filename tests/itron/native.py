# SPDX-License-Identifier: Apache-2.0
"""A bare PC in QEMU that runs a native image, with its serial port in our hands.

Time is counted in instructions, as in the boot tests, so that a busy host changes nothing.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect

# Seconds of the host, there for hangs only.
PATIENCE = 3600


class Native:
    """A machine that runs. QEMU's terminal adds carriage returns to the line ends."""

    def __init__(self, child: "pexpect.spawn[str]") -> None:
        self._child = child
        self.text = ""

    def expect(self, regex: str) -> re.Match[str]:
        """Wait for a text; what came before it is in `text`, too."""
        self._child.expect(regex)
        match = self._child.match
        assert isinstance(match, re.Match)
        self.text += (self._child.before or "") + str(match[0])
        return match

    def send(self, line: str) -> None:
        """Type a line."""
        self._child.send(line + "\r")


@contextmanager
def run_native(
    image: Path, cpu: str = "pentium3", devices: tuple[str, ...] = ()
) -> Iterator[Native]:
    """Run an image until the block ends. devices: further options of QEMU."""
    arguments = [
        "-kernel", str(image), "-m", "32", "-cpu", cpu, "-display", "none", "-serial", "stdio",
        "-monitor", "none", "-no-reboot", "-nodefaults", "-icount", "shift=0,sleep=off",
        *devices,
    ]  # fmt: skip
    child = pexpect.spawn("qemu-system-i386", arguments, encoding="utf-8", timeout=PATIENCE,
                          echo=False)  # fmt: skip
    try:
        yield Native(child)
    finally:
        child.close(force=True)
