# SPDX-License-Identifier: Apache-2.0
"""Connects the user's terminal to a machine's serial port.

The VMM itself multiplexes its consoles and understands Ctrl-A n and Ctrl-A h, so
that any terminal program works. This one adds a way out (Ctrl-A x) and a way to be
alone (Ctrl-A m), colours the names of the other consoles, and leaves the terminal as
it found it, whatever happens.
"""

import os
import re
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType

from gandalf.console.mute import Mute
from gandalf.console.share import Share
from gandalf.console.window import Window

CTRL_A = b"\x01"
KEYS = (
    "Ctrl-A n: next console gets the keyboard   Ctrl-A m: mute the others, or hear them again   "
    "Ctrl-A h: help   Ctrl-A a: send Ctrl-A   Ctrl-A x: leave"
)
# How long the start of what may be a console's name is held back.
_PATIENCE = 0.05
_COLOURS = (36, 33, 35, 32, 34, 31)


# Is told what was shown, nothing after a moment without anything; returns what is to be added.
Watch = Callable[[bytes], bytes]


class Ending(Enum):
    """Why the connection ended."""

    LEFT = "the user left"
    CLOSED = "the machine closed the line"
    TIME = "the time is over"


class KeyFilter:
    """Passes keys on, except Ctrl-A x, which leaves, and Ctrl-A m, which mutes or ends that.

    Other keys behind Ctrl-A, but for `a`, have the VMM say something, and so end that, too.
    """

    def __init__(self) -> None:
        self._prefix = False
        self.left = False
        self.muted = False

    def feed(self, keys: bytes) -> bytes:
        """Return what of the keys goes to the machine. A Ctrl-A waits for the key after it."""
        passed = b""
        for value in keys:
            key = bytes([value])
            if self._prefix and key in (b"x", b"X"):
                self.left = True
                return passed
            if self._prefix and key in (b"m", b"M"):
                self._prefix, self.muted = False, not self.muted
                continue
            if self._prefix and key != b"a":
                self.muted = False
            if key == CTRL_A and not self._prefix:
                self._prefix = True
                continue
            passed += CTRL_A + key if self._prefix else key
            self._prefix = False
        return passed


class Colouring:
    """Colours `[NAME]` at the start of lines, for the names of the machine's consoles."""

    _START = rb"(?:(?<=\n)|(?<=\r\x1b\[K))"
    # The end of the data may be the start of a name, or of what precedes one.
    _UNDECIDED = re.compile(rb"(?:\r(?:\x1b\[?)?|" + _START + rb"\[[a-z0-9_-]{0,15})\Z")

    def __init__(self, names: list[str]) -> None:
        self._codes = {name.encode(): _COLOURS[n % len(_COLOURS)] for n, name in enumerate(names)}
        alternatives = b"|".join(re.escape(name) for name in self._codes)
        self._name = re.compile(self._START + rb"\[(" + alternatives + rb")\]")
        self._before = b"\n"
        self.held = b""

    def feed(self, data: bytes) -> bytes:
        """Return the data with colours. The start of what may be a name is held back."""
        start = len(self._before)
        data = self._before + self.held + data
        undecided = self._UNDECIDED.search(data, start)
        self.held = undecided[0] if undecided else b""
        decided = data[: len(data) - len(self.held)]
        output = b""
        for match in self._name.finditer(decided, start):
            colour = b"\x1b[%dm%s\x1b[0m" % (self._codes[match[1]], match[0])
            output += decided[start : match.start()] + colour
            start = match.end()
        self._before = decided[-4:]
        return output + decided[start:]

    def flush(self) -> bytes:
        """Return what is held back, as it is."""
        held, self.held = self.held, b""
        self._before = (self._before + held)[-4:]
        return held


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextmanager
def raw_terminal(descriptor: int) -> Iterator[None]:
    """Put a terminal into raw mode; restore it on any way out, SIGTERM and SIGHUP included."""
    before = termios.tcgetattr(descriptor)
    signals = (signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.signal(number, _leave) for number in signals}
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        if os.isatty(1):
            os.write(1, b"\x1b[0m\x1b[?25h\r\n")
        for number, handler in handlers.items():
            signal.signal(number, handler)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def read_line(descriptor: int) -> bytes:
    """Return what has arrived; nothing at the end, for sockets and pseudoterminals alike."""
    try:
        return os.read(descriptor, 65536)
    except OSError:  # a pseudoterminal's other side was closed
        return b""


class _Bridge:
    """Moves bytes between the terminal and the machine until one of them ends."""

    def __init__(
        self,
        line: int,
        keys: int,
        read: Callable[[], bytes],
        keyboard: int | None,
        names: list[str],
        watch: Watch,
        share: Share | None,
    ) -> None:
        self._watch, self._share = watch, share
        self._line, self._line_in, self._read, self._keyboard = line, keys, read, keyboard
        self._colouring = Colouring(names) if os.isatty(1) else None
        self._mute = Mute(names)
        self._window = Window()
        self._keys = KeyFilter()
        self._outgoing = b""
        self.idle = False

    def _write(self, data: bytes) -> None:
        if data:
            write_all(1, self._colouring.feed(data) if self._colouring else data)

    @property
    def _lent(self) -> bool:
        return self._share is not None and self._share.lent

    def _show(self, data: bytes) -> None:
        shown = self._mute.feed(data) if data else self._mute.idle()
        if self._share is not None and self._share.lent:
            shown = self._share.give(data)
        self._write(shown)
        added = self._watch(data)
        if added and self._mute.on:
            self._mute.hold(added)
        elif added:
            write_all(1, added)

    def _press(self, keys: bytes) -> None:
        """Take keys of the user's, which go nowhere while the line is lent."""
        passed = self._keys.feed(keys)
        self._outgoing += b"" if self._lent else passed
        self._write(self._mute.want(self._keys.muted))

    def _tell_size(self) -> None:
        """Send the terminal's size to a console that wants it, unless it knows."""
        if self._keyboard is not None and not self._lent:
            columns, rows = os.get_terminal_size(self._keyboard)
            self._outgoing += self._window.answer(self._mute.focus, columns, rows)

    def _wait(self, timeout: float) -> tuple[list[int], bool]:
        watched = [self._line, *([self._keyboard] if self._keyboard is not None else [])]
        writable = [self._line_in] if self._outgoing else []
        # A borrower's keys wait while those before them are on their way.
        if self._share is not None and not self._outgoing:
            watched.append(self._share.watched())
        if (self._colouring and self._colouring.held) or self._mute.waits:
            timeout = min(timeout, _PATIENCE)
        ready, can_write, _ = select.select(watched, writable, [], timeout)
        if not ready and self._colouring:
            write_all(1, self._colouring.flush())
        return ready, bool(can_write)

    def step(self, timeout: float) -> Ending | None:
        """Move what there is to move; wait at most timeout seconds for it."""
        ready, can_write = self._wait(timeout)
        if self._share is not None and self._share.watched() in ready:
            self._outgoing += self._share.take(self._mute.focus)
        self.idle = not ready
        if self.idle:
            self._show(b"")
        if self._line in ready:
            data = self._read()
            if not data:
                return Ending.CLOSED
            self._show(data)
            self._window.watch(data, self._mute.focus)
        if self._keyboard is not None and self._keyboard in ready:
            keys = os.read(self._keyboard, 4096)
            self._press(keys)
            if self._keys.left or not keys:
                return Ending.LEFT
        self._tell_size()
        if can_write:
            # At most what the machine takes at once: a long paste must not block the output.
            self._outgoing = self._outgoing[os.write(self._line_in, self._outgoing[:256]) :]
        return None


def connect(
    line: int,
    read: Callable[[], bytes],
    names: list[str],
    seconds: float | None,
    alive: Callable[[], bool],
    keys: int | None = None,
    watch: Watch = lambda _: b"",
    share: Share | None = None,
) -> Ending:
    """Connect the terminal, or standard output only where there is none, to a serial line.

    line: descriptor, waited for and written, unless keys is another one to write to. read:
    returns what has arrived on it, nothing when it is closed. names: of the consoles, for
    colours. seconds: at most; None: no limit. alive: tells whether the machine still runs.
    watch: is told what was shown, and returns what is to be shown behind it. share: lends the line
    to other programs.
    """
    interactive = sys.stdin is not None and sys.stdin.isatty()
    keyboard = sys.stdin.fileno() if interactive else None
    sys.stdout.flush()
    bridge = _Bridge(line, line if keys is None else keys, read, keyboard, names, watch, share)
    if keyboard is None:
        return _run(bridge, seconds, alive)
    with raw_terminal(keyboard):
        return _run(bridge, seconds, alive)


def _run(bridge: _Bridge, seconds: float | None, alive: Callable[[], bool]) -> Ending:
    end = time.monotonic() + seconds if seconds is not None else None
    while True:
        left = end - time.monotonic() if end is not None else 0.5
        running = alive()
        # What has come in time is shown, however late it is noticed.
        ending = bridge.step(max(min(left, 0.5), 0) if running else 0.1)
        if ending:
            return ending
        if not running and bridge.idle:
            return Ending.CLOSED
        if left <= 0:
            return Ending.TIME
