# SPDX-License-Identifier: Apache-2.0
"""docs/masked-sections.md: the table of masked sections with the longest that tests have seen.

The reference of what they have seen is tests/boot/masked.json, which is changed on purpose only.
"""

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT
from gandalf.measure.masked import Promise, promises

REFERENCE = ROOT / "tests" / "boot" / "masked.json"
SEEN = BUILD / "masked"
# In front of a section's name where it begins: by cli() and what is made of it, or the
# assembler's macro.
_BEGINS = (
    r"\b(?:cli|work_mask|work_admit|sti_nop_cli|sti_hlt_cli|interrupts_\w+)\((\w+)\)"
    r"|\bMASKED\s+(\w+)"
)

_HEAD = """\
# Masked sections

Made by `gandalf masked --docs` from `masked_sections.h` in each folder of `vmm/` and
`tests/boot/masked.json`; do not edit.

Every section of the VMM in which interrupts are masked has a name and a bound. A section begins
behind a CLI or where an interrupt gate is entered, and ends where an interrupt can be taken again:
at the next point that lets them in, or in a guest. So the bound of a section holds the way back
with it, a switch to another guest and what that guest is given. All figures are instructions; the
longest is of the loads of `tests/boot/test_masked.py` and of the programs of
`tests/measure/corpus`, of which the named one had it. Where the VMM alone is privileged
(docs/two-level.md) a section may take a fifth more, but for the entry that exists there alone.

* `make check` disassembles the image: each CLI must have a name, each name a line here, each line a
  CLI or an interrupt gate (`tools/gandalf/masked/check.py`). A name that is not in the table does
  not compile.
* The plug-in of `measure/` counts the masked stretches of a machine by where they began.
  `gandalf measure` prints them by name; one without a name, or longer than its bound, fails a test.
* `gandalf masked` shows the same, and `gandalf masked --keep --docs` makes the reference and this
  page anew of the last run of those tests.
"""
_ENTRIES = """\
An entry is named by what came and by who was interrupted. Exceptions and hypercalls of a shared
guest come through trap gates and mask nothing.
"""


@dataclass(frozen=True)
class Seen:
    """The longest stretch of a section, and the load that had it.

    reached_by: the load that reaches the section each time; "": those that do so do by chance.
    """

    longest: int
    load: str
    reached_by: str


def write_seen(load: str, rows: dict[str, int], chances: Collection[str] = ()) -> None:
    """Write what a load has seen to build/masked/: the longest of each section.

    chances: sections that it has reached a few times only, and may not reach the next time.
    """
    SEEN.mkdir(parents=True, exist_ok=True)
    sure = {name: [longest, name not in chances] for name, longest in rows.items()}
    (SEEN / f"{load}.json").write_text(json.dumps(sure, indent=1) + "\n")


def _seen(rows: list[tuple[int, str, bool]]) -> Seen:
    """Return what all loads have seen of a section: how long it was, in which load, and surely."""
    longest, load, _ = max(rows)
    sure = max((row for row in rows if row[2]), default=(0, "", True))
    return Seen(longest, load, sure[1])


def keep_seen() -> None:
    """Make the reference of what the loads have seen: the longest of each section."""
    all_seen: dict[str, list[tuple[int, str, bool]]] = {}
    for path in sorted(SEEN.glob("*.json")):
        for name, (longest, sure) in json.loads(path.read_text()).items():
            all_seen.setdefault(name, []).append((longest, path.stem, sure))
    text = {name: asdict(_seen(all_seen[name])) for name in sorted(all_seen)}
    REFERENCE.write_text(json.dumps(text, indent=1) + "\n")


def read_reference() -> dict[str, Seen]:
    """Return the longest stretch of each section that was seen when the reference was made."""
    return {name: Seen(**row) for name, row in json.loads(REFERENCE.read_text()).items()}


def seen_by_load(reference: dict[str, Seen], load: str) -> set[str]:
    """Return the sections that a load must reach: of those that do so surely it took longest."""
    return {name for name, row in reference.items() if row.reached_by == load}


@cache
def _places() -> dict[str, list[str]]:
    """Return where the VMM's sources begin each section: "core/vm.c: vm_stop"."""
    found: dict[str, list[str]] = {}
    folder = ROOT / "vmm"
    for path in sorted([*folder.rglob("*.c"), *folder.rglob("*.S")]):
        function = ""
        for line in path.read_text().splitlines():
            head = re.match(r"(?:[\w *]*?\b(\w+)\(.*[^;]|(\w+):)$", line)
            if head and not line.startswith(("#", "/", " ")):
                function = head[1] or head[2]
            for names in re.findall(_BEGINS, line):
                name = names[0] or names[1]
                found.setdefault(name, []).append(f"`{path.relative_to(folder)}`: `{function}`")
    return found


def _row(line: Promise, seen: Seen | None) -> str:
    where = ", ".join(dict.fromkeys(_places().get(line.name, [])))
    bound = "none" if line.bound is None else f"{line.bound:,}"
    longest = f"{seen.longest:,} (`{seen.load}`)" if seen else ""
    cells = [f"`{line.name}`", *([] if line.entry else [where]), bound, longest, line.why]
    return f"| {' | '.join([*cells, line.action])} |"


def _table(entry: bool) -> list[str]:
    reference = read_reference()
    cells = ["section", *([] if entry else ["begins in"]), "bound", "longest"]
    head = [*cells, "why that bound", "what a guest does to bring the VMM there"]
    rows = [_row(line, reference.get(line.name)) for line in promises().values()
            if line.entry == entry]  # fmt: skip
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows]


def document() -> str:
    """Return docs/masked-sections.md."""
    return "\n".join(
        [
            _HEAD,
            "## Behind a CLI\n",
            *_table(entry=False),
            "",
            "## At an entry\n",
            _ENTRIES,
            *_table(entry=True),
            "",
        ]
    )


def write_document(path: Path = ROOT / "docs" / "masked-sections.md") -> None:
    """Write the document."""
    path.write_text(document())
