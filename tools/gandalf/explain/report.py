# SPDX-License-Identifier: Apache-2.0
"""Explains the VMM's report of a stopped guest: functions, lines, and who called whom."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from typing import Annotated

import typer
from elftools.common.exceptions import ELFError

from gandalf.base.command import SystemFile
from gandalf.base.paths import UserError, shown
from gandalf.build.symbols import Image
from gandalf.description.description import RtosGuest, System, read_description
from gandalf.explain.unwind import ReadWord, Unwinder

# What `gandalf run` and terminals put in front of a line of the log.
_HEAD = r"^(?:\x1b\[[\d;]*m)?(?:\[vmm\](?:\x1b\[0m)? )?"
_REPORT = re.compile(
    _HEAD + r"guest (?P<guest>[a-z][a-z0-9_-]*) stopped: (?P<reason>.+)\n"
    r"(?P<lines>(?:" + _HEAD + r"  .+\n|(?!" + _HEAD + r"(?:guest|  )).*\n)*)",
    re.M,
)  # fmt: skip
_PLACE = re.compile(r"  at cs:eip ([0-9a-f]{4}):([0-9a-f]{8}), ss:esp [0-9a-f]{4}:([0-9a-f]{8})")
_REGISTER = re.compile(r"\b(e[abcd]x|esi|edi|ebp) ([0-9a-f]{8})")
_CODE = re.compile(r"  instruction: ((?:[0-9a-f]{2} )+)")
_EVENT = re.compile(r"  (\d+) us, vCPU \d+: (\w+) ([0-9a-f]+), ([0-9a-f]+)")
# Events whose second number is the instruction that the guest was at.
_AT_EIP = ("trap", "interrupt", "exception", "deliver", "emulate")


@dataclass(frozen=True)
class Report:
    """A report. registers: those of the guest, by name. code: the bytes at its instruction."""

    guest: str
    reason: str
    registers: dict[str, int]
    code: bytes
    events: tuple[tuple[str, ...], ...]


def find_reports(text: str) -> Iterator[Report]:
    """Yield the reports in what the VMM's log, or a whole terminal, has shown."""
    for match in _REPORT.finditer(text.replace("\r", "")):
        lines = match["lines"]
        place = _PLACE.search(lines)
        if place is None:  # stopped by command
            continue
        registers = {name: int(value, 16) for name, value in _REGISTER.findall(lines)}
        registers |= {"eip": int(place[2], 16), "esp": int(place[3], 16)}
        code = _CODE.search(lines)
        yield Report(
            match["guest"], match["reason"].strip(), registers,
            bytes.fromhex(code[1]) if code else b"", tuple(_EVENT.findall(lines)),
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
            except (ELFError, OSError):
                return None
    return None


def explain(report: Report, places: Places | None, read: ReadWord | None = None) -> list[str]:
    """Return the lines that explain a report. read: words of the guest's memory, as it was."""
    eip = report.registers["eip"]
    name = (lambda address: f"{address:#x}") if places is None else places.text
    lines = [f"guest {report.guest} stopped: {report.reason}", f"  at {name(eip)}"]
    if report.code:
        lines.append(f"  instruction: {_disassembled(report.code, eip)}")
    if places is not None and read is not None:
        frames = places.unwinder.frames(report.registers, read)
        lines += [f"  called from {places.text(frame, behind=True)}" for frame in frames[1:]]
    lines += [
        f"  {time} us: {kind} {first}" + (f" at {name(int(second, 16))}" if kind in _AT_EIP else "")
        for time, kind, first, second in report.events
    ]
    return lines


def explain_command(
    system: SystemFile,
    report: Annotated[
        typer.FileText, typer.Argument(metavar="REPORT", help="A saved log or report; - is stdin.")
    ],
) -> None:
    """Say in which functions the guests stood that a saved log or report tells of.

    The images must be those that ran. What was on a guest's stack is not in a report: `gandalf run`
    explains each report at once, with a backtrace.
    """
    described = read_description(system)
    if described.mistakes:
        raise UserError("\n".join(described.messages()))
    reports = list(find_reports(report.read()))
    if not reports:
        raise UserError(f"There is no report of a stopped guest in {shown(Path(report.name))}.")
    for found in reports:
        print("\n".join(explain(found, places_of(described, found.guest))))
