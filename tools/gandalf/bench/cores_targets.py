# SPDX-License-Identifier: Apache-2.0
"""The systems of `gandalf bench --cores`, each of which boots and runs its script by itself."""

from dataclasses import dataclass, replace
from pathlib import Path

from gandalf.base.paths import ROOT, UserError
from gandalf.bench import cores, cores_message, latency, moves, shares
from gandalf.bench import cores_machine as machines
from gandalf.bench.cores import ACROSS, LATENCY, MESSAGE, ROUND_TRIP, SMP, TOGETHER, WITHIN
from gandalf.bench.lhp_targets import Shares
from gandalf.bench.simulated import COMMAND_LINE, DEMO, DONE, IDLE, Simulated, initrd_of, run_of
from gandalf.bench.target import Log, Run, Target, scratch
from gandalf.bench.workload import Output, Sample, Work
from gandalf.build.build import Built, build, build_kernels
from gandalf.build.iso import make_linux_iso
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.description.linux_boot import DETERMINISTIC_OPTIONS, TOOL_OPTIONS
from gandalf.guests import kernel as linux_kernel
from gandalf.guests.places import Variant
from gandalf.run import emulator

_NATIVE_MEMORY = 128
_CLOCK = f"tsc_early_khz={cores.RATE // 1000}"
# Seconds in which hackbench runs on all CPUs; each has 1,000 activations of the task.
_SECONDS = (3, 100)


def _number_checked(output: cores.CoresOutput, cpus: int) -> None:
    if output.cpus != cpus:
        raise UserError(f"Linux has found {output.cpus} CPUs of {cpus}.")


@dataclass
class NativeSmp(Simulated):
    """Linux on the bare machine, without a changed line: with one CPU the kernel is for one."""

    cpus: int
    full: bool = False
    native: str | None = None

    def __post_init__(self) -> None:
        self.name = f"native-smp-{self.cpus}"
        self.operations = cores.operations_for(self.cpus)
        self.share = 20.0 * self.cpus

    def _kernel(self, log: Log) -> Path:
        variant: Variant = "smp-native" if self.cpus > 1 else "native"
        return linux_kernel.build_kernel(variant, ROOT, log)

    def prepare(self, log: Log) -> None:
        self._kernel(log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        vmlinux = self._kernel(log)
        script = cores.script(self.cpus, self.full, self.operations)
        initrd = initrd_of(self.name, script, log)
        words = [word for word in TOOL_OPTIONS if word != "nolapic" or self.cpus == 1]
        line = " ".join([COMMAND_LINE, *words, *DETERMINISTIC_OPTIONS, _CLOCK])
        with scratch() as folder:
            kernel = vmlinux.parent / "arch" / "x86" / "boot" / "bzImage"
            iso = make_linux_iso(folder / "native.iso", kernel, initrd, line)
            options = emulator.Options(
                memory=_NATIVE_MEMORY, iso=iso, deterministic=True, ips=cores.RATE, cpus=self.cpus
            )
            text = machines.watch(options, DONE).decode(errors="replace")
        output = cores.read(text)
        _number_checked(output, self.cpus)
        return run_of(output, self.operations, machines.machine_text(options), line)


@dataclass
class GandalfSmp(Simulated):
    """The same Linux on Gandalf, with a vCPU on each CPU and an RTOS that has halted beside.

    The kernel for several vCPUs does not run with one.
    """

    cpus: int
    full: bool = False

    def __post_init__(self) -> None:
        self.name = f"{SMP}{self.cpus}"
        self.native = f"native-smp-{self.cpus}"
        self.operations = cores.operations_for(self.cpus)
        self.share = 30.0 * self.cpus

    def _description(self, rtos: str = IDLE) -> Path:
        names = f"cpus = {list(range(self.cpus))}" if self.cpus > 1 else "cpu = 0"
        kernel = "smp" if self.cpus > 1 else "patched"
        linux = machines.linux("linux", names, kernel, self.name)
        return machines.describe(self.name, self.cpus, linux, machines.rtos("rtos", rtos))

    def prepare(self, log: Log) -> None:
        build_kernels(self._description(), log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        initrd_of(self.name, cores.script(self.cpus, self.full, self.operations), log)
        built = build(self._description(), log, deterministic=True)
        options = machines.options_of(built, cores.RATE)
        output = cores.read(latency.consoles(built.names, machines.watch(options, DONE))["linux"])
        _number_checked(output, self.cpus)
        return run_of(output, self.operations, machines.machine_text(options), COMMAND_LINE)


@dataclass
class LatencySmp(Simulated):
    """The dispatch latency of FreeRTOS's 1 ms task on CPU 0, with hackbench on all CPUs."""

    cpus: int
    full: bool = False
    native: str | None = None
    is_part = True
    operations = (LATENCY,)

    def __post_init__(self) -> None:
        self.name = f"{SMP}{self.cpus}"
        self.share = 40.0 * self.cpus

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        name, seconds = f"{self.name}-realtime", _SECONDS[self.full]
        script = latency.script([LATENCY], seconds)
        initrd_of(name, script.replace("-g 2 -l 20", f"-g {self.cpus} -l 20"), log)
        linux = machines.linux("linux", f"cpus = {list(range(self.cpus))}", "smp", name)
        description = machines.describe(name, self.cpus, linux, machines.rtos("rtos", DEMO))
        built = build(description, log, deterministic=True)
        options = machines.options_of(built, cores.RATE)
        stream = machines.watch(options, DONE, patience=200.0 * seconds)
        return Run(
            latency.latencies(built.names, stream), (), hex, True, machines.machine_text(options),
            COMMAND_LINE,
        )  # fmt: skip


@dataclass
class TwoLinux(Simulated):
    """Two independent Linux systems on two CPUs: each measures alone, and while the other works.

    Each has an RTOS beside it that has halted.
    """

    full: bool = False
    name: str = "gandalf-two-linux"
    native: str | None = None
    operations = tuple(TOGETHER)
    share = 100.0

    def _description(self) -> Path:
        guests = [
            machines.linux(f"linux{cpu}", f"cpu = {cpu}", "patched", f"{self.name}-{cpu}")
            for cpu in range(2)
        ]
        guests += [machines.rtos(f"rtos{cpu}", IDLE, cpu) for cpu in range(2)]
        return machines.describe(self.name, 2, *guests)

    def prepare(self, log: Log) -> None:
        build_kernels(self._description(), log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        for cpu in range(2):
            initrd_of(f"{self.name}-{cpu}", cores.turns_script(cpu, self.full), log)
        built = build(self._description(), log, deterministic=True)
        options = machines.options_of(built, cores.RATE)
        stream = machines.watch(options, cores.BOTH_OFF, patience=3000.0)
        texts = latency.consoles(built.names, stream)
        output = cores.joined([cores.read(texts[f"linux{cpu}"]) for cpu in range(2)])
        run = run_of(output, self.operations, machines.machine_text(options), COMMAND_LINE)
        return replace(run, footprint=cores.memory_of_core(texts[VMM_CONSOLE]))


@dataclass
class Rtoses(Simulated):
    """RTOSes that talk to each other: no Linux, whose clock could be wrong."""

    name: str
    native: str | None = None

    def _guests(self) -> tuple[int, tuple[str, ...]]:
        """Return how many CPUs there are, and the guests."""
        raise NotImplementedError

    def _sample(self, texts: dict[str, str]) -> tuple[Sample, dict[str, float]]:
        """Return what they tell, and its parts."""
        raise NotImplementedError

    def _exactly(self, built: Built) -> dict[str, float]:  # noqa: ARG002 - not each has something
        """Return what is counted in another machine."""
        return {}

    _done = ""

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        cpus, guests = self._guests()
        line = '[[channel]]\nname = "line"\nbetween = ["first", "second"]\nsize = "8K"\n'
        built = build(machines.describe(self.name, cpus, *guests, more=line), log, True)
        options = machines.options_of(built, cores.RATE)
        texts = latency.consoles(built.names, machines.watch(options, self._done))
        sample, parts = self._sample(texts)
        parts |= self._exactly(built)
        output = Output("none", ("tsc",), (sample,), (), {})
        return Run(
            output, (), hex, True, machines.machine_text(options), "none",
            more={sample.operation: parts},
        )  # fmt: skip


@dataclass
class RoundTrip(Rtoses):
    """16 bytes to another RTOS and back, on another CPU or, with cpus = 1, on the same."""

    cpus: int = 1
    operations = (ROUND_TRIP,)
    # The first thousand begins while the guests are still loaded.
    _done = r"(round_trip: \d+\r?\n.*){2}"

    def _guests(self) -> tuple[int, tuple[str, ...]]:
        first = machines.rtos("first", "tests/round_trip")
        return self.cpus, (first, machines.rtos("second", "tests/channel", self.cpus - 1, 12))

    def _sample(self, texts: dict[str, str]) -> tuple[Sample, dict[str, float]]:
        return cores.round_trip_sample(ROUND_TRIP, texts["first"]), {}


@dataclass
class Message(Rtoses):
    """A message from core to core: what the sender's VMM and the receiver's take for it.

    In Bochs' ticks; and in instructions, which QEMU counts.
    """

    operations = (MESSAGE,)
    is_part = False
    _done = r"(message: \w+=\d+ \w+=\d+\r?\n.*){2}"

    def _guests(self) -> tuple[int, tuple[str, ...]]:
        first = machines.rtos("first", "bench/rtos/ring", 0)
        second = machines.rtos("second", "bench/rtos/rung", 1)
        return 2, (first, second)

    def _sample(self, texts: dict[str, str]) -> tuple[Sample, dict[str, float]]:
        return cores.message_sample(MESSAGE, "".join(texts.values()))

    def _exactly(self, built: Built) -> dict[str, float]:
        return cores_message.instructions(built)


@dataclass
class Moves(Simulated):
    """A vCPU of a Linux that moves between two CPUs, on each of which an RTOS has halted."""

    full: bool = False
    name: str = "gandalf-moves"
    native: str | None = None
    operations = (moves.MOVE, moves.MOVE_HACKBENCH)
    share = 60.0

    def _description(self) -> Path:
        fields = "cpus = [0, 1]\nmigrate = true\ncontrol = true"
        guests = [machines.linux("linux", fields, "smp", self.name)]
        guests += [machines.rtos(f"rtos{cpu}", IDLE, cpu) for cpu in range(2)]
        return machines.describe(self.name, 2, *guests)

    def prepare(self, log: Log) -> None:
        build_kernels(self._description(), log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        initrd_of(self.name, moves.script(self.full), log)
        built = build(self._description(), log, deterministic=True)
        options = machines.options_of(built, cores.RATE)
        text = latency.consoles(built.names, machines.watch(options, DONE))["linux"]
        found = [moves.sample(name, text) for name in self.operations]
        output = replace(cores.read(text).plain, samples=tuple(sample for sample, _ in found))
        return Run(
            output, (), hex, False, machines.machine_text(options), COMMAND_LINE,
            more={sample.operation: parts for sample, parts in found},
        )  # fmt: skip


def targets(full: bool = False) -> list[Target]:
    """Return all systems with several CPUs, each behind the one that it is compared with.

    Those with 8 CPUs do each operation as often as without --full, which takes minutes.
    """
    found: list[Target] = []
    for cpus in (1, 2, 4):
        found += [NativeSmp(cpus, full), GandalfSmp(cpus, full)]
    if full:
        found += [NativeSmp(8), GandalfSmp(8)]
    return [
        *found,
        TwoLinux(full),
        *(LatencySmp(cpus, full) for cpus in ((2, 4) if full else (2,))),
        RoundTrip(WITHIN, cpus=1),
        RoundTrip(ACROSS, WITHIN, cpus=2),
        Message("gandalf-message"),
        Moves(full),
        Shares("gandalf-shares", shares.short(full)),
    ]
