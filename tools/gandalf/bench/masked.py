# SPDX-License-Identifier: Apache-2.0
"""How long interrupts were masked in a system, from its script's first line to the power-off.

Every system runs the same script, so the sums can be compared. Ring 0 is counted beside the sum: on
a dedicated CPU Linux masks interrupts itself, in ring 1. The plug-in measures the whole in pieces,
those of the operations and those between them: a stretch that goes over an end counts as two.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gandalf.bench.results import LONGEST, Result
from gandalf.measure.measurement import Measurement, Window, Windows

TOTAL = "masked_total"
MASKED = (TOTAL, LONGEST)
# What a stretch is in that is in none of the operations' runs.
BETWEEN = "the script between the runs"


@dataclass(frozen=True)
class Seen:
    """The pieces of a system's session: the operation and what was measured of each.

    name: of an address. vmm: ring 0 is a VMM's; natively, nobody masks interrupts elsewhere.
    """

    runs: tuple[tuple[str, Measurement], ...]
    name: Callable[[int], str]
    vmm: bool

    def _ring_0(self, seen: Measurement) -> Windows:
        return seen.vmm_windows if self.vmm else seen.windows

    def _longest(self, kind: Callable[[Measurement], Windows]) -> tuple[Window, str] | None:
        """Return the longest window of a kind, the first of several, and its operation."""
        found = [
            (window, operation)
            for operation, seen in self.runs
            for window in kind(seen).longest[:1]
        ]
        return max(found, key=lambda pair: pair[0].instructions, default=None)

    def _place(self, found: tuple[Window, str] | None) -> str:
        if found is None:
            return "nowhere"
        window, operation = found
        text = f"{self.name(window.begin)} at {window.begin:#x}, in {operation}"
        for block in window.blocks[:1]:
            text += f"; most of it, {block.instructions}, in {self.name(block.linear)}"
        return text

    def total(self, system: str) -> Result:
        """Return the instructions that were executed with interrupts masked."""
        measured = [seen for _, seen in self.runs]
        events = {
            "masked_ring_0": sum(seen.executed(0, masked=True) for seen in measured),
            "windows": sum(seen.windows.count for seen in measured),
            "windows_ring_0": sum(self._ring_0(seen).count for seen in measured),
            "executed": sum(seen.instructions for seen in measured),
        }
        return _once(system, TOTAL, sum(seen.windows.total for seen in measured), events, {})

    def longest(self, system: str) -> Result:
        """Return the longest stretch of them, and where it began."""
        every, ring_0 = self._longest(lambda seen: seen.windows), self._longest(self._ring_0)
        events = {"masked_ring_0": ring_0[0].instructions if ring_0 else 0}
        places = {"any": self._place(every), "ring_0": self._place(ring_0)}
        return _once(system, LONGEST, every[0].instructions if every else 0, events, places)


def _once(
    system: str, operation: str, value: int, events: dict[str, int], places: dict[str, str]
) -> Result:
    return Result(
        system=system, operation=operation, instructions=value, minimum=value, maximum=value,
        mean=value, samples=1, ratio=None, ratio_mean=None, distribution=[], places=places,
        events={name: float(count) for name, count in events.items()},
    )  # fmt: skip
