# SPDX-License-Identifier: Apache-2.0
"""What becomes of the systems' output: results, what is invalid, comparison, reports."""

from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console as RichConsole

from gandalf.base.paths import UserError
from gandalf.bench import bench as benching
from gandalf.bench import plots
from gandalf.bench import report as bench_report
from gandalf.bench.masked import TOTAL
from gandalf.bench.papers import WEIGHTS
from gandalf.bench.results import (
    SCHEMA,
    Absent,
    Change,
    Results,
    compare,
    lost,
    read_results,
    schema_text,
    write_results,
)
from gandalf.bench.target import Run, Target
from gandalf.bench.targets import targets
from gandalf.bench.workload import WORK, parse, script

from .fakes import DAY, OUTPUT, Fake, result, results, run

SYSCALL = benching.Plan(operations=("syscall",))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no bench wait for another."""
    monkeypatch.setattr(benching, "FOLDER", tmp_path)


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


def measured(*systems: Fake, plan: benching.Plan = SYSCALL) -> Results:
    return benching.bench(plan, list(systems), quiet)


def test_the_schema_in_docs_is_the_models() -> None:
    assert SCHEMA.read_text() == schema_text(), "run `python -m gandalf.bench.results`"


def test_output_is_read() -> None:
    output = parse(OUTPUT.replace("\n", "\r\n"))
    # The shell of the guest asks for the window's size in front of the first line.
    assert parse(f"\x1b]7473;size\x07{OUTPUT}") == output
    assert output.kernel == "6.1.0"
    assert output.clocksources == ("tsc-early", "tsc")
    assert [sample.operation for sample in output.samples] == ["boot", "syscall"]
    assert output.samples[1].mean == 110.5
    assert [bracket.operations for bracket in output.brackets] == [20, 120]
    with pytest.raises(UserError, match="damaged"):
        parse("sample=syscall samples=10 minimum=")


def test_results_of_a_system_and_its_native() -> None:
    slow = OUTPUT.replace("median=100 mean_times_100=11050", "median=150 mean_times_100=22100")
    found = measured(Fake("native"), Fake("other", "native", slow))
    native, other = found.results
    assert (native.ratio, native.instructions, native.samples) == (None, 100, 100)
    assert (other.ratio, other.ratio_mean) == (1.5, 2.0)
    assert found.versions["linux of native"] == "6.1.0"
    assert not found.absent


def test_events_are_the_difference_of_two_runs() -> None:
    seen = benching.events("syscall", run())
    assert seen == {
        "cr3_load": 1.0, "entry at 0x1000": 2.0, "masked": 14.0, "masked_longest": 243.0,
        "masked_ring_0": 0.0,
        "ring_0_entries": 2.0, "ring_crossings": 4.0, "vmm_entries": 2.0,
    }  # fmt: skip
    assert "vmm_entries" not in benching.events("syscall", run(vmm=False))
    assert benching.events("syscall", run(seen=())) == {}


def test_an_operation_alone_brings_its_native_with_it() -> None:
    systems = [Fake("native"), Fake("other", "native"), Fake("third")]
    plan = benching.Plan(("other",), ("syscall",))
    assert [target.name for target in plan.targets(list(systems))] == ["native", "other"]
    quick = benching.Plan(quick=True).targets(targets())
    assert {"native-i386", "gandalf-shared"} <= {target.name for target in quick}
    assert "xen-pv" not in {target.name for target in quick}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("clocksource=tsc\n", "clocksource=jiffies\n", "clock source is jiffies"),
        ("timer=2 others=0", "timer=2 others=3", "3 interrupts came"),
        ("ticks=3000 timer=0 others=0", "ticks=3000 timer=0 others=1", "no timer's"),
        ("ticks=13000", "ticks=130000", "counted another run"),
        ("count=syscall operations=20 ticks=3000 timer=0 others=0\n", "", "2 measurements"),
    ],
)
def test_a_run_that_cannot_be_trusted_is_invalid(old: str, new: str, why: str) -> None:
    assert old in OUTPUT
    found = measured(Fake("native", None, OUTPUT.replace(old, new)))
    assert not found.results
    (absent,) = found.absent
    assert absent.invalid
    assert why in absent.reason


def test_time_passes_while_a_run_sleeps_but_no_instruction() -> None:
    """So it agrees with more ticks than instructions, and not with fewer."""
    slept = OUTPUT.replace("=syscall", "=rtc_latency").replace("ticks=13000", "ticks=130000")
    plan = benching.Plan(operations=("rtc_latency",))
    (row,) = measured(Fake("native", None, slept), plan=plan).results
    assert row.instructions == 100
    for ticks, right in (("ticks=130000", True), ("ticks=1300", False)):
        text = slept.replace("ticks=130000", ticks)
        why = benching._mistake("rtc_latency", benching._samples("rtc_latency", run(text)),
                                run(text))  # fmt: skip
        assert (why is None) == right


def test_sums_are_of_what_is_between_the_runs_too() -> None:
    """And of runs that sleep, which need not be right."""
    found = {}
    for name in ("syscall", "rtc_latency"):
        text = "".join(
            f"sample={part.operation} samples=1 minimum=1 median=1 mean_times_100=100 maximum=1 "
            "others=0\n"
            for part in WORK
        )  # fmt: skip
        text += f"count={name} operations=20 ticks=2900 timer=0 others=0\n"
        text += f"count={name} operations=120 ticks=12900 timer=0 others=0\n"
        text += "clocksource=tsc\n"
        found[name] = benching._Collection()
        benching._add_masked(Fake("native"), TOTAL, run(text), benching.Plan(), found[name])
    for name in found:
        assert found[name].results[0].events["executed"] == 2 * 15800


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "no such kernel"),
        (OUTPUT.replace("sample=syscall", "ignored=syscall"), "0 lines"),
        (OUTPUT + "bench: syscall: there is no parent\n", "there is no parent"),
    ],
)
def test_what_cannot_be_had_is_missing(text: str | None, why: str) -> None:
    found = measured(Fake("native", None, text))
    assert not found.results
    assert [part for part in found.absent if why in part.reason]


@dataclass
class Part(Fake):
    """A further machine of a system."""

    is_part = True
    operations = ("syscall", "signal")


def test_what_a_further_machine_is_for_is_missing_alone() -> None:
    plan = benching.Plan()
    found = measured(Fake("native"), Part("native", None, None), plan=plan)
    whole = [part for part in found.absent if "no such kernel" in part.reason]
    assert [(part.system, part.operation) for part in whole] == [
        ("native", "syscall"), ("native", "signal")
    ]  # fmt: skip


class Ended(Fake):
    """Somebody presses Ctrl-C meanwhile."""

    def run(self, *_: object) -> Run:
        raise KeyboardInterrupt


def test_a_run_that_is_ended_keeps_what_it_has() -> None:
    """And says what it had not come to."""
    kept: list[Results] = []
    systems: list[Target] = [Fake("native"), Fake("other"), Ended("third"), Part("native")]
    with pytest.raises(KeyboardInterrupt):
        benching.bench(SYSCALL, systems, quiet, kept.append)
    assert [[row.system for row in found.results] for found in kept] == [
        ["native"], ["native", "other"]
    ]  # fmt: skip
    missing = [(part.system, part.operation) for part in kept[-1].absent]
    assert missing == [("third", None), ("native", "syscall")]
    assert "has ended before it" in kept[-1].absent[0].reason
    whole: list[Results] = []
    assert len(benching.bench(SYSCALL, [Fake("native")], quiet, whole.append).results) == 1
    assert not whole


def test_names_that_do_not_exist_are_mistakes() -> None:
    with pytest.raises(UserError, match="no system nothing; there are native"):
        measured(Fake("native"), plan=benching.Plan(systems=("nothing",)))
    with pytest.raises(UserError, match="no operation nothing"):
        measured(Fake("native"), plan=benching.Plan(operations=("nothing",)))


def test_the_script_does_every_operation() -> None:
    lines = script(WORK)
    assert lines.startswith("bench boot\n")
    for part in WORK:
        assert f"bench sample {part.operation} " in lines
        assert lines.count(f"bench count {part.operation} ") == 2
        assert part.many > part.few


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = measured(Fake("native"))
    write_results(found, tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == found
    (tmp_path / "other.json").write_text('{"format": 1}')
    with pytest.raises(UserError, match="holds no results"):
        read_results(tmp_path / "other.json")
    with pytest.raises(UserError, match="cannot be read"):
        read_results(tmp_path / "nothing.json")


def verdicts(before: Results, after: Results) -> list[tuple[str, str]]:
    return [(change.what, change.verdict) for change in compare(before, after)]


def test_comparison_of_instructions() -> None:
    old = results(result(instructions=1000, mean=1000.0))
    assert verdicts(old, old) == []
    assert verdicts(old, results(result(instructions=1010, mean=1000.0))) == [("median", "similar")]
    assert verdicts(old, results(result(instructions=1011, mean=1000.0))) == [("median", "worse")]
    assert verdicts(old, results(result(instructions=1000, mean=1011.0))) == [("mean", "worse")]
    assert verdicts(old, results(result(instructions=989, mean=1000.0))) == [("median", "better")]
    assert verdicts(old, results(result(operation="signal", instructions=9999))) == []


@pytest.mark.parametrize(("more", "verdict"), [(30, "similar"), (31, "worse"), (-31, "better")])
def test_a_stream_may_differ_by_more(more: int, verdict: str) -> None:
    """What else differs by so much is worse or better."""
    old, new = (result(operation="network_tcp_send", instructions=1000 + by) for by in (0, more))
    assert verdicts(results(old), results(new)) == [("median", verdict)]


def test_of_the_longest_masked_stretch_what_a_vmm_masks_is_compared() -> None:
    def longest(system: str, instructions: int, ring_0: float) -> Results:
        row = result(operation="masked_longest", instructions=instructions, masked_ring_0=ring_0)
        return results(row.model_copy(update={"system": system}))

    old = longest("gandalf-dedicated", 40_000, 800.0)
    assert verdicts(old, longest("gandalf-dedicated", 90_000, 800.0)) == []
    assert verdicts(old, longest("gandalf-dedicated", 40_000, 809.0)) == [("ring 0", "worse")]
    natives = [longest("native-i386", long, float(long)) for long in (40_000, 90_000)]
    assert verdicts(*natives) == []


def test_comparison_of_entries() -> None:
    """Any increase counts, but for the share of a timer's where one has interrupted."""
    old = results(result(vmm_entries=100.0))
    assert verdicts(old, results(result(vmm_entries=100.1))) == [("vmm_entries", "worse")]
    assert verdicts(old, results(result(vmm_entries=99.9))) == [("vmm_entries", "better")]
    old = results(result(vmm_entries=100.0, interrupts=1.0))
    assert verdicts(old, results(result(vmm_entries=100.9, interrupts=1.0))) == []
    assert verdicts(old, results(result(vmm_entries=101.1, interrupts=1.0))) == [
        ("vmm_entries", "worse")
    ]
    assert verdicts(results(result(ring_0_entries=1.0)), results(result(ring_0_entries=9.0))) == []


def test_what_had_a_result_and_has_none_is_lost() -> None:
    absent = Absent(system="gandalf-shared", operation="pipe", invalid=True, reason="So it is.")
    now = results(absent=(absent,))
    assert lost(results(result()), now) == [absent]
    assert lost(results(result(operation="signal")), now) == []
    whole = absent.model_copy(update={"operation": None})
    assert lost(results(result()), results(absent=(whole,))) == [whole]


def test_reports_have_every_figure_with_its_events(tmp_path: Path) -> None:
    absent = Absent(system="xen-pv", operation=None, invalid=False, reason="No <network>.")
    row = result(vmm_entries=2.0, cr3_load=3.0, ring_crossings=4.0, invlpg=5.5, masked=6.0)
    row.events["masked_longest"] = 7.0
    found = results(row.model_copy(update={"ratio": 1.25}), absent=(absent,))
    bench_report.write(found, tmp_path, DAY)
    text, page = ((tmp_path / f"report.{kind}").read_text() for kind in ("md", "html"))
    cells = "| 1,000 | 1,010 | 900 | 2,000 | 100 | 1.25 | - | 2 | 4 | 3 | 5.50 | 6 | 7 |"
    assert cells in text
    assert "xen-pv: missing: No <network>." in text
    assert "<td>1,000</td><td>1,010</td>" in page
    for name in ("ratios", "entries", "masked", "latencies"):
        assert f'id="{name}"' in page
    assert 'id="intervals"' not in page
    assert '"x":[1000,2000]' in page.replace(" ", "")
    assert "No &lt;network&gt;." in page
    assert "src=" not in page.partition("</script>")[2]
    console = RichConsole(width=400, file=StringIO())
    bench_report.show(found, console)
    bench_report.show_changes([Change("s", "pipe", "median", 1, 2, "worse")], [absent], console)
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "5.50" in shown
    assert "+100.00 %" in shown
    assert "gone" in shown


def test_no_legend_hides_names_of_operations() -> None:
    """Below the plot, where these are, it did."""
    found = results(result(vmm_entries=2.0, masked=6.0).model_copy(update={"ratio": 1.5}))
    for plot in (plots.ratio_plot, plots.entries_plot, plots.masked_plot):
        figure = plot(found)
        assert figure.data
        assert figure.layout.legend.orientation != "h"


def test_misses_are_told_where_the_model_ran() -> None:
    """No miss is a figure, too."""
    none = {"page_walk": (0, 0, 0, 0)}
    seen = tuple(row.model_copy(update={"events": none}) for row in run().measurements)
    assert "page_walk" not in benching.events("syscall", run(seen=seen))
    found = benching.events("syscall", replace(run(seen=seen), cache=True))
    assert found["page_walk"] == 0.0
    text = bench_report.markdown(results(result(page_walk=3.5, dtlb_miss=2.5)), DAY)
    assert "| gandalf-shared, pipe | 1,000 | 0 | 0 | 0 | 2.50 | 3.50 | 0 | not measurable |" in text
    assert "not measurable" not in bench_report.markdown(results(result()), DAY)


def test_the_model_of_cycles_adds_up() -> None:
    papers, modern = WEIGHTS
    row = result(ring_crossings=2.0, cr3_load=1.0, invlpg=1.0, segment_load=4.0)
    assert papers.cycles(row) == 1000 + 2 * papers.crossing + 1000 + 500 + 4 * papers.segment
    assert modern.cycles(result()) is None
