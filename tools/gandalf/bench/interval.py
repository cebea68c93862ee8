# SPDX-License-Identifier: Apache-2.0
"""Intervals between an RTOS's timer interrupts, from one handler's first instruction to the next's.

The plug-in takes them in virtual time. With those that are too long or too short, and with the
longest in any case, it keeps the VMM's trace rings as they were: that tells what the VMM was at
when the timer expired.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.bench.latency import PHASES, loop
from gandalf.bench.results import Outlier
from gandalf.bench.workload import CLOCKSOURCE, Sample
from gandalf.build.symbols import Symbols
from gandalf.measure.measurement import Interval, Kept, Measurement
from gandalf.measure.ring import Event, Layout, parse
from gandalf.measure.trace import Names, event_text

# Nanoseconds from one tick of the RTOS to the next, and those that an interval may differ by.
PERIOD = 1_000_000
DEVIATION = PERIOD // 50
OPERATIONS = {
    "timer_interval_idle": PHASES["dispatch_latency_idle"],
    "timer_interval_hackbench": PHASES["dispatch_latency_hackbench"],
}
# Nanoseconds of a bucket of the distribution.
_WIDTH = 5
# Seconds by which a phase is longer than it need be.
_MARGIN = 1
# Bytes from one entry of guest/freertos/port/port.S to the next.
_ENTRY_SIZE = 16
# RDTSC, with which the periodic task begins each turn.
_TIME_STAMP = bytes([0x0F, 0x31])
# Until the VMM has noted an interrupt that it takes at once.
_AT_ONCE = 100


def script(seconds: int) -> str:
    """Return Linux's script. The shell's umask and times begin and end a measurement."""
    clocksource = f'echo "clocksource=$(cat {CLOCKSOURCE})"'
    lines = ["dmesg -n 1", 'echo "kernel=$(uname -r)"', clocksource, "sleep 2"]
    for operation, command in OPERATIONS.items():
        lines += [
            f"end=$(($(cut -d. -f1 /proc/uptime) + {seconds + _MARGIN}))",
            "umask 22",
            loop(operation, command),
            "times >/dev/null",
        ]
    return "\n".join([*lines, clocksource, 'echo "bench: the script is done"', ""])


def handler(symbols: Symbols) -> int:
    """Return the linear address of the first instruction of FreeRTOS's timer handler."""
    place = abi()["VECTOR_TIMER"] - abi()["VECTOR_IRQ"]
    return symbols.address("rtos:port_interrupt_entries") + place * _ENTRY_SIZE


def task(symbols: Symbols) -> int:
    """Return the linear address at which the periodic task of the demo takes the time."""
    image = next(image for image in symbols.images if image.owner == "rtos")
    return image.search("periodic_run", _TIME_STAMP)


def options(symbols: Symbols, layout: Layout, guests: int) -> dict[str, str | int]:
    """Return what the plug-in is to be told about a system with so many guests.

    The first interval is that between two interrupts, the second that from the expiry of the timer
    to the task: the dispatch latency, seen from outside.
    """
    rings, entry = layout.rings(guests), handler(symbols)
    return {
        "from": entry, "to": entry, "expired": entry, "to_": task(symbols), "time": 1,
        "samples": 1, "period": PERIOD, "deviation": DEVIATION,
        "ring": f"{rings.offset}-{rings.offset + rings.size}",
    }  # fmt: skip


def sample(operation: str, seen: Interval) -> Sample:
    """Return the figures of an interval."""
    counts: Counter[int] = Counter()
    for length, count in seen.samples:
        counts[(length // _WIDTH + 1) * _WIDTH - 1] += count
    return Sample(
        operation, seen.count, seen.minimum, seen.median, seen.mean, seen.maximum, 0,
        tuple(sorted(counts.items())),
    )  # fmt: skip


# --- Causes ---


@dataclass(frozen=True)
class Late:
    """An interrupt of the timer. expiry: when it was due. begun: when the RTOS's handler did."""

    expiry: int
    begun: int


def cause(late: Late, events: Sequence[Event], names: Names) -> str:
    """Return where an interrupt's time went, from the timer's expiry to the RTOS's handler.

    Until the VMM noted the interrupt, interrupts were masked, by what it was at; behind that comes
    what it did first.
    """
    taken = [
        event
        for event in events
        if event.kind == "interrupt" and late.expiry <= event.time <= late.begun
    ]
    if not taken:
        return "the trace ring does not reach back to it"
    first = taken[0]
    waited, rest = first.time - late.expiry, late.begun - first.time
    if waited <= _AT_ONCE:
        text = f"interrupt taken at once, in {names.place(first.vcpu, first.second)}"
    else:
        text = f"interrupts masked for {waited:,} ns in {_before(first, events, names)}"
    others = [
        event_text(event, names)
        for event in events
        if first.time < event.time < late.begun and event.kind not in ("switch_to", "deliver")
    ]
    return "; ".join([text, f"{rest:,} ns more to the handler", *others])


def _before(first: Event, events: Sequence[Event], names: Names) -> str:
    """Return what the VMM was at before an event. A switch tells of the halt that led to it."""
    earlier = [event for event in events if event.time < first.time]
    if earlier and earlier[-1].kind == "switch_to":
        left = earlier[-1]
        if names.member("vcpu_state", left.second) == "halted":
            return f"the halt of {names.vcpu(left.vcpu)}"
    earlier = [event for event in earlier if event.kind != "switch_to"]
    if not earlier:
        return "what the ring has lost"
    last = earlier[-1]
    return f"{event_text(last, names)} of {names.vcpu(last.vcpu)}"


def _explain(kept: Kept, before: int | None, layout: Layout, names: Names) -> Outlier:
    """Return an interval with its cause: it is long if its end was late, short if its begin was.

    before: the end of the one before if that is one of note as well.
    """
    if kept.length < PERIOD and kept.end - kept.length == before:
        return Outlier(at=kept.end, length=kept.length, cause="the interrupt before was late")
    events = parse(bytes.fromhex(kept.ring), layout)
    if kept.length >= PERIOD:
        late = Late(kept.expiry, kept.end)
    else:
        late = Late(kept.expiry - PERIOD, kept.end - kept.length)
    return Outlier(at=kept.end, length=kept.length, cause=cause(late, events, names))


@dataclass(frozen=True)
class Found:
    """What became of a phase."""

    sample: Sample
    longest: Outlier
    outliers: tuple[Outlier, ...]
    events: dict[str, float]


def find(
    seen: Sequence[Measurement],
    layout: Layout,
    names: Names,
    operations: Collection[str] = OPERATIONS,
) -> list[Found]:
    """Return the phases in order. Raises UserError if they are not those of the operations."""
    if len(seen) != len(operations):
        raise UserError(f"{len(seen)} phases were measured instead of {len(operations)}.")
    found = []
    for operation, measured in zip(operations, seen, strict=True):
        interval = measured.intervals[0]
        if measured.longest is None or not interval.count:
            raise UserError(f"The RTOS's timer never interrupted in {operation}.")
        longest = _explain(measured.longest, None, layout, names)
        ends = [None, *(kept.end for kept in measured.outliers)]
        outliers = [
            _explain(kept, before, layout, names)
            for kept, before in zip(measured.outliers, ends, strict=False)
        ]
        dispatch = measured.intervals[1]
        events = {
            "p999": float(interval.p999),
            "outliers": float(measured.outlier_count),
            "dispatch_minimum": float(dispatch.minimum),
            "dispatch_mean": dispatch.mean,
            "dispatch_maximum": float(dispatch.maximum),
        }
        found.append(Found(sample(operation, interval), longest, tuple(outliers), events))
    return found
