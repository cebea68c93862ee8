# SPDX-License-Identifier: Apache-2.0
"""Takes the one stream of the UART apart into the consoles that the VMM put into it.

vmm/device/console_mux.c makes the stream; a test feeds its output through here. The
console that has the keyboard is sent as it is. Into it are inserted

* `[NAME] text CR LF`, a line of another console. If the focused console is in the
  middle of a line, `CR ESC [K` takes that from the screen before, and it is
  drawn again behind;
* `[console NAME has the keyboard] CR LF` when the focus moves, on a line of its
  own, and behind it the line that the console has left unfinished;
* the two lines of the help text.

A line end that no console has written is `CAN CR LF`: a line of another console is
too long and goes on in the next one of that console, or the focused console's cannot be
drawn again, or the focus moves. What the VMM remembers of a line is remembered here
as well, so what is drawn again is known to the byte. Every byte of the focused console
comes out, and of the others all that does not move the cursor.
"""

import re
from enum import Enum, auto

VMM_CONSOLE = "vmm"

_CANCEL = b"\x18"
_BREAK = b"\x18\r\n"
_ERASE = b"\r\x1b[K"
_KEYS = b"[Ctrl-A n: "
_CONSOLES = b"[consoles:"
_LOST = re.compile(rb"\(\d+ characters lost\)")
# As much of a line as the VMM draws again and inserts, and the rest of a character behind it.
_LINE_SIZE = 200
_INSERTED_SIZE = _LINE_SIZE + 4
# More than the longest insertion, which lists all consoles.
_LONGEST = 1024
# What cannot change the state of a line but by making it longer.
_PLAIN = re.compile(rb"[^\x00-\x1f]+")


class _Escape(Enum):
    """Where in an escape sequence a line ends (escape_next() in the VMM)."""

    NONE = auto()
    START = auto()
    CONTROL = auto()
    STRING = auto()
    STRING_END = auto()

    def next(self, byte: bytes) -> "_Escape":
        if byte == b"\x1b":
            return _Escape.STRING_END if self is _Escape.STRING else _Escape.START
        if byte in (_CANCEL, b"\n"):
            return _Escape.NONE
        if self is _Escape.CONTROL:
            return _Escape.NONE if b"\x40" <= byte <= b"\x7e" else self
        if self is _Escape.STRING:
            return _Escape.NONE if byte == b"\x07" else self
        if self is not _Escape.START:
            return _Escape.NONE
        if byte == b"[":
            return _Escape.CONTROL
        if byte in b"]P^_":
            return _Escape.STRING
        return self if byte[0] & 0xF0 == 0x20 else _Escape.NONE


class _Line:
    """A console's unfinished line on the screen, as the VMM would draw it again."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.shown = b""  # its first _LINE_SIZE bytes
        self.length = 0
        self.escape = _Escape.NONE
        self._start = 0

    @property
    def is_long(self) -> bool:
        """Tell whether it has more than what can be drawn again."""
        return self.length > _LINE_SIZE

    def add(self, text: bytes) -> None:
        """Remember bytes that only make it longer."""
        self.shown = (self.shown + text)[:_LINE_SIZE] if self.length < _LINE_SIZE else self.shown
        self.length += len(text)

    def _cut(self, length: int) -> None:
        self.shown, self.length = self.shown[:length], length

    def track(self, byte: bytes) -> None:
        """Remember a byte (line_track() in the VMM): no bells, and nothing that is sent once."""
        before, self.escape = self.escape, self.escape.next(byte)
        if byte == b"\n":
            self.clear()
            return
        if before is _Escape.NONE and self.escape is not _Escape.NONE:
            self._start = self.length
        if byte != b"\x07" or before is not _Escape.NONE:
            self.add(byte)
        ended = before is not _Escape.NONE and self.escape is _Escape.NONE
        if ended and (before in (_Escape.STRING, _Escape.STRING_END) or byte in b"ncZ"):
            self._cut(self._start)


class Demultiplexer:
    """Feed it the stream in pieces of any size; it returns (console, bytes) as they come.

    names: all consoles. focus: which has the keyboard at the start; the VMM's log, from which
    the keyboard moves to a guest when the guests start.
    """

    def __init__(self, names: list[str], focus: str = VMM_CONSOLE) -> None:
        self.focus = focus
        self._held = b""
        self._lines = {name: _Line() for name in names}
        self._heads = {b"[" + name.encode() + b"] ": name for name in names}
        self._notices = {
            b"[console " + name.encode() + b" has the keyboard]": name for name in names
        }
        # What is still to come of a line that is drawn again.
        self._again = b""
        # The last insertion may go on, before anything is drawn again.
        self._goes_on = False

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Take the next bytes; return what they add to each console, in order."""
        self._held += data
        output: list[tuple[str, bytes]] = []
        while self._held:
            taken = self._take_insertion(output)
            if taken is None:
                break
            taken = taken or self._take_again() or self._take_own(output)
            self._held = self._held[taken:]
        return output

    @property
    def settled(self) -> bool:
        """Tell whether no byte waits for others, and no line is half drawn again."""
        return not self._held and not self._again

    def flush(self) -> list[tuple[str, bytes]]:
        """Take what waits as the focused console's: the VMM would have sent the rest at once."""
        output: list[tuple[str, bytes]] = []
        self._again = b""
        while self._held:
            self._held = self._held[self._take_own(output) :]
        return output

    def line(self) -> tuple[bytes, bytes]:
        """Return what takes the focused console's line from the screen, and draws it again.

        As the VMM does it: a line that is too long stays, and goes on below.
        """
        line = self._lines[self.focus]
        if not line.shown:
            return b"", b""
        if line.is_long:
            return _BREAK, b""
        return (_ERASE if line.escape is _Escape.NONE else _CANCEL + _ERASE), line.shown

    def _leads(self) -> list[bytes]:
        """Return what the VMM may put in front of an insertion here."""
        line = self._lines[self.focus]
        if self._goes_on:
            return [b""]
        if self._again:
            return []
        if not line.shown:
            return [b"", _BREAK]
        if line.is_long:
            return [_BREAK]
        return [_ERASE if line.escape is _Escape.NONE else _CANCEL + _ERASE, _BREAK]

    def _take_insertion(self, output: list[tuple[str, bytes]]) -> int | None:
        """Take one inserted line. Returns its bytes; 0 if there is none; None to wait for more."""
        for lead in self._leads():
            if not self._held.startswith(lead):
                if lead.startswith(self._held):
                    return None
                continue
            rest = self._held[len(lead) :]
            end = rest.find(b"\r\n", 0, _LONGEST)
            if end < 0 and self._may_be_inserted(rest):
                return None
            if end >= 0 and self._insert(rest[:end], lead, output):
                return len(lead) + end + 2
        return 0

    def _may_be_inserted(self, line: bytes) -> bool:
        """Tell whether this may become an inserted line when more of it has come."""
        heads = [head + (b"(" if name == self.focus else b"") for head, name in self._heads.items()]
        if any(head.startswith(line) for head in (*heads, *self._notices, _KEYS, _CONSOLES)):
            return True
        if line.rstrip(b"\r") in self._notices or line.startswith((_KEYS, _CONSOLES)):
            return True
        # Behind the text CAN and CR may have come of the line's end.
        return any(
            line.startswith(head) and len(line) <= len(head) + _INSERTED_SIZE + 2 for head in heads
        )

    def _insert(self, line: bytes, lead: bytes, output: list[tuple[str, bytes]]) -> bool:
        """Digest an inserted line without its end; False if it is none."""
        head = line[: line.find(b"] ") + 2]
        text = line[len(head) :]
        lost = bool(_LOST.fullmatch(text))
        shown = self._lines[self.focus]
        if line in self._notices:
            self.focus = self._notices[line]
        elif head in self._heads and (lost or self._heads[head] != self.focus):
            self._insert_text(self._heads[head], text, lost, output)
        elif not line.startswith((_KEYS, _CONSOLES)):
            return False
        if lead == _BREAK and (line not in self._notices or shown.is_long):
            shown.clear()
        self._again = self._lines[self.focus].shown
        self._goes_on = lost or line.startswith(_KEYS)
        return True

    def _insert_text(
        self, name: str, text: bytes, lost: bool, output: list[tuple[str, bytes]]
    ) -> None:
        goes_on = text.endswith(_CANCEL)
        output.append((name, text[:-1] if goes_on else text + b"\r\n"))
        if not lost or name == self.focus:
            self._lines[name].clear()

    def _take_again(self) -> int:
        """Take what is drawn again; returns its bytes."""
        self._goes_on = False
        length = 0
        if self._again:
            length = min(len(self._again), len(self._held))
            if self._held[:length] != self._again[:length]:
                length = 0  # not a stream of the VMM's: it is the console's
                self._again = b""
            self._again = self._again[length:]
        return length

    def _take_own(self, output: list[tuple[str, bytes]]) -> int:
        """Take what the focused console wrote; returns its bytes."""
        line = self._lines[self.focus]
        plain = _PLAIN.match(self._held) if line.shown and line.escape is _Escape.NONE else None
        taken = plain[0] if plain else self._held[:1]
        if plain:
            line.add(taken)
        else:
            line.track(taken)
        if output and output[-1][0] == self.focus:
            output[-1] = (self.focus, output[-1][1] + taken)
        else:
            output.append((self.focus, taken))
        return len(taken)
