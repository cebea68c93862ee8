# SPDX-License-Identifier: Apache-2.0
"""The kernel's tests of itself come out as a guest as they do on the bare machine.

Both machines have the same root file system, the same configuration of the kernel and as much
memory, and run all by themselves from its first shell on. An RTOS beside the guest misses nothing.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.bench.machines import CLOCK
from gandalf.bench.workload import extended
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.description.linux_boot import DETERMINISTIC_OPTIONS, TOOL_OPTIONS
from gandalf.guests import kernel as linux_kernel
from gandalf.guests.rootfs import build_small_rootfs
from gandalf.guests.selftests import GROUPS, Selftests, build_selftests
from gandalf.run import emulator
from gandalf.run.machine import Machine

from .kselftests import END, Outcome, Table, mistakes, outcomes, read_table, results, runs, script
from .systems import DEMO, Boot, describe, linux

KERNEL = "build/linux/complete/vmlinux"
FOLDER = BUILD / "kselftests"
MEMORY = 192
PATIENCE = 1500

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def table() -> Table:
    return read_table()


@pytest.fixture(scope="module")
def built() -> Selftests:
    return build_selftests(ROOT, print)


@pytest.fixture(scope="module")
def initrd(built: Selftests, table: Table) -> Path:
    """Return the root file system that runs them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    start = FOLDER / "script"
    start.write_text(script(runs(built.programs, table)))
    rootfs = build_small_rootfs(ROOT, print)
    return extended(rootfs, {**built.files, "root/.profile": start}, FOLDER / "initramfs.cpio")


@pytest.fixture(scope="module")
def native(initrd: Path) -> dict[str, Outcome]:
    """Return what came out on the bare machine."""
    vmlinux = linux_kernel.build_kernel("complete-native", ROOT, print)
    line = " ".join(["console=ttyS0", *TOOL_OPTIONS, *DETERMINISTIC_OPTIONS, CLOCK])
    options = emulator.Options(
        memory=MEMORY, kernel=vmlinux.parent / "arch" / "x86" / "boot" / "bzImage", module=initrd,
        deterministic=True, arguments=("-append", line),
    )  # fmt: skip
    # Its console is the only one on the line, as the VMM's would be before there are guests.
    with Machine.on([VMM_CONSOLE], emulator.start("qemu", options)) as machine:
        machine.expect(VMM_CONSOLE, f"^{END}\n", PATIENCE)
        return _kept("native", machine.text(VMM_CONSOLE))


@pytest.fixture(scope="module")
def machine(initrd: Path, native: dict[str, Outcome]) -> Iterator[Boot]:  # noqa: ARG001
    """Give the system when the guest has run them, behind the other: one has the host at a time."""
    guest = linux(kernel=KERNEL, initrd=str(initrd.relative_to(ROOT)), memory=f"{MEMORY}M")
    with Boot.start(describe("kselftests", guest, DEMO)) as started:
        started.expect("linux", f"^{END}\n", PATIENCE)
        yield started


@pytest.fixture(scope="module")
def guest(machine: Boot) -> dict[str, Outcome]:
    return _kept("guest", machine.text("linux"))


def _kept(name: str, text: str) -> dict[str, Outcome]:
    """Return what came out, and leave the console for who wants to look."""
    (FOLDER / f"{name}.txt").write_text(text)
    return outcomes(text)


def test_every_group_was_built(built: Selftests, capsys: pytest.CaptureFixture[str]) -> None:
    """What does not compile is named with what the compiler said."""
    with capsys.disabled():
        for name, reason in built.failed.items():
            print(f"\n{name} was not built: {reason}")
    assert {program.rpartition("/")[0] for program in built.programs} == set(GROUPS)


def test_all_of_the_table_is_there(built: Selftests, table: Table) -> None:
    commands = runs(built.programs, table)
    assert len(set(commands)) == len(commands)
    assert {*table.arguments, *table.left_out} <= set(built.programs)
    assert set(table.differences) <= set(commands)


def test_they_come_out_alike(
    native: dict[str, Outcome], guest: dict[str, Outcome], built: Selftests, table: Table,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    commands = runs(built.programs, table)
    assert list(native) == commands
    assert list(guest) == commands
    with capsys.disabled():
        print(f"\n{len(commands)} runs of {len(built.programs) - len(table.left_out)} programs")
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
def test_the_rtos_has_missed_nothing(machine: Boot) -> None:
    assert machine.next_latency().missed == 0
    machine.wait_for_shell()
    machine.kernel_is_sane()
