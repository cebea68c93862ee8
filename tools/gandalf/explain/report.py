# SPDX-License-Identifier: Apache-2.0
"""Explains the VMM's report of a stopped guest: functions, lines, and who called whom."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from typing import Annotated

import typer
from elftools.common.exceptions import DWARFError, ELFError

from gandalf.base.command import SystemFile, say
from gandalf.base.paths import UserError, shown
from gandalf.build.symbols import Image
from gandalf.description.description import RtosGuest, System, read_description
from gandalf.explain.stack import ShownStack, Words, find_stacks
from gandalf.explain.unwind import Unwinder

# What `gandalf run` and terminals put in front of a line of the log.
_HEAD = r"^(?:\x1b\[[\d;]*m)?(?:\[vmm\](?:\x1b\[0m)? )?"
_REPORT = re.compile(
    _HEAD + r"guest (?P<guest>[a-z][a-z0-9_-]*) stopped: (?P<reason>.+)\n"
    r"(?P<lines>(?:" + _HEAD + r"  .+\n|(?!" + _HEAD + r"(?:guest|  )).*\n)*)",
    re.M,
)  # fmt: skip
# The VMM's lines among those of others: only they have a report's registers and events.
_OWN = re.compile(_HEAD + r"(  .*\n)", re.M)
# By this the VMM takes an unfinished line from the screen to show one of another console.
_ERASED = "\r\x1b[K"
_PLACE = re.compile(r"  at cs:eip ([0-9a-f]{4}):([0-9a-f]{8}), ss:esp [0-9a-f]{4}:([0-9a-f]{8})")
_REGISTER = re.compile(r"\b(e[abcd]x|esi|edi|ebp) ([0-9a-f]{8})")
_CODE = re.compile(r"  instruction: ((?:[0-9a-f]{2} )+)")
_EVENT = re.compile(r"  (\d+) us, vCPU \d+: (\w+) ([0-9a-f]+), ([0-9a-f]+)")
# As many the VMM shows; what is like them behind these was asked for on its console.
MOST_EVENTS = 12
# Events whose second number is the instruction that the guest was at.
_AT_EIP = ("trap", "interrupt", "exception", "deliver", "emulate")


@dataclass(frozen=True)
class Report:
    """A report. registers: those of the guest, by name. code: the bytes at its instruction.

    stack: the words of its stack that are known.
    """

    guest: str
    reason: str
    registers: dict[str, int]
    code: bytes
    events: tuple[tuple[str, ...], ...]
    stack: Words = field(default_factory=dict)


def _stack_within(part: range, guest: str, esp: int, stacks: list[ShownStack]) -> Words:
    """Return the words of the stack that are shown in a part of the text."""
    for stack in stacks:
        if (stack.guest, stack.first) == (guest, esp) and stack.place in part:
            return stack.words
    return {}


def find_reports(text: str) -> Iterator[Report]:
    """Yield the reports in what the VMM's log, or a whole terminal, has shown."""
    text = text.replace(_ERASED, "\n").replace("\r", "")
    stacks = list(find_stacks(text))
    matches = list(_REPORT.finditer(text))
    for number, match in enumerate(matches):
        lines, guest = "".join(_OWN.findall(match["lines"])), match["guest"]
        place = _PLACE.search(lines)
        if place is None:  # stopped by command
            continue
        registers = {name: int(value, 16) for name, value in _REGISTER.findall(lines)}
        registers |= {"eip": int(place[2], 16), "esp": int(place[3], 16)}
        code = _CODE.search(lines)
        # A guest that is started again may make the same mistake, with its stack at the same place.
        later = (other.start() for other in matches[number + 1 :] if other["guest"] == guest)
        own = range(match.start(), next(later, len(text)))
        yield Report(
            guest, re.sub(r"[^ -~]", "?", match["reason"].strip()), registers,
            bytes.fromhex(code[1]) if code else b"",
            tuple(_EVENT.findall(lines)[:MOST_EVENTS]),
            _stack_within(own, guest, registers["esp"], stacks),
        )  # fmt: skip


def _disassembled(code: bytes, address: int) -> str:
    """Return the first instruction in code as objdump writes it."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        done = subprocess.run(
            ["objdump", "-D", "-b", "binary", "-m", "i386", f"--adjust-vma={address}", file.name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    found = re.search(rf"^ *{address:x}:\t[^\t]*\t(.*)$", done.stdout, re.M)
    return re.sub(r"\s+", " ", found[1]).strip() if found else "unknown"


class Places:
    """Names for the addresses of a guest's image."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._image = path, Image(path, name)
        self.unwinder = Unwinder(path)

    def text(self, address: int, *, behind: bool = False) -> str:
        """Return "function+0x5 (file.c:12)". behind: the address is a return address."""
        found = self._image.find(address - behind)
        if found is None:
            return f"{address:#x}"
        done = subprocess.run(
            ["addr2line", "-e", str(self._path), f"{address - behind:#x}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        line = done.stdout.strip().partition(" ")[0]
        text = f"{found[0]}+{found[1] + behind:#x}"
        if not line or line.startswith("?") or line.endswith("?"):
            return text
        # A compiler may have been given a path with a way back in it.
        return f"{text} ({normpath(line).removeprefix('/gandalf/')})"


def places_of(system: System, name: str) -> Places | None:
    """Return the names of a guest's image; None if it has none."""
    for _, guest in system.guests:
        if guest.name == name:
            image = guest.image if isinstance(guest, RtosGuest) else guest.kernel
            try:
                return Places(system.resolve(image), name)
            except (DWARFError, ELFError, OSError):
                return None
    return None


def _callers(report: Report, places: Places) -> list[str]:
    """Return who called whom, as far as the stack is known, and where that ends before its end."""
    trace = places.unwinder.trace(report.registers, report.stack.get)
    lines = [f"  called from {places.text(frame, behind=True)}" for frame in trace.frames[1:]]
    if trace.unknown and not report.stack:
        return ["  no backtrace: nothing of its stack is known"]
    return lines + ([f"  the backtrace ends here: {trace.unknown}"] if trace.unknown else [])


def explain(report: Report, places: Places | None) -> list[str]:
    """Return the lines that explain a report."""
    eip = report.registers["eip"]
    name = (lambda address: f"{address:#x}") if places is None else places.text
    lines = [f"guest {report.guest} stopped: {report.reason}", f"  at {name(eip)}"]
    if report.code:
        lines.append(f"  instruction: {_disassembled(report.code, eip)}")
    if places is not None:
        lines += _callers(report, places)
    lines += [
        f"  {time} us: {kind} {first}" + (f" at {name(int(second, 16))}" if kind in _AT_EIP else "")
        for time, kind, first, second in report.events
    ]
    return lines


def explain_saved(system: Path, content: bytes, name: str) -> None:
    """Explain all reports in what was saved as a file of this name."""
    described = read_description(system)
    if described.mistakes:
        raise UserError("\n".join(described.messages()))
    reports = list(find_reports(content.decode("ascii", "replace")))
    if not reports:
        raise UserError(
            f"There is no report of a stopped guest in {shown(Path(name))}, "
            "or none that goes as far as the line `at cs:eip`."
        )
    for found in reports:
        places = places_of(described, found.guest)
        if places is None:
            say(f"no image of a guest {found.guest} can be read: its addresses stay numbers")
        print("\n".join(explain(found, places)), flush=True)


def explain_command(
    system: SystemFile,
    report: Annotated[
        typer.FileBinaryRead,
        typer.Argument(metavar="REPORT", help="A saved log, terminal or report; - is stdin."),
    ],
) -> None:
    """Say in which functions the guests stood that a saved log or report tells of.

    The images must be those that ran. The VMM's report does not have the guest's stack. But what
    `gandalf run` showed has words of an RTOS's behind each report: saved, it gives a backtrace as
    far as they reach.
    """
    explain_saved(system, report.read(), report.name)
