# SPDX-License-Identifier: Apache-2.0
"""`gandalf gdb`: a debugger for one guest of a system."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import Deterministic, SystemFile, say
from gandalf.base.paths import ROOT, UserError, shown, system_folder
from gandalf.build.build import Built
from gandalf.build.build import build as build_system
from gandalf.debug.freertos import FreeRtos
from gandalf.debug.remote import ClosedError, Remote
from gandalf.debug.server import Server
from gandalf.debug.state import GuestState, Vmm
from gandalf.debug.target import Target
from gandalf.description.cpus import cpus_of
from gandalf.description.description import LinuxGuest, RtosGuest
from gandalf.run.emulator import Emulator, start
from gandalf.run.options import options_for

# Seconds in which QEMU must open its socket.
_PATIENCE = 20
_HOST = "127.0.0.1"


def _index(built: Built, name: str) -> int:
    """Return the place of a guest that can be debugged."""
    if name not in built.names:
        raise UserError(f'There is no guest "{name}"; there are {", ".join(built.names)}.')
    index = built.names.index(name)
    if len(cpus_of(built.checked.system.guests[index][1])) > 1:
        raise UserError(f"{name} has several vCPUs, and gandalf gdb debugs guests with one.")
    return index


def _image(built: Built, guest: LinuxGuest | RtosGuest) -> Path:
    return built.checked.system.resolve(
        guest.image if isinstance(guest, RtosGuest) else guest.kernel
    )


class Consoles:
    """The machine's serial port while gdb has the terminal: a file, and a pseudoterminal."""

    def __init__(self, machine: Emulator, log: Path) -> None:
        self._machine = machine
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        self.terminal = os.ttyname(slave)
        self._slave = slave  # stays open, so that nobody's leaving ends the other side
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("wb", buffering=0)
        for work in (self._show, self._type):
            threading.Thread(target=work, daemon=True).start()

    def _show(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while self._machine.alive():
                data = self._machine.read_soon()
                self._log.write(data)
                with contextlib.suppress(BlockingIOError):  # nobody reads there
                    os.write(self._master, data)

    def _type(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while self._machine.alive():
                with contextlib.suppress(BlockingIOError):
                    self._machine.write(os.read(self._master, 256))
                time.sleep(0.05)


def _connect(path: Path, machine: Emulator) -> Remote:
    """Connect to QEMU's socket as soon as it is there."""
    end = time.monotonic() + _PATIENCE
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except OSError:
            connection.close()
            if not machine.alive():
                raise UserError(machine.outcome().sentence) from None
            if time.monotonic() > end:
                raise UserError("QEMU does not open its socket for a debugger.") from None
            time.sleep(0.02)
            continue
        return Remote(connection)


def _tasks(built: Built, target: Target, index: int) -> FreeRtos | None:
    """Return the tasks of a guest that is a FreeRTOS with debug information."""
    guest = built.checked.system.guests[index][1]
    if not isinstance(guest, RtosGuest):
        return None

    def read(address: int, size: int) -> bytes:
        place = target.guest.physical(address)
        if place is None:
            raise ValueError(f"{address:#x} lies outside of the guest")
        return target.read(place, size)

    tasks = FreeRtos(_image(built, guest), read)
    return tasks if tasks.is_there else None


def _target(built: Built, qemu: Remote, index: int) -> Target:
    """Bring the machine to the guest's first instruction."""
    guest = built.checked.system.guests[index][1]
    (cpu,) = cpus_of(guest)
    target = Target(qemu, built, cpu)
    region = built.checked.layout.guests[index]
    pages = not isinstance(guest, RtosGuest)
    size = region.end - region.start
    target.guest = GuestState(Vmm(built, target.read, cpu), index, region.start, size, pages=pages)
    target.begin()
    try:
        target.resume(lambda: False, to_guest=True)
    except ClosedError:
        raise UserError("The machine ended before the guest began.") from None
    return target


def _serve(listener: socket.socket, target: Target, tasks: FreeRtos | None) -> None:
    """Serve the first debugger that connects, until it leaves or the machine ends."""
    with listener:
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        Server(Remote(connection), target, tasks).serve()


@contextmanager
def _machine(built: Built, deterministic: bool) -> Iterator[tuple[Emulator, Path]]:
    """Start a machine that waits for a debugger on a socket of this user's."""
    with tempfile.TemporaryDirectory(prefix="gandalf-gdb-") as folder:
        path = Path(folder) / "stub"
        options = options_for(built, deterministic, gdb=f"unix:{path},server=on,wait=off")
        machine = start("qemu", options)
        try:
            yield machine, path
        finally:
            machine.stop()


def _gdb(port: int, image: Path, folder: Path, arguments: list[str]) -> int:
    """Run gdb on this terminal, and return its exit status. folder: has sources that it finds."""
    program = shutil.which("gdb")
    if program is None:
        raise UserError("There is no gdb; install it (Debian's name: gdb), or give --port.")
    commands = ("set architecture i386", f"set substitute-path /gandalf {ROOT}",
                f"directory {folder}", f"target remote {_HOST}:{port}")  # fmt: skip
    words = [word for command in commands for word in ("-ex", command)]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for gdb
    try:
        return subprocess.run(
            [program, "-q", *words, *arguments, str(image)], check=False
        ).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def gdb(
    system: SystemFile,
    guest: Annotated[str, typer.Argument(metavar="GUEST", help="The guest's name.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Behind --: further words for gdb.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve a debugger of yours there, on localhost."),
    ] = None,
    deterministic: Deterministic = False,
) -> None:
    """Build a system, run it in QEMU, and debug one of its guests with gdb.

    It stands at the guest's first instruction at first. Addresses and registers are the guest's;
    the VMM's work for it and other guests pass unseen. Each task of FreeRTOS is a thread. Where the
    VMM stops the guest for a mistake gdb has it with SIGABRT at the instruction that made it.
    """
    built = build_system(system, say, deterministic)
    index = _index(built, guest)
    image = _image(built, built.checked.system.guests[index][1])
    listener = socket.create_server((_HOST, port or 0))
    with _machine(built, deterministic) as (machine, path):
        log = system_folder(system) / "console.log"
        consoles = Consoles(machine, log)
        say(f"consoles: {shown(log)}, or `gandalf console {consoles.terminal}` to type as well")
        target = _target(built, _connect(path, machine), index)
        work = (listener, target, _tasks(built, target, index))
        if port is not None:
            say(f"waiting: gdb {shown(image)} -ex 'target remote {_HOST}:{port}'")
            _serve(*work)
            return
        threading.Thread(target=_serve, args=work, daemon=True).start()
        port = listener.getsockname()[1]
        status = _gdb(port, image, system.resolve().parent, arguments or [])
    raise typer.Exit(status)
