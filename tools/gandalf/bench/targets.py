# SPDX-License-Identifier: Apache-2.0
"""The systems of the bench: each boots, runs the bench's script by itself, and is switched off.

Every machine has QEMU's deterministic options, and the plug-in of measure/, which guests cannot
notice. It measures from each umask() of the bench to the next times().
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from gandalf.base.paths import ROOT
from gandalf.bench import ablation
from gandalf.bench import amd64 as bench_amd64
from gandalf.bench import latency as bench_latency
from gandalf.bench import switch as bench_switch
from gandalf.bench import workload as bench_workload
from gandalf.bench.amd64_target import Amd64, Clock
from gandalf.bench.interruptible import NOT
from gandalf.bench.machines import (
    CLOCK,
    I386,
    INITRD,
    SYSTEMS,
    own_command_line,
    own_script,
    vector_names,
)
from gandalf.bench.realtime_targets import Intervals, Realtime
from gandalf.bench.target import (
    FOLDER,
    Log,
    Run,
    Target,
    function_names,
    machine_text,
    patience_for,
    plugin,
    plugin_of_session,
    read_series,
    read_session,
    scratch,
    watch,
)
from gandalf.bench.workload import CHANNEL, INTERNET, NETWORK, TASK, WORK, Work
from gandalf.build.build import build, build_kernels
from gandalf.build.symbols import Image, Symbols
from gandalf.description.linux_boot import DETERMINISTIC_OPTIONS, TOOL_OPTIONS
from gandalf.guests import kernel as linux_kernel
from gandalf.guests import rootfs as linux_rootfs
from gandalf.run import emulator
from gandalf.run.options import options_for

NATIVE = "native-i386"
_NATIVE_MEMORY = 192


def build_initrd(work: tuple[Work, ...], log: Log, first: tuple[str, ...] = ()) -> Path:
    """Return the root file system with the bench in it. first: the script's first lines."""
    rootfs = linux_rootfs.build_measured_rootfs(ROOT, log)
    added = bench_workload.files(32, work, FOLDER / "script", first)
    return bench_workload.extended(rootfs, added, INITRD)


@dataclass
class Native(Target):
    """The kernel without the patch on the bare machine. sysenter: with the CPU's own way in."""

    name: str = NATIVE
    native: str | None = None
    sysenter: bool = False
    cache: bool = False

    def _command_line(self) -> str:
        line = " ".join(["console=ttyS0", *TOOL_OPTIONS, *DETERMINISTIC_OPTIONS, CLOCK])
        return line.replace("clearcpuid=sep,", "clearcpuid=") if self.sysenter else line

    def prepare(self, log: Log) -> None:
        linux_kernel.build_kernel("native", ROOT, log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        vmlinux = linux_kernel.build_kernel("native", ROOT, log)
        initrd, kernel = build_initrd(work, log), Image(vmlinux, "linux")
        line = self._command_line()
        with scratch() as folder:
            arguments = plugin_of_session(kernel.addresses, I386, folder, self.cache)
            options = emulator.Options(
                memory=_NATIVE_MEMORY, kernel=vmlinux.parent / "arch" / "x86" / "boot" / "bzImage",
                module=initrd, deterministic=True,
                arguments=("-append", line, *arguments),
            )  # fmt: skip
            text = watch(options, folder, patience=patience_for(self.cache), session=True).decode(
                errors="replace"
            )
            seen, between = read_session(folder)
        return Run(
            bench_workload.parse(text), seen, function_names(kernel.find), False,
            machine_text(options), line, between=between, cache=self.cache,
        )  # fmt: skip


@dataclass
class Gandalf(Target):
    """A system of bench/systems. description: the file there; the system's own unless given."""

    name: str
    native: str | None = NATIVE
    description: str = ""
    cache: bool = False
    share = 22.0
    # What the shell does before the operations.
    first: ClassVar[tuple[str, ...]] = ()

    @property
    def _path(self) -> Path:
        return SYSTEMS / f"{self.description or self.name}.toml"

    def prepare(self, log: Log) -> None:
        build_kernels(self._path, log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        build_initrd(work, log, self.first)
        built = build(self._path, log, deterministic=True)
        symbols = Symbols(built)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        with scratch() as folder:
            arguments = plugin_of_session(kernel.addresses, I386, folder, self.cache)
            options = options_for(built, True, None, arguments)
            text = bench_latency.guests_text(
                built.names, watch(options, folder, patience=patience_for(self.cache), session=True)
            )
            seen, between = read_session(folder)
        return Run(
            bench_workload.parse(text), seen, vector_names(symbols), True, machine_text(options),
            own_command_line(built), between=between, cache=self.cache,
        )  # fmt: skip


@dataclass
class Idle(Gandalf):
    """gandalf-shared with as many further RTOSes as there can be, which have no work."""

    name: str = "gandalf-shared-idle"
    native: str | None = "gandalf-shared"
    is_quick = False
    operations = tuple(part.operation for part in WORK)


@dataclass
class TwoLevel(Gandalf):
    """gandalf-shared with the VMM alone privileged (docs/two-level.md)."""

    name: str = "gandalf-two-level"
    is_quick = False


@dataclass
class Ablation(Gandalf):
    """A system without one of the measures that make its `native` fast."""

    is_quick = False


@dataclass
class Uninterruptible(Gandalf):
    """A system whose VMM keeps interrupts waiting while it works, as its `native` does not."""

    is_quick = False


@dataclass
class Another(Gandalf):
    """Another machine of gandalf-shared, for operations of its own."""

    name: str = "gandalf-shared"
    native: str | None = None
    is_part = True
    share = 6.0
    own: ClassVar[tuple[Work, ...]] = ()

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        return super().run(self.own, log)


@dataclass
class Running(Another):
    """What the running RTOS of Realtime costs Linux."""

    description: str = "gandalf-realtime"
    own = (TASK,)
    operations = (TASK.operation,)


@dataclass
class Channel(Another):
    """Bytes between Linux and an RTOS."""

    description: str = "gandalf-channel"
    own = CHANNEL
    operations = tuple(part.operation for part in CHANNEL)


@dataclass
class Network(Another):
    """Frames between Linux and an RTOS, with a larger kernel."""

    description: str = "gandalf-network"
    own = NETWORK
    operations = tuple(part.operation for part in NETWORK)
    first = ("ip link set bench up",)


@dataclass
class Internet(Another):
    """ICMP and TCP between Linux and an RTOS with lwIP, with that kernel."""

    description: str = "gandalf-internet"
    own = INTERNET
    operations = tuple(part.operation for part in INTERNET)
    # The RTOS listens before Linux has started.
    first: ClassVar[tuple[str, ...]] = (
        "ip addr add 10.0.0.1/24 dev bench",
        "ip link set bench up",
    )


@dataclass
class Switch(Target):
    """Switches between Linux and an RTOS: a third machine of gandalf-shared."""

    name: str = "gandalf-shared"
    native: str | None = None
    is_part = True
    share = 6.0
    operations = (bench_switch.OPERATION,)
    description: str = "gandalf-switch"
    is_quick: bool = True

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        own_script(FOLDER / "script-switch", bench_switch.script(), log)
        built = build(SYSTEMS / f"{self.description}.toml", log, deterministic=True)
        symbols = Symbols(built)
        kernel = next(image for image in symbols.images if image.owner == "linux")
        linux = bench_switch.hypercall_of(kernel)
        rtos = (symbols.address(f"rtos:switch_{name}") for name in ("halt", "rung"))
        with scratch() as folder:
            flag, words = plugin(kernel.addresses, I386, folder)
            for start, end in bench_switch.points(linux, *rtos):
                words += f",from={start},to={end}"
            options = options_for(built, True, None, (flag, words))
            text = bench_latency.guests_text(built.names, watch(options, folder))
            seen = read_series(folder)
        output = replace(
            bench_workload.parse(text), brackets=bench_switch.brackets(seen),
            samples=(bench_switch.sample(seen[-1].intervals),),
        )  # fmt: skip
        return Run(
            output, tuple(map(bench_switch.of_ring_0, seen)), vector_names(symbols), True,
            machine_text(options), own_command_line(built),
            more={bench_switch.OPERATION: bench_switch.halves(seen[-1].intervals)},
        )  # fmt: skip


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
        Network(cache=cache),
        Internet(cache=cache),
        *(Realtime(load, seconds=seconds, shift=shift) for load in bench_latency.PHASES),
        Intervals(),
        Idle(cache=cache),
        TwoLevel(cache=cache),
        TwoLevel("gandalf-two-level-global", "gandalf-two-level", cache=cache),
        *(
            Realtime(load, "gandalf-two-level", "gandalf-two-level-realtime", seconds, shift)
            for load in bench_latency.PHASES
        ),
        Switch("gandalf-two-level", description="gandalf-two-level-switch", is_quick=False),
        *(Ablation(name, whole, cache=cache) for name, whole, _ in ablation.systems()),
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
