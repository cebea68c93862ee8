# SPDX-License-Identifier: Apache-2.0
"""Measures what has a budget: the VMM's sections by profile, and the lines changed in Linux.

The trace ring (.trace) counts nowhere; what each vCPU has (.vcpu, an array of
as many elements as there can be guests) has a budget per vCPU.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from pygments.lexers.c_cpp import CLexer
from pygments.token import Comment, Token
from rich.console import Console as RichConsole
from rich.table import Table as RichTable
from unidiff.patch import PatchSet

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT, UserError, shown
from gandalf.build.profile import FULL, Profile, find_profile

_KIB = 1024
DATA_BUDGET = 64 * _KIB
VCPU_BUDGET = 8 * _KIB
# By patch of Linux: what it is called, and how many lines and files it may change.
LINUX_BUDGETS = {
    "gandalf.patch": ("changed in Linux", 6, 4),
    "gandalf-smp.patch": ("changed in Linux for several CPUs", 8, 5),
}

_WRITABLE, _ALLOCATED = 0x1, 0x2


@dataclass(frozen=True)
class Measure:
    """Something measured, its budget and its unit."""

    name: str
    value: int
    budget: int
    unit: str

    @property
    def kept(self) -> bool:
        return self.value <= self.budget


@dataclass(frozen=True)
class Sections:
    """The VMM's sections: (name, bytes, what they count as)."""

    rows: tuple[tuple[str, int, str], ...]

    def total(self, kind: str) -> int:
        return sum(size for _, size, counted in self.rows if counted == kind)


def _kind(name: str, flags: int) -> str:
    if name.startswith(".trace"):
        return "trace ring"
    if name.startswith(".vcpu"):
        return "per vCPU"
    return "data" if flags & _WRITABLE else "text"


def read_sections(vmm: Path) -> Sections:
    """Return the sections of the VMM's image that occupy memory."""
    rows = []
    with vmm.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            flags = section["sh_flags"]
            if flags & _ALLOCATED and section["sh_size"]:
                rows.append((section.name, section["sh_size"], _kind(section.name, flags)))
    return Sections(tuple(rows))


def count_lines(text: str) -> int:
    """Return the lines of a C or assembly file that are neither blank nor comment only."""
    lines = {}
    number = 0
    for token, value in CLexer(stripnl=False, ensurenl=False).get_tokens(text):
        is_comment = token in Comment.Single or token in Comment.Multiline
        for part in value.splitlines(keepends=True):
            if part.strip() and not is_comment and token is not Token.Text.Whitespace:
                lines[number] = True
            number += part.endswith("\n")
    return len(lines)


def source_files(folders: Iterable[Path]) -> list[Path]:
    """Return the C and assembly files in folders, in a fixed order."""
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in (".c", ".h", ".S")
    )


def changed_in_linux(patch: str) -> tuple[int, int]:
    """Return (lines, files) that a patch changes in existing files; new files do not count.

    A run of removed lines that is replaced by a run of added ones counts once.
    """
    lines = files = 0
    for file in PatchSet(patch):
        if file.is_added_file:
            continue
        files += 1
        for hunk in file:
            added = removed = 0
            for line in hunk:
                if line.is_context:
                    lines, added, removed = lines + max(added, removed), 0, 0
                added += line.is_added
                removed += line.is_removed
            lines += max(added, removed)
    return lines, files


def measure(vmm: Path) -> tuple[Sections, list[Measure]]:
    """Measure everything that has a budget. Raises UserError if the VMM is not built."""
    if not vmm.exists():
        raise UserError(f"There is no {shown(vmm)}; run `make build` first.")
    sections = read_sections(vmm)
    measures = _measure_image(sections, "", find_profile(FULL))
    for patch, (name, lines_budget, files_budget) in LINUX_BUDGETS.items():
        lines, files = changed_in_linux((ROOT / "guest" / "linux" / patch).read_text())
        measures.append(Measure(name, lines, lines_budget, "lines"))
        measures.append(Measure(name, files, files_budget, "files"))
    return sections, measures


def _measure_image(sections: Sections, behind: str, profile: Profile) -> list[Measure]:
    """Measure an image of the VMM. behind: what stands behind the names."""
    vcpus = abi()["GUESTS_MAXIMUM"]
    values = (
        ("VMM text and read-only data", sections.total("text"), profile.budget),
        ("VMM static data", sections.total("data"), DATA_BUDGET),
        ("VMM data per vCPU", -(-sections.total("per vCPU") // vcpus), VCPU_BUDGET),
    )
    return [Measure(name + behind, value, budget, "bytes") for name, value, budget in values]


def measure_profiles(images: Iterable[tuple[Profile, Path]]) -> list[Measure]:
    """Measure images of the VMM that are linked for a profile."""
    found = [(profile, read_sections(path)) for profile, path in images]
    return [
        item
        for profile, sections in found
        for item in _measure_image(sections, f", {profile.name}", profile)
    ]


def show(sections: Sections, measures: list[Measure], console: RichConsole) -> None:
    """Print sections and budgets."""
    table = RichTable(title="Sections of the VMM", title_justify="left", show_edge=False)
    table.add_column("section")
    table.add_column("bytes", justify="right")
    table.add_column("counts as")
    for name, size, kind in sections.rows:
        table.add_row(name, f"{size:,}", kind)
    console.print(table)
    console.print()
    table = RichTable(title="Budgets", title_justify="left", show_edge=False)
    for column in ("what", "now", "budget", "unit", ""):
        table.add_column(column, justify="right" if column in ("now", "budget") else "left")
    for item in measures:
        verdict = "kept" if item.kept else "[red]broken[/red]"
        table.add_row(item.name, f"{item.value:,}", f"{item.budget:,}", item.unit, verdict)
    console.print(table)
