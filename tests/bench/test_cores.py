# SPDX-License-Identifier: Apache-2.0
"""The figures of several CPUs: how they are made of what is printed, and some of them in Bochs."""

import json
import re

import pytest
from typer.testing import CliRunner

from gandalf.base.paths import UserError
from gandalf.bench import bench as benching
from gandalf.bench import (
    cores,
    cores_limits,
    cores_report,
    cores_targets,
    lhp_targets,
    moves,
    policies,
    shares,
)
from gandalf.bench import report as bench_report
from gandalf.bench.cores import ACROSS, HACKBENCH, LATENCY, MESSAGE, ROUND_TRIP, STORM
from gandalf.bench.results import Result, Results
from gandalf.bench.summary import summary
from gandalf.cli import app

from .fakes import DAY, result, results

# Systems without and with vCPUs that move, by the ends of their names.
COSTS = ("staying", "moving")
OUTPUT = """\
kernel=6.1.0
clocksource=tsc
cpus=2
together=fork_exit cpu=0 operations=10 began=1000 ended=2000
together=fork_exit cpu=1 operations=10 began=3000 ended=4100
together=fork_exit cpu=0 operations=10 began=5000 ended=6020
together=fork_exit cpu=1 operations=10 began=5010 ended=6110
elapsed=hackbench ticks=5000
idle=hackbench cpu=0 ticks=6000 idle_ns=10000
idle=hackbench cpu=1 ticks=6100 idle_ns=20000
sample=ipi samples=9 minimum=1 median=2 mean_times_100=300 maximum=4 overhead=1 timer=0 others=0
clocksource=tsc
bench: the script is done
"""


def test_what_was_done_alone_is_told_from_what_all_did() -> None:
    output = cores.read(OUTPUT)
    assert output.cpus == 2
    assert not output.plain.complaints
    assert [share.mean for share in output.alone["fork_exit"].values()] == [100, 110]
    assert [share.mean for share in output.together["fork_exit"].values()] == [102, 110]
    sample = cores.together_sample("fork_exit", output)
    assert (sample.samples, sample.minimum, sample.mean, sample.maximum) == (20, 102, 106, 110)
    events = cores.together_events("fork_exit", output)
    assert events["slowdown"] == 1.02
    assert (events["alone_1"], events["together_0"]) == (110, 102)


def test_one_cpu_is_not_compared_with_itself() -> None:
    """It has one run, which would be 1.00 times itself whatever it took."""
    text = re.sub(r"together=\w+ cpu=1.*\n", "", OUTPUT.replace("cpus=2", "cpus=1"))
    output = cores.read(text)
    one = cores.read(re.sub(r"together=.* began=5000 .*\n", "", text))
    assert cores.together_events("fork_exit", output)["slowdown"] == 1.02
    assert cores.together_events("fork_exit", one) == {"alone_0": 100, "together_0": 100}
    assert not one.plain.complaints
    found = results(result("gandalf-smp-1", "fork_exit", alone_0=100.0, together_0=100.0))
    assert not cores_limits.limits(found)


def test_a_storm_lasts_from_the_first_to_the_last() -> None:
    output = cores.read(OUTPUT)
    assert cores.storm_sample(output).median == 6110 - 5000
    assert cores.storm_events(output) == {"busy_0": 1020, "busy_1": 1100}


def test_a_cpu_has_worked_while_it_was_not_idle() -> None:
    """10,000 ns are 1,000 instructions."""
    output = cores.read(OUTPUT)
    assert cores.elapsed_sample(HACKBENCH, output).median == 5000
    assert cores.elapsed_events(HACKBENCH, output) == {"busy_0": 5000, "busy_1": 4100}


def test_a_cpu_that_tells_nothing_is_missed() -> None:
    output = cores.read(OUTPUT.replace("together=fork_exit cpu=1", "nothing"))
    assert output.plain.complaints == {"fork_exit": "not each of 2 CPUs tells of it"}
    with pytest.raises(UserError, match="damaged"):
        cores.read(OUTPUT.replace(" ended=6110", ""))


@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
def test_the_script_has_each_cpu_work_alone_and_all_at_once(cpus: int) -> None:
    script = cores.script(cpus, False, cores.operations_for(cpus))
    groups = re.findall(r"^bench together syscall \d+ (\d+)$", script, re.M)
    every = "01234567"[:cpus]
    assert groups == ([*every, every] if cpus > 1 else [every])
    assert (f"sleep 0.5\nbench sample ipi 200 {cpus}\n" in script) == (cpus > 1)
    assert (f"sleep 0.5\nbench sample shootdown 200 {cpus}\n" in script) == (cpus >= 4)


def test_each_number_of_cpus_is_measured_beside_its_native() -> None:
    for full, numbers in ((False, "124"), (True, "1248")):
        names = [target.name for target in cores_targets.targets(full) if not target.is_part]
        for kind in ("native", "gandalf"):
            found = [name for name in names if name.startswith(f"{kind}-smp-")]
            assert found == [f"{kind}-smp-{number}" for number in numbers]


def test_two_linux_systems_take_turns() -> None:
    """Each turn of one is work or rest of the other."""
    turns = re.compile(r"^(?:turn \d+|measure|work \d+)$", re.M)
    first, second = (turns.findall(cores.turns_script(cpu, False)) for cpu in (0, 1))
    assert first == [
        "turn 8", "measure", "turn 12", "measure", "turn 14", "work 16", "turn 16",
    ]  # fmt: skip
    assert second == [
        "turn 10", "measure", "turn 12", "work 14", "turn 14", "measure", "turn 16",
    ]  # fmt: skip


def test_what_two_systems_measure_is_that_of_two_cpus() -> None:
    one = OUTPUT.replace("cpus=2", "cpus=1")
    texts = [re.sub(r"together=\w+ cpu=1.*\n", "", one), re.sub(r"together=\w+ cpu=0.*\n", "", one)]
    texts[1] = texts[1].replace("cpu=1", "cpu=0", 2)
    output = cores.joined([cores.read(text) for text in texts])
    assert cores.together_events("fork_exit", output)["slowdown"] == 1.02


def test_rtoses_tell_what_messages_take() -> None:
    text = (
        "message: sends=200 ticks_times_100=18300\r\nmessage: takes=200 ticks_times_100=18632\r\n"
    )
    sample, parts = cores.message_sample(MESSAGE, text)
    assert sample.mean == 369.32
    assert parts == {"sends_ticks": 183.0, "takes_ticks": 186.32}
    with pytest.raises(UserError, match="One side"):
        cores.message_sample(MESSAGE, text.splitlines()[0])
    assert cores.round_trip_sample(ROUND_TRIP, "round_trip: 9\nround_trip: 7\n").median == 7
    with pytest.raises(UserError, match="No round trip"):
        cores.round_trip_sample(ROUND_TRIP, "round_trip: ")


def listed(number: int, *ticks: int) -> str:
    """Return what `gandalfctl list --json` prints after so many moves, over several lines."""
    vcpu = {"cpu": 1, "moves": number, **dict(zip(moves.STEPS, ticks, strict=True))}
    guests = [{"name": "rtos", "vcpus": []}, {"name": "linux", "vcpus": [{"cpu": 0}, vcpu]}]
    return json.dumps({"uptime_ms": 1, "guests": guests}, indent=1).replace('{\n "up', '{"up')


def test_the_steps_of_a_move_make_the_figure() -> None:
    lists = listed(10, 100, 200, (1 << 31) - 50) + "\nbench: a line\n" + listed(20, 400, 900, 50)
    text = f"moves={moves.MOVE_HACKBENCH}\n{{}}\nmoves={moves.MOVE}\n{lists}\n"
    sample, parts = moves.sample(moves.MOVE, text.replace("\n", "\r\n"))
    assert (sample.samples, sample.mean) == (10, 110.0)
    assert parts == {"leaves_ticks": 30.0, "arrives_ticks": 70.0, "settles_ticks": 10.0}
    with pytest.raises(UserError, match="not measured: move_hackbench"):
        moves.sample(moves.MOVE_HACKBENCH, text.replace("}\n", "\n"))
    with pytest.raises(UserError, match="not measured"):
        moves.sample(moves.MOVE, f"moves={moves.MOVE}\n")
    with pytest.raises(UserError, match="has not moved"):
        moves.sample(moves.MOVE, f"moves={moves.MOVE}\n{listed(1, 0, 0, 0)}\n" * 2)


def test_hackbench_is_run_beside_every_share() -> None:
    """Each operation is measured once; the RTOS of a share and the policy are there before it."""
    curve = shares.short(full=False)
    lines = shares.script(curve).splitlines()
    measured = re.findall(r"\bbench elapsed (\S+)", "\n".join(lines))
    assert list(dict.fromkeys(measured)) == list(curve.operations())
    assert {measured.count(name) for name in map(shares.alone, shares.ALONE)} == {1}
    at = lines.index(next(line for line in lines if "share_80_on_demand" in line))
    assert lines[at - 1] == "gandalfctl policy linux on-demand"
    assert "gandalfctl load rtos /root/share-80.elf" in lines[:at]
    runs = lines[at : at + shares.BEGINNINGS]
    assert all(run.startswith("taskset 1 sh -c 'gandalfctl restart rtos; ") for run in runs)
    pauses = [int(found) for found in re.findall(r"usleep (\d+)", "\n".join(runs))]
    assert pauses == [100_000, 125_000, 150_000, 175_000]
    alone = lines.index(next(line for line in lines if "hackbench_2_cpus" in line))
    assert {f"echo 0 > /sys/devices/system/cpu/cpu{cpu}/online" for cpu in (2, 3)} <= set(
        lines[:alone]
    )


def test_the_papers_curve_has_each_share_and_the_policies_asked_for() -> None:
    """Where the RTOS never ends, a vCPU that waits for it would not, either."""
    alone, by_linux, *pieces = shares.paper(full=True, policies=("none", "on-demand"))
    assert by_linux.points() == [(share, shares.BY_LINUX) for share in range(10, 101, 10)]
    assert by_linux.all_images() == ()
    assert alone.operations() == tuple(map(shares.alone, shares.ALONE))
    assert [piece.shares for piece in pieces] == [(share,) for share in range(10, 101, 10)]
    assert pieces[0].points() == [(10, "none"), (10, "on-demand")]
    assert pieces[-1].points() == [(100, "on-demand")]
    for piece in pieces:
        lines = shares.script(piece).splitlines()
        load = lines.index(f"gandalfctl load rtos /root/cycle-{piece.shares[0]}.elf")
        assert lines[load - 1] == "gandalfctl stop rtos"
        assert "gandalfctl restart rtos; usleep 500000" in lines[load + 1]
        assert not any("online" in line or "bench-take" in line for line in lines)
    one = shares.paper(full=False, policies=("delayed",))
    assert [piece.points() for piece in one[2:4]] == [[(10, "delayed")], [(20, "delayed")]]
    assert one[2].all_images() == ("cycle-10",)
    assert {piece.beginnings for piece in one[1:]} == {2}
    names = [target.name for target in lhp_targets.paper_targets(False, ("delayed",))]
    assert names[:4] == [f"gandalf-lhp-{name}" for name in ("latency", "shootdown", *COSTS)]
    assert names[4:6] == ["gandalf-lhp", shares.SYSTEM_BY_LINUX]
    assert names[6:] == [f"gandalf-lhp-{share}" for share in range(10, 100, 10)]


def test_a_real_time_process_has_the_share_from_the_same_beginnings() -> None:
    curve = next(curve for curve in shares.paper(False, ()) if curve.policies)
    lines = [line for line in shares.script(curve).splitlines() if "hackbench_share_40" in line]
    assert lines == [
        f"taskset 1 sh -c 'bench-take 1 500000 200000 & usleep {pause}; taskset f bench elapsed "
        "hackbench_share_40_linux /usr/bin/hackbench -g 2 -l 120; kill $!'"
        for pause in (500_000, 750_000)
    ]


def test_each_policy_has_its_phase_of_latencies() -> None:
    """It is set before the phase begins; without a load it does not matter which it is."""
    lines = shares.latency_script(("none", "pull"), 5).splitlines()
    phases = [line.removeprefix("echo phase=") for line in lines if line.startswith("echo phase=")]
    asleep, none, pull = shares.latency_operations(("none", "pull"))
    assert phases == [asleep, "none", none, "none", pull, "none"]
    policies = [line.split()[-1] for line in lines if line.startswith("gandalfctl policy")]
    assert policies == ["none", "none", "pull"]
    begins = [lines.index(f"echo phase={name}") for name in (asleep, none, pull)]
    assert "sleep 1" in lines[begins[0] + 1]
    assert "hackbench" in lines[begins[2] + 1]
    assert shares.latency_policy(pull) == "pull"
    assert shares.latency_policy(asleep) == ""
    assert shares.latency_policy(LATENCY) is None


def test_latencies_of_policies_have_limits() -> None:
    rows = [
        result("gandalf-lhp-latency", shares.latency_operation(policy), mean=mean)
        for policy, mean in (("", 500.0), ("none", 700.0), ("on-demand", 590.0), ("pull", 610.0))
    ]
    found = [limit for limit in cores_limits.limits(results(*rows)) if "mean" in limit.what]
    assert [(limit.operation, limit.kept) for limit in found] == [
        (shares.latency_operation("on-demand"), True), (shares.latency_operation("pull"), False),
    ]  # fmt: skip


def test_shootdowns_have_names_by_their_policies() -> None:
    lines = policies.shootdown_script(("none", "on-demand"), full=False).splitlines()
    sets = [lines.index(f"gandalfctl policy linux {name}") for name in ("none", "on-demand")]
    for at, name in zip(sets, ("none", "on_demand"), strict=True):
        assert lines[at + 3].startswith("bench sample shootdown_apart 200 4 | sed ")
        assert f"shootdown_policy_{name}/" in lines[at + 3]


@pytest.mark.parametrize(("mean", "kept"), [(1009.0, True), (1011.0, False)])
def test_what_could_move_is_as_fast(mean: float, kept: bool) -> None:
    """It is measured against vCPUs that stay, in the same run."""
    staying, moving = (f"gandalf-lhp-{name}" for name in COSTS)
    rows = [result(staying, policies.COST, mean=1000.0), result(moving, policies.COST, mean=mean)]
    (limit,) = cores_limits.limits(results(*rows))
    assert (limit.system, limit.kept) == (moving, kept)
    assert not cores_limits.limits(results(rows[1]))
    whole = policies.cost_script(full=False)
    assert f"bench elapsed {policies.COST}" in whole


def test_other_operations_are_no_points_of_the_curve() -> None:
    assert shares.point_of("hackbench_share_50_on_demand") == (50, "on-demand")
    assert shares.point_of(shares.alone(3)) is None
    assert shares.share_of_best("hackbench_share_50_pull") == 0.5
    assert shares.share_of_best("hackbench_share_50_on_demand") is None
    assert shares.share_of_best(HACKBENCH) is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--policy", "none"], "Give --policy with --lhp."),
        (["--lhp", "--cores"], "Give --lhp without --cores"),
        (["--lhp", "--policy", "never"], "There is no policy never"),
    ],
)
def test_what_does_not_go_with_the_curve_is_refused(words: list[str], sentence: str) -> None:
    done = CliRunner().invoke(app, ["bench", *words])
    assert done.exit_code != 0
    assert sentence in str(done.exception)


def test_the_curve_is_drawn() -> None:
    rows = [result("gandalf-lhp", shares.alone(cpus), 100 * cpus) for cpus in shares.ALONE]
    rows += [
        result(f"gandalf-lhp-{share}", shares.shared(share, policy), 500 + share)
        for share in (80, 50)
        for policy in ("none", "pull")
    ]
    rows.append(result(shares.SYSTEM_BY_LINUX, shares.shared(50, shares.BY_LINUX), 500))
    figure = cores_report.shares_plot(results(*rows))
    names = ["gandalf-lhp, none", "gandalf-lhp, pull", "gandalf-lhp-by-linux, linux"]
    assert [line.name for line in figure.data] == names
    assert list(figure.data[0].x) == [50, 80]
    assert len(figure.layout.shapes) == len(shares.ALONE)
    assert 'id="shares"' in bench_report.page(results(*rows), DAY)
    limits = [limit.value for limit in cores_limits.limits(results(*rows))]
    # 580 and 550: in 300, and in what of 400 is left; and the latter in 500.
    assert limits == [1.9333, 1.16, 1.8333, 1.2031, 1.1]


def test_the_vmm_tells_what_a_core_takes() -> None:
    assert cores.memory_of_core("CPU 1 takes 120 KiB beside its pool\r\n") == {
        cores.SEVERAL: {cores.PER_CORE: 120 << 10}
    }
    assert cores.memory_of_core("CPU 1: nothing") == {}


def several() -> Results:
    """Return results of several CPUs, of which each kind of limit is broken once and kept once."""
    rows = [
        result("native-smp-2", "syscall", slowdown=1.01),
        result("native-smp-2", STORM, 1000, busy_0=900.0, busy_1=1100.0),
        result("native-smp-2", "ipi", mean=1000.0),
        result("gandalf-smp-2", "syscall", alone_0=100.0, together_0=104.0, slowdown=1.04),
        result("gandalf-smp-2", STORM, 1190, busy_0=1300.0, busy_1=1200.0),
        result("gandalf-smp-2", "ipi", mean=1600.0),
        result("gandalf-smp-2", LATENCY, mean=550.0).model_copy(update={"maximum": 3000}),
        result(ACROSS, ROUND_TRIP).model_copy(update={"ratio": 1.24}),
        result("gandalf-shares", shares.alone(3), 500),
        result("gandalf-shares", shares.shared(80, "none"), 900),
        result("gandalf-shares", shares.shared(80, "pull"), 600),
        result("gandalf-shares", shares.shared(50, "pull"), 490),
        result("gandalf-message", MESSAGE, sends_instructions=180.0, takes_instructions=220.0),
        result(
            "gandalf-moves",
            moves.MOVE,
            leaves_ticks=300.0,
            arrives_ticks=900.0,
            settles_ticks=601.0,
        ),
    ]
    found = results(*rows).model_copy(
        update={"footprint": {cores.SEVERAL: {cores.PER_CORE: 130 << 10}}}
    )
    return found.model_copy(update={"limits": cores_limits.limits(found)})


def test_figures_keep_their_limits_or_not() -> None:
    found = {(limit.operation, limit.what): limit for limit in several().limits}
    kept = {key for key, limit in found.items() if limit.kept}
    assert kept == {
        (STORM, "time, in native"), (LATENCY, "mean"), (ROUND_TRIP, "in one within a CPU"),
        (MESSAGE, "instructions, both sides"),
        (moves.MOVE, "departure"),
        (shares.shared(50, "pull"), "time, in that of a CPU less alone"),
    }  # fmt: skip
    assert len(found) == 13
    assert found[STORM, "instructions, in native"].value == 1.25
    assert found["syscall", "slowest CPU beside the others, in itself alone"].native == 1.01


def test_the_verdict_and_the_reports_have_them() -> None:
    found = several()
    assert summary(found)[0] == (
        "Verdict: on several CPUs 6 of 13 figures keep their limits; furthest off: "
        f"{LATENCY} of gandalf-smp-2 (maximum), 3,000 where 2,500 is the most."
    )
    assert ["syscall", "gandalf-smp-2", "0", "100", "104", "1.04", "-"] in cores_report.cpu_rows(
        found
    )
    page = bench_report.page(found, DAY)
    assert "What has a limit" in page
    assert 'id="slowdowns"' in page
    assert "Several CPUs: each of them" in bench_report.markdown(found, DAY)


# What a round trip through a channel between CPUs may take; it took 1,614.
ACROSS_TICKS = 1700


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


def run(*names: str) -> Results:
    """Measure systems in Bochs, and see that nothing is missing."""
    known = [target for target in cores_targets.targets() if target.name in names]
    found = benching.bench(benching.Plan(), known, quiet)
    assert not found.absent
    return found


def figure(found: Results, system: str, operation: str) -> Result:
    row = found.find(system, operation)
    assert row is not None
    return row


@pytest.mark.long
def test_channels_keep_their_limit_in_bochs() -> None:
    """On one CPU there are two switches of guests; on two, two interrupts between CPUs."""
    found = run(cores.WITHIN, cores.ACROSS)
    (limit,) = found.limits
    assert limit.kept, limit
    assert figure(found, cores.ACROSS, ROUND_TRIP).mean <= ACROSS_TICKS
    # No figure is made of nothing.
    assert figure(found, cores.WITHIN, ROUND_TRIP).minimum > 1000


def test_a_message_takes_as_long_as_it_is_counted() -> None:
    """It keeps its limit, and may take no more than now; ticks have a loop's in them."""
    found = run("gandalf-message")
    (limit,) = found.limits
    assert limit.kept, limit
    seen = figure(found, "gandalf-message", MESSAGE).events
    assert 100 < seen["sends_instructions"] <= 165
    assert 150 < seen["takes_instructions"] <= 235
    for side in ("sends", "takes"):
        assert abs(seen[f"{side}_ticks"] - seen[f"{side}_instructions"]) < 30, seen


@pytest.mark.long
def test_a_linux_with_two_cpus_in_bochs() -> None:
    """Each of them is as fast beside the other as it is alone."""
    (target,) = (
        target
        for target in cores_targets.targets()
        if target.name == "gandalf-smp-2" and not target.is_part
    )
    found = benching.bench(benching.Plan(), [target], quiet)
    assert not found.absent
    assert [row.operation for row in found.results] == list(target.operations)
    assert len(found.limits) == len(cores.TOGETHER)
    assert all(limit.kept for limit in found.limits), found.limits


@pytest.mark.long
def test_every_figure_of_several_cpus_keeps_its_limit() -> None:
    found = benching.bench(benching.Plan(), cores_targets.targets(), quiet)
    assert not found.absent
    assert all(limit.kept for limit in found.limits), [x for x in found.limits if not x.kept]
