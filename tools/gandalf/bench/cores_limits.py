# SPDX-License-Identifier: Apache-2.0
"""What the figures of several CPUs may be at most, and whether they are."""

from collections.abc import Iterator

from gandalf.bench import policies, shares
from gandalf.bench.cores import (
    ACROSS,
    HACKBENCH,
    IPI,
    LATENCY,
    MESSAGE,
    PER_CORE,
    ROUND_TRIP,
    SEVERAL,
    SHOOTDOWN,
    SMP,
    STORM,
    TOGETHER,
)
from gandalf.bench.moves import MOVE, MOVE_HACKBENCH
from gandalf.bench.results import Limit, Result, Results

# Of a CPU beside others at work, in what it takes alone.
BESIDE_OTHERS = 1.03
# In native ones of as many CPUs.
LOAD, CALL = 1.20, 1.50
LATENCY_MEAN, LATENCY_MAXIMUM = 600, 2500
# In a round trip within a CPU.
CHANNEL = 1.30
MESSAGE_INSTRUCTIONS = 400
# On the CPU that a vCPU leaves, and on the one that it comes to, its shadow included.
SIDE_OF_MOVE = 1500
# Beside an RTOS, with the best policy: in the time of Linux alone on a CPU less; and in that of all
# of them, by the part of them that the RTOS leaves. Linux itself does not keep the latter if one of
# its real-time processes has the share; so what it takes then is compared, too.
SHARED = 1.00
LEFT = 1 / 0.97
BY_LINUX = 1.03
# The mean dispatch latency by a policy that has vCPUs leave.
LATE = 1.2
# hackbench with vCPUs that could move, in that with vCPUs that could not.
OWN_COST = 1.01
MEMORY = 128 << 10


def busy(result: Result) -> float:
    """Return the instructions of all CPUs."""
    return sum(ticks for name, ticks in result.events.items() if name.startswith("busy_"))


def _of_native(row: Result, results: Results) -> Result | None:
    return results.find(row.system.replace("gandalf", "native"), row.operation)


def _of_linux(row: Result, results: Results) -> Iterator[Limit]:
    native = _of_native(row, results)
    if row.operation in TOGETHER and "slowdown" in row.events:
        its = native.events["slowdown"] if native else None
        what = "slowest CPU beside the others, in itself alone"
        yield Limit.of(row, what, row.events["slowdown"], BESIDE_OTHERS, its)
    elif native is None:
        return
    elif row.operation in (STORM, HACKBENCH):
        yield Limit.of(row, "time, in native", row.instructions / native.instructions, LOAD)
        yield Limit.of(row, "instructions, in native", busy(row) / busy(native), LOAD)
    elif row.operation in (IPI, SHOOTDOWN):
        yield Limit.of(row, "mean, in native", row.mean / native.mean, CALL)


def _of_others(row: Result) -> Iterator[Limit]:
    if row.operation == LATENCY and row.system.startswith(SMP):
        yield Limit.of(row, "mean", row.mean, LATENCY_MEAN)
        yield Limit.of(row, "maximum", row.maximum, LATENCY_MAXIMUM)
    elif (row.system, row.operation) == (ACROSS, ROUND_TRIP) and row.ratio is not None:
        yield Limit.of(row, "in one within a CPU", row.ratio, CHANNEL)
    elif row.operation == MESSAGE:
        both = row.events.get("sends_instructions", 0) + row.events.get("takes_instructions", 0)
        yield Limit.of(row, "instructions, both sides", both, MESSAGE_INSTRUCTIONS)
    elif row.operation in (MOVE, MOVE_HACKBENCH):
        ticks = row.events
        yield Limit.of(row, "departure", ticks["leaves_ticks"], SIDE_OF_MOVE)
        arrival = ticks["arrives_ticks"] + ticks["settles_ticks"]
        yield Limit.of(row, "arrival", arrival, SIDE_OF_MOVE)


def _of_shares(row: Result, results: Results) -> Iterator[Limit]:
    alone = row.system.removesuffix(f"-{(shares.point_of(row.operation) or [0])[0]}")
    share = shares.share_of_best(row.operation)
    fewer, all_of_them = (
        results.find(alone, shares.alone(cpus)) for cpus in (shares.CPUS - 1, shares.CPUS)
    )
    if share is not None and fewer is not None:
        value = row.instructions / fewer.instructions
        yield Limit.of(row, "time, in that of a CPU less alone", value, SHARED)
    if share is not None and all_of_them is not None:
        left = all_of_them.instructions * shares.CPUS / (shares.CPUS - share)
        yield Limit.of(row, "time, by the CPUs that are left", row.instructions / left, LEFT)
    by_linux = shares.shared(round(100 * (share or 0)), shares.BY_LINUX)
    own = results.find(shares.SYSTEM_BY_LINUX, by_linux)
    if own is not None:
        value = row.instructions / own.instructions
        yield Limit.of(row, "time, in that beside a real-time process", value, BY_LINUX)


def _of_latencies(row: Result, results: Results) -> Iterator[Limit]:
    policy = shares.latency_policy(row.operation)
    asleep = results.find(row.system, shares.latency_operation(""))
    if policy in shares.MOVES and asleep is not None:
        yield Limit.of(
            row, "mean, in that beside a Linux that sleeps", row.mean / asleep.mean, LATE
        )
        yield Limit.of(row, "maximum", row.maximum, LATENCY_MAXIMUM)


def _of_cost(row: Result, results: Results) -> Iterator[Limit]:
    staying = results.find(policies.STAYING, policies.COST)
    if row.system == policies.MOVING and staying is not None:
        value = row.mean / staying.mean
        yield Limit.of(row, "mean, in that of vCPUs that stay", value, OWN_COST)


def _of_memory(results: Results) -> Iterator[Limit]:
    value = results.footprint.get(SEVERAL, {}).get(PER_CORE)
    if value is not None:
        yield Limit(
            system=SEVERAL, operation="memory", what=PER_CORE, value=value, most=MEMORY,
            kept=value <= MEMORY, native=None,
        )  # fmt: skip


def limits(results: Results) -> list[Limit]:
    """Return each figure of several CPUs that has a limit."""
    rows = [row for row in results.results if row.system.startswith("gandalf")]
    found = [
        limit
        for row in rows
        for limit in (
            *_of_linux(row, results),
            *_of_others(row),
            *_of_shares(row, results),
            *_of_latencies(row, results),
            *_of_cost(row, results),
        )
    ]
    return [*found, *_of_memory(results)]
