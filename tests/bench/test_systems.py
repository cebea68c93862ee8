# SPDX-License-Identifier: Apache-2.0
"""The bench on machines: two runs are the same to the byte, and the quick set is as it was."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gandalf.base.paths import ROOT
from gandalf.bench import bench as benching
from gandalf.bench import machines, verb
from gandalf.bench import target as bench_target
from gandalf.bench import targets as bench_targets
from gandalf.bench.masked import MASKED
from gandalf.bench.results import Results, compare, lost, read_results, write_results
from gandalf.bench.workload import WORK
from gandalf.build.symbols import apic_vector, vector_text
from gandalf.cli import app

from .fakes import DAY

REFERENCE = ROOT / "bench" / "reference.json"
SYSTEM = "gandalf-shared"
# Those of networks have tests of their own (test_network.py).
NETWORKS = (bench_targets.Network, bench_targets.Internet)
KNOWN = [target for target in bench_targets.targets() if not isinstance(target, NETWORKS)]
# What Linux's operations may cost, in native ones: on a shared CPU, on a dedicated one.
RATIOS = {
    "syscall": (1.00, 1.00),
    "signal": (1.02, 1.02),
    "page_fault": (1.25, 1.30),
    "mmap": (1.15, 1.20),
    "mprotect": (1.25, 1.25),
    "pipe": (1.10, 1.10),
    "fork_exit": (1.20, 1.25),
    "fork_exec": (1.20, 1.25),
    "rtc_latency": (1.20, 1.05),
}
# What it may have cost, of each of these, to close what an attacker found.
CLOSED_HOLES = 1.01
# They switch tasks, which without our lines in Linux traps at each store to its GDT.
NEED_THE_LINES = ("pipe", "rtc_latency")
ENTRIES = {"syscall": 0, "signal": 0, "page_fault": 2, "pipe": 4, "fork_exit": 60}
INSTRUCTIONS = {"hypercall": 56, "os_switch": 410}


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


@pytest.fixture(scope="module")
def quick() -> Results:
    """The set that is run after each change, but for networks (test_network.py)."""
    return benching.bench(benching.Plan(quick=True), KNOWN, quiet)


def test_every_operation_of_every_system_has_a_result(quick: Results) -> None:
    assert not quick.absent
    systems = benching.Plan(quick=True).targets(KNOWN)
    # A system may have several machines.
    assert quick.systems == list(dict.fromkeys(target.name for target in systems))
    for target in systems:
        for operation in (*(part.operation for part in WORK), *MASKED):
            result = quick.find(target.name, operation)
            assert result is not None
            assert 0 < result.minimum <= result.instructions <= result.maximum
            native = bench_targets.NATIVE if target.name != bench_targets.NATIVE else None
            assert (result.ratio is None) == (native is None)
            if operation not in MASKED:
                assert ("vmm_entries" in result.events) == target.name.startswith("gandalf")
    hypercall = quick.find(SYSTEM, "hypercall")
    assert hypercall is not None
    assert hypercall.samples == 1000


def test_events_are_what_the_operations_consist_of(quick: Results) -> None:
    """A system call is one transition and back, natively into ring 0, else past it."""
    native, shared = (quick.find(name, "syscall") for name in (bench_targets.NATIVE, SYSTEM))
    assert native is not None
    assert shared is not None
    assert (native.events["ring_0_entries"], shared.events["ring_0_entries"]) == (1.0, 0.0)
    assert native.events["ring_crossings"] == shared.events["ring_crossings"] == 2.0
    for system in quick.systems:
        pipe = quick.find(system, "pipe")
        assert pipe is not None
        # To the other process and back.
        assert pipe.events["cr3_load"] >= 2.0


@pytest.mark.parametrize("operation", RATIOS)
def test_linux_is_close_to_native(quick: Results, operation: str) -> None:
    """Medians and means."""
    shared, dedicated = RATIOS[operation]
    limits = {SYSTEM: shared, "gandalf-dedicated-lines": dedicated}
    if operation not in NEED_THE_LINES:
        limits["gandalf-dedicated"] = dedicated
    for system, limit in limits.items():
        found = quick.find(system, operation)
        assert found is not None
        assert found.ratio is not None
        assert found.ratio_mean is not None
        assert max(found.ratio, found.ratio_mean) <= limit * CLOSED_HOLES, system


def test_few_entries_and_instructions(quick: Results) -> None:
    for operation, limit in ENTRIES.items():
        found = quick.find(SYSTEM, operation)
        assert found is not None
        assert found.events["vmm_entries"] <= limit, operation
    for operation, limit in INSTRUCTIONS.items():
        found = quick.find(SYSTEM, operation)
        assert found is not None
        assert found.instructions <= limit, operation


def test_an_interrupt_of_the_clock_reaches_its_process(quick: Results) -> None:
    """Each period has one, and nothing but a timer's beside it."""
    for system in quick.systems:
        found = quick.find(system, "rtc_latency")
        assert found is not None
        assert found.samples == 500
        assert 1 <= found.events["interrupts"] < 2
        # A register of the clock and the 8259s; a virtual clock leaves those of Linux's timer.
        assert (found.events["port"] < 4) == (system == SYSTEM)
        assert found.events["port"] > 0


def test_a_running_task_costs_linux_its_turns(quick: Results) -> None:
    """A turn is an interrupt, at least two switches, and the task: no less than its latency."""
    found = quick.find(SYSTEM, "rtos_task_cost")
    assert found is not None
    assert 1000 <= found.instructions < 10_000
    assert found.events["vmm_entries"] >= 2
    assert found.events[f"entry {vector_text(apic_vector('TIMER'))}"] == pytest.approx(1, abs=0.05)


def test_interrupts_are_masked_in_ring_0_alone_on_a_shared_cpu(quick: Results) -> None:
    """Linux's own flag is no processor's; on a dedicated CPU it is."""
    dedicated = ("gandalf-dedicated", "gandalf-dedicated-lines")
    for system, alone in ((SYSTEM, True), *((name, False) for name in dedicated)):
        total = quick.find(system, "masked_total")
        assert total is not None
        assert 0 < total.events["masked_ring_0"] <= total.instructions < total.events["executed"]
        assert (total.events["masked_ring_0"] == total.instructions) == alone
    assert quick.footprint["gandalf"]["VMM text and read-only data, bytes"] > 0


def test_nothing_is_worse_than_the_reference(quick: Results) -> None:
    """bench/reference.json is changed on purpose only: docs/measuring.md says how."""
    reference = read_results(REFERENCE)
    worse = [change for change in compare(reference, quick) if change.verdict == "worse"]
    assert not worse
    assert not lost(reference, quick)
    networks = {(kind.name, operation) for kind in NETWORKS for operation in kind.operations}
    assert {(row.system, row.operation) for row in reference.results} - networks == {
        (row.system, row.operation) for row in quick.results
    }


def test_two_runs_from_nothing_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "_today", lambda: DAY)
    contents = []
    for number in range(2):
        for name in (machines.INITRD, bench_target.FOLDER / "script"):
            shutil.rmtree(name, ignore_errors=True) if name.is_dir() else name.unlink(True)
        output = tmp_path / str(number)
        words = ["bench", "--system", SYSTEM, "--output", str(output)]
        for operation in ("syscall", "pipe", "fork_exit", "hypercall"):
            words += ["--operation", operation]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        assert done.output.splitlines()[-3].startswith("Verdict: Linux in gandalf-shared needs ")
        assert done.output.splitlines()[-1].startswith(f"More in {output}/report.html, ")
        contents.append({path.name: path.read_bytes() for path in sorted(output.iterdir())})
    assert contents[0] == contents[1]
    assert set(contents[0]) == {"results.json", "report.md", "report.html"}


def test_a_regression_ends_in_status_1(tmp_path: Path) -> None:
    """Against a run that was cheaper, by what a made-up file says."""
    words = ["bench", "--system", bench_targets.NATIVE, "--operation", "syscall"]
    first = CliRunner().invoke(app, [*words, "--output", str(tmp_path)])
    assert first.exit_code == 0, first.output
    again = [*words, "--output", str(tmp_path), "--compare", str(tmp_path / "results.json")]
    assert CliRunner().invoke(app, again).exit_code == 0
    found = read_results(tmp_path / "results.json")
    cheaper = [
        row.model_copy(update={"instructions": row.instructions // 2}) for row in found.results
    ]
    write_results(found.model_copy(update={"results": cheaper}), tmp_path / "cheap.json")
    again[-1] = str(tmp_path / "cheap.json")
    assert CliRunner().invoke(app, again).exit_code == 1
