# SPDX-License-Identifier: Apache-2.0
"""What the papers report, and the weights of the model that turns events into cycles.

The papers' figures are from other machines, kernels and decades: they stand beside ours to show
the order of things, and are compared as ratios only.
"""

from dataclasses import dataclass

from gandalf.bench.results import Result


@dataclass(frozen=True)
class Paper:
    """A ratio that a paper reports, mostly to native. system: as the paper calls it."""

    system: str
    operation: str
    value: float
    baseline: float
    source: str

    @property
    def ratio(self) -> float:
        return self.value / self.baseline


_TWO_LEVEL = "virtual protection ring, lmbench, us"
_INTERRUPTIBLE = "interruptible VMM, table 2, us"
# Beside the latency by trap-based migration, by which no part of Linux's kernel runs on that core.
_SPUMONE = "SPUMONE, LHP, 1 ms task under hackbench, us; by trap-based migration"
# 32-bit: the VMM of the paper with two levels; 64-bit: Xen 3.0.3, which has two as well.
PAPERS = (
    Paper("two-level VMM", "syscall", 1.13, 0.29, _TWO_LEVEL),
    Paper("two-level VMM", "pipe", 6.89, 2.71, _TWO_LEVEL),
    Paper("two-level VMM", "fork_exit", 84.8, 27.3, _TWO_LEVEL),
    Paper("two-level VMM", "fork_exec", 164.9, 60.1, _TWO_LEVEL),
    Paper("Xen 3.0.3, 64-bit", "syscall", 0.69, 0.13, _TWO_LEVEL),
    Paper("Xen 3.0.3, 64-bit", "pipe", 10.28, 4.21, _TWO_LEVEL),
    Paper("Xen 3.0.3, 64-bit", "fork_exit", 334.2, 117.1, _TWO_LEVEL),
    Paper("Xen 3.0.3, 64-bit", "fork_exec", 359.6, 131.5, _TWO_LEVEL),
    Paper("Gandalf", "rtc_latency", 11.48, 10.96, _INTERRUPTIBLE),
    Paper("Gandalf, interruptible", "rtc_latency", 11.52, 10.96, _INTERRUPTIBLE),
    Paper("Xen beside them", "rtc_latency", 11.98, 10.96, _INTERRUPTIBLE),
    Paper("SPUMONE", "dispatch_latency_policy_delayed", 24.09, 2.30, _SPUMONE),
    Paper("SPUMONE", "dispatch_latency_policy_on_demand", 4.71, 2.30, _SPUMONE),
)


@dataclass(frozen=True)
class Weights:
    """Cycles that an event is taken to cost beyond its instructions, of which each is one cycle.

    crossing: from one ring to another, in one direction. cr3: with the TLB misses that follow.
    """

    name: str
    crossing: int
    cr3: int
    invlpg: int
    segment: int
    origin: str

    def cycles(self, result: Result) -> int | None:
        """Return the modelled cycles of an operation; None if nobody counted its events."""
        seen = result.events
        if "ring_crossings" not in seen:
            return None
        extra = (
            self.crossing * seen.get("ring_crossings", 0)
            + self.cr3 * seen.get("cr3_load", 0)
            + self.invlpg * seen.get("invlpg", 0)
            + self.segment * seen.get("segment_load", 0)
        )
        return round(result.instructions + extra)


WEIGHTS = (
    Weights(
        "2.8 GHz, 2006", 400, 1000, 500, 10,
        "a null hypercall, two crossings, took 0.37 us or about 1,000 cycles on the papers' Xeon; "
        "the others are assumptions in proportion",
    ),
    Weights(
        "modern", 100, 300, 120, 5,
        "assumptions for a processor of the last ten years without mitigations",
    ),
)  # fmt: skip
