# SPDX-License-Identifier: Apache-2.0
"""Draws how something flows through the VMM, function by function, of the text in docs/walks.toml.

    python -m gandalf.walls.walks      writes docs/pictures/walk-NAME.svg

A picture has a column for each file and a line for each step, so it shows at a glance how many
files a walk crosses and whether it goes back and forth. `make check` compares text, sources and
pictures.
"""

import re
import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

from gandalf.base.paths import ROOT

TEXT = ROOT / "docs" / "walks.toml"
PICTURES = ROOT / "docs" / "pictures"
_LEFT, _TOP, _COLUMN, _LINE, _SAID = 30, 150, 64, 34, 20


@dataclass(frozen=True)
class Step:
    """A function on the way, the file below vmm/ that it is in, and what it does."""

    file: str
    function: str
    does: str


@dataclass(frozen=True)
class Walk:
    """What flows, through how many files at most, by which steps.

    descents: how often it goes down. That is once, unless why says what is done between.
    """

    name: str
    title: str
    limit: int
    steps: tuple[Step, ...]
    descents: int = 1
    why: str = ""

    @property
    def files(self) -> list[str]:
        """Return the files in the order in which they are come to first."""
        return list(dict.fromkeys(step.file for step in self.steps))

    def count_descents(self) -> int:
        """Return how often the walk goes down.

        It goes down to a file that it does not come from, and up to one that it comes from, where
        all are left that it had come to since.
        """
        chain: list[str] = []
        count, down = 0, False
        for step in self.steps:
            if step.file not in chain:
                count += not down
                down = True
                chain.append(step.file)
            elif step.file != chain[-1]:
                down = False
                del chain[chain.index(step.file) + 1 :]
        return count


def read_touched(path: Path = TEXT) -> list[str]:
    """Return the files that walks only get something at."""
    return list(tomllib.loads(path.read_text())["touched"])


def read_walks(path: Path = TEXT) -> list[Walk]:
    """Read the walks. Raises KeyError if a part of one is missing."""
    walks = tomllib.loads(path.read_text())["walk"]
    return [
        Walk(
            walk["name"],
            walk["title"],
            walk["files"],
            tuple(Step(*s) for s in walk["steps"]),
            walk.get("descents", 1),
            walk.get("why", ""),
        )
        for walk in walks
    ]


def _has(source: str, function: str) -> bool:
    """Tell whether a file defines a function, or a label of assembly."""
    return bool(re.search(rf"^(?:{function}:|[a-zA-Z].*\b{function}\()", source, re.MULTILINE))


def _wrong_order(walk: Walk) -> list[str]:
    """Return what is wrong with the order of a walk, which goes down once and up once."""
    wrong = []
    count = walk.count_descents()
    if count != walk.descents:
        wrong.append(f"{walk.name} goes down {count} times, and not {walk.descents}")
    if (walk.descents != 1) != bool(walk.why):
        wrong.append(f"{walk.name}: a reason is what a walk has that goes down more than once")
    if walk.steps[-1].file != walk.steps[0].file:
        wrong.append(f"{walk.name} does not come up again to {walk.steps[0].file}")
    return wrong


def wrong_walks(walks: list[Walk], vmm: Path) -> list[str]:
    """Return each step whose function is not in its file, and each walk of too many files.

    And each that goes back and forth.
    """
    wrong = []
    for walk in walks:
        if len(walk.files) > walk.limit:
            wrong.append(f"{walk.name} crosses {len(walk.files)} files, at most {walk.limit}")
        wrong += _wrong_order(walk)
        for step in walk.steps:
            path = vmm / step.file
            if not path.exists() or not _has(path.read_text(), step.function):
                wrong.append(f"{walk.name}: {step.function} is not in {step.file}")
    return wrong


def _head(walk: Walk, width: int, height: int) -> list[str]:
    """Return what a picture begins with."""
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- Made of docs/walks.toml by gandalf.walls.walks; do not edit. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        f'     width="{width}" height="{height}" role="img" aria-label="{escape(walk.title)}"',
        '     font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"',
        '  markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#1a7f37"/>',
        "</marker></defs>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]


def draw(walk: Walk) -> str:
    """Return the picture of a walk."""
    columns = {file: _LEFT + n * _COLUMN for n, file in enumerate(walk.files)}
    right = _LEFT + (len(columns) - 1) * _COLUMN
    width, height = right + 560, _TOP + len(walk.steps) * _LINE + 10
    lines = _head(walk, width, height)
    for file, x in columns.items():
        turned = f"translate({x + 4} {_TOP - 18}) rotate(-40)"
        lines.append(f'<path d="M{x} {_TOP - 10} V{height - 15}" stroke="#ccc"/>')
        lines.append(f'<text transform="{turned}">{escape(file)}</text>')
    before: tuple[int, int] | None = None
    for number, step in enumerate(walk.steps):
        x, y = columns[step.file], _TOP + 8 + number * _LINE
        if before is not None:
            lines.append(
                f'<path d="M{before[0]} {before[1]} L{x} {y - 5}" fill="none" stroke="#1a7f37" '
                'stroke-width="1.6" marker-end="url(#tip)"/>'
            )
        said = f'<tspan font-weight="bold">{escape(step.function)}</tspan>: {escape(step.does)}'
        lines.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#1a7f37"/>')
        lines.append(f'<text x="{right + _SAID}" y="{y + 4}">{said}</text>')
        before = (x, y)
    return "\n".join([*lines, "</svg>", ""])


def check_walks(vmm: Path, pictures: Path = PICTURES) -> list[str]:
    """Return what is wrong with text, sources or pictures, a sentence each."""
    walks = read_walks()
    wrong = wrong_walks(walks, vmm)
    for walk in walks:
        path = pictures / f"walk-{walk.name}.svg"
        if not path.exists() or path.read_text() != draw(walk):
            wrong.append(f"{path.name} is old: run python -m gandalf.walls.walks")
    return wrong


def main() -> None:
    """Draw all walks."""
    for walk in read_walks():
        (PICTURES / f"walk-{walk.name}.svg").write_text(draw(walk))


if __name__ == "__main__":
    main()
