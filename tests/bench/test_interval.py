# SPDX-License-Identifier: Apache-2.0
"""Intervals between timer interrupts: whose fault one is that is late, and a machine's own."""

import pytest

from gandalf.base.paths import UserError
from gandalf.bench import interval as bench_interval
from gandalf.bench import report as bench_report
from gandalf.bench.bench import Plan, bench
from gandalf.bench.interval import OPERATIONS, PERIOD, Late, cause
from gandalf.bench.realtime_targets import Intervals
from gandalf.bench.results import Outlier
from gandalf.build.build import build_vmm
from gandalf.measure.measurement import Interval
from gandalf.measure.ring import Event, read_layout
from gandalf.measure.trace import Names

from .fakes import DAY, result, results

LINUX, RTOS = 0, 1
TIMER = 0x30
# Where the VMM is, for these tests.
VMM = 0xFC10_0000


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


@pytest.fixture(scope="module")
def names() -> Names:
    def locate(guest: str, address: int) -> str | None:
        if address >= VMM:
            return "shadow_fill+0x10"
        return f"{guest}: do_idle+0x5" if address >= 0xC000_0000 else None

    return Names(("linux", "rtos"), frozenset(("rtos",)), read_layout(build_vmm()).names, locate)


def interrupt(time: int, eip: int = VMM) -> Event:
    return Event(time, "interrupt", LINUX, TIMER, eip)


@pytest.mark.parametrize(
    ("eip", "where"), [(VMM, "shadow_fill"), (0xC010_0000, "linux: do_idle"), (5, "linux's proc")]
)
def test_an_interrupt_that_is_taken_at_once(names: Names, eip: int, where: str) -> None:
    """What was before it is not to blame."""
    events = [Event(900, "page_fault", LINUX, 0x1234, 0), interrupt(1050, eip)]
    text = cause(Late(1000, 1650), events, names)
    assert text.startswith(f"interrupt taken at once, in {where}")
    assert "600 ns more" in text
    assert "page fault" not in text


def test_what_masked_interrupts_is_named(names: Names) -> None:
    events = [
        Event(500, "hypercall", LINUX, 0, 0), Event(900, "page_fault", LINUX, 0x1234, 0),
        interrupt(4000), Event(4100, "switch_to", LINUX, RTOS, 0),
        Event(4200, "deliver", RTOS, TIMER, 0),
    ]  # fmt: skip
    text = cause(Late(1000, 4600), events, names)
    assert text == (
        "interrupts masked for 3,000 ns in page fault 0x1234 of linux; 600 ns more to the handler"
    )


def test_a_halt_is_told_by_the_switch_behind_it(names: Names) -> None:
    events = [
        Event(900, "deliver", RTOS, TIMER, 0), Event(980, "switch_to", RTOS, LINUX, 2),
        interrupt(1200),
    ]  # fmt: skip
    text = cause(Late(1000, 1800), events, names)
    assert text.startswith("interrupts masked for 200 ns in the halt of rtos;")
    events[1] = Event(980, "switch_to", RTOS, LINUX, 1)
    assert "in deliver timer of rtos" in cause(Late(1000, 1800), events, names)


def test_what_came_between_is_named(names: Names) -> None:
    """The VMM had another interrupt first, which it took at once."""
    events = [interrupt(1050), Event(1200, "interrupt", LINUX, 0x24, VMM)]
    assert cause(Late(1000, 2000), events, names).endswith("; 0x24 IRQ 4, COM1")


def test_a_ring_that_ends_too_early_is_told(names: Names) -> None:
    assert "does not reach" in cause(Late(1000, 2000), [interrupt(3000)], names)


def test_a_distribution_has_buckets() -> None:
    seen = Interval.model_validate({
        "from": 1, "to": 1, "count": 4, "repeated": 0, "minimum": 999_990, "mean": 1e6,
        "median": PERIOD, "p999": PERIOD + 4, "maximum": 1_000_050,
        "samples": ((999_990, 1), (PERIOD, 1), (PERIOD + 4, 1), (1_000_050, 1)),
    })  # fmt: skip
    sample = bench_interval.sample("timer_interval_idle", seen)
    assert sample.distribution == ((999_994, 1), (PERIOD + 4, 2), (1_000_054, 1))
    assert (sample.samples, sample.median) == (4, PERIOD)


def test_phases_are_those_of_the_script() -> None:
    lines = bench_interval.script(10)
    assert all(f"do {{ {command}; }}" in lines for command in OPERATIONS.values())
    with pytest.raises(UserError, match="0 phases"):
        bench_interval.find((), read_layout(build_vmm()), Names((), frozenset(), {}, lambda *_: ""))


def test_reports_have_every_outlier() -> None:
    row = result(
        operation="timer_interval_idle",
        p999=1_000_100.0,
        outliers=1.0,
        dispatch_minimum=650.0,
        dispatch_mean=671.5,
        dispatch_maximum=690.0,
    )
    late = Outlier(at=7, length=1_030_000, cause="interrupts masked in port")
    found = results(
        row.model_copy(update={"places": {"longest": "at once"}, "outliers": [late]})
    )  # fmt: skip
    text, page = bench_report.markdown(found, DAY), bench_report.page(found, DAY)
    for part in ("671.50", "at once", "interrupts masked in port", "1,030,000", "1,000,100"):
        assert part in text
        assert part in page
    assert 'id="intervals"' in page
    assert 'id="latencies"' not in page


@pytest.mark.long
def test_a_machine_is_on_time() -> None:
    """Nothing masks interrupts for 2 % of a millisecond; and the longest has a cause."""
    found = bench(Plan(operations=tuple(OPERATIONS)), [Intervals(seconds=1)], quiet)
    assert not found.absent
    assert found.operations == list(OPERATIONS)
    for row in found.results:
        assert row.samples >= 1000
        # What the VMM's measurement of the time stamp counter may be off by.
        assert row.instructions == pytest.approx(PERIOD, rel=1e-4)
        assert row.minimum <= row.instructions <= row.maximum < PERIOD * 1.02
        assert sum(count for _, count in row.distribution) == row.samples
        assert (row.events["outliers"], row.outliers) == (0, [])
        assert "more to the handler" in row.places["longest"]
