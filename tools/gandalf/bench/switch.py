# SPDX-License-Identifier: Apache-2.0
"""Switches between Linux and an RTOS: what Linux does, and what was seen of it from outside.

The RTOS halts, and Linux goes on behind its last hypercall; Linux rings the RTOS's doorbell by
another, and the RTOS's handler begins. The plug-in measures both halves, from the hypercall's
instruction to the first of whoever runs next.
"""

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.bench.workload import CLOCKSOURCE, Bracket, Sample
from gandalf.build.symbols import Image
from gandalf.measure.measurement import Interval, Measurement

OPERATION = "os_switch"
# How often Linux rings in the runs that are measured, and before them. The runs begin behind a
# timer interrupt, and are over before the next.
RINGS, WARM_UP = (20, 80), 8
# The RTOS's place in bench/systems/gandalf-switch.toml.
_PLACE = 1
_DRIVER, _FUNCTION = "/dev/gandalf-attack", "attack_hypercall"
_INT_OPCODE, _INT_SIZE = 0xCD, 2


def script() -> str:
    """Return Linux's script. The shell's umask and times begin and end a measurement."""
    clocksource = f'echo "clocksource=$(cat {CLOCKSOURCE})"'
    number = abi()["HYPERCALL_DOORBELL"]
    ring = f'echo "hypercall {number} {_PLACE} 0 0" >{_DRIVER}'
    return "\n".join([
        "dmesg -n 1",
        'echo "kernel=$(uname -r)"',
        clocksource,
        f"ring() {{ i=0; while [ $i -lt $1 ]; do {ring}; i=$((i+1)); done; }}",
        "ticks() { { read -r _; read -r _ n _; } </proc/interrupts; }",
        "tick() { ticks; last=$n; while [ $n = $last ]; do ticks; done; }",
        f"ring {WARM_UP}",
        *(f"sleep 1; tick; umask 22; ring {count}; times >/dev/null" for count in RINGS),
        clocksource,
        'echo "bench: the script is done"',
        "",
    ])  # fmt: skip


def hypercall_of(kernel: Image) -> int:
    """Return the address of the only hypercall of the driver's function."""
    return kernel.search(_FUNCTION, bytes([_INT_OPCODE, abi()["HYPERCALL_VECTOR"]]))


def points(linux: int, halt: int, rung: int) -> tuple[tuple[int, int], ...]:
    """Return the plug-in's intervals: RTOS to Linux, and Linux to RTOS.

    linux, halt: the addresses of the hypercalls. rung: of the RTOS's handler.
    """
    return ((halt, linux + _INT_SIZE), (linux, rung))


def of_ring_0(seen: Measurement) -> Measurement:
    """Return a measurement without what happened in other rings: the shell's own."""
    into, *others = seen.crossings
    crossings = [(row[0], 0, 0, 0) for row in others]
    events = {name: (counts[0], 0, 0, 0) for name, counts in seen.events.items()}
    handlers = tuple(handler for handler in seen.handlers if handler.ring == 0)
    update = {"crossings": (into, *crossings), "events": events, "handlers": handlers}
    return seen.model_copy(update=update)


def brackets(seen: tuple[Measurement, ...]) -> tuple[Bracket, ...]:
    """Return the runs as Linux would tell of them, if they are the script's."""
    if len(seen) != len(RINGS):
        raise UserError(f"{len(seen)} runs were measured instead of {len(RINGS)}.")
    for count, run in zip(RINGS, seen, strict=True):
        found = [interval.count for interval in run.intervals]
        if found != [count, count]:
            raise UserError(f"Of {count} switches to Linux and back {found} were seen.")
    return tuple(
        Bracket(OPERATION, count, run.instructions, 0, 0)
        for count, run in zip(RINGS, seen, strict=True)
    )


def sample(halves: tuple[Interval, ...]) -> Sample:
    """Return the sum of both halves, each for itself: no two samples are paired."""
    return Sample(
        OPERATION, halves[0].count, sum(half.minimum for half in halves),
        sum(half.median for half in halves), round(sum(half.mean for half in halves), 2),
        sum(half.maximum for half in halves), 0,
    )  # fmt: skip


def halves(seen: tuple[Interval, ...]) -> dict[str, float]:
    """Return the medians of both halves, as events."""
    to_linux, to_rtos = seen
    return {"halt_to_linux": float(to_linux.median), "doorbell_to_rtos": float(to_rtos.median)}
