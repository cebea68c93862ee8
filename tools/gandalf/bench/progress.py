# SPDX-License-Identifier: Apache-2.0
"""How far the bench is, and for how long it will go on."""

import time
from collections.abc import Callable, Sequence

from gandalf.bench.target import Target


class Progress:
    """Says how long a row of machines will take, by how long those before have taken.

    Nothing is said before the first has ended: how fast the host is is not known until then.
    """

    def __init__(
        self, targets: Sequence[Target], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._shares = [target.share for target in targets]
        self._clock, self._begun = clock, clock()

    def text(self, done: int) -> str:
        """Return the place of the next machine, and what is left if that is known."""
        place = f"{done + 1} of {len(self._shares)}"
        past = sum(self._shares[:done])
        if not past:
            return place
        left = (self._clock() - self._begun) * sum(self._shares[done:]) / past
        return f"{place}, {duration(left)} left"


def duration(seconds: float) -> str:
    """Return a time as somebody would say it who guesses."""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return f"about {minutes} minute{'s' if minutes > 1 else ''}"
