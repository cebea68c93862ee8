# SPDX-License-Identifier: Apache-2.0
"""Tells a guest how large the terminal is, since a serial line cannot.

A guest asks by an escape sequence, which terminals ignore; guest/linux/driver/gandalf_size.c takes
the answer, which comes among the keys. Who has not asked gets none, as it would be garbage there.
"""

REQUEST = b"\x1b]7473;size\x07"
# Linux takes rows and columns of four digits.
_LARGEST = 9999


class Window:
    """The size as the consoles know it."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[int, int]] = {}
        self._tail = b""

    def watch(self, shown: bytes, focus: str) -> None:
        """Look for requests in what the console with the keyboard has written."""
        text = self._tail + shown
        if REQUEST in text:
            self._told[focus] = (0, 0)
            text = text[text.rindex(REQUEST) + len(REQUEST) :]
        self._tail = text[-len(REQUEST) + 1 :]

    def answer(self, focus: str, columns: int, rows: int) -> bytes:
        """Return what is sent to the console with the keyboard, if it asked and knows another.

        A terminal that does not know its own size has none to tell.
        """
        size = (min(rows, _LARGEST), min(columns, _LARGEST))
        if 0 in size or self._told.get(focus, size) == size:
            return b""
        self._told[focus] = size
        return b"\xff%d;%dt" % size
