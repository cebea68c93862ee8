# SPDX-License-Identifier: Apache-2.0
"""Keeps the lines of other consoles from the screen for a while, and shows them later.

The VMM draws the line of the console that has the keyboard again behind each line of another one. A
program that draws the whole screen, such as an editor, is not served by that. While the others are
muted the screen gets the bytes of that console alone, as if nobody else were on the line.
"""

from collections import deque

from gandalf.console.demultiplex import Demultiplexer

# Of more lines than that the oldest are dropped, and counted.
HELD_MAXIMUM = 10_000


class Mute:
    """Takes the stream of the serial port, and gives what the screen is to show of it.

    names: of all consoles; lines of one that is not named are never muted. on: the others are
    muted, which begins where no line of theirs is half shown.
    """

    def __init__(self, names: list[str]) -> None:
        self.on = False
        self._wanted = False
        self._demultiplexer = Demultiplexer(names)
        self._held: deque[bytes] = deque()
        self._dropped = 0

    @property
    def focus(self) -> str:
        """The console that has the keyboard."""
        return self._demultiplexer.focus

    @property
    def waits(self) -> bool:
        """Tell whether a moment without anything would show what the last bytes were."""
        return (self.on or self._wanted) and not self._demultiplexer.settled

    def want(self, on: bool) -> bytes:
        """Mute the others, or hear them again, and return what is shown.

        It is done as soon as no line is half there.
        """
        self._wanted = on
        return self._turn()

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the stream, and return what is shown now."""
        focus = self._demultiplexer.focus
        pieces = self._demultiplexer.feed(data)
        return (self._own(focus, pieces) if self.on else data) + self._turn()

    def idle(self) -> bytes:
        """Return what was kept back because it might become another console's, and did not."""
        if not self.waits:
            return b""
        pieces = self._demultiplexer.flush()
        return (self._own(self._demultiplexer.focus, pieces) if self.on else b"") + self._turn()

    def hold(self, block: bytes) -> None:
        """Keep lines of the tool's own, until the others are heard again."""
        self._held.append(block)
        if len(self._held) > HELD_MAXIMUM:
            self._held.popleft()
            self._dropped += 1

    def _turn(self) -> bytes:
        """Begin or end as is wanted; at the end the screen gets what was held and the own line."""
        if self.on == self._wanted or not self._demultiplexer.settled:
            return b""
        self.on = self._wanted
        if self.on or not self._held:
            return b""
        shown, (erase, redraw) = b"".join(self._held), self._demultiplexer.line()
        if self._dropped:
            shown = b"[%d lines of other consoles are lost]\r\n" % self._dropped + shown
        self._held.clear()
        self._dropped = 0
        return erase + shown + redraw

    def _own(self, focus: str, pieces: list[tuple[str, bytes]]) -> bytes:
        """Return what pieces have of the console with the keyboard, and hold the others' lines."""
        own = b""
        for name, text in pieces:
            if name in (focus, self._demultiplexer.focus):
                own += text
            else:
                end = b"" if text.endswith(b"\r\n") else b"\x18\r\n"
                self.hold(b"[" + name.encode() + b"] " + text + end)
        return own
