# SPDX-License-Identifier: Apache-2.0
"""Explains each report as it comes out of a machine, with the stack of the guest."""

import re
from collections.abc import Callable

from gandalf.build.build import Built
from gandalf.console.demultiplex import VMM_CONSOLE, Demultiplexer
from gandalf.description.description import RtosGuest
from gandalf.explain.report import Report, explain, find_reports, places_of

# Bytes of the stack that are kept. The VMM reports in steps: while it does, they still stand there.
_STACK = 2048
_EVENTS = 12
# More characters than a report has. What goes on for longer is none.
_LONGEST = 16384
_BEGINS = re.compile(r"^guest \S+ stopped: ", re.M)
_REGISTERS_SHOWN = re.compile(r"^  ds [0-9a-f]{4} .*\n", re.M)
_EVENT = re.compile(r"^  \d+ us, .*\n", re.M)
# What follows the last line of a report in the log.
_BEHIND = re.compile(r"^  its last events:\n(?:  .*\n)*(?!  )[^\n]+", re.M)

ReadPhysical = Callable[[int, int], bytes | None]


class ReportWatch:
    """Sees all that a machine shows. read: its physical memory, where that can be read."""

    def __init__(self, built: Built, read: ReadPhysical) -> None:
        self._built, self._read = built, read
        self._demultiplexer = Demultiplexer([*built.names, VMM_CONSOLE])
        self._log = ""
        self._stack: tuple[int, bytes] | None = None
        self._line_begins = True

    def feed(self, data: bytes) -> bytes:
        """Take what was shown, nothing if that is nothing, and return what is to be shown then."""
        if data:
            self._line_begins = data.endswith(b"\n")
        try:
            return self._feed(data)
        except Exception:  # whatever it is, the machine goes on
            self._log, self._stack = "", None
            return self._shown(["a report that cannot be explained"])

    def _feed(self, data: bytes) -> bytes:
        for console, text in self._demultiplexer.feed(data):
            if console == VMM_CONSOLE:
                self._log += text.decode("ascii", "replace").replace("\r", "")
        begin = _BEGINS.search(self._log)
        if begin is None:
            self._log = self._log[self._log.rfind("\n") + 1 :]
            return b""
        self._log = self._log[begin.start() :]
        if len(self._log) > _LONGEST:
            self._log, self._stack = "", None
            return b""
        if self._stack is None and _REGISTERS_SHOWN.search(self._log):
            self._keep_stack()
        return self._explain(idle=not data)

    def _reports(self) -> list[Report]:
        """Return the reports of guests that there are: a guest may print what looks like one."""
        return [row for row in find_reports(self._log) if row.guest in self._built.names]

    def _keep_stack(self) -> None:
        for report in self._reports():
            self._stack = (0, b"")
            index = self._built.names.index(report.guest)
            region, esp = self._built.checked.layout.guests[index], report.registers["esp"]
            size = min(_STACK, region.end - region.start - esp)
            is_rtos = isinstance(self._built.checked.system.guests[index][1], RtosGuest)
            if is_rtos and size > 0:
                self._stack = (esp, self._read(region.start + esp, size) or b"")

    def _word(self, address: int) -> int | None:
        first, content = self._stack or (0, b"")
        word = content[address - first : address - first + 4] if address >= first else b""
        return int.from_bytes(word, "little") if len(word) == 4 else None

    def _explain(self, *, idle: bool) -> bytes:
        whole = len(_EVENT.findall(self._log)) >= _EVENTS or _BEHIND.search(self._log)
        begun = "  its last events:\n" in self._log and self._log.endswith("\n")
        if self._stack is None and not re.search(r"^guest \S+ stopped: by command\n", self._log):
            return b""
        if not whole and not (idle and begun) and self._stack is not None:
            return b""
        reports = self._reports()
        lines = [
            line
            for report in reports[:1]
            for line in explain(
                report, places_of(self._built.checked.system, report.guest), self._word
            )
        ]
        self._log, self._stack = "", None
        return self._shown(lines)

    def _shown(self, lines: list[str]) -> bytes:
        start = "" if self._line_begins else "\r\n"
        text = "".join(f"gandalf: {line}\r\n" for line in lines)
        return (start + text).encode() if lines else b""
