# SPDX-License-Identifier: Apache-2.0
"""`gandalf bench`: runs the systems one after the other and makes results of what they print.

A figure that cannot be trusted is left out with the reason: a system whose clock is not the time
stamp counter, interrupts that nobody expects, a run that was not measured where it says.
"""

import contextlib
import fcntl
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gandalf import __version__
from gandalf.base.paths import UserError
from gandalf.bench import footprint as bench_footprint
from gandalf.bench.limits import limits
from gandalf.bench.masked import BETWEEN, MASKED, TOTAL, Seen
from gandalf.bench.progress import Progress
from gandalf.bench.results import FORMAT, Absent, Result, Results
from gandalf.bench.target import FOLDER, Run, Target
from gandalf.bench.workload import BY_ITSELF, SLEEPING, WORK, Bracket, Sample, Work
from gandalf.measure.measurement import Measurement

Log = Callable[[str], None]
Keep = Callable[[Results], None]
# Names that count as the time stamp counter; Xen's guests have it through Xen's own, and those of
# Gandalf by what it has measured of it.
_CLOCKSOURCES = ("tsc", "tsc-early", "gandalf", "xen")
# Those that the plug-in and Linux may differ by, relative and absolute: an instruction that faults
# counts twice outside, and times() ends the bracket before Linux looks.
_BRACKET_SHARE, _BRACKET_ROOM = 0.02, 6000
# Of the plug-in's model (measure/cache.h).
CACHE_EVENTS = ("l1i_miss", "l1d_miss", "itlb_miss", "dtlb_miss", "page_walk")
_NOT_YET = "The bench has ended before it."


@dataclass(frozen=True)
class Plan:
    """What is to be run. systems, operations: empty for all. quick: 32-bit systems only."""

    systems: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    quick: bool = False

    def work(self) -> tuple[Work, ...]:
        """Return what Linux does."""
        if not self.operations or any(map(self.wants, MASKED)):
            return WORK
        return tuple(part for part in WORK if part.operation in self.operations)

    def targets(self, known: list[Target]) -> list[Target]:
        """Return the systems that are to run, with the natives that they are compared with."""
        chosen = [
            target
            for target in known
            if (target.name in self.systems if self.systems else target.is_quick or not self.quick)
            and any(map(self.wants, target.operations))
        ]
        natives = {(target.native, name) for target in chosen for name in target.operations}
        return [
            target
            for target in known
            if target in chosen
            or any((target.name, name) in natives for name in target.operations if self.wants(name))
        ]

    def wants(self, operation: str) -> bool:
        return not self.operations or operation in self.operations


@dataclass
class _Collection:
    """What has been found out so far."""

    results: list[Result] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    machines: dict[str, str] = field(default_factory=dict)
    command_lines: dict[str, str] = field(default_factory=dict)
    kernels: dict[str, str] = field(default_factory=dict)
    footprint: dict[str, dict[str, int]] = field(default_factory=dict)

    def miss(self, system: str, operation: str | None, reason: str, invalid: bool) -> None:
        self.absent.append(
            Absent(system=system, operation=operation, invalid=invalid, reason=reason)
        )


def check_names(plan: Plan, targets: list[Target]) -> None:
    """Raise UserError if the plan names a system or operation that does not exist."""
    systems = [target.name for target in targets]
    operations = list(dict.fromkeys(name for target in targets for name in target.operations))
    for what, names, known in (
        ("system", plan.systems, systems),
        ("operation", plan.operations, operations),
    ):
        for name in names:
            if name not in known:
                raise UserError(f"There is no {what} {name}; there are {', '.join(known)}.")


@contextmanager
def _alone() -> Iterator[None]:
    """Let one bench at a time work in build/bench."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def bench(plan: Plan, targets: list[Target], log: Log, keep: Keep | None = None) -> Results:
    """Run what is planned, with the natives that it is compared with.

    keep: is given what there is after each machine but the last, so that nothing is lost if
    somebody ends the bench.
    """
    check_names(plan, targets)
    wanted = plan.targets(targets)
    found = _Collection()
    with _alone():
        _prepare(wanted, log)
        progress = Progress(wanted)
        for number, target in enumerate(wanted, 1):
            log(f"measuring {_machine(target)} ({progress.text(number - 1)})")
            _measure(target, plan, found, log)
            if keep is not None and wanted[number:]:
                keep(_results(found, wanted, _not_yet(plan, wanted[number:]), log))
    return _results(found, wanted, [], log)


def _prepare(targets: list[Target], log: Log) -> None:
    """Build all kernels, so that the time that is left can be told once machines run."""
    for target in targets:
        # What cannot be built is missing from the results, with the reason, when it is to run.
        with contextlib.suppress(UserError):
            target.prepare(log)


def _machine(target: Target) -> str:
    """Return what tells a machine from the others."""
    return ", ".join([target.name, *target.operations] if target.is_part else [target.name])


def _not_yet(plan: Plan, targets: list[Target]) -> list[Absent]:
    """Return as missing what is still to run."""
    return [
        Absent(system=target.name, operation=what, invalid=False, reason=_NOT_YET)
        for target in targets
        for what in _missing(target, plan)
    ]


def _missing(target: Target, plan: Plan) -> list[str] | list[None]:
    """Return what is not there without a machine; None is its whole system."""
    return list(filter(plan.wants, target.operations)) if target.is_part else [None]


def _results(found: _Collection, targets: list[Target], further: list[Absent], log: Log) -> Results:
    options = dict.fromkeys(word for target in targets for word in target.emulator_options)
    results = Results(
        format=FORMAT, versions=_versions(found), options=list(options), machines=found.machines,
        command_lines=found.command_lines, results=found.results, absent=found.absent + further,
        footprint=bench_footprint.footprint((row.system for row in found.results), log)
        | found.footprint,
    )  # fmt: skip
    return results.model_copy(update={"limits": limits(results)})


def _measure(target: Target, plan: Plan, found: _Collection, log: Log) -> None:
    machine = _machine(target)
    try:
        run = target.run(plan.work(), log)
    except UserError as error:
        for what in _missing(target, plan):
            found.miss(target.name, what, str(error), invalid=False)
        return
    found.machines[machine] = run.machine
    found.command_lines[machine] = run.command_line
    found.kernels[target.name] = run.output.kernel
    found.footprint |= run.footprint
    wrong = [name for name in run.output.clocksources if name not in _CLOCKSOURCES]
    if wrong or not run.output.clocksources:
        reason = f"Linux's clock source is {' and '.join(wrong) or 'unknown'}, not the TSC."
        found.miss(target.name, None, reason, invalid=True)
        return
    for operation in target.operations:
        _add(target, operation, run, plan, found)


def _add(target: Target, operation: str, run: Run, plan: Plan, found: _Collection) -> None:
    """Add an operation's result, or why there is none. The RTOS's are not every system's."""
    if operation in MASKED:
        _add_masked(target, operation, run, plan, found)
        return
    samples = _samples(operation, run)
    if not plan.wants(operation) or (operation in BY_ITSELF and not samples):
        return
    reason = _mistake(operation, samples, run)
    if reason:
        found.miss(target.name, operation, reason, invalid=bool(samples))
        return
    (sample,) = samples
    seen = {**events(operation, run), **run.more.get(operation, {})}
    _keep(target, _result(target.name, sample, seen, run), found)


def _add_masked(target: Target, operation: str, run: Run, plan: Plan, found: _Collection) -> None:
    """Add a sum from the script's first line to the power-off, if its operations can be trusted."""
    if not plan.wants(operation):
        return
    wrong = [
        part.operation
        for part in plan.work()
        if not part.sleeps and _mistake(part.operation, _samples(part.operation, run), run)
    ]
    if wrong or not run.between:
        what = f"{', '.join(wrong)} cannot be trusted" if wrong else "nobody looked from outside"
        found.miss(target.name, operation, f"Of the operations {what}.", invalid=bool(wrong))
        return
    brackets = zip(run.output.brackets, run.measurements, strict=True)
    runs = [(bracket.operation, measured) for bracket, measured in brackets]
    runs += [(BETWEEN, measured) for measured in run.between]
    seen = Seen(tuple(runs), run.entry_name, run.vmm)
    row = seen.total(target.name) if operation == TOTAL else seen.longest(target.name)
    _keep(target, row, found)


def _samples(operation: str, run: Run) -> list[Sample]:
    return [sample for sample in run.output.samples if sample.operation == operation]


def _keep(target: Target, result: Result, found: _Collection) -> None:
    """Add a result, with its ratios to that of the native system."""
    wanted = (target.native, result.operation)
    for native in found.results:
        if (native.system, native.operation) == wanted:
            ratio = _ratio(result.instructions, native.instructions)
            mean = _ratio(result.mean, native.mean)
            result = result.model_copy(update={"ratio": ratio, "ratio_mean": mean})
    found.results.append(result)


def _mistake(operation: str, samples: list[Sample], run: Run) -> str | None:
    """Return why an operation's figures cannot be trusted."""
    if operation in run.output.complaints:
        return f"The workload says: {run.output.complaints[operation]}."
    if len(samples) != 1:
        return f"{len(samples)} lines tell of it; one was expected."
    if samples[0].others:
        return f"{samples[0].others} interrupts came that are no timer's."
    brackets = [bracket for bracket in run.output.brackets if bracket.operation == operation]
    if any(bracket.others for bracket in brackets):
        return "Interrupts came that are no timer's, while events were counted."
    if run.measurements and len(run.measurements) != len(run.output.brackets):
        return (
            f"There are {len(run.measurements)} measurements from outside and "
            f"{len(run.output.brackets)} runs: something else called umask() or times()."
        )
    if any(not _agree(*pair) for pair in _pairs(operation, run)):
        return "The plug-in counted another run than Linux: something else called umask()."
    return None


def _pairs(operation: str, run: Run) -> list[tuple[Bracket, Measurement]]:
    """Return an operation's runs with what was measured of them from outside."""
    if not run.measurements:
        return []
    pairs = zip(run.output.brackets, run.measurements, strict=True)
    return [(bracket, seen) for bracket, seen in pairs if bracket.operation == operation]


def _agree(bracket: Bracket, seen: Measurement) -> bool:
    """Say whether both measured the same run. One that sleeps takes time without instructions."""
    difference = seen.instructions - bracket.ticks
    if bracket.operation not in SLEEPING:
        difference = abs(difference)
    return difference <= _BRACKET_SHARE * bracket.ticks + _BRACKET_ROOM


def _totals(seen: Measurement, run: Run) -> Counter[str]:
    """Return everything that is counted of a run, by name."""
    totals = Counter({name: sum(counts) for name, counts in seen.events.items()})
    totals["ring_0_entries"] = seen.entries
    totals["ring_crossings"] = seen.ring_changes
    totals["masked"] = seen.windows.total
    totals["masked_ring_0"] = seen.executed(0, masked=True)
    totals["interrupts"] = sum(handler.hardware for handler in seen.handlers)
    if run.vmm:
        totals["vmm_entries"] = seen.entries
    for handler in seen.handlers:
        totals[f"entry {run.entry_name(handler.linear)}"] += handler.hardware + handler.exceptions
    return totals


def events(operation: str, run: Run) -> dict[str, float]:
    """Return what happens for each operation, as the difference of two runs of other lengths."""
    pairs = _pairs(operation, run)
    if len(pairs) != 2:
        return {}
    (few, short), (many, long) = pairs
    first, second = _totals(short, run), _totals(long, run)
    operations = many.operations - few.operations
    shares = {
        name: round((second[name] - first[name]) / operations, 4)
        for name in sorted({*first, *second})
    }
    # A length is no count: it has no difference.
    windows = [*short.windows.longest[:1], *long.windows.longest[:1]]
    shares["masked_longest"] = max((window.instructions for window in windows), default=0)
    always = {"ring_0_entries", "ring_crossings", "masked", "masked_ring_0"} | (
        {"vmm_entries"} if run.vmm else set()
    )
    if run.cache:
        always |= set(CACHE_EVENTS)
    return {name: share for name, share in shares.items() if share or name in always}


def _ratio(value: float, native: float) -> float | None:
    return round(value / native, 4) if native else None


def _result(system: str, sample: Sample, seen: dict[str, float], run: Run) -> Result:
    return Result(
        system=system, operation=sample.operation, instructions=sample.median,
        minimum=sample.minimum, maximum=sample.maximum, mean=sample.mean, samples=sample.samples,
        ratio=None, ratio_mean=None, events=seen,
        distribution=list(sample.distribution), places=run.places.get(sample.operation, {}),
        outliers=list(run.outliers.get(sample.operation, ())),
    )  # fmt: skip


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.splitlines()[0]


def _versions(found: _Collection) -> dict[str, str]:
    qemu = re.search(r"version (.*)", _first_line("qemu-system-i386", "--version"))
    return {
        "gandalf": __version__,
        "qemu": qemu[1] if qemu else "unknown",
        "bochs": _first_line("dpkg-query", "-W", "-f", "${Version}", "bochs"),
        "compiler": _first_line("gcc", "--version"),
        **{f"linux of {system}": kernel for system, kernel in found.kernels.items()},
    }
