# SPDX-License-Identifier: Apache-2.0
"""The kernel's tests of itself: how a machine runs them, what came out, and how two compare.

Which programs are run, how, and where a guest may differ from a bare machine is in kselftests.toml.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
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
    """The file. arguments: of a program, each for a run. left_out, differences: with the reason."""

    arguments: Mapping[str, list[str]]
    left_out: Mapping[str, str]
    differences: Mapping[str, str]


def read_table(path: Path = TABLE) -> Table:
    """Read the file."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    return Table(text["arguments"], text["left-out"], text["differences"])


def runs(programs: tuple[str, ...], table: Table) -> list[str]:
    """Return what is run, each a program and its arguments."""
    kept = [program for program in programs if program not in table.left_out]
    return [
        f"{program} {words}".rstrip()
        for program in kept
        for words in table.arguments.get(program, [""])
    ]


def script(commands: list[str]) -> str:
    """Return what the shell of a machine does when it starts: all runs, and how each ended.

    What they print goes to the console, where each line is there as soon as it ends: a program
    that is killed leaves what it has found. The first processes have numbers of three digits, too.
    """
    lines = [
        "t() {",
        f'  cd /{FOLDER}/"${{1%/*}}"',
        '  echo "kselftests: run $*"',
        '  program=./"${1##*/}"; shift',
        f'  timeout -s KILL {LIMIT} "$program" "$@" </dev/null 2>&1',
        "  status=$?",
        '  echo; echo "kselftests: status $status"',
        "}",
        "dmesg -n 1; echo",
        "for i in $(seq 100); do (:); done",
        *(f"t {command}" for command in commands),
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
    """Return what differs and is not known to, and what is known to differ and does not."""
    found = []
    for name, there in native.items():
        here = guest.get(name, Outcome("not run"))
        if here != there and name not in known:
            lines = unified_diff(there.lines, here.lines, "native", "guest", lineterm="", n=1)
            said = f"{name}: {there.status} natively, {here.status} as a guest"
            found.append("\n".join([said, *lines]))
        if here == there and name in known:
            found.append(f"{name} is in the list of differences and no longer differs")
    return found
