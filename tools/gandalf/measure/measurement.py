# SPDX-License-Identifier: Apache-2.0
"""What the plug-in of measure/ has measured, as it writes it (measure/report.c).

Numbers are instructions unless they count something else; addresses are linear.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from gandalf.base.paths import UserError, shown

FORMAT = 2


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class State(_Model):
    """Instructions that were executed in a ring. masked: no interrupt could be taken before them.

    vmm: in ring 0, and in the range of addresses that was given as the VMM's. guest: in ring 3,
    and in the range that was given as a guest kernel's.
    """

    ring: int
    masked: bool
    vmm: bool
    guest: bool
    instructions: int


class Block(_Model):
    """A block of code, named by its first address."""

    linear: int
    instructions: int


class Window(_Model):
    """A stretch in which no interrupt could be taken.

    at: how long after the measurement's begin. end: where one could again, or what the VMM left
    to. last, blocks (the most costly first): within the VMM only.
    """

    instructions: int
    at: int
    begin: int
    end: int
    last: int
    blocks: tuple[Block, ...]


class Windows(_Model):
    """All windows of a kind. cut: how many the begin and the end of the measurement cut off.

    lengths[n]: how many were 2^(n-1) to 2^n - 1 long.
    """

    count: int
    total: int
    cut: int
    lengths: tuple[int, ...]
    longest: tuple[Window, ...]


class Recorded(_Model):
    """A window of at least a length that was asked for.

    clock: when it began, as the time stamp counter shows it in a deterministic machine.
    """

    clock: int
    instructions: int
    begin: int
    end: int


class Handler(_Model):
    """Where interrupts, exceptions and system calls were delivered to, and the ring of that.

    exceptions counts INT n too. from_rings: where these and the hardware's came from. from_guest:
    how often ring 0 was entered here from what was given as a guest's kernel. stays: in ring 0
    that began here from another ring; with their instructions, those of them that were masked, and
    the longest stay. window: the longest of the VMM's that began here, of no instructions if there
    was none.
    """

    linear: int
    ring: int
    exceptions: int
    hardware: int
    from_rings: tuple[int, int, int, int]
    from_guest: int
    stays: int
    instructions: int
    masked: int
    longest: int
    window: Window


class Section(_Model):
    """All windows of the VMM that began alike. window: the longest of them.

    begin: behind a CLI, or the stub of a vector that was delivered, by the hardware or not, in a
    ring, rtos: of an RTOS. What the measurement's begin cut off is not in any.
    """

    begin: int
    ring: int
    delivered: bool
    hardware: bool
    rtos: bool
    count: int
    total: int
    window: Window


class Interval(_Model):
    """From the last execution of one instruction to the execution of another.

    repeated: how often the first was executed again before the other, which begins the interval
    anew. p999: 999 of 1000 are not longer. samples: how often each length came, if asked for.
    """

    from_: int
    to: int
    count: int
    repeated: int
    minimum: int
    mean: float
    median: int
    p999: int
    maximum: int
    samples: tuple[tuple[int, int], ...] = ()

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=lambda name: name.rstrip("_")
    )


class Kept(_Model):
    """An interval of note, in virtual time. expiry: of the timer, delivered last before its end.

    ring: memory that was asked for as it was then, in hex.
    """

    end: int
    length: int
    expiry: int
    ring: str


class Measurement(_Model):
    """A whole measurement.

    crossings[a][b]: how often ring b followed ring a. recorded: the last windows that were long
    enough, the oldest first, none of them missing since the clock showed recorded_since; only if
    asked for. history_lost: events of the VMM's trace ring that nobody had copied in time; only if
    a history was asked for. sections: only if asked for; sections_lost: windows of those too many.
    profile: the VMM's instructions, masked or not. events: by name, in each ring.
    outliers: the first of the outlier_count intervals that were too long or too short; longest: of
    all, whether too long or not; only if a period was given.
    mistaken: 0, or the plug-in did not know where it was. nanoseconds: virtual time from
    the first delivery of an interrupt to the last, sleep included.
    """

    format: int
    begun: bool
    states: tuple[State, ...]
    crossings: tuple[tuple[int, int, int, int], ...]
    windows: Windows
    vmm_windows: Windows
    recorded_since: int = 0
    recorded: tuple[Recorded, ...] = ()
    history_lost: int = 0
    sections_lost: int = 0
    sections: tuple[Section, ...] = ()
    handlers: tuple[Handler, ...]
    profile: tuple[Block, ...]
    events: dict[str, tuple[int, int, int, int]]
    intervals: tuple[Interval, ...]
    outlier_count: int = 0
    longest: Kept | None = None
    outliers: tuple[Kept, ...] = ()
    instructions: int
    mistaken: int
    nanoseconds: int

    def executed(self, ring: int, masked: bool | None = None, vmm: bool | None = None) -> int:
        """Return the instructions of a ring, of those with or without interrupts masked only."""
        return sum(
            state.instructions
            for state in self.states
            if state.ring == ring and masked in (None, state.masked) and vmm in (None, state.vmm)
        )

    @property
    def entries(self) -> int:
        """How often ring 0 was entered from another ring."""
        return sum(row[0] for row in self.crossings[1:])

    @property
    def ring_changes(self) -> int:
        return sum(map(sum, self.crossings))


def read_measurement(path: Path) -> Measurement:
    """Read the plug-in's file. Raises UserError if nothing was measured, or it cannot be right."""
    try:
        result = Measurement.model_validate_json(path.read_text(), by_alias=True)
    except FileNotFoundError as error:
        raise UserError(f"The plug-in wrote no {shown(path)}; QEMU ended before it could.") from (
            error
        )
    except ValidationError as error:
        raise UserError(
            f"{shown(path)} is not what this version of the tool reads; rebuild the plug-in "
            f"(make -C measure clean all).\n{error}"
        ) from error
    if result.format != FORMAT:
        raise UserError(f"{shown(path)} has format {result.format}; this tool reads {FORMAT}.")
    if result.mistaken:
        raise UserError("The plug-in was mistaken about addresses; is this QEMU 7.2?")
    if not result.begun:
        raise UserError("The measurement never began: its first instruction was not executed.")
    return result
