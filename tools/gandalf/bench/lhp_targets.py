# SPDX-License-Identifier: Apache-2.0
"""The systems of `gandalf bench --lhp`: an RTOS that takes a CPU from vCPUs of a Linux."""

from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT
from gandalf.bench import cores, latency, policies, shares
from gandalf.bench import cores_machine as machines
from gandalf.bench.simulated import COMMAND_LINE, DEMO, DONE, IDLE, Simulated, initrd_of, run_of
from gandalf.bench.target import Log, Run, Target
from gandalf.bench.workload import PROGRAMS, Work
from gandalf.build.build import Built, build, build_kernels, make

# Whole seconds of each policy, of 1,000 activations each: without and with --full.
_SECONDS = (5, 100)
# A Linux on four CPUs whose vCPUs stay, and one whose vCPUs move.
_STAYING_FIELDS = f"cpus = {list(range(shares.CPUS))}\ncontrol = true"
_FIELDS = f"{_STAYING_FIELDS}\nmigrate = true"


def test_guest(name: str, log: Log) -> Path:
    """Build the test guest of that name, and return its image."""
    path = BUILD / "tests" / f"{name}.elf"
    make(ROOT / "guest/tests", str(path), what=f"the test guest {path.stem}", log=log)
    return path


class _Beside(Simulated):
    """A Linux on four CPUs whose vCPUs move, and an RTOS on CPU 1."""

    native: str | None = None
    image = IDLE
    fields = _FIELDS

    def _description(self) -> Path:
        linux = machines.linux("linux", self.fields, "smp", self.name)
        rtos = machines.rtos("rtos", self.image, 1)
        return machines.describe(self.name, shares.CPUS, linux, rtos)

    def prepare(self, log: Log) -> None:
        build_kernels(self._description(), log)

    def _programs(self) -> dict[str, Path]:
        """Return what Linux has beside the usual programs, by the path there."""
        return {}

    def _measure(self, script: str, images: tuple[str, ...], log: Log) -> Run:
        """Run a script that prints its figures. images: of RTOSes that it loads."""
        added = {f"root/{name}.elf": test_guest(name, log) for name in images}
        added |= self._programs()
        built = self._start(script, log, added)
        options = machines.options_of(built, cores.RATE)
        stream = machines.watch(options, DONE, patience=10 * self.share)
        output = cores.read(latency.consoles(built.names, stream)["linux"])
        return run_of(output, self.operations, machines.machine_text(options), COMMAND_LINE)

    def _start(self, script: str, log: Log, images: dict[str, Path] | None = None) -> Built:
        """Build the system with a script and images that Linux gives the RTOS."""
        initrd_of(self.name, script, log, images)
        return build(self._description(), log, deterministic=True)


class Shares(_Beside):
    """The same, with an RTOS that has a share of its CPU."""

    def __init__(self, name: str, curve: shares.Curve) -> None:
        self.name, self._curve = name, curve
        self.operations = curve.operations()
        runs = len(curve.alone) + len(curve.points()) * curve.beginnings
        self.share = runs * curve.loops * 0.7

    def _programs(self) -> dict[str, Path]:
        by_linux = shares.BY_LINUX in self._curve.policies
        return {f"bin/{shares.TAKE}": PROGRAMS / "32" / shares.TAKE} if by_linux else {}

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        return self._measure(shares.script(self._curve), self._curve.all_images(), log)


class Shootdowns(_Beside):
    """TLB shootdowns beside an RTOS that has half of a CPU, with each policy."""

    name = "gandalf-lhp-shootdown"

    def __init__(self, names: tuple[str, ...], full: bool) -> None:
        self.operations = tuple(map(policies.shootdown, names))
        self.share = (300.0 if full else 30.0) * len(names)
        self._script = policies.shootdown_script(names, full)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        return self._measure(self._script, (policies.IMAGE,), log)


class Cost(_Beside):
    """hackbench on a Linux whose vCPUs could move, or could not, and an RTOS that has halted."""

    operations = (policies.COST,)

    def __init__(self, moves: bool, full: bool) -> None:
        self.name = policies.MOVING if moves else policies.STAYING
        self.fields = _FIELDS if moves else _STAYING_FIELDS
        self.share = 800.0 if full else 160.0
        self._script = policies.cost_script(full)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        return self._measure(self._script, (), log)


@dataclass
class PolicyLatency(_Beside):
    """The dispatch latency of FreeRTOS's 1 ms task on CPU 1, with each policy.

    hackbench runs on all CPUs, but for the first phase, in which Linux sleeps.
    """

    names: tuple[str, ...]
    full: bool = False
    name: str = "gandalf-lhp-latency"
    image = DEMO

    def __post_init__(self) -> None:
        self.operations = shares.latency_operations(self.names)
        self.share = 40.0 * _SECONDS[self.full] * len(self.operations)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        script = shares.latency_script(self.names, _SECONDS[self.full])
        built = self._start(script, log)
        options = machines.options_of(built, cores.RATE)
        stream = machines.watch(options, DONE, patience=5 * self.share)
        return Run(
            latency.latencies(built.names, stream), (), hex, True, machines.machine_text(options),
            COMMAND_LINE,
        )  # fmt: skip


def _name(curve: shares.Curve) -> str:
    if curve.policies == (shares.BY_LINUX,):
        return shares.SYSTEM_BY_LINUX
    return "-".join(["gandalf-lhp", *map(str, curve.shares)])


def paper_targets(full: bool, names: tuple[str, ...]) -> list[Target]:
    """Return what `gandalf bench --lhp` measures. names: of policies."""
    curves = [Shares(_name(curve), curve) for curve in shares.paper(full, names)]
    costs = [Cost(moves, full) for moves in (False, True)]
    return [PolicyLatency(names, full), Shootdowns(names, full), *costs, *curves]
