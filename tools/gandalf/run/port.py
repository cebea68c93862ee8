# SPDX-License-Identifier: Apache-2.0
"""The serial port of a machine that somebody else runs: a real one, or one that is lent."""

import os
import socket
import stat
import termios
import time
import tty
from pathlib import Path

from gandalf.base.paths import UserError
from gandalf.run.emulator import Emulator, Outcome


def open_line(port: Path, baud: int) -> int:
    """Open a serial port, pseudoterminal or Unix socket; returns its descriptor."""
    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        raise UserError(f"A serial port cannot run at {baud} baud here; 115200 is usual.")
    if stat.S_ISSOCK(port.stat().st_mode):
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(port))
        return line.detach()
    descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
    if not os.isatty(descriptor):
        raise UserError(f"{port} is neither a serial port nor a socket.")
    tty.setraw(descriptor, termios.TCSANOW)  # what has arrived is not thrown away
    modes = termios.tcgetattr(descriptor)
    modes[2] |= termios.CLOCAL | termios.CREAD
    modes[4] = modes[5] = speed
    termios.tcsetattr(descriptor, termios.TCSANOW, modes)
    return descriptor


class Port(Emulator):
    """A machine of which nothing is known but its serial port. line: a descriptor of that."""

    def __init__(self, line: int) -> None:
        self.line = self.keyboard = line
        self._open = True

    def read(self) -> bytes:
        data = super().read()
        self._open = bool(data)
        return data

    def process(self) -> int:
        return os.getpid()

    def cpu_time(self) -> float:
        """Return the time of the host's clock, since nobody knows what the machine has had."""
        return time.monotonic()

    def waiting_time(self) -> float:
        return 0

    def alive(self) -> bool:
        return self._open

    def outcome(self) -> Outcome:
        return Outcome(False, "The line was closed.")

    def stop(self) -> None:
        os.close(self.line)
