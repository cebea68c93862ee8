# SPDX-License-Identifier: Apache-2.0
"""The systems of the bench: each boots, runs the bench's script by itself, and is switched off.

Every machine has QEMU's deterministic options, and the plug-in of measure/, which guests cannot
notice. It measures from each umask() of the bench to the next times().
"""

import re
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT, UserError
from gandalf.bench import amd64 as bench_amd64
from gandalf.bench import amd64_driver as bench_amd64_driver
from gandalf.bench import interval as bench_interval
from gandalf.bench import latency as bench_latency
from gandalf.bench import switch as bench_switch
from gandalf.bench import workload as bench_workload
from gandalf.bench.interruptible import NOT
from gandalf.bench.masked import MASKED, Seen
from gandalf.bench.results import Outlier
from gandalf.bench.workload import BY_ITSELF, CHANNEL, DONE, SLEEPING, TASK, WORK, Output, Work
from gandalf.build.build import Built, build
from gandalf.build.symbols import Image, Symbols, vector_text
from gandalf.console.demultiplex import VMM_CONSOLE, Demultiplexer
from gandalf.description.description import LinuxGuest
from gandalf.description.linux_boot import DETERMINISTIC_OPTIONS, TOOL_OPTIONS
from gandalf.guests import linux as guest_linux
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.measure.ring import read_layout
from gandalf.measure.trace import names_of
from gandalf.run import emulator
from gandalf.run.options import options_for

Log = Callable[[str], None]
FOLDER = BUILD / "bench"
SYSTEMS = ROOT / "bench" / "systems"
INITRD = FOLDER / "initramfs.cpio"
PATIENCE = 600.0
# As many times longer a machine may take with the model of caches.
CACHE_SLOWNESS = 4
# For each second of the machine's time that a script is to take. Nobody waits so long but for one
# that hangs, on a host that does much else.
PATIENCE_PER_SECOND = 30.0
NATIVE = "native-i386"
# What the kernel calls its system calls.
_I386, _AMD64 = "__ia32", "__x64"
# The VMM adds it to the command line of its guests.
_CLOCK = "tsc_early_khz=1000000"
_NATIVE_MEMORY = 192
_DONE = re.compile(DONE.encode(), re.M)
# More than the script's last line has.
_OVERLAP = 200
_SHOWN_LINES = 15


@dataclass(frozen=True)
class Run:
    """What a system did.

    measurements: one for each bracket of the output, in order; none if nobody measured. between:
    all the rest from the script's first line to the power-off; none if nobody measured that.
    cache: with the model of caches.
    entry_name: says what the linear address of a handler is. vmm: ring 0 is a VMM's. machine,
    command_line: QEMU's words without paths, and Linux's. more, places, outliers: of an operation,
    as in its result.
    """

    output: Output
    measurements: tuple[Measurement, ...]
    entry_name: Callable[[int], str]
    vmm: bool
    machine: str
    command_line: str
    between: tuple[Measurement, ...] = ()
    cache: bool = False
    more: dict[str, dict[str, float]] = field(default_factory=dict)
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    outliers: dict[str, tuple[Outlier, ...]] = field(default_factory=dict)


class Target(ABC):
    """A system that can be measured. native: the system that it is compared with."""

    name: str
    native: str | None
    # Of the set that is run after each change.
    is_quick = True
    # A further machine of a system, without which the system's own figures are there.
    is_part = False
    # What it can measure.
    operations: tuple[str, ...] = (*BY_ITSELF, *(part.operation for part in WORK), *MASKED)

    @abstractmethod
    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        """Boot, do the work, and return what came of it. Raises UserError if it cannot be had."""


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gandalf-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _series(folder: Path, kind: str = "") -> tuple[Measurement, ...]:
    """Read what the plug-in has written, in order."""
    found = folder.glob(f"measurement{kind}.[0-9]*")
    paths = sorted(found, key=lambda path: int(path.suffix.removeprefix(".")))
    return tuple(read_measurement(path) for path in paths)


def _session(folder: Path) -> tuple[tuple[Measurement, ...], tuple[Measurement, ...]]:
    """Read what belongs to the brackets of the script's operations, and all the rest of it.

    The first bracket is that of `bench boot`.
    """
    first, *brackets = _series(folder)
    last = read_measurement(_last(folder))
    return tuple(brackets), (first, *_series(folder, ".between"), last)


def _plugin(
    addresses: Mapping[str, int], prefix: str, folder: Path, **more: str | int
) -> tuple[str, ...]:
    """Return QEMU's arguments for the plug-in. more: further options of it."""
    build_plugin()
    return plugin_arguments(
        out=str(folder / "measurement"), series=1,
        begin=addresses[f"{prefix}_sys_umask"], end=addresses[f"{prefix}_sys_times"], **more,
    )  # fmt: skip


def _plugin_of_session(
    addresses: Mapping[str, int], prefix: str, folder: Path, cache: bool, **more: str | int
) -> tuple[str, ...]:
    """Return the same for one that measures all from the script's first line to the power-off.

    cache: with the model of caches.
    """
    last = addresses[f"{prefix}_sys_reboot"]
    model = {"cache": 1} if cache else {}
    return _plugin(addresses, prefix, folder, between=1, last=last, **model, **more)


def build_initrd(work: tuple[Work, ...], log: Log) -> Path:
    """Return the root file system with the bench in it."""
    rootfs = guest_linux.build_rootfs(ROOT, log)
    added = bench_workload.files(32, work, FOLDER / "script")
    return bench_workload.extended(rootfs, added, INITRD)


def _machine_text(options: emulator.Options) -> str:
    return f"{options.program} -cpu {options.cpu} -m {options.memory}"


def _watch(
    options: emulator.Options, folder: Path, patience: float = PATIENCE, session: bool = False
) -> bytes:
    """Run a machine up to the end of the script, and return what left its serial port.

    That goes to a file: a machine whose reader is slow would wait, and so not be deterministic.
    session: up to the power-off, behind which the plug-in writes no more.
    """
    path = folder / "output"
    end, position = time.monotonic() + patience, 0
    qemu = emulator.Qemu(replace(options, output=path))

    def done() -> bool:
        return path.exists() and _DONE.search(path.read_bytes()[position:]) is not None

    try:
        while not done() or (session and not _last(folder).exists()):
            if not qemu.alive():
                if done() and (not session or _last(folder).exists()):
                    break
                raise UserError(f"The machine ended early. {qemu.outcome().sentence}{_tail(path)}")
            if time.monotonic() > end:
                raise UserError(f"The script had no end within {patience:g} s.{_tail(path)}")
            position = max((path.stat().st_size if path.exists() else 0) - _OVERLAP, 0)
            time.sleep(0.1)
    finally:
        qemu.stop()
    return path.read_bytes()


def _patience(cache: bool) -> float:
    return PATIENCE * CACHE_SLOWNESS if cache else PATIENCE


def _last(folder: Path) -> Path:
    """Return what the plug-in writes at the power-off."""
    return folder / "measurement.last"


def _tail(path: Path) -> str:
    lines = path.read_text(errors="replace").splitlines()[-_SHOWN_LINES:] if path.exists() else []
    return "\n".join(["", "The last lines:", *lines])


@dataclass
class Native(Target):
    """The kernel without the patch on the bare machine. sysenter: with the CPU's own way in."""

    name: str = NATIVE
    native: str | None = None
    sysenter: bool = False
    cache: bool = False

    def _command_line(self) -> str:
        line = " ".join(["console=ttyS0", *TOOL_OPTIONS, *DETERMINISTIC_OPTIONS, _CLOCK])
        return line.replace("clearcpuid=sep,", "clearcpuid=") if self.sysenter else line

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        vmlinux = guest_linux.build_kernel("native", ROOT, log)
        initrd, kernel = build_initrd(work, log), Image(vmlinux, "linux")
        line = self._command_line()
        with _scratch() as folder:
            arguments = _plugin_of_session(kernel.addresses, _I386, folder, self.cache)
            options = emulator.Options(
                memory=_NATIVE_MEMORY, kernel=vmlinux.parent / "arch" / "x86" / "boot" / "bzImage",
                module=initrd, deterministic=True,
                arguments=("-append", line, *arguments),
            )  # fmt: skip
            text = _watch(options, folder, patience=_patience(self.cache), session=True).decode(
                errors="replace"
            )
            seen, between = _session(folder)
        return Run(
            bench_workload.parse(text), seen, _function_names(kernel.find), False,
            _machine_text(options), line, between=between, cache=self.cache,
        )  # fmt: skip


def _function_names(find: Callable[[int], tuple[str, int] | None]) -> Callable[[int], str]:
    def name(linear: int) -> str:
        found = find(linear)
        return found[0] if found else f"{linear:#010x}"

    return name


@dataclass
class Gandalf(Target):
    """A system of bench/systems. description: the file there; the system's own unless given."""

    name: str
    native: str | None = NATIVE
    description: str = ""
    cache: bool = False

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        build_initrd(work, log)
        path = SYSTEMS / f"{self.description or self.name}.toml"
        built = build(path, log, deterministic=True)
        symbols = Symbols(built)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        with _scratch() as folder:
            arguments = _plugin_of_session(kernel.addresses, _I386, folder, self.cache)
            options = options_for(built, True, None, arguments)
            text = _guests_text(
                built, _watch(options, folder, patience=_patience(self.cache), session=True)
            )
            seen, between = _session(folder)
        return Run(
            bench_workload.parse(text), seen, _vector_names(symbols), True, _machine_text(options),
            _own_command_line(built), between=between, cache=self.cache,
        )  # fmt: skip


@dataclass
class Idle(Gandalf):
    """gandalf-shared with as many further RTOSes as there can be, which have no work."""

    name: str = "gandalf-shared-idle"
    native: str | None = "gandalf-shared"
    is_quick = False
    operations = tuple(part.operation for part in WORK)


@dataclass
class Uninterruptible(Gandalf):
    """A system whose VMM keeps interrupts waiting while it works, as its `native` does not."""

    is_quick = False


@dataclass
class Running(Gandalf):
    """What the running RTOS of Realtime costs Linux: another machine of gandalf-shared."""

    name: str = "gandalf-shared"
    native: str | None = None
    description: str = "gandalf-realtime"
    is_part = True
    operations = (TASK.operation,)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        return super().run((TASK,), log)


@dataclass
class Channel(Gandalf):
    """Bytes between Linux and an RTOS: another machine of gandalf-shared."""

    name: str = "gandalf-shared"
    native: str | None = None
    description: str = "gandalf-channel"
    is_part = True
    operations = tuple(part.operation for part in CHANNEL)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        return super().run(CHANNEL, log)


@dataclass
class Realtime(Target):
    """The dispatch latency of FreeRTOS beside a load of Linux: a further machine of gandalf-shared.

    seconds: of the load. shift: of the machine, as in Options. The plug-in looks for how long
    interrupts are masked.
    """

    operation: str = next(iter(bench_latency.PHASES))
    name: str = "gandalf-shared"
    native: str | None = None
    seconds: int = bench_latency.SECONDS
    shift: int = bench_latency.SHIFT
    is_quick = False
    is_part = True

    def __post_init__(self) -> None:
        self.operations = (self.operation,)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        text = bench_latency.script(self.operations, self.seconds)
        _own_script(FOLDER / "script-realtime", text, log)
        built = build(SYSTEMS / "gandalf-realtime.toml", log, deterministic=True)
        symbols = Symbols(built)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        patience = PATIENCE + PATIENCE_PER_SECOND * self.seconds
        with _scratch() as folder:
            arguments = _plugin_of_session(kernel.addresses, _I386, folder, cache=False)
            options = replace(options_for(built, True, None, arguments), shift=self.shift)
            stream = _watch(options, folder, patience, session=True)
            runs = [(self.operation, seen) for part in _session(folder) for seen in part]
        masked = Seen(tuple(runs), _vector_names(symbols), True).longest(self.name)
        return Run(
            _latencies(built, stream, self.shift), (), hex, True,
            f"{_machine_text(options)}, -icount shift={self.shift}", _own_command_line(built),
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
    operations = tuple(bench_interval.OPERATIONS)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        _own_script(FOLDER / "script-realtime", bench_interval.script(self.seconds), log)
        built = build(SYSTEMS / "gandalf-realtime.toml", log, deterministic=True)
        symbols, layout = Symbols(built), read_layout(built.vmm)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        patience = PATIENCE + PATIENCE_PER_SECOND * self.seconds * len(self.operations)
        with _scratch() as folder:
            more = bench_interval.options(symbols, layout)
            arguments = _plugin(kernel.addresses, _I386, folder, **more)
            options = options_for(built, True, None, arguments)
            text = _guests_text(built, _watch(options, folder, patience))
            seen = _series(folder)
        phases = bench_interval.find(seen, layout, names_of(built, symbols, layout))
        found = dict(zip(self.operations, phases, strict=True))
        return Run(
            replace(bench_workload.parse(text), samples=tuple(row.sample for row in phases)), (),
            hex, True, _machine_text(options), _own_command_line(built),
            more={name: row.events for name, row in found.items()},
            places={name: {"longest": row.longest.cause} for name, row in found.items()},
            outliers={name: row.outliers for name, row in found.items()},
        )  # fmt: skip


def _latencies(built: Built, stream: bytes, shift: int) -> Output:
    """Return the output with a sample for each phase."""
    reader = bench_latency.Reader()
    for name, text in Demultiplexer([*built.names, VMM_CONSOLE]).feed(stream):
        reader.feed(name, text.decode(errors="replace"))
    samples = tuple(
        bench_latency.sample(phase, seconds, shift) for phase, seconds in reader.seconds.items()
    )
    complaints = {
        phase: why
        for phase, seconds in reader.seconds.items()
        if (why := bench_latency.mistake(seconds)) is not None
    }
    output = bench_workload.parse(_guests_text(built, stream))
    return replace(output, samples=samples, complaints=output.complaints | complaints)


@dataclass
class Switch(Target):
    """Switches between Linux and an RTOS: a third machine of gandalf-shared."""

    name: str = "gandalf-shared"
    native: str | None = None
    is_part = True
    operations = (bench_switch.OPERATION,)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        _own_script(FOLDER / "script-switch", bench_switch.script(), log)
        built = build(SYSTEMS / "gandalf-switch.toml", log, deterministic=True)
        symbols = Symbols(built)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        linux = bench_switch.hypercall_of(kernel)
        rtos = (symbols.address(f"rtos:switch_{name}") for name in ("halt", "rung"))
        with _scratch() as folder:
            flag, words = _plugin(kernel.addresses, _I386, folder)
            for start, end in bench_switch.points(linux, *rtos):
                words += f",from={start},to={end}"
            options = options_for(built, True, None, (flag, words))
            text = _guests_text(built, _watch(options, folder))
            seen = _series(folder)
        output = replace(
            bench_workload.parse(text), brackets=bench_switch.brackets(seen),
            samples=(bench_switch.sample(seen[-1].intervals),),
        )  # fmt: skip
        return Run(
            output, tuple(map(bench_switch.of_ring_0, seen)), _vector_names(symbols), True,
            _machine_text(options), _own_command_line(built),
            more={bench_switch.OPERATION: bench_switch.halves(seen[-1].intervals)},
        )  # fmt: skip


def _own_script(path: Path, text: str, log: Log) -> None:
    """Make the root file system with another script than that of the operations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    added = {**bench_workload.build_programs(32), "root/.profile": path}
    bench_workload.extended(guest_linux.build_rootfs(ROOT, log), added, INITRD)


def _guests_text(built: Built, stream: bytes) -> str:
    """Return what all guests have printed, one after the other."""
    consoles = dict.fromkeys([*built.names, VMM_CONSOLE], b"")
    for name, text in Demultiplexer([*built.names, VMM_CONSOLE]).feed(stream):
        consoles[name] += text
    return "\n".join(consoles[name].decode(errors="replace") for name in built.names)


def _vector_names(symbols: Symbols) -> Callable[[int], str]:
    def name(linear: int) -> str:
        vector = symbols.entries.vector(linear)
        if vector is not None:
            return vector_text(vector)
        return symbols.place(linear).removeprefix("linux: ")

    return name


def _own_command_line(built: Built) -> str:
    """Return the command line that Linux gets."""
    for _, guest in built.checked.system.guests:
        if isinstance(guest, LinuxGuest):
            return " ".join([guest.command_line, *TOOL_OPTIONS, *DETERMINISTIC_OPTIONS, _CLOCK])
    raise UserError(f"{built.checked.system.path} has no Linux guest.")


@dataclass
class Amd64(Target):
    """A 64-bit system of gandalf.bench.amd64. Debian's kernel has no driver for what sleeps."""

    name: str
    native: str | None = None
    cache: bool = False
    is_quick = False
    operations = tuple(name for name in Target.operations if name not in SLEEPING)

    def _added(self, work: tuple[Work, ...], log: Log) -> dict[str, Path]:  # noqa: ARG002
        """Return the files that the root file system has for the bench."""
        awake = tuple(part for part in work if not part.sleeps)
        return bench_workload.files(64, awake, FOLDER / "script-amd64")

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        # Asking a system for its names may build another root file system.
        kernel, ring_0 = (bench_amd64.names(name, log) for name in (bench_amd64.NATIVE, self.name))
        parts = bench_amd64.build(self.name, self._added(work, log), log)
        with _scratch() as folder:
            more = bench_amd64.PLUGIN_OPTIONS[self.name]
            arguments = _plugin_of_session(kernel.addresses, _AMD64, folder, self.cache, **more)
            options = bench_amd64.qemu_options(parts, folder, arguments)
            text = _watch(options, folder, patience=_patience(self.cache), session=True).decode(
                errors="replace"
            )
            seen, between = _session(folder)
        return Run(
            bench_workload.parse(text), seen, _function_names(ring_0.find),
            self.name == bench_amd64.XEN, _machine_text(options),
            _amd64_command_line(self.name), between=between, cache=self.cache,
        )  # fmt: skip


@dataclass
class Clock(Amd64):
    """A 64-bit system that loads our driver of the clock: a second machine of Amd64's."""

    is_part = True
    operations = SLEEPING

    def _added(self, work: tuple[Work, ...], log: Log) -> dict[str, Path]:  # noqa: ARG002
        sleeping, load = tuple(part for part in WORK if part.sleeps), bench_amd64_driver.LOAD
        added = bench_workload.files(64, sleeping, FOLDER / "script-amd64-clock", load)
        return {**added, bench_amd64_driver.MODULE: bench_amd64_driver.build_driver(log)}


def _amd64_command_line(system: str) -> str:
    """Return Linux's command line, with Xen's before it if there is one."""
    words = bench_amd64.KERNEL_OPTIONS
    if system == bench_amd64.XEN:
        return " ".join([*bench_amd64.XEN_OPTIONS, "--", "console=hvc0", *words])
    return " ".join(["console=ttyS0", *words])


def targets(full: bool = False, cache: bool = False) -> list[Target]:
    """Return all systems, each behind the one that it is compared with.

    full: with as many activations of the real-time task as the papers have. cache: with the
    plug-in's model of caches where Linux's operations are measured.
    """
    seconds = bench_latency.SECONDS_FULL if full else bench_latency.SECONDS
    shift = bench_latency.SHIFT_FULL if full else bench_latency.SHIFT
    return [
        Native(cache=cache),
        Native("native-i386-sysenter", NATIVE, sysenter=True, cache=cache),
        Gandalf("gandalf-shared", cache=cache),
        Switch(),
        Running(cache=cache),
        Channel(cache=cache),
        *(Realtime(load, seconds=seconds, shift=shift) for load in bench_latency.PHASES),
        Intervals(),
        Idle(cache=cache),
        Uninterruptible(f"gandalf-shared{NOT}", "gandalf-shared", cache=cache),
        Gandalf("gandalf-dedicated", cache=cache),
        Uninterruptible(f"gandalf-dedicated{NOT}", "gandalf-dedicated", cache=cache),
        Gandalf("gandalf-dedicated-lines", cache=cache),
        Uninterruptible(f"gandalf-dedicated-lines{NOT}", "gandalf-dedicated-lines", cache=cache),
        Amd64(bench_amd64.NATIVE, cache=cache),
        Clock(bench_amd64.NATIVE, cache=cache),
        Amd64(bench_amd64.XEN, bench_amd64.NATIVE, cache=cache),
        Clock(bench_amd64.XEN, bench_amd64.NATIVE, cache=cache),
    ]
