# SPDX-License-Identifier: Apache-2.0
"""The plug-in against image.S, whose instructions are known by number."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gandalf.base.paths import UserError
from gandalf.measure.measure import Control, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run.emulator import Qemu

from .conftest import Program, Run

Measure = Callable[..., Run]

TIMER_INSTRUCTIONS = 5
CALL_INSTRUCTIONS = 2


def windows(result: Measurement) -> list[tuple[int, int, int]]:
    """Return (instructions, begin, end) of all windows in the order in which they came."""
    assert result.windows.count == len(result.windows.longest)
    assert result.windows.total == sum(w.instructions for w in result.windows.longest)
    found = sorted(result.windows.longest, key=lambda window: window.at)
    return [(window.instructions, window.begin, window.end) for window in found]


def test_window_from_cli_to_the_shadow_of_sti(measure: Measure, program: Program) -> None:
    """CLI in the middle of a block is outside; the instruction behind STI is inside."""
    result = measure("window").result
    assert windows(result) == [(42, program.at["window_masked"], program.at["window_open"])]
    assert result.instructions == 51
    assert result.executed(0, masked=True) == 42
    assert result.windows.lengths[6] == 1  # 32 to 63
    assert sum(result.windows.lengths) == 1
    assert result.windows.cut == 0
    # All of ring 0 counts as the VMM here.
    window = result.vmm_windows.longest[0]
    assert (window.begin, window.instructions) == (program.at["window_masked"], 42)
    assert sum(block.instructions for block in window.blocks) == 42
    assert sum(block.instructions for block in result.profile) == 51


def test_the_vmm_is_where_the_option_says(measure: Measure, program: Program) -> None:
    low, high = program.at["window_masked"], program.at["window_open"]
    result = measure("window", vmm=f"{low + 48:#x}-{high + 4096:#x}").result
    assert result.windows.count == 1
    assert result.vmm_windows.count == 0


def test_window_that_popf_ends(measure: Measure, program: Program) -> None:
    """POPF has no shadow."""
    result = measure("popf").result
    assert windows(result) == [(8, program.at["popf_begin"] + 2, program.at["popf_open"])]
    assert result.instructions == 11


def test_a_shadow_alone_is_no_window(measure: Measure) -> None:
    """A load of SS, and STI with interrupts enabled."""
    result = measure("stack").result
    assert windows(result) == []
    assert result.instructions == result.executed(0, masked=False) == 6


def test_a_fault_in_the_middle_of_a_block(measure: Measure, program: Program) -> None:
    """What lies behind the faulting instruction counts once; 2 are in the handler."""
    result = measure("fault").result
    length = 10 + 1 + 2 + 20 + 2
    assert windows(result) == [(length, program.at["fault_begin"] + 1, program.at["fault_open"])]
    assert result.instructions == length + 2
    (handler,) = result.handlers
    assert handler.linear == program.at["divide_error"]
    assert (handler.exceptions, handler.hardware, handler.stays) == (1, 0, 0)
    assert handler.from_rings == (1, 0, 0, 0)


def test_an_access_to_a_device_counts_once(measure: Measure) -> None:
    assert measure("device").result.instructions == 14


def test_the_count_is_the_guests_time(measure: Measure) -> None:
    """Nothing faults: the time stamp counter says the same, repetitions and devices included."""
    run = measure("clock")
    # From RDTSC to RDTSC is one instruction more, which stands before the begin.
    assert run.result.instructions + 1 == int.from_bytes(run.sent, "little")
    assert run.result.instructions == 6 + 1 + 50 + 1


def test_guests_cannot_notice(measure: Measure, program: Program) -> None:
    """The image's clock says the same without the plug-in."""
    qemu = Qemu(program.options())
    try:
        assert qemu.outcome().clean
        assert qemu.read() == measure("clock").sent
    finally:
        qemu.stop()


def test_two_runs_are_the_same(measure: Measure) -> None:
    assert measure("pending").result == measure("pending").result


def test_all_that_a_ring_was_given_is_kept(
    measure: Measure, program: Program, tmp_path: Path
) -> None:
    """Of 20 numbers between two faults a ring of 8 keeps the last, and 12 are counted as lost."""
    ring, history = program.at["history_next"], tmp_path / "history"
    result = measure(
        "history", ring=f"{ring:#x}-{ring + 36:#x}", history=str(history), rings=1, entries=8,
    ).result  # fmt: skip
    words = memoryview(history.read_bytes()).cast("I")
    assert [(word + 4) % 2**32 for word in words] == [*range(6), *range(18, 27)]
    assert result.history_lost == 12


def test_rings(measure: Measure, program: Program) -> None:
    result = measure("rings").result
    assert result.executed(3) == result.executed(3, masked=False) == 101
    assert result.executed(1) == 0
    assert result.instructions == 114
    assert result.crossings[0][3] == result.crossings[3][0] == 1
    assert result.entries == 1
    assert result.ring_changes == 2
    assert windows(result) == [
        (3, program.at["rings_user"] - 8, program.at["rings_user"]),
        (CALL_INSTRUCTIONS + 2, program.at["call_entry"], program.at["rings_back"] + 2),
    ]
    (handler,) = result.handlers
    assert handler.linear == program.at["call_entry"]
    assert handler.from_rings == (0, 0, 0, 1)
    assert (handler.exceptions, handler.hardware, handler.ring) == (1, 0, 0)


def test_an_interrupt_that_waits_divides_two_windows(measure: Measure, program: Program) -> None:
    """It is taken where IRET ends a window; no instruction is executed in between."""
    result = measure("pending").result
    user = program.at["pending_user"]
    assert windows(result) == [
        (6, program.at["pending_begin"], user),
        (TIMER_INSTRUCTIONS, program.at["timer_entry"], user),
        (CALL_INSTRUCTIONS + 2, program.at["call_entry"], program.at["pending_back"] + 2),
    ]
    assert result.windows.cut == 1  # it began with interrupts masked
    assert result.executed(3) == 10
    handlers = {handler.linear: handler for handler in result.handlers}
    timer = handlers[program.at["timer_entry"]]
    assert (timer.hardware, timer.exceptions, timer.stays) == (1, 0, 1)
    assert timer.from_rings == (0, 0, 0, 1)
    assert timer.instructions == timer.masked == timer.longest == TIMER_INSTRUCTIONS
    assert timer.window.instructions == TIMER_INSTRUCTIONS


def test_hlt_ends_a_window(measure: Measure, program: Program) -> None:
    result = measure("hlt").result
    back = program.at["hlt_end"] - 1
    assert windows(result) == [
        (10, program.at["hlt_masked"], back),
        (TIMER_INSTRUCTIONS, program.at["timer_entry"], back),
    ]
    (timer,) = result.handlers
    assert timer.window.instructions == TIMER_INSTRUCTIONS
    assert timer.stays == 0  # it began in ring 0


def test_addresses_are_linear(measure: Measure, program: Program) -> None:
    """Ring 1 in a segment whose base is not 0, and an interval in it."""
    start, end = program.at["based_from"], program.at["based_to"]
    result = measure("based", from_=start, to=end).result
    assert result.executed(1) == 1 + 3 * (11 + 2) + 1
    (interval,) = result.intervals
    assert (interval.count, interval.repeated) == (3, 0)
    assert interval.minimum == interval.mean == interval.p999 == interval.maximum == 11
    assert interval.median == 11


def test_an_interval_begins_anew(measure: Measure, program: Program) -> None:
    start, end = program.at["based_from"], program.at["based_back"]
    (interval,) = measure("based", from_=start, to=end).result.intervals
    assert (interval.count, interval.repeated) == (1, 2)
    assert interval.maximum == 11 + 3 + CALL_INSTRUCTIONS


def test_an_interval_within_a_block(measure: Measure, program: Program) -> None:
    start = program.at["window_begin"]
    result = measure("window", from_=start + 1, to=start + 3).result
    assert [interval.maximum for interval in result.intervals] == [2]


def test_events(measure: Measure) -> None:
    events = measure("events").result.events
    expected = {
        "cr0_load": 1, "cr3_load": 2, "invlpg": 3, "segment_load": 1, "far_transfer": 1,
        "table_load": 1, "port": 1,
    }  # fmt: skip
    assert {name: counts[0] for name, counts in events.items() if any(counts)} == expected


def test_the_result_is_there_when_qemu_is_terminated(program: Program, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    qemu = Qemu(program.options(*plugin_arguments(out=str(output)), "-S"))
    qemu.monitor.cmd("query-status")
    qemu.stop()
    assert read_measurement(output).instructions == 0


def test_control(program: Program, tmp_path: Path) -> None:
    """Begun over the socket with the machine stopped; the machine's end is the measurement's."""
    output, path = tmp_path / "out.json", tmp_path / "control"
    arguments = plugin_arguments(out=str(output), control=str(path))
    qemu = Qemu(program.options(*arguments, "-S"))
    try:
        qemu.monitor.cmd("query-status")
        control = Control(path)
        with pytest.raises(UserError, match="nothing has begun"):
            control.command("end")
        with pytest.raises(UserError, match="commands are"):
            control.command("go")
        control.command("begin")
        qemu.monitor.cmd("cont")
        assert qemu.outcome().clean
        control.close()
    finally:
        qemu.stop()
    result = read_measurement(output)
    assert result.instructions > 10_000  # the firmware's are among them
    assert result.executed(3) == 101 + 10
    assert result.executed(1) == 41
    assert sum(state.instructions for state in result.states) == result.instructions


def series(program: Program, folder: Path, begin: str, end: str) -> list[Measurement]:
    """Run the image, and return what was measured from each begin to the next end."""
    options = {"begin": program.at[begin], "end": program.at[end]}
    qemu = Qemu(program.options(*plugin_arguments(out=str(folder / "out"), series=1, **options)))
    try:
        assert qemu.outcome().clean
    finally:
        qemu.stop()
    return [read_measurement(folder / f"out.{n}") for n in range(len(list(folder.iterdir())))]


def test_a_series_goes_on_behind_an_end(program: Program, tmp_path: Path) -> None:
    """From the stretch `rings` to `pending`, and from there to where `hlt` ends."""
    first, second = series(program, tmp_path, "call_entry", "timer_entry")
    assert first.instructions > second.instructions
    # call_entry, behind the INT, timer_arm with its call, CLI to HLT
    assert second.instructions == 2 + 4 + 8 + 11


def test_a_series_begins_anew_at_each_begin(program: Program, tmp_path: Path) -> None:
    """The descriptors are filled by a function that is called for each: the last call counts."""
    (one,) = series(program, tmp_path, "gate_fill", "window_begin")
    assert 0 < one.instructions < 100


def test_what_is_between_a_series_completes_it(program: Program, tmp_path: Path) -> None:
    """Up to an instruction behind the last: together it is all from the first begin on."""
    begin, end, last = (program.at[name] for name in ("call_entry", "timer_entry", "events_end"))
    series: dict[str, str | int] = {"series": 1, "end": end, "between": 1, "last": last}
    for name, options in (("out", series), ("whole", {"end": last})):
        words = plugin_arguments(out=str(tmp_path / name), begin=begin, **options)
        qemu = Qemu(program.options(*words))
        try:
            assert qemu.outcome().clean
        finally:
            qemu.stop()
    whole = read_measurement(tmp_path / "whole")
    parts = {path.name: read_measurement(path) for path in tmp_path.glob("out.*")}
    assert {"out.0", "out.between.0", "out.1", "out.last"} <= set(parts)
    assert sum(part.instructions for part in parts.values()) == whole.instructions
    assert sum(part.windows.total for part in parts.values()) == whole.windows.total
    assert sum(part.executed(3) for part in parts.values()) == whole.executed(3) > 0


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("series=1", "needs out= and begin="),
        ("series=1,begin=1,between=1", "needs series=1 and last="),
        ("nonsense=1", "no such option"),
        ("begin=x", "needs a number"),
        ("vmm=1", "LOW-HIGH"),
    ],
)
def test_wrong_options(program: Program, option: str, why: str) -> None:
    flag, words = plugin_arguments(out="never.json")
    qemu = Qemu(program.options(flag, f"{words},{option}"))
    try:
        outcome = qemu.outcome()
    finally:
        qemu.stop()
    assert not outcome.clean
    assert why in outcome.sentence
