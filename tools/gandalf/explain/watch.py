# SPDX-License-Identifier: Apache-2.0
"""Explains each report as it comes out of a machine, with the stack of the guest."""

import re
from collections.abc import Callable
from dataclasses import replace

from gandalf.build.build import Built
from gandalf.console.demultiplex import VMM_CONSOLE, Demultiplexer
from gandalf.description.description import RtosGuest
from gandalf.explain.report import MOST_EVENTS, Report, explain, find_reports, places_of
from gandalf.explain.stack import Words, stack_lines, words_of

# Bytes of the stack that are kept. The VMM reports in steps: while it does, they still stand there.
_STACK = 2048
# Looks at which nothing more was shown, behind which a line is a prompt, and may be interrupted.
_LOOKS = 3
# More characters than a report has. What goes on for longer is none.
_LONGEST = 16384
_BEGINS = re.compile(r"^guest \S+ stopped: ", re.M)
_BY_COMMAND = re.compile(r"guest \S+ stopped: by command\n")
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
        # Of the guests whose reports are in the log, as soon as it is known where they are.
        self._stacks: list[Words] = []
        self._line_begins = True
        # What is explained, and waits until a line begins: the rest of one may be on its way.
        self._held: list[str] = []
        self._quiet = 0  # looks in a row at which nothing was shown

    def feed(self, data: bytes) -> bytes:
        """Take what was shown, nothing if that is nothing, and return what is to be shown then."""
        if data:
            self._line_begins = data.endswith(b"\n")
        try:
            self._held += self._feed(data)
        except Exception:  # whatever it is, the machine goes on
            self._log, self._stacks = "", []
            self._held.append("a report that cannot be explained")
        self._quiet = 0 if data else self._quiet + 1
        if not self._line_begins and self._quiet < _LOOKS:
            return b""
        return self.rest()

    def rest(self) -> bytes:
        """Return what still waits to be shown: at the end of all no line goes on."""
        lines, self._held = self._held, []
        return self._shown(lines)

    def _feed(self, data: bytes) -> list[str]:
        for console, text in self._demultiplexer.feed(data):
            if console == VMM_CONSOLE:
                self._log += text.decode("ascii", "replace").replace("\r", "")
        shown: list[str] = []
        while begin := _BEGINS.search(self._log):
            self._log = self._log[begin.start() :]
            self._keep_stacks()
            following = _BEGINS.search(self._log, 1)
            end = following.start() if following else self._log.rfind("\n") + 1
            if len(self._log) > _LONGEST and not following:
                self._log, self._stacks = "", []
            elif following or self._is_whole(idle=not data):
                shown += self._explain(self._log[:end])
                self._log = self._log[end:]
            else:
                return shown
        self._log = self._log[self._log.rfind("\n") + 1 :]
        return shown

    def _reports(self, text: str) -> list[Report]:
        """Return the reports of guests that there are: a guest may print what looks like one."""
        return [report for report in find_reports(text) if report.guest in self._built.names]

    def _keep_stacks(self) -> None:
        for report in self._reports(self._log)[len(self._stacks) :]:
            index = self._built.names.index(report.guest)
            region, esp = self._built.checked.layout.guests[index], report.registers["esp"]
            size = min(_STACK, region.end - region.start - esp)
            is_rtos = isinstance(self._built.checked.system.guests[index][1], RtosGuest)
            content = self._read(region.start + esp, size) if is_rtos and size > 0 else None
            self._stacks.append(words_of(esp, content or b""))

    def _is_whole(self, *, idle: bool) -> bool:
        """Tell whether the report with which the log begins has all its lines, or gets no more."""
        if _BY_COMMAND.match(self._log) or len(_EVENT.findall(self._log)) >= MOST_EVENTS:
            return True
        begun = "  its last events:\n" in self._log and self._log.endswith("\n")
        return _BEHIND.search(self._log) is not None or (idle and begun)

    def _explain(self, text: str) -> list[str]:
        lines: list[str] = []
        for report in self._reports(text):
            stack = self._stacks.pop(0)
            places = places_of(self._built.checked.system, report.guest)
            lines += explain(replace(report, stack=stack), places) + stack_lines(stack)
        return lines

    def _shown(self, lines: list[str]) -> bytes:
        start = "" if self._line_begins else "\r\n"
        text = "".join(f"gandalf: {line}\r\n" for line in lines)
        return (start + text).encode() if lines else b""
