# SPDX-License-Identifier: Apache-2.0
"""The results of the bench as a file: their model, its schema, the comparison of two of them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gandalf.base.paths import ROOT, UserError, shown

FORMAT = 1
SCHEMA = ROOT / "docs" / "bench-results.schema.json"
# The operation that is the longest stretch with interrupts masked (masked.py).
LONGEST = "masked_longest"
# An operation may need so much more than before without being worse.
TOLERANCE = 0.01
# A segment of a stream to an RTOS takes 295 instructions more or less for thousands of segments in
# a row, with the same packets and entries (docs/measuring.md).
TOLERANCES = {"network_tcp_send": 0.03}
# Entries per operation are equal if they differ by less: of a run that a timer has interrupted by
# the share that its interrupts may be moved, of others by what rounding does.
ENTRIES_TOLERANCE = 0.001
ENTRIES_TOLERANCE_INTERRUPTED = 0.01


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Outlier(_Model):
    """An interval between timer interrupts. at: nanoseconds of virtual time at its end."""

    at: int
    length: int
    cause: str = Field(description="What the VMM did meanwhile, by its trace ring.")


class Result(_Model):
    """An operation of a system, in instructions for each operation."""

    system: str
    operation: str
    instructions: int = Field(description="The median.")
    minimum: int
    maximum: int
    mean: float
    samples: int
    ratio: float | None = Field(
        description="Of the median to that of the system's own native; null: there is none."
    )
    ratio_mean: float | None = Field(description="The same of the mean.")
    events: dict[str, float] = Field(
        description="For each operation, seen from outside; empty: nobody looked. vmm_entries: "
        "into the VMM; ring_0_entries: into ring 0, whoever is there; ring_crossings: between any "
        "two rings; cr3_load, invlpg and others: instructions of that kind; masked, "
        "masked_ring_0: instructions with interrupts masked, in any ring and in ring 0; "
        "masked_longest, masked_longest_ring_0: the longest stretch of them; interrupts: by "
        "hardware, timers included; `entry NAME`: by the handler; l1i_miss, l1d_miss, itlb_miss, "
        "dtlb_miss, page_walk: by a model of caches, if it was asked for. Of timer_interval_...: "
        "p999, which 999 of 1000 do not exceed, outliers: how many are off the period by over 2 %, "
        "and dispatch_minimum, _mean, _maximum: the dispatch latency, as the plug-in sees it. Of "
        "what several CPUs do at once: alone_N, together_N: the mean on CPU N, while the others "
        "are idle and while all work; slowdown: the largest quotient of both; busy_N: ticks in "
        "which CPU N was not idle. Of message: sends_ticks, takes_ticks: what it takes its "
        "sides; sends_instructions, takes_instructions: the same, counted in QEMU. "
        "Of move, move_hackbench: leaves_ticks, arrives_ticks, settles_ticks: what its steps take. "
        "Of turns_N: space_hits, space_misses: loads of CR3 that found an entry, or did not."
    )
    distribution: list[tuple[int, int]] = Field(
        description="Of the samples, where it is known: the largest value of a bucket, and how "
        "many samples are in it."
    )
    places: dict[str, str] = Field(
        default={},
        description="Of masked_longest and dispatch_latency_...: where the longest stretch began, "
        "of any ring and of ring_0, and in which operation. Of timer_interval_...: the cause of "
        "the longest.",
    )
    outliers: list[Outlier] = Field(
        default=[],
        description="Of timer_interval_...: those that differ from the period by over 2 %, the "
        "first 64.",
    )


class Limit(_Model):
    """A figure that has a limit."""

    system: str
    operation: str
    what: str = Field(description="What of it, and in what it is told.")
    value: float
    most: float
    kept: bool
    native: float | None = Field(description="The same of the native system, where that tells.")

    @staticmethod
    def of(
        row: Result, what: str, value: float, most: float, native: float | None = None
    ) -> "Limit":
        """Return that of a result."""
        return Limit(
            system=row.system, operation=row.operation, what=what, value=round(value, 4),
            most=most, kept=value <= most, native=native,
        )  # fmt: skip


class Absent(_Model):
    """What was to be measured and is not among the results."""

    system: str
    operation: str | None = Field(description="null: the whole system.")
    invalid: bool = Field(description="It was measured, and the figure means nothing.")
    reason: str


class Results(_Model):
    """Everything that a run of `gandalf bench` has found out."""

    format: int
    versions: dict[str, str]
    options: list[str] = Field(description="Of QEMU, or of Bochs, for every system.")
    machines: dict[str, str] = Field(
        description="By system, and by system and operations of its further machines: QEMU's "
        "program, CPU and memory, and options that differ."
    )
    command_lines: dict[str, str] = Field(description="By the same: Linux's.")
    results: list[Result]
    absent: list[Absent]
    limits: list[Limit] = Field(default=[], description="Of several CPUs, and of two levels.")
    footprint: dict[str, dict[str, int]] = Field(
        default={},
        description="By hypervisor: bytes and lines of it, by name. Native Linux has none.",
    )

    def find(self, system: str, operation: str) -> Result | None:
        """Return a result if there is one."""
        for result in self.results:
            if (result.system, result.operation) == (system, operation):
                return result
        return None

    @property
    def systems(self) -> list[str]:
        """The systems that have results, in order."""
        return list(dict.fromkeys(result.system for result in self.results))

    @property
    def operations(self) -> list[str]:
        """The operations that have results, in order."""
        return list(dict.fromkeys(result.operation for result in self.results))


def write_results(results: Results, path: Path) -> None:
    """Write results to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(results.model_dump_json(indent=1) + "\n")


def read_results(path: Path) -> Results:
    """Read results from a file. Raises UserError if it is none."""
    try:
        results = Results.model_validate_json(path.read_text())
    except OSError as error:
        raise UserError(f"{shown(path)} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise UserError(f"{shown(path)} holds no results of the bench.\n{error}") from error
    if results.format != FORMAT:
        raise UserError(f"{shown(path)} has format {results.format}; this tool reads {FORMAT}.")
    return results


def schema_text() -> str:
    """Return the JSON schema of the file, as docs/ has it."""
    return json.dumps(Results.model_json_schema(), indent=1, sort_keys=True) + "\n"


@dataclass(frozen=True)
class Change:
    """A figure that differs between two runs. verdict: "worse" ends in exit status 1."""

    system: str
    operation: str
    what: str
    before: float
    after: float
    verdict: str

    @property
    def percent(self) -> float | None:
        return 100 * (self.after - self.before) / self.before if self.before else None


def _figures(result: Result) -> dict[str, float]:
    """Return what is compared of a result.

    Of the longest masked stretch that is what a VMM masks, in ring 0. For how long Linux itself
    does depends on how many pages it happens to free at once.
    """
    if result.operation != LONGEST:
        return {"median": result.instructions, "mean": result.mean}
    if result.system.startswith("native"):
        return {}
    return {"ring 0": result.events["masked_ring_0"]}


def _instructions(before: Result, after: Result) -> Iterator[Change]:
    figures = _figures(before)
    tolerance = TOLERANCES.get(after.operation, TOLERANCE)
    for what, new in _figures(after).items():
        old = figures[what]
        if new > old * (1 + tolerance):
            verdict = "worse"
        elif new < old * (1 - tolerance):
            verdict = "better"
        else:
            verdict = "similar"
        if new != old:
            yield Change(after.system, after.operation, what, old, new, verdict)


def _entries(before: Result, after: Result) -> Iterator[Change]:
    name = "vmm_entries"
    if name not in before.events or name not in after.events:
        return
    old, new = before.events[name], after.events[name]
    interrupted = before.events.get("interrupts", 0) or after.events.get("interrupts", 0)
    share = ENTRIES_TOLERANCE_INTERRUPTED if interrupted else 0.0
    room = max(old * share, ENTRIES_TOLERANCE)
    if abs(new - old) > room:
        verdict = "worse" if new > old else "better"
        yield Change(after.system, after.operation, name, old, new, verdict)


def compare(before: Results, after: Results) -> list[Change]:
    """Return what has changed, of what both have."""
    pairs = [
        (old, new)
        for new in after.results
        if (old := before.find(new.system, new.operation)) is not None
    ]
    return [
        change for old, new in pairs for change in (*_instructions(old, new), *_entries(old, new))
    ]


def lost(before: Results, after: Results) -> list[Absent]:
    """Return what was tried and failed this time, and has a result in the earlier run."""
    return [
        absent
        for absent in after.absent
        if any(
            result.system == absent.system and absent.operation in (None, result.operation)
            for result in before.results
        )
    ]


def main() -> None:
    """Write the schema."""
    SCHEMA.write_text(schema_text())


if __name__ == "__main__":
    main()
