# SPDX-License-Identifier: Apache-2.0
"""`gandalf run` and `gandalf console`: a machine on this terminal."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import Deterministic, SystemFile, say
from gandalf.base.paths import UserError, shown
from gandalf.build.build import Built
from gandalf.build.build import build as build_system
from gandalf.build.iso import make_iso
from gandalf.console.console import KEYS, Ending, connect, read_line, write_all
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.console.share import Share
from gandalf.description.description import read_description
from gandalf.description.quantities import parse_size
from gandalf.explain.watch import ReportWatch
from gandalf.run.emulator import Emulator, start
from gandalf.run.options import options_for
from gandalf.run.pace import build_pacer
from gandalf.run.port import open_line

# Nobody but users of this machine is to control an emulator.
_GDB = "tcp:127.0.0.1:1234"

Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help='RAM of the machine ("512M") instead of the description\'s.'),
]
EmulatorWords = Annotated[
    list[str] | None,
    typer.Option("--qemu-arg", metavar="WORD", help="One more word for the emulator's command."),
]
Gdb = Annotated[
    bool,
    typer.Option(
        "--gdb",
        help="Wait for a debugger of the VMM (QEMU) on TCP port 1234 of localhost, which no other "
        "machine reaches; see `gandalf gdb`.",
    ),
]
RealTime = Annotated[
    bool,
    typer.Option(
        "--real-time",
        help="Set the clock to the host's whenever the CPU has slept, instead of counting "
        "instructions: latencies then include how late the host was.",
    ),
]


def run(
    system: SystemFile,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", min=0, help="End after this time.")
    ] = None,
    deterministic: Deterministic = False,
    real_time: RealTime = False,
    memory: Memory = None,
    emulator: Annotated[str, typer.Option(help='"qemu" or "bochs".')] = "qemu",
    from_iso: Annotated[
        bool, typer.Option("--iso", help="Boot from the ISO image with GRUB.")
    ] = False,
    gdb: Gdb = False,
    argument: EmulatorWords = None,
) -> None:
    """Build a system and run it in an emulator, on this terminal.

    The machine's clock counts instructions, and QEMU waits where it is ahead of the host's: guests
    do not see how late the host is. With several CPUs the clock is the host's. Without a terminal
    the consoles go to standard output. The exit status is 0 if the machine switched itself off,
    the time given with --for was over, or you left with Ctrl-A x.
    """
    _check_options(emulator, gdb, deterministic, real_time)
    built = build_system(system, say, deterministic)
    iso = make_iso(built) if from_iso else None
    extra = tuple(argument or ())
    mebibytes = _mebibytes(memory) if memory else None
    options = options_for(built, deterministic, mebibytes, extra, iso, gdb=_GDB if gdb else None)
    if emulator == "qemu" and not deterministic:
        options = replace(options, pace=_pacer(real_time or options.cpus > 1))
    machine = start(emulator, options)
    try:
        if gdb:
            say(f"waiting: gdb {shown(built.vmm)} -ex 'target remote :1234'")
        say(f"{system.stem} in {emulator}; the keyboard goes to {built.focus}")
        _attend(machine, built, seconds)
    finally:
        machine.stop()


def _check_options(emulator: str, gdb: bool, deterministic: bool, real_time: bool) -> None:
    if emulator not in ("qemu", "bochs"):
        raise UserError(f'--emulator must be "qemu" or "bochs", not "{emulator}".')
    if gdb and emulator == "bochs":
        raise UserError("Bochs has no interface for gdb here; use --emulator qemu.")
    if real_time and emulator == "bochs":
        raise UserError("Bochs always counts instructions; use --emulator qemu for --real-time.")
    if real_time and deterministic:
        raise UserError("Give --deterministic or --real-time, not both.")


def _pacer(real_time: bool) -> Path | None:
    """Return what keeps the clock at the host's pace; without it, say what that means."""
    pacer = None if real_time else build_pacer(say)
    if pacer is None:
        reason = "" if real_time else "this QEMU cannot be paced from outside: "
        say(f"{reason}the clock follows the host's; latencies include how late the host was")
    return pacer


def _attend(machine: Emulator, built: Built, seconds: float | None) -> None:
    """Show the consoles of a machine until it ends, the time is over, or the user leaves.

    `gandalf push` and `gandalf pull` find it in the system's folder.
    """
    if sys.stdin.isatty():
        say(KEYS)
    names = [*built.names, VMM_CONSOLE]
    watch = ReportWatch(built, machine.memory)
    share = Share(built.module.parent, names)
    try:
        ending = connect(
            machine.line, machine.read, names, seconds, machine.alive, machine.keyboard,
            watch.feed, share,
        )  # fmt: skip
    finally:
        share.close()
    write_all(1, watch.rest())
    if ending is not Ending.CLOSED:
        say(f"{ending.value}; the machine is switched off")
        return
    outcome = machine.outcome()
    if not outcome.clean:
        raise UserError(outcome.sentence)
    say(outcome.sentence)


def _mebibytes(size: str) -> int:
    try:
        return max(parse_size(size) >> 20, 1)
    except ValueError as error:
        raise UserError(f"--memory {error}.") from error


def console(
    port: Annotated[Path, typer.Argument(help="/dev/ttyUSB0, a pseudoterminal or a Unix socket.")],
    baud: Annotated[int, typer.Option(help="Speed, as in the description's [console].")] = 115200,
    system: Annotated[
        Path | None, typer.Option(metavar="SYSTEM.toml", help="Colours this system's consoles.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", min=0, help="End after this time.")
    ] = None,
) -> None:
    """Attach this terminal to a machine's serial port."""
    names = [guest.name for _, guest in read_description(system).guests] if system else []
    try:
        descriptor = open_line(port, baud)
    except OSError as error:
        raise UserError(f"{port} cannot be opened: {error.strerror}.") from error
    say(f"attached to {port}")
    if sys.stdin.isatty():
        say(KEYS)
    ending = connect(
        descriptor, lambda: read_line(descriptor), [*names, VMM_CONSOLE], seconds, lambda: True
    )
    os.close(descriptor)
    say(f"{ending.value}; the machine runs on")
