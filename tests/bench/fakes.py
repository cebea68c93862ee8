# SPDX-License-Identifier: Apache-2.0
"""Made-up results, outputs and systems, for tests that run no machine."""

from dataclasses import dataclass
from datetime import date

from gandalf.base.paths import UserError
from gandalf.bench.results import FORMAT, Absent, Result, Results
from gandalf.bench.target import Log, Run, Target
from gandalf.bench.workload import Work, parse
from gandalf.measure.measurement import Handler, Measurement, State, Window, Windows

DAY = date(2024, 2, 29)
OUTPUT = """\
sample=boot samples=1 minimum=5 median=5 mean_times_100=500 maximum=5 overhead=0 timer=0 others=0
kernel=6.1.0
clocksource=tsc-early
sample=syscall samples=100 minimum=90 median=100 mean_times_100=11050 maximum=900 overhead=1 \
timer=2 others=0
count=syscall operations=20 ticks=3000 timer=0 others=0
count=syscall operations=120 ticks=13000 timer=0 others=0
clocksource=tsc
bench: the script is done
"""


def result(
    system: str = "gandalf-shared",
    operation: str = "pipe",
    instructions: int = 1000,
    mean: float = 1010.0,
    **events: float,
) -> Result:
    return Result(
        system=system, operation=operation, instructions=instructions, minimum=900, maximum=2000,
        mean=mean, samples=100, ratio=None, ratio_mean=None, events=events,
        distribution=[(1000, 99), (2000, 1)],
    )  # fmt: skip


def results(*rows: Result, absent: tuple[Absent, ...] = ()) -> Results:
    return Results(
        format=FORMAT, versions={}, options=[], machines={}, command_lines={}, results=list(rows),
        absent=list(absent),
    )  # fmt: skip


def measurement(instructions: int, entries: int, cr3: int = 0) -> Measurement:
    """Return what the plug-in may have seen: entries from ring 3, each an exception."""
    window = Window(instructions=0, at=0, begin=0, end=0, last=0, blocks=())
    longest = window.model_copy(update={"instructions": entries + 3})
    windows = Windows(count=0, total=entries * 7, cut=0, lengths=(), longest=(longest,))
    state = State(ring=3, masked=False, vmm=False, guest=False, instructions=instructions)
    handler = Handler(
        linear=0x1000, ring=0, exceptions=entries, hardware=0, from_rings=(0, 0, 0, entries),
        from_guest=0, stays=entries, instructions=0, masked=0, longest=0, window=window,
    )  # fmt: skip
    return Measurement(
        format=2, begun=True, states=(state,), windows=windows, vmm_windows=windows,
        crossings=((0, 0, 0, entries), (0, 0, 0, 0), (0, 0, 0, 0), (entries, 0, 0, 0)),
        handlers=(handler,), profile=(), events={"cr3_load": (cr3, 0, 0, 0)}, intervals=(),
        instructions=instructions, mistaken=0, nanoseconds=0,
    )  # fmt: skip


def run(
    text: str = OUTPUT,
    seen: tuple[Measurement, ...] = (measurement(2900, 40), measurement(12900, 240, 100)),
    vmm: bool = True,
) -> Run:
    """Return a run, of which as much is between the brackets as within."""
    return Run(parse(text), seen, lambda linear: f"at {linear:#x}", vmm, "qemu", "quiet", seen)


@dataclass
class Fake(Target):
    """A system that does what it is told. text: None if it cannot be had."""

    name: str
    native: str | None = None
    text: str | None = OUTPUT

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        log(f"{len(work)} operations")
        if self.text is None:
            raise UserError("There is no such kernel.")
        return run(self.text)
