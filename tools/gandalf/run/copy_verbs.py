# SPDX-License-Identifier: Apache-2.0
"""`gandalf push` and `gandalf pull`: files into and out of a running Linux."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import SystemFile, say
from gandalf.base.paths import UserError, system_folder
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.console.share import borrow
from gandalf.description.description import LinuxGuest, read_description
from gandalf.run import copying
from gandalf.run.machine import Machine, MachineError
from gandalf.run.port import Port, open_line

Guest = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which Linux; the first of the description.")
]
PortOption = Annotated[
    Path | None,
    typer.Option(
        "--port", help="A real machine's serial port, instead of what `gandalf run` runs."
    ),
]
Baud = Annotated[int, typer.Option(help="Speed of --port.")]


def _line(system: Path, port: Path | None, baud: int) -> int:
    try:
        return open_line(port, baud) if port else borrow(system_folder(system)).detach()
    except OSError as error:
        if port:
            raise UserError(f"{port} cannot be opened: {error.strerror}.") from error
        raise UserError(
            f"Nobody runs {system} on this host: `gandalf run` it, or give the --port of a machine."
        ) from error


@contextmanager
def _linux(
    system: Path, guest: str | None, port: Path | None, baud: int
) -> Iterator[tuple[Machine, str]]:
    """Give the machine and the console of its Linux."""
    guests = [item for _, item in read_description(system).guests]
    linuxes = [item.name for item in guests if isinstance(item, LinuxGuest)]
    if not linuxes or (guest and guest not in linuxes):
        raise UserError(f"{system} has no Linux{f' named {guest}' if guest else ''}.")
    machine = Machine.on([*(item.name for item in guests), VMM_CONSOLE],
                         Port(_line(system, port, baud)))  # fmt: skip
    try:
        copying.attend(machine)
        yield machine, guest or linuxes[0]
    except MachineError as error:
        raise UserError(
            f"Linux did not answer: does a shell wait for a command on its console?\n{error}"
        ) from error
    finally:
        machine.stop()


def _show(percent: int) -> None:
    if sys.stderr.isatty():
        print(f"\rgandalf: {percent} %", end="\n" if percent == 100 else "", file=sys.stderr)


def push(
    system: SystemFile,
    file: Annotated[Path, typer.Argument(help="A file of this host.")],
    to: Annotated[str, typer.Argument(help="Its place in Linux.")] = "",
    guest: Guest = None,
    port: PortOption = None,
    baud: Baud = 115200,
) -> None:
    """Copy a file into a running Linux through its console, to /root unless a place is given.

    A shell must be waiting for a command there. The file is there whole, or not at all. Linux's
    console has the keyboard afterwards.
    """
    try:
        content, mode = file.read_bytes(), file.stat().st_mode & 0o777
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from error
    path = to or f"/root/{file.name}"
    path += file.name if path.endswith("/") else ""
    with _linux(system, guest, port, baud) as (machine, console):
        copying.push(machine, console, content, path, mode, _show)
    say(f"{console} has {path}, {len(content):,} bytes")


def pull(
    system: SystemFile,
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file of Linux.")],
    to: Annotated[Path | None, typer.Argument(help="Its place on this host.")] = None,
    guest: Guest = None,
    port: PortOption = None,
    baud: Baud = 115200,
) -> None:
    """Copy a file out of a running Linux, to the current folder unless a place is given."""
    target = to or Path(Path(path).name)
    if target.is_dir():
        target /= Path(path).name
    with _linux(system, guest, port, baud) as (machine, console):
        content = copying.pull(machine, console, path)
    try:
        target.write_bytes(content)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from error
    say(f"{target} has {len(content):,} bytes")
