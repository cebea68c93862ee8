# SPDX-License-Identifier: Apache-2.0
"""A shell on the serial port of a machine in QEMU that runs one system and nothing else.

The machine runs only while something is waited for: without a real clock an idle one would take a
whole CPU of the host. Timeouts are seconds of the host's clock, and for hangs only.
"""

import codecs
import contextlib
import re
import select
import time

from qemu.qmp import QMPError

from gandalf.base.paths import UserError
from gandalf.run.emulator import Qemu

PATIENCE = 600.0
_SHOWN_LINES = 15
# Bytes of the FIFO of a 16550A.
_PIECE = 16
# What the shell asks the terminal (where is the cursor?), and carriage returns.
_NOISE = re.compile(r"\x1b\[\d*n|\r")
# What may become noise when more of it has come.
_UNDECIDED = re.compile(r"\x1b(?:\[\d*)?\Z")


class Terminal:
    """The terminal. qemu: the machine. prompt: regular expression of the shell's prompt."""

    def __init__(self, qemu: Qemu, prompt: str, patience: float = PATIENCE) -> None:
        self.qemu = qemu
        # Everything that was printed, with \n as the end of lines, and how much of it is consumed.
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._position = 0
        self._prompt, self._patience = prompt, patience
        self._paused = False

    def expect(self, regex: str) -> re.Match[str]:
        """Wait until a match is printed, and consume the text up to its end.

        Raises UserError if it takes too long or the machine ends.
        """
        pattern = re.compile(regex, re.MULTILINE)
        end = time.monotonic() + self._patience
        while not (match := pattern.search(self.text, self._position)):
            self.resume()
            if time.monotonic() > end:
                raise UserError(f"{self._patience:g} s went by without {regex!r}.\n{self._tail()}")
            self._read(regex)
        self.pause()
        self._position = match.end()
        return match

    def _read(self, regex: str) -> None:
        """Take what has come from the machine, and wait a moment if that is nothing."""
        ready, _, _ = select.select([self.qemu.line], [], [], 0.5)
        data = self.qemu.read() if ready else b""
        if not data and (ready or not self.qemu.alive()):
            raise UserError(
                f"The machine ended before {regex!r} came. {self.qemu.outcome().sentence}\n"
                f"{self._tail()}"
            )
        self.text += self._decode(data)

    def _decode(self, data: bytes) -> str:
        """Return the text of what has come, whatever the pieces in which it does."""
        text = self._held + self._decoder.decode(data)
        undecided = _UNDECIDED.search(text)
        self._held = undecided[0] if undecided else ""
        return _NOISE.sub("", text.removesuffix(self._held))

    def _tail(self) -> str:
        return "\n".join(["Its last lines:", *self.text.splitlines()[-_SHOWN_LINES:]])

    def pause(self) -> None:
        """Stop virtual time until something is waited for."""
        if not self._paused:
            self._paused = True  # whatever becomes of the command, resume() undoes it
            self._command("stop")

    def resume(self) -> None:
        """Let virtual time go on."""
        if self._paused:
            self._paused = not self._command("cont")

    def _command(self, name: str) -> bool:
        """Give QEMU a command; false if it has ended meanwhile."""
        with contextlib.suppress(OSError, EOFError, QMPError):
            self.qemu.monitor.cmd(name)
            return True
        return False

    def wait_for_prompt(self) -> None:
        """Wait until the shell asks for a command."""
        self.expect(self._prompt)

    def send(self, text: str) -> None:
        """Type text."""
        self.qemu.write(text.encode())

    def shell(self, line: str) -> str:
        """Type a line, wait for the prompt, and return what was printed in between.

        It is typed no faster than it is echoed: a system that looks at its port now and then, as
        Xen does, loses what does not fit the port's FIFO meanwhile, on a busy host at least.
        """
        start = self._position
        for first in range(0, len(line), _PIECE):
            piece = line[first : first + _PIECE]
            self.send(piece)
            self.expect("(?s)" + ".*?".join(map(re.escape, piece)))
        self.send("\n")
        match = self.expect(rf"(?:\A|\n)[^\n]*?{self._prompt}")
        output = self.text[start : match.start()]
        echo, _, rest = output.partition("\n")
        return rest if line in echo else output
