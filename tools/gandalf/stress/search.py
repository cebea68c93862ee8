# SPDX-License-Identifier: Apache-2.0
"""Searches for what keeps a more urgent RTOS from the CPU: changes the programs of hostile.py.

The longest masked stretch and the worst dispatch latency are the fitness by which programs are kept
and changed at random; the same seed finds the same.

    build/venv/bin/python -m gandalf.stress.search --minutes 10 --seed 1
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gandalf.base.paths import BUILD, ROOT, UserError
from gandalf.stress.hostile import Bench, Found, Operation, Program, language, parse, symbols

CORPUS = ROOT / "tests" / "measure" / "corpus"
_ADDRESSES = (
    0x100000, 0x3FF000, 0x400000, 0x500000, 0x600000, 0x40000000, 0x40001000, 0x4000F000,
    0x44000000, 0x60000000, 0x60001000, 0x60000FF8, 0x7FC00FF8, 0xBFC00000, 0xBFFFF000, 0xC0000000,
    0xC0001000, 0xC0400000, 0xF0000000, 0xFBC00000, 0xFBFFF000, 0xFBFFFFFC, 0xFC000000, 0xFC001000,
    0xFC400000, 0xFFFFF000,
)  # fmt: skip
_PORTS = (
    0x20, 0x21, 0xA0, 0xA1, 0x1F, 0x40, 0x41, 0x42, 0x43, 0x3F, 0x61, 0x60, 0x64, 0x70, 0x71, 0x6F,
    0x80, 0x3F8, 0x3F9, 0x3FA, 0x3FB, 0x3FC, 0x3FD, 0x3FF, 0xCF8, 0xCF9,
)  # fmt: skip
_ENTRIES = (0, 1, 3, 7, 0x67, 0x87, 0xE7, 0x1E7, 0x83)
_HYPERCALLS = (16, 17, 18, 32, 33, 34, 35, 36)
_PLACES = (0, 0x100, 0x200, 0xFF00)
_SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 16, 32, 64, 100, 255, 256, 512, 752, 1000)
# Operations that turn a program upside down; few of them are enough.
_SELDOM = {"lidt", "lgdt", "lldt", "ltr", "cr0", "space", "pde", "pte", "write", "segment"}
_LENGTH = 16
_REPEAT = 200
# What takes long by itself, and how often it is repeated.
_LONG, _LONG_REPEAT = ("fill", "uart", "wait"), 3


class Mutator:
    """Makes programs at random, and changes them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - no secret
        known = language().operations
        self._names = [name for name in known for _ in range(1 if name in _SELDOM else 3)]
        self._variables = tuple(symbols().values())

    def _address(self) -> int:
        pick = self.random.choice
        base = pick(self._variables) if self.random.random() < 0.2 else pick(_ADDRESSES)
        return (base + pick((0, 0, 0, 4, 0xFF8, 0xFFC, 0xFFE, 0x1000))) & 0xFFFFFFFF

    def _argument(self, name: str) -> int:
        """Return a value for an argument by its name."""
        pick = self.random.choice
        entry = (self.random.randrange(0x1000000) & 0xFFFFF000) | pick(_ENTRIES)
        values: dict[str, int] = {
            "port": pick(_PORTS), "address": self._address(), "base": self._address(),
            "stack": self._address(), "ecx": self._address(), "number": pick(_HYPERCALLS),
            "ebx": pick(_PLACES) | self.random.randrange(8), "start": self._address(),
            "end": self._address(), "spaces": pick((1, 1, 2, 4, 8, 64, 256)),
            "tables": pick((1, 3, 64, 752)), "pages": pick((1, 1, 2, 16, 256)),
            "time": self.random.randrange(200000), "register": self.random.randrange(16),
            "count": pick((0, 1, 2, 0x100, 0xFFFF)), "selector": 8 * self.random.randrange(34),
            "limit": pick((0, 7, 255, 0x7FF, 0xFFFF)), "set": pick((0, 2, 4, 8, 0x20)),
            "clear": pick((0, 2, 4, 8, 0x10000, 0x80000000)),
        }  # fmt: skip
        if name == "value" and self.random.random() < 0.5:
            return pick((entry, self.random.getrandbits(32), self._address()))
        return values.get(name, pick((*_SMALL, self.random.randrange(256))))

    def operation(self) -> Operation:
        """Return any."""
        name = self.random.choice(self._names)
        arguments = tuple(self._argument(what) for what in language().operations[name])
        return self._repeated(Operation(name, arguments))

    def _repeated(self, operation: Operation) -> Operation:
        """Repeat it at random; what takes long by itself a few times only, and never longer."""
        if operation.name in _LONG or self.random.random() < 0.5:
            return replace(operation, repeat=self.random.choice((1, 1, 1, 2, 3)))
        step = self.random.choice((0, 0, 1, 4, 0x1000, 0x400000))
        return replace(operation, repeat=self.random.randint(1, _REPEAT), step=step)

    def program(self) -> Program:
        """Return any."""
        return tuple(self.operation() for _ in range(self.random.randint(1, _LENGTH)))

    def _other_argument(self, operation: Operation) -> Operation:
        if not operation.arguments:
            return self._repeated(operation)
        place = self.random.randrange(len(operation.arguments))
        words = list(operation.arguments)
        words[place] = self._argument(language().operations[operation.name][place])
        return replace(operation, arguments=tuple(words))

    def change(self, program: Program, other: Program) -> Program:
        """Return a program with a few changes, and maybe a part of another one."""
        lines = list(program)
        for _ in range(self.random.randint(1, 4)):
            at = self.random.randrange(len(lines) + 1)
            kind = self.random.randrange(6)
            if kind == 0 or at == len(lines):
                lines.insert(at, self.operation())
            elif kind == 1 and len(lines) > 1:
                del lines[at]
            elif kind == 2:
                lines[at] = self._repeated(lines[at])
            elif kind == 3 and other:
                first = self.random.randrange(len(other))
                lines[at:at] = other[first : first + self.random.randint(1, 4)]
            else:
                lines[at] = self._other_argument(lines[at])
        return tuple(map(_shortened, lines[: 2 * _LENGTH]))


def _shortened(operation: Operation) -> Operation:
    """Return an operation of which a generation of programs does not take minutes.

    A program of the corpus may wait for a minute.
    """
    if operation.name not in _LONG:
        return operation
    return replace(operation, repeat=min(operation.repeat, _LONG_REPEAT), step=0)


@dataclass(frozen=True)
class Scored:
    """A program and what it has brought about."""

    program: Program
    found: Found


@dataclass
class Search:
    """Programs that change from generation to generation; the fittest are kept.

    best: at most so many, of which no two are of the same place.
    """

    bench: Bench
    mutator: Mutator
    best: list[Scored]
    size: int = 40
    kept: int = 20

    @classmethod
    def begin(cls, bench: Bench, seed: int, programs: Sequence[Program]) -> "Search":
        """Begin with programs that are known."""
        search = cls(bench, Mutator(seed), [])
        search._keep(programs)
        return search

    def _keep(self, programs: Sequence[Program]) -> None:
        rows = [*self.best, *map(Scored, programs, self.bench.run(programs))]
        rows.sort(key=lambda row: -row.found.fitness)
        places: dict[str, int] = {}
        self.best = []
        for row in rows:
            places[row.found.place] = places.get(row.found.place, 0) + 1
            if places[row.found.place] <= 2 and len(self.best) < self.kept:
                self.best.append(row)

    def step(self) -> None:
        """Take a generation."""
        programs = []
        for _ in range(self.size):
            if not self.best or self.mutator.random.random() < 0.2:
                programs.append(self.mutator.program())
                continue
            first, second = (self.mutator.random.choice(self.best) for _ in range(2))
            programs.append(self.mutator.change(first.program, second.program))
        self._keep(programs)

    @property
    def wrong(self) -> list[Scored]:
        """What is beyond a limit."""
        return [row for row in self.best if not row.found.is_within]


def corpus() -> dict[str, Program]:
    """Return the programs that are kept in the tree, by name."""
    return {path.stem: parse(path.read_text()) for path in sorted(CORPUS.glob("*.txt"))}


def _report(scored: Scored) -> str:
    return "\n".join([f"# {scored.found}", *map(str, scored.program), ""])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gandalf.stress.search",
        description="searches for what keeps an RTOS from the CPU",
    )
    parser.add_argument("--minutes", type=float, default=10, help="how long (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="of the random changes")
    parser.add_argument("--pool", type=int, default=4, help="MiB for shadow page tables")
    words = parser.parse_args()
    try:
        search = Search.begin(
            Bench(BUILD / "search", words.pool), words.seed, list(corpus().values())
        )
        end = time.monotonic() + 60 * words.minutes
        generation = 0
        while time.monotonic() < end:
            generation += 1
            search.step()
            print(f"generation {generation}: {search.best[0].found}", flush=True)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    print(*map(_report, search.wrong or search.best[:3]), sep="\n")
    return 1 if search.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
