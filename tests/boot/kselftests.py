# SPDX-License-Identifier: Apache-2.0
"""The kernel's tests of itself: how a machine runs them, what came out, and how two compare.

Which programs are run, how, and where a guest may differ from a bare machine is in kselftests.toml.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path

from gandalf.guests.selftests import FOLDER

TABLE = Path(__file__).with_suffix(".toml")
END = "kselftests: end"
# Virtual seconds that a program may take.
LIMIT = 200
# What a program ends with, by what it means; another status is its own.
_MEANINGS = {0: "pass", 4: "skip", 137: "killed after the time limit"}


@dataclass(frozen=True)
class Table:
    """The file. arguments: of a program, each for a run. left_out, differences: with the reason.

    last: what is run behind all others, with the seconds that it may take. several: the folders of
    which two CPUs have the programs, and programs that are left out on one. only_one: what is left
    out on two.
    """

    arguments: Mapping[str, list[str]]
    left_out: Mapping[str, str]
    differences: Mapping[str, str]
    last: Mapping[str, int] = field(default_factory=dict)
    several: tuple[str, ...] = ()
    only_one: Mapping[str, str] = field(default_factory=dict)

    def on_several(self) -> "Table":
        """Return the table for two CPUs."""
        left_out = {name: why for name, why in self.left_out.items() if name not in self.several}
        last = {name: limit for name, limit in self.last.items() if self.is_for_several(name)}
        return replace(self, left_out={**left_out, **self.only_one}, last=last, differences={})

    def is_for_several(self, program: str) -> bool:
        """Tell whether two CPUs have the program."""
        return program in self.several or program.rpartition("/")[0] in self.several


def read_table(path: Path = TABLE) -> Table:
    """Read the file."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    return Table(
        text["arguments"], text["left-out"], text["differences"], text["last"],
        tuple(text["several"]["programs"]), text["several"]["left-out"],
    )  # fmt: skip


def runs(programs: tuple[str, ...], table: Table) -> list[str]:
    """Return what is run, each a program and its arguments."""
    kept = [program for program in programs if program not in table.left_out]
    kept.sort(key=lambda program: program in table.last)
    return [
        f"{program} {words}".rstrip()
        for program in kept
        for words in table.arguments.get(program, [""])
    ]


# What the tests find: what the kernel shows its developers, and large pages, of which they ask for
# 256 MiB. Those that change the clock call a busy one, which shall take a second and not ten for
# each of its clocks.
_PREPARED = f"""\
mount -t debugfs none /sys/kernel/debug
echo 72 > /proc/sys/vm/nr_hugepages
cd /{FOLDER}; [ ! -d vm ] || {{ mkdir -p vm/huge && mount -t hugetlbfs none vm/huge; }}
"""
_LAST = f"""\
cd /{FOLDER}/timers && mv inconsistency-check whole-check
printf '#!/bin/sh\\nexec ./whole-check "$@" -t 1\\n' > inconsistency-check
chmod 755 inconsistency-check
"""


def script(commands: list[str], last: Mapping[str, int] | None = None) -> str:
    """Return what the shell of a machine does when it starts: all runs, and how each ended.

    What they print goes to the console, where each line is there as soon as it ends: a program
    that is killed leaves what it has found. The first processes have numbers of three digits, too.
    last: what is not run before what stands before it has changed, with its limit.
    """
    limits = last or {}
    first = [command for command in commands if command.split()[0] not in limits]
    behind = [command for command in commands if command.split()[0] in limits]
    lines = [
        "t() {",
        "  limit=$1; shift",
        f'  cd /{FOLDER}/"${{1%/*}}"',
        '  echo "kselftests: run $*"',
        '  program=./"${1##*/}"; shift',
        '  timeout -s KILL $limit "$program" "$@" </dev/null 2>&1',
        "  status=$?",
        '  echo; echo "kselftests: status $status"',
        "}",
        "dmesg -n 1; echo",
        "for i in $(seq 100); do (:); done",
        _PREPARED,
        'echo "kselftests: $(grep -c ^processor /proc/cpuinfo) CPUs"',
        *(f"t {LIMIT} {command}" for command in first),
        _LAST if behind else "",
        *(f"t {limits[command.split()[0]]} {command}" for command in behind),
        f'echo "{END}"',
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what it printed, without what no two machines have alike."""

    status: str
    lines: tuple[str, ...] = ()


_RUN = re.compile(
    r"^kselftests: run (?P<name>.*)\n(?P<output>(?:(?!kselftests: run ).*\n)*?)"
    r"kselftests: status (?P<status>\d+)$",
    re.M,
)
# Addresses, times, and numbers of processes. The number of an error has two digits mostly, and
# stays.
_CHANCE = re.compile(
    r"\b0x[0-9a-f]+|\b\d\d:\d\d:\d\d\b|-?\b\d+\.\d+|-?\b\d+(?= ?[mnu]s\b)|-?\b\d{3,}\b|"
    r"\b[0-9a-f]{7,16}\b"
)


def outcomes(text: str) -> dict[str, Outcome]:
    """Return what came out of each run on a console."""
    return {
        match["name"]: _outcome(int(match["status"]), match["output"])
        for match in _RUN.finditer(text)
    }


def _outcome(status: int, output: str) -> Outcome:
    lines = (" ".join(_CHANCE.sub("N", line).split()) for line in output.splitlines())
    return Outcome(_MEANINGS.get(status, f"status {status}"), tuple(filter(None, lines)))


def results(outcome: Outcome) -> Counter[str]:
    """Count the results that a run has printed, by the protocol of most tests."""
    found = (re.match(r"(not )?ok \d", line) for line in outcome.lines)
    return Counter("not ok" if match[1] else "ok" for match in found if match)


def mistakes(
    native: Mapping[str, Outcome], guest: Mapping[str, Outcome], known: Mapping[str, str]
) -> list[str]:
    """Return what differs and is not known to, and what is known to differ and does not.

    What is known is that lines differ: it must have ended alike all the same.
    """
    found = []
    for name, there in native.items():
        here = guest.get(name, Outcome("not run"))
        if here != there and (name not in known or here.status != there.status):
            lines = unified_diff(there.lines, here.lines, "native", "guest", lineterm="", n=1)
            said = f"{name}: {there.status} natively, {here.status} as a guest"
            found.append("\n".join([said, *lines]))
        if here == there and name in known:
            found.append(f"{name} is in the list of differences and no longer differs")
    return found
