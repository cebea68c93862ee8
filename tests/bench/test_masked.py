# SPDX-License-Identifier: Apache-2.0
"""How long interrupts were masked: the sums over all operations, and when there are none."""

from pathlib import Path

import pytest

from gandalf.bench import bench as benching
from gandalf.bench import report as bench_report
from gandalf.bench.masked import MASKED, Seen
from gandalf.bench.results import Results
from gandalf.bench.rows import record_rows
from gandalf.bench.workload import WORK
from gandalf.measure.measurement import Block, Measurement, State, Window, Windows

from .fakes import DAY, OUTPUT, Fake, measurement, result, results, run

SYSCALL = tuple(part for part in WORK if part.operation == "syscall")


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no bench wait for another, and one operation be all."""
    monkeypatch.setattr(benching, "FOLDER", tmp_path)
    monkeypatch.setattr(benching, "WORK", SYSCALL)


def windows(total: int, *longest: int) -> Windows:
    kept = tuple(
        Window(instructions=length, at=0, begin=0x1000 + length, end=0, last=0, blocks=())
        for length in longest
    )
    return Windows(count=9, total=total, cut=0, lengths=(), longest=kept)


def seen(total: int, longest: int, ring_0: int) -> Measurement:
    """Return a run of which so much was masked, and in ring 0 so much."""
    states = tuple(
        State(ring=ring, masked=True, vmm=ring == 0, guest=False, instructions=count)
        for ring, count in ((0, ring_0), (1, total - ring_0))
    )
    update = {
        "states": states, "windows": windows(total, longest, 5),
        "vmm_windows": windows(ring_0, longest // 2, 5),
    }  # fmt: skip
    return measurement(1000, 10).model_copy(update=update)


def sums(vmm: bool) -> Seen:
    return Seen((("pipe", seen(100, 40, 70)), ("shell", seen(200, 60, 90))), hex, vmm)


def test_the_sum_is_of_all_runs_and_of_ring_0_beside_it() -> None:
    total = sums(vmm=True).total("gandalf-dedicated")
    assert (total.instructions, total.samples, total.mean) == (300, 1, 300)
    assert total.events == {
        "masked_ring_0": 160.0, "windows": 18.0, "windows_ring_0": 18.0, "executed": 2000.0,
    }  # fmt: skip


def test_the_longest_stretch_has_a_place() -> None:
    longest = sums(vmm=True).longest("gandalf-dedicated")
    assert (longest.instructions, longest.events) == (60, {"masked_ring_0": 30.0})
    assert longest.places == {
        "any": "0x103c at 0x103c, in shell", "ring_0": "0x101e at 0x101e, in shell"
    }  # fmt: skip
    native = sums(vmm=False).longest("native")
    assert native.events == {"masked_ring_0": 60.0}
    empty = Seen((), hex, True).longest("native")
    assert (empty.instructions, empty.places["any"]) == (0, "nowhere")


def measured(*systems: Fake, operations: tuple[str, ...] = MASKED) -> Results:
    return benching.bench(benching.Plan(operations=operations), list(systems), quiet)


def test_all_operations_run_for_the_sums() -> None:
    found = measured(Fake("native"), Fake("other", "native"))
    assert [(row.system, row.operation) for row in found.results] == [
        (system, operation) for system in ("native", "other") for operation in MASKED
    ]
    assert [row.instructions for row in found.results[2:]] == [2 * (40 + 240) * 7, 243]
    assert [row.ratio for row in found.results] == [None, None, 1.0, 1.0]
    assert "masked_total" not in {row.operation for row in measured(Fake("native"), operations=(
        "syscall",)).results}  # fmt: skip


def test_a_sum_of_what_cannot_be_trusted_is_invalid() -> None:
    found = measured(Fake("native", None, OUTPUT.replace("ticks=13000", "ticks=130000")))
    assert not found.results
    assert [absent.operation for absent in found.absent] == list(MASKED)
    assert all(absent.invalid and "syscall" in absent.reason for absent in found.absent)


def test_nobody_sums_what_nobody_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "run", lambda *_: run(seen=()))
    assert {absent.reason for absent in measured(Fake("native")).absent} == {
        "Of the operations nobody looked from outside."
    }


def test_reports_have_sums_and_footprint(tmp_path: Path) -> None:
    rows = sums(vmm=True).total("s"), sums(vmm=True).longest("s")
    found = results(*rows).model_copy(update={"footprint": {"gandalf": {"text, bytes": 1234}}})
    bench_report.write(found, tmp_path, DAY)
    text, page = ((tmp_path / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert "| s | 2,000 | 300 | - | 160 | 18 | 60 | 0x103c at 0x103c, in shell | 30 |" in text
    assert "| gandalf | text, bytes | 1,234 |" in text
    assert "<td>gandalf</td><td>text, bytes</td><td>1,234</td>" in page
    assert "masked_total" not in text


def test_the_record_of_ring_0_has_the_function_it_began_in() -> None:
    """Of each system, and below it what else was looked at."""
    longest = sums(vmm=True).longest("s")
    load = result("s", "dispatch_latency_fork", masked_longest=50.0, masked_longest_ring_0=45.0)
    places = {"ring_0": "shadow_fill+0x3 at 0xfc100003, in dispatch_latency_fork"}
    load = load.model_copy(update={"places": places})
    native = sums(vmm=False).longest("n")
    rows = record_rows(results(longest, load, native, result("s", masked_ring_0=9.0)))
    assert rows == [
        ["s", "dispatch_latency_fork", "45", places["ring_0"]],
        ["", "all operations", "30", "0x101e at 0x101e, in shell"],
        ["n", "all operations", "60", "0x103c at 0x103c, in shell"],
    ]


def test_the_most_costly_block_of_a_stretch_is_named() -> None:
    """A stretch that begins in the stub of a vector says little."""
    block = Block(linear=0x2000, instructions=25)
    measured = seen(100, 40, 70)
    window = measured.vmm_windows.longest[0].model_copy(update={"blocks": (block,)})
    within = measured.vmm_windows.model_copy(update={"longest": (window,)})
    runs = (("pipe", measured.model_copy(update={"vmm_windows": within})),)
    place = Seen(runs, hex, True).longest("s").places["ring_0"]
    assert place == "0x1014 at 0x1014, in pipe; most of it, 25, in 0x2000"
