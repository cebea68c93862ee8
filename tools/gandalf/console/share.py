# SPDX-License-Identifier: Apache-2.0
"""Lends the machine's line to another program on this host, such as `gandalf push`.

While it is lent, the borrower types and the user does not, and the screen shows other consoles'
lines only: what goes to and fro on the borrowed one is not for people.
"""

import contextlib
import os
import socket
from pathlib import Path

from gandalf.console.demultiplex import Demultiplexer

_NAME = "line"


def _address(folder: Path) -> tuple[int, str]:
    """Return a descriptor to close and an address, which is short however long the path is."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    return descriptor, f"/proc/self/fd/{descriptor}/{_NAME}"


def borrow(folder: Path) -> socket.socket:
    """Connect to who has the machine of a folder. Raises OSError if nobody has it."""
    client = socket.socket(socket.AF_UNIX)
    descriptor, address = _address(folder)
    try:
        client.connect(address)
    except OSError:
        client.close()
        raise
    finally:
        os.close(descriptor)
    return client


class Share:
    """The lending side. folder: of the system; names: of the machine's consoles."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self._path, self._names = folder / _NAME, names
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        descriptor, address = _address(folder)
        try:
            self._listener.bind(address)
        finally:
            os.close(descriptor)
        self._listener.listen(1)
        self._client: socket.socket | None = None
        self._demultiplexer = Demultiplexer(names)

    @property
    def lent(self) -> bool:
        """Tell whether somebody has the line."""
        return self._client is not None

    def watched(self) -> int:
        """Return the descriptor that has something to do for take()."""
        return (self._client or self._listener).fileno()

    def take(self, focus: str) -> bytes:
        """Let a borrower in, or return what it types. focus: the console with the keyboard."""
        if self._client is None:
            self._client, _ = self._listener.accept()
            self._demultiplexer = Demultiplexer(self._names, focus)
            return b""
        data = b""
        with contextlib.suppress(OSError):
            data = self._client.recv(4096)
        if not data:
            self._give_back()
        return data

    def give(self, data: bytes) -> bytes:
        """Pass on what the machine has sent, and return what the screen shows of it."""
        shown = b""
        for name, text in self._demultiplexer.feed(data):
            if name != self._demultiplexer.focus:
                shown += b"[" + name.encode() + b"] " + text
        try:
            assert self._client is not None
            self._client.sendall(data)
        except OSError:
            self._give_back()
        return shown

    def _give_back(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def close(self) -> None:
        """End it; nobody finds the machine any more."""
        self._give_back()
        self._listener.close()
        self._path.unlink(missing_ok=True)
