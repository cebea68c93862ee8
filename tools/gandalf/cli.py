# SPDX-License-Identifier: Apache-2.0
"""The command `gandalf`: one verb for each step of a system's life."""

import os
import socket
import stat
import sys
import termios
import tty
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console as RichConsole

from gandalf import __version__
from gandalf.base.paths import BUILD, VMM_IMAGE, UserError, shown, system_folder
from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench.results import Results, compare, lost, read_results, write_results
from gandalf.bench.targets import FOLDER as BENCH_FOLDER
from gandalf.bench.targets import targets
from gandalf.build import size as sizing
from gandalf.build.build import Built, build_itron, build_vmm
from gandalf.build.build import build as build_system
from gandalf.build.iso import make_iso
from gandalf.console.console import KEYS, Ending, connect, read_line
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.description import check as checking
from gandalf.description.description import parse_size, read_description
from gandalf.itron import size as itron_size
from gandalf.itron.configurator import itron_configure
from gandalf.masked.command import masked
from gandalf.measure import measure as measuring
from gandalf.measure import trace as tracing
from gandalf.run.emulator import start
from gandalf.run.options import options_for

app = typer.Typer(
    help="Checks, builds and runs systems of guests on the Gandalf virtual machine monitor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SystemFile = Annotated[
    Path,
    typer.Argument(
        metavar="SYSTEM.toml", help="System description; see docs/system-description.md."
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="Count instructions as time and start at a fixed date: every run is the same.",
    ),
]


def _say(line: str) -> None:
    print(f"gandalf: {line}", file=sys.stderr, flush=True)


@app.command()
def check(system: SystemFile) -> None:
    """Check a description; show the memory map and who owns what.

    All mistakes are shown at once, each as FILE:LINE: SENTENCE. Nothing is built.
    """
    result = checking.check(system)
    if result.system.mistakes:
        raise UserError("\n".join(result.system.messages()))
    checking.show(result, RichConsole())


@app.command()
def build(system: SystemFile, deterministic: Deterministic = False) -> None:
    """Build the guests, the VMM and the module that it boots from."""
    built = build_system(system, _say, deterministic)
    _say(f"built {shown(built.vmm)} and {shown(built.module)}")


@app.command()
def run(
    system: SystemFile,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", min=0, help="End after this time.")
    ] = None,
    deterministic: Deterministic = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help='RAM of the machine ("512M") instead of the description\'s.'
        ),
    ] = None,
    emulator: Annotated[str, typer.Option(help='"qemu" or "bochs".')] = "qemu",
    from_iso: Annotated[
        bool, typer.Option("--iso", help="Boot from the ISO image with GRUB, as Bochs always does.")
    ] = False,
    gdb: Annotated[
        bool, typer.Option("--gdb", help="Wait for a debugger on TCP port 1234 (QEMU).")
    ] = False,
    argument: Annotated[
        list[str] | None,
        typer.Option(
            "--qemu-arg", metavar="WORD", help="One more word for the emulator's command."
        ),
    ] = None,
) -> None:
    """Build a system and run it in an emulator, on this terminal.

    Without a terminal the consoles go to standard output. The exit status is 0 if the machine
    switched itself off, the time given with --for was over, or you left with Ctrl-A x.
    """
    if emulator not in ("qemu", "bochs"):
        raise UserError(f'--emulator must be "qemu" or "bochs", not "{emulator}".')
    if gdb and emulator == "bochs":
        raise UserError("Bochs has no interface for gdb here; use --emulator qemu.")
    built = build_system(system, _say, deterministic)
    iso = make_iso(built) if from_iso or emulator == "bochs" else None
    extra = tuple(argument or ())
    mebibytes = _mebibytes(memory) if memory else None
    options = options_for(built, deterministic, mebibytes, extra, iso, gdb=gdb)
    machine = start(emulator, options)
    try:
        if gdb:
            _say(f"waiting: gdb {shown(built.vmm)} -ex 'target remote :1234'")
        _say(f"{system.stem} in {emulator}; the keyboard goes to {built.focus}")
        if sys.stdin.isatty():
            _say(KEYS)
        names = _console_names(built)
        ending = connect(
            machine.line, machine.read, names, seconds, machine.alive, machine.keyboard
        )
        if ending is Ending.CLOSED:
            outcome = machine.outcome()
            if not outcome.clean:
                raise UserError(outcome.sentence)
            _say(outcome.sentence)
        else:
            _say(f"{ending.value}; the machine is switched off")
    finally:
        machine.stop()


def _mebibytes(size: str) -> int:
    try:
        return max(parse_size(size) >> 20, 1)
    except ValueError as error:
        raise UserError(f"--memory {error}.") from error


def _console_names(built: Built) -> list[str]:
    return [*built.names, VMM_CONSOLE]


@app.command()
def image(system: SystemFile) -> None:
    """Make a bootable ISO image with GRUB, for a PC with a BIOS.

    Write it to a USB stick with dd, or burn it. The serial port of the description carries the
    consoles; `gandalf console` attaches to its other end.
    """
    built = build_system(system, _say)
    _say(f"made {shown(make_iso(built))}")


def _open_line(port: Path, baud: int) -> int:
    """Open a serial port, pseudoterminal or Unix socket; returns its descriptor."""
    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        raise UserError(f"A serial port cannot run at {baud} baud here; 115200 is usual.")
    if stat.S_ISSOCK(port.stat().st_mode):
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(port))
        return line.detach()
    descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
    if not os.isatty(descriptor):
        raise UserError(f"{port} is neither a serial port nor a socket.")
    tty.setraw(descriptor, termios.TCSANOW)  # what has arrived is not thrown away
    modes = termios.tcgetattr(descriptor)
    modes[2] |= termios.CLOCAL | termios.CREAD
    modes[4] = modes[5] = speed
    termios.tcsetattr(descriptor, termios.TCSANOW, modes)
    return descriptor


@app.command()
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
        descriptor = _open_line(port, baud)
    except OSError as error:
        raise UserError(f"{port} cannot be opened: {error.strerror}.") from error
    _say(f"attached to {port}")
    if sys.stdin.isatty():
        _say(KEYS)
    ending = connect(
        descriptor, lambda: read_line(descriptor), [*names, VMM_CONSOLE], seconds, lambda: True
    )
    os.close(descriptor)
    _say(f"{ending.value}; the machine runs on")


@app.command()
def size(
    build_first: Annotated[
        bool, typer.Option("--build/--no-build", help="Bring VMM and uITRON up to date first.")
    ] = True,
) -> None:
    """Compare the VMM's size, its lines and the lines changed in Linux with the budgets.

    And the uITRON demo for Gandalf with the same demo for a bare PC.

    The exit status is 1 if a budget is broken.
    """
    if build_first:
        build_itron()
    sections, measures = sizing.measure(build_vmm() if build_first else VMM_IMAGE)
    ports = itron_size.measure_ports(BUILD / "itron", "demo")
    measures += itron_size.budgets(ports)
    itron_size.show(ports, RichConsole())
    sizing.show(sections, measures, RichConsole())
    if not all(item.kept for item in measures):
        raise typer.Exit(1)


def _interval(text: str) -> tuple[str, str]:
    start, separator, end = text.partition("..")
    if not (start and separator and end):
        raise UserError(f'--interval must be FROM..TO, not "{text}".')
    return start, end


@app.command()
def measure(
    system: SystemFile,
    command: Annotated[
        str | None,
        typer.Option(metavar="LINE", help="Measure this line while Linux's shell runs it."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for", metavar="SECONDS", min=0.001,
            help="Measure the system, ready and left alone, for this virtual time (default: 1).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write what was measured to a file."),
    ] = None,
    interval: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM..TO",
            help="Also measure from the last execution of FROM to that of TO, at most eight "
            "times. Each is a linear address 0x..., or OWNER:FUNCTION, where OWNER is vmm or a "
            "guest.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Measure a system in QEMU from outside, in instructions.

    Shows the instructions of every ring, the windows in which no interrupt could be taken with
    the functions that they were spent in, what entered the VMM, and events such as CR3 loads. The
    guests cannot notice it. Two runs of a system differ by little: when the keys arrive.
    """
    if command is not None and seconds is not None:
        raise UserError("Give --command or --for, not both.")
    intervals = tuple(_interval(text) for text in interval or ())
    task = measuring.Task(command, seconds or 1.0, intervals)
    result, symbols = measuring.measure(system, task, _say)
    if output is not None:
        output.write_text(result.model_dump_json(indent=1, by_alias=True) + "\n")
        _say(f"wrote {shown(output)}")
    measuring.show(result, symbols, RichConsole())


@app.command()
def trace(
    system: SystemFile,
    command: Annotated[
        str | None,
        typer.Option(metavar="LINE", help="Show the end of this line in Linux's shell."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for", metavar="VIRTUAL_SECONDS", min=0.001,
            help="Show the end of this time, with the system ready and left alone (default: 1).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="The file to write (default: build/systems/NAME/trace.json)."
        ),
    ] = None,
    threshold: Annotated[
        int,
        typer.Option(
            metavar="N", min=1,
            help="Show each stretch of at least N instructions with interrupts masked.",
        ),
    ] = 500,
) -> None:  # fmt: skip
    """Show what the VMM did last on a time line, for https://ui.perfetto.dev or Chrome.

    The system runs in QEMU as with `gandalf measure`, and the VMM's trace ring is read where the
    command or the time ends. A track for each guest shows when it had the CPU and which interrupts
    it was given; others show the entries into the VMM, the physical interrupts, and stretches with
    interrupts masked, which QEMU's plug-in records. FreeRTOS and uITRON keep a ring of their own,
    of which a track shows what task their scheduler had running.

    The ring holds 1,024 events, and so the last milliseconds only: the time that they cover is
    printed. An RTOS's holds 256 switches of tasks.
    """
    if command is not None and seconds is not None:
        raise UserError("Give --command or --for, not both.")
    task = measuring.Task(command, seconds or 1.0, record=threshold)
    line = tracing.trace(system, task, _say)
    file = output or system_folder(system) / "trace.json"
    tracing.write(line, file)
    tracing.show(line, RichConsole())
    _say(tracing.sentence(line))
    _say(f"wrote {shown(file)}")


@app.command()
def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the 32-bit systems, in less than three minutes.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="With 100,000 activations of the real-time task, not 10,000, on a machine of an "
            "eighth of the speed.",
        ),
    ] = False,
    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Count misses of caches and TLBs too, by a model. Done anyway if all systems and "
            "operations are measured.",
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this system and its native; may be repeated."),
    ] = None,
    operation: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--compare", metavar="OLD.json",
            help="Show what got better or worse. The exit status is 1 if an operation needs over "
            "3 % more instructions, more entries into the VMM, or cannot be measured any more.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the results go.")
    ] = BENCH_FOLDER,
) -> None:  # fmt: skip
    """Measure native Linux, Gandalf and Xen with the same operations, in instructions and events.

    Writes results.json, report.md and report.html, after each machine what there is by then. Two
    runs give the same bytes. docs/measuring.md says what is measured and how.
    """
    if quick and full:
        raise UserError("Give --quick or --full, not both.")
    old = read_results(against) if against else None
    plan = benching.Plan(tuple(system or ()), tuple(operation or ()), quick)
    model = not (quick or system or operation) if cache is None else cache

    def keep(found: Results) -> None:
        write_results(found, output / "results.json")
        bench_report.write(found, output)

    results = benching.bench(plan, targets(full, model), _say, keep)
    keep(results)
    for name in ("results.json", "report.md", "report.html"):
        _say(f"wrote {shown(output / name)}")
    bench_report.show(results, RichConsole())
    if old is not None:
        changes, gone = compare(old, results), lost(old, results)
        bench_report.show_changes(changes, gone, RichConsole())
        if gone or any(change.verdict == "worse" for change in changes):
            raise typer.Exit(1)


app.command()(itron_configure)
app.command()(masked)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"gandalf {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Checks, builds and runs systems of guests on the Gandalf virtual machine monitor."""


def main() -> None:
    """Run the command; a mistake of the user is shown as it is, without a traceback."""
    try:
        app()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # the reader of the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("gandalf: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
