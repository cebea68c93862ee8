# SPDX-License-Identifier: Apache-2.0
"""Measures how strong the unit tests are: how many mutants of the VMM's sources they notice.

A mutant counts if it compiles without a warning and is another program to the compiler.
tests/unit/equivalent.toml names those that are another program and behave the same.
Which mutants are drawn depends on nothing but the seed.
"""

import argparse
import os
import random
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from gandalf.base.paths import ROOT, UserError
from gandalf.mutate.mutation import Mutant, attribute_macros, mutants_of
from gandalf.mutate.workbench import VMM, WORK, Bench, flat, read_programs

# What the sources must reach, in percent.
SOURCES = {
    "arch/ia32/segment.c": 95,
    "guests/x86/guest_access.c": 95,
    "guests/x86/inject.c": 95,
    "guests/x86/upcall.c": 95,
    "guests/x86/shadow/directory.c": 95,
    "guests/x86/shadow/fill.c": 95,
    "guests/x86/shadow/flush.c": 95,
    "guests/x86/shadow/kernel.c": 95,
    "guests/x86/shadow/shadow.c": 95,
    "guests/x86/shadow/space.c": 95,
    "guests/x86/shadow/view.c": 95,
    "guests/x86/shadow/walk.c": 95,
    "guests/x86/emulate.c": 0,
    "guests/x86/emulate_register.c": 0,
    "guests/x86/emulate_return.c": 0,
    "guests/x86/emulate_store.c": 0,
    "guests/x86/emulate_table.c": 0,
    "guests/x86/emulation.c": 0,
    "core/table.c": 0,
    "guests/rtos/rtos.c": 0,
    "guests/rtos/rtos_timer.c": 0,
    "core/schedule.c": 0,
    "core/idle.c": 0,
    "core/vm.c": 0,
    "core/loader.c": 0,
    "core/control.c": 0,
    "arch/ia32/memory.c": 0,
    "core/pool.c": 0,
}
WANTED_OVERALL = 92
SAMPLE = 100
EQUIVALENT = ROOT / "tests" / "unit" / "equivalent.toml"


@dataclass(frozen=True)
class Change:
    """A mutant in words that stay the same when lines move."""

    file: str
    function: str
    before: str
    after: str


class Fate(Enum):
    """What became of a mutant that compiles."""

    SAME = "is the same program"
    NOTICED = "a test fails"
    SURVIVED = "all tests pass"


@dataclass
class Score:
    """What became of the mutants of one source."""

    file: str
    noticed: int = 0
    equivalent: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    wrongly_listed: list[Mutant] = field(default_factory=list)

    @property
    def counted(self) -> int:
        """Return how many the tests could have noticed."""
        return self.noticed + len(self.survivors)

    @property
    def percent(self) -> float:
        """Return the part of them that they have noticed."""
        return percent(self.noticed, self.counted)


def percent(noticed: int, counted: int) -> float:
    """Return a score."""
    return 100 * noticed / counted if counted else 100.0


def read_equivalent(path: Path) -> dict[Change, str]:
    """Return the changes that nobody can notice, and why."""
    listed = {}
    for entry in tomllib.loads(path.read_text()).get("equivalent", []):
        reason = entry.pop("reason", "")
        if set(entry) != {"file", "function", "before", "after"} or not reason:
            raise UserError(f"{path.name}: an entry has not what it needs: {entry}.")
        if Change(**entry) in listed:
            raise UserError(f"{path.name}: an entry is there twice: {entry}.")
        listed[Change(**entry)] = reason
    return listed


def change_of(file: str, mutant: Mutant) -> Change:
    """Return a mutant in words."""
    return Change(file, mutant.function, mutant.before, mutant.after)


def _judge(bench: Bench, name: str) -> Fate:
    if bench.notices(name):
        return Fate.NOTICED
    return Fate.SAME if bench.is_original(name) else Fate.SURVIVED


def _fates(
    bench: Bench, mutants: list[Mutant], wanted: int, pool: Executor
) -> Iterator[tuple[Mutant, Fate]]:
    """Yield the mutants that are another program in their order, until so many are found."""
    codes = {bench.original}
    found = first = 0
    while first < len(mutants) and found < wanted:
        some = list(enumerate(mutants))[first : first + wanted - found]
        first += len(some)
        results = pool.map(lambda one: bench.compile(str(one[0]), one[1].apply(bench.source)), some)
        fresh = []
        for (number, mutant), code in zip(some, results, strict=True):
            if code is None or code in codes:
                bench.forget(str(number))
            else:
                codes.add(code)
                fresh.append((mutant, str(number)))
        fates = pool.map(lambda one: _judge(bench, one[1]), fresh)
        for (mutant, name), fate in zip(fresh, fates, strict=True):
            bench.forget(name)
            if fate != Fate.SAME:
                found += 1
                yield mutant, fate


def measure(
    file: str, sample: int | None, seed: int, listed: dict[Change, str], pool: Executor
) -> Score:
    """Try mutants of a source, all of them without a sample."""
    bench = Bench(file, read_programs())
    mutants = mutants_of(bench.source, attribute_macros((VMM / "lib" / "types.h").read_bytes()))
    known = {change_of(file, mutant) for mutant in mutants}
    stale = [change for change in listed if change.file == file and change not in known]
    for change in stale:
        print(f"{EQUIVALENT.name}: nothing like this is in {file} any more: {change.before}")
    if sample is not None:
        random.Random(f"{seed} {file}").shuffle(mutants)  # noqa: S311
    score = Score(file)
    for mutant, fate in _fates(bench, mutants, sample or len(mutants), pool):
        is_listed = change_of(file, mutant) in listed
        if fate == Fate.NOTICED:
            score.noticed += 1
            if is_listed:
                score.wrongly_listed.append(mutant)
        elif is_listed:
            score.equivalent += 1
        else:
            score.survivors.append(mutant)
    return score


def _show(score: Score) -> None:
    """Print a score, with the survivors as entries of the list would have them."""
    print(
        f"{score.file:20} {score.noticed:4} of {score.counted:4} noticed, {score.percent:5.1f} %,"
        f" {score.equivalent} equivalent",
        flush=True,
    )
    for mutant in score.wrongly_listed:
        print(f"{EQUIVALENT.name}: a test notices what is listed there: {mutant.after}")
    with (WORK / f"{flat(score.file)}.survivors").open("w") as log:
        for mutant in sorted(score.survivors, key=lambda one: one.start):
            print(f"{score.file}:{mutant.line}: {mutant.function}", file=log)
            print(f"\t{mutant.before}\n\t{mutant.after}", file=log)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants of each source")
    parser.add_argument("--seed", type=int, default=1, help="another sample")
    parser.add_argument("--file", action="append", help="only this one, such as core/vm.c")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time")
    return parser.parse_args()


def main() -> int:
    """Measure what the command line asks for; fail if a score is too low."""
    options = _parse()
    listed = read_equivalent(EQUIVALENT)
    scores = []
    print(f"seed {options.seed}, {'all' if options.all else options.sample} mutants of each file")
    with ThreadPoolExecutor(options.jobs) as pool:
        for file in options.file or SOURCES:
            sample = None if options.all else options.sample
            scores.append(measure(file, sample, options.seed, listed, pool))
            _show(scores[-1])
    noticed, counted = sum(one.noticed for one in scores), sum(one.counted for one in scores)
    overall = percent(noticed, counted)
    print(f"{'overall':20} {noticed:4} of {counted:4} noticed, {overall:5.1f} %")
    print(f"what survived is in {WORK.relative_to(ROOT)}/*.survivors")
    low = [one for one in scores if one.percent < SOURCES.get(one.file, 0)]
    low_overall = not options.file and overall < WANTED_OVERALL
    for score in low:
        print(f"{score.file} has less than the {SOURCES[score.file]} % that it must have")
    if low_overall:
        print(f"together they have less than the {WANTED_OVERALL} % that they must have")
    return 1 if low or low_overall or any(one.wrongly_listed for one in scores) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"mutate: {error}")
