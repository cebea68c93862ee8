# SPDX-License-Identifier: Apache-2.0
"""The kernel's tests of itself come out as a guest as they do on the bare machine.

Both machines have the same root file system, the same configuration of the kernel and as much
memory, and run all by themselves from its first shell on. An RTOS beside the guest misses nothing.

A second pair of machines has two CPUs, for what several may make a difference. These are threads of
the host, whose time says nothing: the RTOS is at work there.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.bench.machines import CLOCK
from gandalf.bench.workload import extended
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.description.linux_boot import DETERMINISTIC_OPTIONS, TOOL_OPTIONS
from gandalf.guests import kernel as linux_kernel
from gandalf.guests.places import Variant
from gandalf.guests.rootfs import build_small_rootfs
from gandalf.guests.selftests import GROUPS, Selftests, build_selftests
from gandalf.run import emulator
from gandalf.run.machine import Machine

from .kselftests import END, Outcome, Table, mistakes, outcomes, read_table, results, runs, script
from .systems import DEMO, Boot, describe, linux
from .test_cores import describe_cores, on

FOLDER = BUILD / "kselftests"
# With 256 MiB for large pages.
MEMORY = 512
PATIENCE = 1500

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Pair:
    """A bare machine and a system. native, guest: their kernels."""

    name: str
    native: Variant
    guest: Variant
    cpus: int

    def runs(self, programs: tuple[str, ...], table: Table) -> list[str]:
        """Return what both run."""
        if self.cpus == 1:
            return runs(programs, table)
        return runs(tuple(filter(table.is_for_several, programs)), table)


PAIRS = (
    Pair("one", "complete-native", "complete", 1),
    Pair("several", "complete-smp-native", "complete-smp", 2),
)


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: pair.name)
def pair(request: pytest.FixtureRequest) -> Pair:
    found: Pair = request.param
    return found


@pytest.fixture(scope="module")
def table(pair: Pair) -> Table:
    found = read_table()
    return found if pair.cpus == 1 else found.on_several()


@pytest.fixture(scope="module")
def built() -> Selftests:
    return build_selftests(ROOT, print)


@pytest.fixture(scope="module")
def initrd(pair: Pair, built: Selftests, table: Table) -> Path:
    """Return the root file system that runs them."""
    folder = FOLDER / pair.name
    folder.mkdir(parents=True, exist_ok=True)
    start = folder / "script"
    start.write_text(script(pair.runs(built.programs, table), table.last))
    rootfs = build_small_rootfs(ROOT, print)
    return extended(rootfs, {**built.files, "root/.profile": start}, folder / "initramfs.cpio")


@pytest.fixture(scope="module")
def native(pair: Pair, initrd: Path) -> dict[str, Outcome]:
    """Return what came out on the bare machine."""
    vmlinux = linux_kernel.build_kernel(pair.native, ROOT, print)
    words = [word for word in TOOL_OPTIONS if word != "nolapic" or pair.cpus == 1]
    line = " ".join(["console=ttyS0", *words, *DETERMINISTIC_OPTIONS, CLOCK])
    options = emulator.Options(
        memory=MEMORY, kernel=vmlinux.parent / "arch" / "x86" / "boot" / "bzImage", module=initrd,
        deterministic=True, arguments=("-append", line), cpus=pair.cpus,
    )  # fmt: skip
    # Its console is the only one on the line, as the VMM's would be before there are guests.
    with Machine.on([VMM_CONSOLE], emulator.start("qemu", options)) as machine:
        machine.expect(VMM_CONSOLE, f"^{END}\n", PATIENCE)
        return _kept(pair, "native", machine.text(VMM_CONSOLE))


@pytest.fixture(scope="module")
def machine(pair: Pair, initrd: Path, native: dict[str, Outcome]) -> Iterator[Boot]:  # noqa: ARG001
    """Give the system when the guest has run them, behind the other: one has the host at a time."""
    kernel = f"build/linux/{pair.guest}/vmlinux"
    guest = linux(kernel=kernel, initrd=str(initrd.relative_to(ROOT)), memory=f"{MEMORY}M")
    if pair.cpus == 1:
        system = describe("kselftests", guest, DEMO, memory=f"{MEMORY + 128}M")
    else:
        guest = guest.replace("[[guest]]\n", f"[[guest]]\ncpus = {list(range(pair.cpus))}\n", 1)
        system = describe_cores("kselftests-several", pair.cpus, guest, on(0, DEMO))
        text = system.read_text().replace('memory = "512M"\n', f'memory = "{MEMORY + 128}M"\n', 1)
        system.write_text(text)
    with Boot.start(system) as started:
        started.expect("linux", f"^{END}\n", PATIENCE)
        yield started


@pytest.fixture(scope="module")
def guest(pair: Pair, machine: Boot) -> dict[str, Outcome]:
    return _kept(pair, "guest", machine.text("linux"))


def _kept(pair: Pair, name: str, text: str) -> dict[str, Outcome]:
    """Return what came out, and leave the console for who wants to look."""
    (FOLDER / pair.name / f"{name}.txt").write_text(text)
    assert f"\nkselftests: {pair.cpus} CPUs\n" in text
    return outcomes(text)


def test_every_group_was_built(built: Selftests, capsys: pytest.CaptureFixture[str]) -> None:
    """What does not compile is named with what the compiler said."""
    with capsys.disabled():
        for name, reason in built.failed.items():
            print(f"\n{name} was not built: {reason}")
    assert {program.rpartition("/")[0] for program in built.programs} == set(GROUPS)


def test_all_of_the_table_is_there(pair: Pair, built: Selftests, table: Table) -> None:
    commands = pair.runs(built.programs, table)
    assert len(set(commands)) == len(commands)
    assert {*table.arguments, *table.left_out, *table.last} <= set(built.programs)
    assert set(table.differences) <= set(commands)


def test_they_come_out_alike(
    pair: Pair, native: dict[str, Outcome], guest: dict[str, Outcome], built: Selftests,
    table: Table, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    commands = pair.runs(built.programs, table)
    assert list(native) == commands
    assert list(guest) == commands
    with capsys.disabled():
        programs = {command.split()[0] for command in commands}
        print(f"\n{len(commands)} runs of {len(programs)} programs, {pair.cpus} CPUs")
        for name, reason in table.left_out.items():
            print(f"{name} is left out: {reason}")
        for name, found in (("natively", native), ("as a guest", guest)):
            print(f"{name}: {summary(found)}")
    assert "\n".join(mistakes(native, guest, table.differences)) == ""


def summary(found: dict[str, Outcome]) -> str:
    """Return how many runs ended how, and how many results they have printed."""
    statuses = Counter(outcome.status for outcome in found.values())
    printed = sum((results(outcome) for outcome in found.values()), Counter[str]())
    return ", ".join(f"{count} {what}" for what, count in (statuses + printed).most_common())


@pytest.mark.usefixtures("guest")
def test_the_rtos_has_missed_nothing(machine: Boot, pair: Pair) -> None:
    found = machine.next_latency()
    assert found.missed == 0 or pair.cpus > 1
    machine.wait_for_shell()
    machine.kernel_is_sane()
