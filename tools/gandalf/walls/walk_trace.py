# SPDX-License-Identifier: Apache-2.0
"""Compares the walks of docs/walks.toml with what a machine has executed.

`make check` reads in the sources that the functions of a walk are there. Whether they are called,
in that order, and what else is crossed, only a run of the VMM tells: tests/boot/test_walks.py has
QEMU write down each instruction of the VMM, and this finds a walk among the ways through the VMM.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gandalf.walls.walks import Walk

# QEMU's line for a block of instructions, here of one each: code segment's base, address, flags.
_EXECUTED = re.compile(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", re.M)


@dataclass(frozen=True)
class Place:
    """A function, and the file below vmm/ that it is in."""

    file: str
    function: str


@dataclass(frozen=True)
class Way:
    """What was crossed from one entry into the VMM to the next return, in the order of coming."""

    places: tuple[Place, ...]
    instructions: int

    @property
    def files(self) -> list[str]:
        """Return the files that were crossed; those without a name are of no source."""
        return list(dict.fromkeys(place.file for place in self.places if place.file != "??"))

    def has(self, walk: Walk) -> bool:
        """Tell whether each step of a walk begins behind the one before it."""
        at = {place: number for number, place in enumerate(self.places)}
        found = [at.get(Place(step.file, step.function), -1) for step in walk.steps]
        return found[0] >= 0 and found == sorted(set(found))

    def strays(self, walk: Walk, touched: Iterable[str]) -> list[str]:
        """Return the files that are neither the walk's nor among those that are only touched."""
        return [file for file in self.files if file not in {*walk.files, *touched}]


def read_places(image: Path, addresses: Iterable[int]) -> dict[int, tuple[Place, ...]]:
    """Return the functions that each address of an image is in, those that are inlined last."""
    lines = subprocess.run(
        ["addr2line", "-e", str(image), "-f", "-i", "-a"],
        input="\n".join(f"{address:#x}" for address in addresses),
        text=True, capture_output=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    found: dict[int, tuple[Place, ...]] = {}
    address = number = 0
    while number < len(lines):
        if lines[number].startswith("0x"):
            address, number = int(lines[number], 16), number + 1
            found[address] = ()
            continue
        file = lines[number + 1].rpartition(":")[0].removeprefix("vmm/").removeprefix("./")
        found[address] = (Place(file, lines[number]), *found[address])
        number += 2
    return found


def _split(addresses: Sequence[int], end: int) -> Iterator[Sequence[int]]:
    """Cut what was executed behind each return to a guest. The last part has none."""
    begin = 0
    for number, address in enumerate(addresses):
        if address == end:
            yield addresses[begin : number + 1]
            begin = number + 1


def read_ways(log: str, image: Path, end: int) -> list[Way]:
    """Return the ways through the VMM that are in QEMU's log. end: the address of the IRET."""
    addresses = [int(address, 16) for address in _EXECUTED.findall(log)]
    places = read_places(image, sorted(set(addresses)))
    return [
        Way(tuple(dict.fromkeys(place for address in way for place in places[address])), len(way))
        for way in _split(addresses, end)
    ]


def wrong_walk(walk: Walk, ways: Iterable[Way], touched: Sequence[str]) -> str:
    """Return what is wrong with a walk, or nothing.

    The way with the fewest files beside the walk's is the walk, since on others something else was
    done, too.
    """
    found = [way for way in ways if way.has(walk)]
    if not found:
        return f"{walk.name}: no way through the VMM has these functions in this order"
    best = min(found, key=lambda way: (len(way.strays(walk, touched)), way.instructions))
    if strays := best.strays(walk, touched):
        return f"{walk.name} crosses {', '.join(strays)}, too"
    return ""
