# SPDX-License-Identifier: Apache-2.0
"""The tables of a report, as headings and rows of texts."""

from gandalf.bench.ablation import ABLATION_HEADINGS, ablation_rows
from gandalf.bench.cores_report import CPU_HEADINGS, cpu_rows
from gandalf.bench.interruptible import COST_HEADINGS, cost_rows
from gandalf.bench.interval import OPERATIONS
from gandalf.bench.limits import LIMIT_HEADINGS, limit_rows
from gandalf.bench.masked import MASKED, TOTAL
from gandalf.bench.papers import PAPERS, WEIGHTS
from gandalf.bench.results import LONGEST, Absent, Result, Results
from gandalf.bench.turns import TURNS_HEADINGS, turns_rows

HEADINGS = (
    "operation", "median", "mean", "minimum", "maximum", "samples", "ratio", "of means",
    "VMM entries", "ring crossings", "CR3", "INVLPG", "masked", "longest",
    *(f"cycles, {weights.name}" for weights in WEIGHTS),
)  # fmt: skip
# Those that fit a terminal.
SHORT = ("operation", "median", "ratio", "VMM entries", "ring crossings", "CR3", "INVLPG")
_UNCOUNTED = "-"


def number(value: float | None) -> str:
    if value is None:
        return _UNCOUNTED
    if value == round(value):
        return f"{round(value):,}"
    return f"{value:,.2f}"


def _ratio(value: float | None) -> str:
    return _UNCOUNTED if value is None else f"{value:.2f}"


def row(result: Result) -> list[str]:
    """Return an operation's cells, in the order of HEADINGS."""
    seen = result.events

    def event(name: str) -> str:
        # Of what is counted, what does not happen is left out.
        nothing = 0.0 if "ring_crossings" in seen else None
        return number(seen.get(name, nothing))

    entries = number(seen.get("vmm_entries"))
    return [
        result.operation, number(result.instructions), f"{result.mean:,.0f}",
        number(result.minimum), number(result.maximum), str(result.samples),
        _ratio(result.ratio), _ratio(result.ratio_mean), entries,
        event("ring_crossings"), event("cr3_load"), event("invlpg"), event("masked"),
        event("masked_longest"),
        *(number(weights.cycles(result)) for weights in WEIGHTS),
    ]  # fmt: skip


def results_of(results: Results, system: str) -> list[Result]:
    """Return a system's operations; sums over all of them, and intervals, have their own tables."""
    return [
        result
        for result in results.results
        if result.system == system and result.operation not in (*MASKED, *OPERATIONS)
    ]


# --- Interrupts masked, and footprint ---

MASKED_HEADINGS = (
    "system", "executed", "masked", "ratio", "in ring 0", "stretches", "longest", "began at",
    "longest in ring 0", "began at",
)  # fmt: skip
RECORD_HEADINGS = (
    "longest stretch of ring 0 with interrupts masked", "in", "instructions", "began in",
)  # fmt: skip
_SET = "all operations"
FOOTPRINT_HEADINGS = ("hypervisor", "what", "how many")


def masked_rows(results: Results) -> list[list[str]]:
    """Return a row for each system, in the order of MASKED_HEADINGS."""
    rows = []
    for system in results.systems:
        total, longest = (results.find(system, name) for name in (TOTAL, LONGEST))
        if total is None or longest is None:
            continue
        seen, places = total.events, longest.places
        rows.append([
            system, number(seen["executed"]), number(total.instructions), _ratio(total.ratio),
            number(seen["masked_ring_0"]), number(seen["windows"]),
            number(longest.instructions), places["any"],
            number(longest.events["masked_ring_0"]), places["ring_0"],
        ])  # fmt: skip
    return rows


def record_rows(results: Results) -> list[list[str]]:
    """Return each system's longest stretches, its record first.

    There is one of all its operations, and one of each load of the real-time task.
    """
    rows = []
    for system in results.systems:
        records = [
            (row.events[event], _SET if row.operation == LONGEST else row.operation, row.places)
            for row in results.results
            for event in ("masked_ring_0", "masked_longest_ring_0")
            if row.system == system and "ring_0" in row.places and event in row.events
        ]
        records.sort(key=lambda record: record[0], reverse=True)
        rows += [
            [system if place == 0 else "", what, number(length), places["ring_0"]]
            for place, (length, what, places) in enumerate(records)
        ]
    return rows


def footprint_rows(results: Results) -> list[list[str]]:
    """Return what each hypervisor is, in the order of FOOTPRINT_HEADINGS."""
    return [
        [name, what, number(value)]
        for name, values in results.footprint.items()
        for what, value in values.items()
    ]


CACHE_HEADINGS = (
    "events of the papers, by a model", "instructions", "L1I misses", "L1D misses", "ITLB misses",
    "DTLB misses", "page walks", "segment loads", "stalls",
)  # fmt: skip
_STALLS = "not measurable"
NO_COMPILE = (
    "A small compile is not measured: there is no compiler in the guests' root file system."
)


def cache_rows(results: Results) -> list[list[str]]:
    """Return the papers' performance-counter events, in the order of CACHE_HEADINGS."""
    names = ("l1i_miss", "l1d_miss", "itlb_miss", "dtlb_miss", "page_walk", "segment_load")
    return [
        [
            f"{row.system}, {row.operation}", number(row.instructions),
            *(number(row.events.get(name, 0.0)) for name in names), _STALLS,
        ]
        for row in results.results
        if "page_walk" in row.events
    ]  # fmt: skip


INTERVAL_HEADINGS = (
    "timer interrupts every 1,000,000 ns", "intervals", "minimum", "99.9 %", "maximum",
    "off by over 2 %", "dispatch latency from outside: minimum", "mean", "maximum",
    "cause of the longest",
)  # fmt: skip
OUTLIER_HEADINGS = ("timer interrupts off by over 2 %", "at, ns", "interval, ns", "cause")


def interval_rows(results: Results) -> list[list[str]]:
    """Return the intervals between timer interrupts, in the order of INTERVAL_HEADINGS."""
    return [
        [
            f"{row.system}, {row.operation}", number(row.samples), number(row.minimum),
            number(row.events["p999"]), number(row.maximum), number(row.events["outliers"]),
            *(number(row.events[f"dispatch_{kind}"]) for kind in ("minimum", "mean", "maximum")),
            row.places["longest"],
        ]
        for row in results.results
        if row.operation in OPERATIONS
    ]  # fmt: skip


def outlier_rows(results: Results) -> list[list[str]]:
    """Return each interval that is far from the period, in the order of OUTLIER_HEADINGS."""
    return [
        [f"{row.system}, {row.operation}", number(outlier.at), number(outlier.length),
         outlier.cause]
        for row in results.results
        for outlier in row.outliers
    ]  # fmt: skip


def further_tables(results: Results) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Return title, headings and rows of the tables that are not a system's."""
    tables = [
        ("What has a limit", LIMIT_HEADINGS, limit_rows(results)),
        ("Several CPUs: each of them", CPU_HEADINGS, cpu_rows(results)),
        ("Interrupts masked", MASKED_HEADINGS, masked_rows(results)),
        ("The record of ring 0", RECORD_HEADINGS, record_rows(results)),
        ("What it costs to be interruptible", COST_HEADINGS, cost_rows(results)),
        ("What each measure saves", ABLATION_HEADINGS, ablation_rows(results)),
        ("The page-table cache, by number of processes", TURNS_HEADINGS, turns_rows(results)),
        ("Caches and TLBs", CACHE_HEADINGS, cache_rows(results)),
        ("Intervals between timer interrupts", INTERVAL_HEADINGS, interval_rows(results)),
        ("Their outliers", OUTLIER_HEADINGS, outlier_rows(results)),
        ("Footprint", FOOTPRINT_HEADINGS, footprint_rows(results)),
    ]
    return [table for table in tables if table[2]]


def absence(absent: Absent) -> str:
    what = f"{absent.system}, {absent.operation}" if absent.operation else absent.system
    return f"{what}: {'invalid' if absent.invalid else 'missing'}: {absent.reason}"


def paper_rows() -> list[list[str]]:
    return [
        [paper.system, paper.operation, str(paper.value), str(paper.baseline), _ratio(paper.ratio)]
        for paper in PAPERS
    ]


PAPER_HEADINGS = ("system of the papers", "operation", "us", "compared with, us", "ratio")


def weights_lines() -> list[str]:
    return [
        f"- {weights.name}: {weights.crossing} cycles for each crossing of rings, {weights.cr3} "
        f"for a CR3 load, {weights.invlpg} for an INVLPG, {weights.segment} for a segment load, "
        f"1 for an instruction: {weights.origin}."
        for weights in WEIGHTS
    ]
