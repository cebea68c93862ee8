# SPDX-License-Identifier: Apache-2.0
"""The packets of gdb's remote serial protocol, from either side of a connection.

A packet is `$DATA#SUM`, with two hexadecimal digits of the sum of its bytes, and is answered with
`+`. The byte 3 on its own asks a running machine to stop.
"""

import re
import select
import socket

INTERRUPT = b"\x03"
_PACKET = re.compile(rb"\$([^#$]*)#([0-9a-fA-F]{2})", re.S)
_ESCAPED = re.compile(rb"}(.)", re.S)
_SPECIAL = re.compile(rb"[#$}*]")


class ClosedError(Exception):
    """The other side has ended the connection."""


def escape(data: bytes) -> bytes:
    """Return data as it stands in a packet."""
    return _SPECIAL.sub(lambda match: b"}" + bytes([match[0][0] ^ 0x20]), data)


def _unescape(data: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: bytes([match[1][0] ^ 0x20]), data)


class Remote:
    """One side of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._held = b""

    def fileno(self) -> int:
        """Return the descriptor, for select()."""
        return self._connection.fileno()

    def send(self, data: bytes) -> None:
        """Send a packet, whose data is escaped already."""
        self.send_raw(b"$%b#%02x" % (data, sum(data) & 0xFF))

    def send_raw(self, data: bytes) -> None:
        """Send bytes that are no packet. Raises ClosedError."""
        try:
            self._connection.sendall(data)
        except OSError:
            raise ClosedError from None

    def receive(self) -> bytes:
        """Wait for the next packet, and acknowledge it. Returns INTERRUPT for such a byte."""
        while True:
            packet = self.poll()
            if packet is not None:
                return packet
            select.select([self._connection], [], [])
            self._fill()

    def poll(self) -> bytes | None:
        """Return the next packet of what has come; None if it is not there yet."""
        start = self._held.find(b"$")
        interrupt = self._held.find(INTERRUPT)
        if interrupt >= 0 and (start < 0 or interrupt < start):
            self._held = self._held[interrupt + 1 :]
            return INTERRUPT
        match = _PACKET.search(self._held)
        if match is None:
            return None
        self._held = self._held[match.end() :]
        if sum(match[1]) & 0xFF != int(match[2], 16):
            self.send_raw(b"-")
            return None
        self.send_raw(b"+")
        return _unescape(match[1])

    def wait(self, timeout: float | None = None) -> None:
        """Take what comes next, or nothing if the time is over first."""
        if select.select([self._connection], [], [], timeout)[0]:
            self._fill()

    def _fill(self) -> None:
        try:
            data = self._connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            raise ClosedError
        self._held += data

    def ask(self, data: bytes) -> bytes:
        """Send a packet and return the answer."""
        self.send(data)
        return self.receive()
