# SPDX-License-Identifier: Apache-2.0
"""`gandalf measure` and `gandalf trace`: a system seen from outside."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console as RichConsole

from gandalf.base.command import SystemFile, say
from gandalf.base.paths import UserError, shown, system_folder
from gandalf.measure import measure as measuring
from gandalf.measure import recording, tables
from gandalf.measure import trace as tracing

IntervalTexts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FROM..TO",
        help="Also measure from the last execution of FROM to that of TO, at most eight "
        "times. Each is a linear address 0x..., or OWNER:FUNCTION, where OWNER is vmm or a "
        "guest.",
    ),
]


def _interval(text: str) -> tuple[str, str]:
    start, separator, end = text.partition("..")
    if not (start and separator and end):
        raise UserError(f'--interval must be FROM..TO, not "{text}".')
    return start, end


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
    interval: IntervalTexts = None,
    cpu: Annotated[
        int, typer.Option(metavar="N", min=0, help="Which of several CPUs to measure (default: 0).")
    ] = 0,
) -> None:  # fmt: skip
    """Measure a system in QEMU from outside, in instructions.

    Shows the instructions of every ring, the windows in which no interrupt could be taken with
    the functions that they were spent in, what entered the VMM, and events such as CR3 loads. The
    guests cannot notice it. Two runs of a system differ by little: when the keys arrive.

    Of several CPUs one is measured, and what the others execute counts nowhere. They take turns.
    """
    if command is not None and seconds is not None:
        raise UserError("Give --command or --for, not both.")
    intervals = tuple(_interval(text) for text in interval or ())
    task = measuring.Task(command, seconds or 1.0, intervals, cpu)
    result, symbols = measuring.measure(system, task, say)
    if output is not None:
        output.write_text(result.model_dump_json(indent=1, by_alias=True) + "\n")
        say(f"wrote {shown(output)}")
    tables.show(result, symbols, RichConsole())


Threshold = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Show each stretch of at least N instructions with interrupts masked.",
    ),
]


def trace(
    system: SystemFile,
    command: Annotated[
        str | None,
        typer.Option(metavar="LINE", help="Show this line in Linux's shell."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for", metavar="VIRTUAL_SECONDS", min=0.001,
            help="Show this time, with the system ready and left alone (default: 1).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="The file to write (default: trace.json beside the module)."
        ),
    ] = None,
    threshold: Threshold = 500,
) -> None:  # fmt: skip
    """Show what the VMM does on a time line, for https://ui.perfetto.dev or Chrome.

    The system runs in QEMU as with `gandalf measure`, and all is shown that the VMM wrote to its
    trace ring meanwhile. A track for each guest shows when it had the CPU and which interrupts it
    was given; others show the entries into the VMM, the physical interrupts, stretches with
    interrupts masked, and the tasks of FreeRTOS and uITRON (their last 256 switches).

    Each of several CPUs has tracks of its own, without tasks and stretches with interrupts masked,
    and the last 1,024 events: what they cover is printed.
    """
    if command is not None and seconds is not None:
        raise UserError("Give --command or --for, not both.")
    task = measuring.Task(command, seconds or 1.0, record=threshold)
    lines = recording.trace(system, task, say)
    tracing.write(lines, file := output or system_folder(system) / "trace.json")
    tracing.show(lines, RichConsole())
    for line in lines:
        say(tracing.sentence(line))
    say(f"wrote {shown(file)}")
