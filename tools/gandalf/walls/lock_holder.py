# SPDX-License-Identifier: Apache-2.0
"""Draws the lock-holder preemptions that are in docs/lock-holder.toml.

    python -m gandalf.walls.lock_holder               writes docs/pictures/lock-holder-NAME.svg
    python -m gandalf.walls.lock_holder --record      records anew before, which takes long

A picture has a bar for each CPU, which shows who has it, a stroke for each time that a vCPU says
that it has spun for long, and an arrow for a move. `make check` compares text and pictures.
"""

import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.walls.lock_holder_record import record_all
from gandalf.walls.preemption import IDLE, Preemption, Turn, read_preemptions

PICTURES = ROOT / "docs" / "pictures"
_LEFT, _RIGHT, _TOP, _WIDTH, _TRACK, _BAR = 66, 24, 88, 900, 58, 28
_TICK, _MINOR = 100, 50
_VICTIM, _OTHERS, _RTOS, _VMM = "#1f6feb", "#b6d4fe", "#ffb86b", "#d0d0d0"
_SPIN, _VAIN, _TEXT = "#d1242f", "#f8b4b8", "#444444"
# Of less width (in pixels) nothing is written in a bar.
_ROOM = 46


class Canvas:
    """Where times and CPUs are in the picture of a preemption."""

    def __init__(self, seen: Preemption) -> None:
        self.seen = seen
        self.width = _LEFT + _WIDTH + _RIGHT
        self.bottom = _TOP + len(seen.cpus) * _TRACK
        self.height = self.bottom + 86

    def x(self, time: int) -> float:
        scale = _WIDTH / (self.seen.end - self.seen.begin)
        return round(_LEFT + (time - self.seen.begin) * scale, 1)

    def y(self, cpu: int) -> int:
        return _TOP + self.seen.cpus.index(cpu) * _TRACK

    def bar(self, cpu: int, begin: int, end: int, colour: str) -> str:
        x = self.x(begin)
        return (
            f'<rect x="{x}" y="{self.y(cpu)}" width="{round(self.x(end) - x, 1)}" '
            f'height="{_BAR}" fill="{colour}"/>'
        )


def _said(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}"{more}>{escape(text)}</text>'


def title(seen: Preemption) -> str:
    """Return what stands above a picture."""
    does = "waits until the RTOS is done" if seen.move is None else "goes on elsewhere"
    return f"Policy {seen.name}: the vCPU that holds the lock {does}"


def summary(seen: Preemption) -> str:
    """Return how long the vCPU was without a CPU, and how often others have spun meanwhile."""
    back = seen.end if seen.back is None else seen.back
    count = sum(len(spin.times) for spin in seen.spins() if spin.times[0] < back)
    return (
        f"vCPU {seen.vcpu} is without a CPU for {back - seen.lost} us; others say {count} times "
        f"that they have looked {abi()['SPINS']} times in vain"
    )


def _colour(seen: Preemption, turn: Turn) -> str:
    if turn.who == seen.guests[0]:
        return _VICTIM if turn.victim else _OTHERS
    return _VMM if turn.who == IDLE else _RTOS


def _tracks(canvas: Canvas) -> Iterator[str]:
    seen = canvas.seen
    for cpu in seen.cpus:
        yield _said(10, canvas.y(cpu) + 19, f"CPU {cpu}", ' font-weight="bold"')
        for turn in seen.turns(cpu):
            yield canvas.bar(cpu, turn.begin, turn.end, _colour(seen, turn))
            name = f"vCPU {seen.vcpu}" if turn.victim else "RTOS"
            room = canvas.x(turn.end) - canvas.x(turn.begin) >= _ROOM
            if room and (turn.victim or turn.who in seen.guests[1:]):
                white = ' fill="#ffffff"' if turn.victim else ""
                yield _said(canvas.x(turn.begin) + 5, canvas.y(cpu) + 19, name, white)


def _spins(canvas: Canvas) -> Iterator[str]:
    for spin in canvas.seen.spins():
        if len(spin.times) > 1:
            yield canvas.bar(spin.cpu, spin.times[0], spin.times[-1], _VAIN)
        for time in spin.times:
            yield (
                f'<path d="M{canvas.x(time)} {canvas.y(spin.cpu) - 4} v{_BAR + 8}" '
                f'stroke="{_SPIN}" stroke-width="1.6"/>'
            )


def _marks(canvas: Canvas) -> Iterator[str]:
    """Say when the vCPU loses its CPU and goes on, and show how it moves."""
    seen = canvas.seen
    x = canvas.x(seen.lost)
    yield _line(x, _TOP - 22, canvas.bottom)
    lost = f"vCPU {seen.vcpu} loses CPU {seen.cpu} in {seen.function}()"
    yield _said(x + 4, _TOP - 26, lost)
    if seen.back is not None:
        x = canvas.x(seen.back)
        yield _line(x, _TOP - 22, canvas.bottom)
        side = ' text-anchor="end"' if x > canvas.width - 160 else ""
        yield _said(x + (-4 if side else 4), _TOP - 9, "it goes on", side)
    if seen.move is not None:
        left, come = seen.move
        down = canvas.y(come.cpu) > canvas.y(left.cpu)
        begin = canvas.y(left.cpu) + (_BAR if down else 0)
        end = canvas.y(come.cpu) + (0 if down else _BAR)
        yield (
            f'<path d="M{canvas.x(left.time)} {begin} L{canvas.x(come.time)} {end}" '
            f'stroke="{_VICTIM}" stroke-width="2.4" marker-end="url(#tip)"/>'
        )


def _line(x: float, top: float, bottom: float) -> str:
    return (
        f'<path d="M{x} {top} V{bottom}" stroke="{_TEXT}" stroke-width="1" stroke-dasharray="3 3"/>'
    )


def _scale(canvas: Canvas) -> Iterator[str]:
    """Draw the axis, which counts from when the vCPU lost its CPU."""
    seen, y = canvas.seen, canvas.bottom
    first = -((seen.lost - seen.begin) // _MINOR) * _MINOR
    for tick in range(first, seen.end - seen.lost + 1, _MINOR):
        x = canvas.x(seen.lost + tick)
        yield f'<path d="M{x} {y} v5" stroke="{_TEXT}"/>'
        if tick % _TICK == 0:
            yield _said(x, y + 19, f"{tick} us", f' fill="{_TEXT}" text-anchor="middle"')


def _legend(canvas: Canvas) -> Iterator[str]:
    y, x = canvas.height - 40, _LEFT
    for colour, text, width in (
        (_VICTIM, f"vCPU {canvas.seen.vcpu} of Linux", 140), (_OTHERS, "its other vCPUs", 140),
        (_RTOS, "RTOS", 80), (_VMM, "VMM, or idle", 120), (_VAIN, "a vCPU only spins", 160),
    ):  # fmt: skip
        yield f'<rect x="{x}" y="{y}" width="16" height="14" fill="{colour}"/>'
        yield _said(x + 22, y + 12, text)
        x += width
    yield f'<path d="M{x + 4} {y - 2} v18" stroke="{_SPIN}" stroke-width="1.6"/>'
    yield _said(x + 14, y + 12, "it says so (a hypercall)")
    yield _said(_LEFT, canvas.height - 8, summary(canvas.seen))


def draw(seen: Preemption) -> str:
    """Return the picture of a preemption."""
    canvas = Canvas(seen)
    width, height = canvas.width, canvas.height
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- Made of docs/lock-holder.toml by gandalf.walls.lock_holder; do not edit. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        f'     width="{width}" height="{height}" role="img" aria-label="{escape(title(seen))}"',
        '     font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6"',
        f'  markerHeight="6" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{_VICTIM}"/>',
        "</marker></defs>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _said(_LEFT, 26, title(seen), ' font-size="15" font-weight="bold"'),
        *_tracks(canvas), *_spins(canvas), *_marks(canvas), *_scale(canvas), *_legend(canvas),
        "</svg>", "",
    ])  # fmt: skip


def check_lock_holders(pictures: Path = PICTURES) -> list[str]:
    """Return what is wrong with the pictures, a sentence each."""
    return [
        f"lock-holder-{seen.name}.svg is old: run python -m gandalf.walls.lock_holder"
        for seen in read_preemptions()
        if not (path := pictures / f"lock-holder-{seen.name}.svg").exists()
        or path.read_text() != draw(seen)
    ]


def main() -> None:
    """Draw all preemptions, and record them before if that is asked for."""
    if sys.argv[1:] == ["--record"]:
        record_all(print)
    for seen in read_preemptions():
        (PICTURES / f"lock-holder-{seen.name}.svg").write_text(draw(seen))


if __name__ == "__main__":
    main()
