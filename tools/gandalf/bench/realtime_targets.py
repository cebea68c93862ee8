# SPDX-License-Identifier: Apache-2.0
"""The machines of FreeRTOS's real-time task: its latency by load, and its timer's intervals."""

from dataclasses import dataclass, replace

from gandalf.bench import interval as bench_interval
from gandalf.bench import latency as bench_latency
from gandalf.bench import workload as bench_workload
from gandalf.bench.machines import I386, SYSTEMS, own_command_line, own_script, vector_names
from gandalf.bench.masked import Seen
from gandalf.bench.target import (
    FOLDER,
    PATIENCE,
    PATIENCE_PER_SECOND,
    Log,
    Run,
    Target,
    machine_text,
    plugin,
    plugin_of_session,
    read_series,
    read_session,
    scratch,
    watch,
)
from gandalf.bench.workload import Work
from gandalf.build.build import build
from gandalf.build.symbols import Symbols
from gandalf.measure.ring import read_layout
from gandalf.measure.trace import names_of
from gandalf.run.options import options_for


@dataclass
class Realtime(Target):
    """The dispatch latency of FreeRTOS beside a load of Linux: a further machine of a system.

    description: of that machine. seconds: of the load. shift: of the machine, as in Options. The
    plug-in looks for how long interrupts are masked.
    """

    operation: str = next(iter(bench_latency.PHASES))
    name: str = "gandalf-shared"
    description: str = "gandalf-realtime"
    seconds: int = bench_latency.SECONDS
    shift: int = bench_latency.SHIFT
    native = None
    is_quick = False
    is_part = True
    share = 60.0

    def __post_init__(self) -> None:
        self.operations = (self.operation,)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        text = bench_latency.script(self.operations, self.seconds)
        own_script(FOLDER / "script-realtime", text, log)
        built = build(SYSTEMS / f"{self.description}.toml", log, deterministic=True)
        symbols = Symbols(built)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        patience = PATIENCE + PATIENCE_PER_SECOND * self.seconds
        with scratch() as folder:
            arguments = plugin_of_session(kernel.addresses, I386, folder, cache=False)
            options = replace(options_for(built, True, None, arguments), shift=self.shift)
            stream = watch(options, folder, patience, session=True)
            runs = [(self.operation, seen) for part in read_session(folder) for seen in part]
        masked = Seen(tuple(runs), vector_names(symbols), True).longest(self.name)
        return Run(
            bench_latency.latencies(built.names, stream, self.shift), (), hex, True,
            f"{machine_text(options)}, -icount shift={self.shift}", own_command_line(built),
            more={self.operation: {
                "masked_longest": masked.mean,
                "masked_longest_ring_0": masked.events["masked_ring_0"],
            }},
            places={self.operation: masked.places},
        )  # fmt: skip


@dataclass
class Intervals(Target):
    """Intervals between FreeRTOS's timer interrupts: the machine of Realtime, with the plug-in.

    seconds: of each phase.
    """

    name: str = "gandalf-shared"
    native: str | None = None
    seconds: int = bench_latency.SECONDS
    is_quick = False
    is_part = True
    share = 60.0
    operations = tuple(bench_interval.OPERATIONS)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        own_script(FOLDER / "script-realtime", bench_interval.script(self.seconds), log)
        built = build(SYSTEMS / "gandalf-realtime.toml", log, deterministic=True)
        symbols, layout = Symbols(built), read_layout(built.vmm)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        patience = PATIENCE + PATIENCE_PER_SECOND * self.seconds * len(self.operations)
        with scratch() as folder:
            more = bench_interval.options(symbols, layout, len(built.names))
            arguments = plugin(kernel.addresses, I386, folder, **more)
            options = options_for(built, True, None, arguments)
            text = bench_latency.guests_text(built.names, watch(options, folder, patience))
            seen = read_series(folder)
        phases = bench_interval.find(seen, layout, names_of(built, symbols, layout))
        found = dict(zip(self.operations, phases, strict=True))
        return Run(
            replace(bench_workload.parse(text), samples=tuple(row.sample for row in phases)), (),
            hex, True, machine_text(options), own_command_line(built),
            more={name: row.events for name, row in found.items()},
            places={name: {"longest": row.longest.cause} for name, row in found.items()},
            outliers={name: row.outliers for name, row in found.items()},
        )  # fmt: skip
