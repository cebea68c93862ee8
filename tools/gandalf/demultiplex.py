# SPDX-License-Identifier: Apache-2.0
"""Takes the one stream of the UART apart into the consoles that the VMM put into it.

vmm/device/console.c makes the stream; a test feeds its output through here. The
console that has the keyboard is sent as it is. Into it are inserted

* `[NAME] text CR LF`, a line of another console. If the focused console is in the
  middle of a line, `CR ESC [K` takes that from the screen before, and it is
  drawn again behind;
* `[console NAME has the keyboard] CR LF` when the focus moves, on a line of its
  own, and behind it the line that the console has left unfinished;
* the two lines of the help text.
"""

import re

VMM_CONSOLE = "vmm"

_CANCEL = b"\x18"
_ERASE = b"\r\x1b[K"
_HELP = (b"[Ctrl-A n: ", b"[consoles:")
# As much of a line as the VMM draws again, and what it leaves out: bells, and sequences that
# ask the terminal something or set titles.
_LINE_SIZE = 200
_SENT_ONCE = re.compile(
    rb"\x07|\x1b\[[0-?]*[ -/]*[nc]|\x1b[Zc]|\x1b[\]P^_][^\x07\x1b]*(?:\x07|\x1b.)?"
)


class Demultiplexer:
    """Feed it the stream in pieces of any size; it returns (console, bytes) as they come.

    names: all consoles. focus: which has the keyboard at the start; the VMM's log, from which
    the keyboard moves to a guest when the guests start.
    """

    def __init__(self, names: list[str], focus: str = VMM_CONSOLE) -> None:
        self.focus = focus
        self._names = [name.encode() for name in names]
        self._held = b""
        # The focused console's line so far, and the one before if nothing has followed it.
        self._line = b""
        self._ended = b""
        # What each console without the focus may have left unfinished on the screen.
        self._left = dict.fromkeys(names, b"")
        # What the VMM may draw again now, what of it has come, and the line that it stands for.
        self._repeat = b""
        self._repeated = b""
        self._restored = b""
        self._after_insertion = False

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Take the next bytes; return what they add to each console, in order."""
        self._held += data
        output: list[tuple[str, bytes]] = []
        while self._held:
            taken = self._take_insertion(output)
            if taken is None:
                break
            if taken == 0:
                self._take_own(output)
                taken = 1
            self._held = self._held[taken:]
        return output

    def _take_insertion(self, output: list[tuple[str, bytes]]) -> int | None:
        """Take one inserted line. Returns its bytes; 0 if there is none; None to wait for more."""
        lead = b""
        if self._held.startswith(_ERASE):
            lead = _ERASE
        elif _ERASE.startswith(self._held):
            return None
        elif not self._after_insertion and (self._line or self._repeat):
            return 0
        rest = self._held[len(lead) :]
        end = rest.find(b"\r\n")
        if end < 0:
            return None if self._may_be_inserted(rest) else 0
        if not self._insert(rest[:end], bool(lead), output):
            return 0
        self._after_insertion = True
        return len(lead) + end + 2

    def _may_be_inserted(self, line: bytes) -> bool:
        heads = [b"[" + name + b"] " for name in self._names]
        heads += [b"[console " + name + b" has the keyboard]" for name in self._names]
        return any(line.startswith(head) or head.startswith(line) for head in (*heads, *_HELP))

    def _insert(self, line: bytes, erased: bool, output: list[tuple[str, bytes]]) -> bool:
        """Digest an inserted line; False if it is none."""
        moved = re.fullmatch(rb"\[console ([a-z0-9_-]+) has the keyboard\]", line)
        other = re.match(rb"\[([a-z0-9_-]+)\] ", line)
        if moved and moved[1] in self._names:
            self._left[self.focus] = self._line or self._ended
            self.focus = moved[1].decode()
            self._line = self._ended = b""
            self._expect_repeat(self._left[self.focus])
            return True
        if other and other[1] in self._names and other[1] != self.focus.encode():
            name = other[1].decode()
            output.append((name, line[other.end() :] + b"\r\n"))
            self._left[name] = b""
        elif not line.startswith(_HELP):
            return False
        if erased:
            self._expect_repeat(self._line)
        return True

    def _expect_repeat(self, line: bytes) -> None:
        self._repeat = _SENT_ONCE.sub(b"", line)[:_LINE_SIZE]
        self._repeated, self._restored = b"", line

    def _take_own(self, output: list[tuple[str, bytes]]) -> None:
        """Take the next byte of the focused console, or of its line drawn again."""
        byte = self._held[:1]
        self._after_insertion = False
        if byte == _CANCEL:  # ends an escape sequence on the screen, for an insertion
            return
        if self._repeat.startswith(byte):
            self._repeat = self._repeat[1:]
            self._repeated += byte
            if not self._repeat:
                self._line = self._restored
            return
        if self._repeat and not self._line:
            byte = self._repeated + byte  # it was not drawn again: this is a new line
        self._repeat = self._repeated = b""
        if output and output[-1][0] == self.focus:
            output[-1] = (self.focus, output[-1][1] + byte)
        else:
            output.append((self.focus, byte))
        self._line += byte
        self._ended = b""
        if byte.endswith(b"\n"):
            self._ended, self._line = self._line.rstrip(b"\r\n"), b""
