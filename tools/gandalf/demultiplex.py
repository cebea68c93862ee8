# SPDX-License-Identifier: Apache-2.0
"""Takes the one stream of the UART apart into the consoles that the VMM put into it.

The VMM sends the bytes of the console that has the keyboard as they are, and
complete lines of the others with their name in front:

* `[NAME] text CR LF` when the focused console is at the start of a line;
* `CR ESC [K [NAME] text CR LF` and the unfinished line again when it is not;
* `[console NAME has the keyboard] CR LF`, in either form, when the focus moves,
  and then the unfinished line of the console that has it now.
"""

import re

_ERASE = b"\r\x1b[K"


class Demultiplexer:
    """Feed it the stream in pieces of any size; it returns (console, bytes) as they come."""

    def __init__(self, names: list[str], focus: str) -> None:
        self.focus = focus
        self._names = [name.encode() for name in names]
        self._held = b""
        # What each console has printed since its last end of line.
        self._unfinished: dict[str, bytes] = dict.fromkeys(names, b"")
        # The part of the focused console's unfinished line that the VMM may now repeat.
        self._repeat = b""

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Take the next bytes; return what they add to each console, in order."""
        self._held += data
        output: list[tuple[str, bytes]] = []
        while self._held:
            taken = self._inserted(output)
            if taken is None:
                break
            if taken == 0:
                taken = self._own(output)
            self._held = self._held[taken:]
        return output

    def _inserted(self, output: list[tuple[str, bytes]]) -> int | None:
        """Take one inserted line. Returns its bytes; 0 if there is none; None to wait."""
        erased = self._held.startswith(_ERASE)
        if not erased and self._held == _ERASE[: len(self._held)]:
            return None
        if not erased and (self._unfinished[self.focus] or self._repeat):
            return 0
        start = len(_ERASE) if erased else 0
        end = self._held.find(b"\r\n", start)
        line = self._held[start : end if end >= 0 else None]
        moved = re.fullmatch(rb"\[console ([a-z0-9_-]+) has the keyboard\]", line)
        other = re.match(rb"\[([a-z0-9_-]+)\] ", line)
        if end < 0:
            return None if self._may_be_inserted(line) else 0
        if moved and moved[1] in self._names:
            self.focus = moved[1].decode()
            self._repeat = self._unfinished[self.focus]
        elif other and other[1] in self._names and other[1] != self.focus.encode():
            self._line(other[1].decode(), line[other.end() :], output)
            self._repeat = self._unfinished[self.focus] if erased else b""
        else:
            return 0
        return end + 2

    def _may_be_inserted(self, line: bytes) -> bool:
        """Tell whether the rest of a line may make it an inserted one."""
        heads = [b"[" + name + b"] " for name in self._names if name != self.focus.encode()]
        heads += [b"[console " + name + b" has the keyboard]" for name in self._names]
        return any(line.startswith(head) or head.startswith(line) for head in heads)

    def _line(self, name: str, text: bytes, output: list[tuple[str, bytes]]) -> None:
        """A whole line of a console without the keyboard, of which we may know the start."""
        known = self._unfinished[name]
        rest = text[len(known) :] if text.startswith(known) else text
        output.append((name, rest + b"\r\n"))
        self._unfinished[name] = b""

    def _own(self, output: list[tuple[str, bytes]]) -> int:
        """Take the next byte of the focused console, or of its line repeated."""
        byte = self._held[:1]
        if self._repeat.startswith(byte):
            self._repeat = self._repeat[1:]
            return 1
        self._repeat = b""
        if output and output[-1][0] == self.focus:
            output[-1] = (self.focus, output[-1][1] + byte)
        else:
            output.append((self.focus, byte))
        self._unfinished[self.focus] = b"" if byte == b"\n" else self._unfinished[self.focus] + byte
        return 1
