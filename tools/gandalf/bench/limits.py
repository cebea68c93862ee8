# SPDX-License-Identifier: Apache-2.0
"""Figures that have a limit, of all systems: whether they keep it, as rows and as a sentence."""

from gandalf.bench import cores_limits, two_level_limits
from gandalf.bench.results import Limit, Results

LIMIT_HEADINGS = ("figure", "system", "what", "value", "at most", "native", "")
_NONE = "-"
SEVERAL_CPUS, TWO_LEVELS = "on several CPUs", "with two levels"


def limits(results: Results) -> list[Limit]:
    """Return all figures that have a limit."""
    return [*cores_limits.limits(results), *two_level_limits.limits(results)]


def number(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def limit_rows(results: Results) -> list[list[str]]:
    """Return each figure that has a limit, in the order of LIMIT_HEADINGS."""
    return [
        [
            limit.operation, limit.system, limit.what, number(limit.value), number(limit.most),
            number(limit.native), "kept" if limit.kept else "broken",
        ]
        for limit in results.limits
    ]  # fmt: skip


def sentences(results: Results) -> dict[str, str]:
    """Return for both kinds, if there are such, how many keep their limits."""
    kinds: dict[str, list[Limit]] = {}
    for limit in results.limits:
        kind = TWO_LEVELS if limit.system == two_level_limits.SYSTEM else SEVERAL_CPUS
        kinds.setdefault(kind, []).append(limit)
    return {kind: _sentence(kind, found) for kind, found in kinds.items()}


def _sentence(kind: str, found: list[Limit]) -> str:
    broken = [limit for limit in found if not limit.kept]
    kept = len(found) - len(broken)
    text = f"{kind} {kept} of {len(found)} figures keep their limits"
    worst = max(broken, key=lambda limit: limit.value / limit.most, default=None)
    if worst is None:
        return f"{text}."
    return (
        f"{text}; furthest off: {worst.operation} of {worst.system} ({worst.what}), "
        f"{worst.value:,.4g} where {worst.most:,.4g} is the most."
    )
