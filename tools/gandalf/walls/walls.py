# SPDX-License-Identifier: Apache-2.0
"""Compares what the VMM's files use of each other with the table of walls (vmm/walls.toml).

Who calls whom is read from the symbols of the object files, so no rule rests on how something is
spelled; types and inline functions are found by the includes.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gandalf.walls.header import wrong_names

# The sections of vmm/lib/owner.h, and the stubs, which are the machine's (arch/ia32/entry.S).
_OWNED = {
    ".bss..core", ".bss..core_pages", ".data..core", ".bss..trace", ".bss..guests",
    ".bss..consoles", ".bss..reports", ".bss..machine", ".stubs",
}  # fmt: skip
# Where the files are that stand in for parts that an image leaves out.
_STAND_INS = "without"
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Use:
    """A file that refers to a symbol of another; files are named without their ending."""

    file: str
    symbol: str
    owner: str


@dataclass(frozen=True)
class Walls:
    """The table: what each folder may use, of which headers, its doors, the circles of files.

    sees: the header that must offer what a folder uses of another. bare: the folder to which a
    header belongs that is included by its name alone, so that a profile chooses it. stand_ins: the
    folder to which a file of without/ belongs, which stands in for a part that an image leaves out.
    """

    uses: dict[str, list[str]]
    only: dict[tuple[str, str], list[str]]
    sees: dict[tuple[str, str], str]
    bare: dict[str, str]
    stand_ins: dict[str, str]
    doors: dict[tuple[str, str], set[str]]
    door_headers: dict[tuple[str, str], set[str]]
    circles: list[set[str]]

    def folder_of(self, file: str) -> str:
        """Return the folder whose walls hold for a file."""
        folder, _, name = file.rpartition("/")
        return self.stand_ins.get(name, folder) if folder == _STAND_INS else folder


def read_walls(path: Path, debug: bool = True) -> Walls:
    """Read the table, or what of it holds for builds that are not debug builds.

    Raises KeyError if a part of an entry is missing.
    """
    table = tomllib.loads(path.read_text())
    table["folder"] = [one for one in table["folder"] if debug or not one.get("debug", False)]
    names = {folder["name"] for folder in table["folder"]}
    doors: dict[tuple[str, str], set[str]] = {}
    headers: dict[tuple[str, str], set[str]] = {}
    for door in table.get("door", []):
        assert door["why"], "a door has its reason"
        if not names >= {door["from"], door["to"]}:
            continue
        way = (door["from"], door["to"])
        doors.setdefault(way, set()).update(door.get("symbols", ()))
        headers.setdefault(way, set()).update(door.get("headers", ()))
    circles = table.get("circle", [])
    assert all(circle["why"] for circle in circles), "a circle has its reason"
    return Walls(
        uses={folder["name"]: folder["uses"] for folder in table["folder"]},
        only={
            (folder["name"], other): headers
            for folder in table["folder"]
            for other, headers in folder.get("only", {}).items()
        },
        sees={
            (folder["name"], other): header
            for folder in table["folder"]
            for other, header in folder.get("sees", {}).items()
        },
        bare=table.get("bare", {}),
        stand_ins=table.get("stand_in", {}),
        doors=doors,
        door_headers=headers,
        circles=[set(circle["files"]) for circle in circles],
    )


def _symbols(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the global symbols of an object file, and whether it defines them."""
    with path.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not isinstance(section, SymbolTableSection):
                continue
            for symbol in section.iter_symbols():
                if symbol.name and symbol["st_info"]["bind"] != "STB_LOCAL":
                    yield symbol.name, symbol["st_shndx"] != "SHN_UNDEF"


def _objects(objects: Path, vmm: Path) -> Iterator[tuple[str, Path]]:
    """Yield the object files below a folder, by their source without its ending.

    What a build left of a source that is gone does not count.
    """
    for path in sorted(objects.rglob("*.o")):
        name = str(path.relative_to(objects).with_suffix(""))
        exists = any((vmm / f"{name}{ending}").exists() for ending in (".c", ".S"))
        if exists:
            yield name, path


def read_uses(objects: Path, vmm: Path) -> list[Use]:
    """Return who refers to whose symbols among the object files below a folder.

    A symbol is that of the part, where the build has a file that stands in for it.
    """
    owners: dict[str, str] = {}
    wanted: list[tuple[str, str]] = []
    for name, path in _objects(objects, vmm):
        for symbol, defined in _symbols(path):
            if defined and _folder(name) != _STAND_INS:
                owners[symbol] = name
            elif not defined:
                wanted.append((name, symbol))
    return [
        Use(file, symbol, owners[symbol])
        for file, symbol in wanted
        if symbol in owners and owners[symbol] != file
    ]


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def wrong_uses(walls: Walls, uses: list[Use]) -> list[str]:
    """Return each reference from a folder to a symbol that the table keeps from it."""
    wrong = []
    for use in uses:
        here, there = walls.folder_of(use.file), walls.folder_of(use.owner)
        if here == there or there in walls.uses.get(here, ()):
            continue
        if use.symbol not in walls.doors.get((here, there), ()):
            wrong.append(f"{use.file}: {here} may not use {use.symbol} of {use.owner}")
    return wrong


def _sources(walls: Walls, vmm: Path) -> Iterator[tuple[Path, str]]:
    """Yield each source with its folder in the table, also headers that a profile chooses."""
    for folder in walls.uses:
        yield from ((path, folder) for path in sorted((vmm / folder).glob("*.[chS]")))
    for header, folder in walls.bare.items():
        paths = sorted(vmm.glob(f"*/{header}"))
        yield from ((path, folder) for path in paths if path.parent.name not in walls.uses)
    for path in sorted((vmm / _STAND_INS).glob("*.c")):
        yield path, walls.folder_of(f"{_STAND_INS}/{path.stem}")


def _includes(walls: Walls, vmm: Path) -> Iterator[tuple[Path, str, str, str]]:
    """Yield what files include of other folders: the file, its folder, that folder, the header."""
    for path, folder in _sources(walls, vmm):
        for header in _INCLUDE.findall(path.read_text()):
            there = walls.bare.get(header, _folder(header))
            if there != folder and {folder, there} <= set(walls.uses):
                yield path, folder, there, header


def wrong_includes(walls: Walls, vmm: Path) -> list[str]:
    """Return each include of a header that the table keeps from the file's folder."""
    return [
        f"{path.relative_to(vmm)}: {folder} may not include {header}"
        for path, folder, there, header in _includes(walls, vmm)
        if header not in walls.only.get((folder, there), [header])
        or not (
            there in walls.uses[folder] or header in walls.door_headers.get((folder, there), ())
        )
    ]


def wrong_bare(walls: Walls, vmm: Path) -> list[str]:
    """Return each header that is included by its name alone, and of which nobody says whose it is.

    And each of which somebody says that, but which nobody includes.
    """
    included = {
        header: path
        for path, _ in _sources(walls, vmm)
        for header in _INCLUDE.findall(path.read_text())
        if "/" not in header
    }
    return [
        *(f"{path.relative_to(vmm)}: {header} is in no folder of the table"
          for header, path in included.items() if header not in walls.bare),
        *(f"nobody includes {header} any more" for header in walls.bare if header not in included),
    ]  # fmt: skip


def wrong_stand_ins(walls: Walls, vmm: Path) -> list[str]:
    """Return each file that stands in for nobody knows whom, and each entry for no file."""
    there = {path.stem for path in (vmm / _STAND_INS).glob("*.c")}
    return [
        *(f"{_STAND_INS}/{name}.c is in no folder of the table"
          for name in sorted(there - set(walls.stand_ins))),
        *(f"there is no {_STAND_INS}/{name}.c any more"
          for name in sorted(set(walls.stand_ins) - there)),
    ]  # fmt: skip


def wrong_table(walls: Walls, uses: list[Use], vmm: Path) -> list[str]:
    """Return what is wrong with the table itself: a circle, or what nobody needs."""
    wrong = []
    before: set[str] = set()
    for folder, others in walls.uses.items():
        wrong += [f"{folder} uses {other}, which stands behind it" for other in others
                  if other not in before]  # fmt: skip
        before.add(folder)
    folders = {walls.folder_of(file) for use in uses for file in (use.file, use.owner)}
    wrong += [f"{folder} is not in the table" for folder in sorted(folders - set(walls.uses))]
    used = {(walls.folder_of(use.file), walls.folder_of(use.owner)) for use in uses}
    used |= {(folder, there) for _, folder, there, _ in _includes(walls, vmm)}
    wrong += [f"{folder} does not need {other} any more" for folder, others in walls.uses.items()
              for other in others if (folder, other) not in used]  # fmt: skip
    included = {(folder, there, header) for _, folder, there, header in _includes(walls, vmm)}
    wrong += [f"{here} does not need {header} of {there} any more"
              for (here, there), headers in walls.door_headers.items()
              for header in sorted(headers) if (here, there, header) not in included]  # fmt: skip
    called = {(walls.folder_of(use.file), walls.folder_of(use.owner), use.symbol) for use in uses}
    wrong += [f"{here} does not need {symbol} of {there} any more"
              for (here, there), symbols in walls.doors.items() for symbol in sorted(symbols)
              if (here, there, symbol) not in called]  # fmt: skip
    return wrong


def find_circles(uses: list[Use]) -> list[set[str]]:
    """Return the groups of files of one folder that refer to each other in a circle."""
    edges: dict[str, set[str]] = {}
    for use in uses:
        if _folder(use.file) == _folder(use.owner):
            edges.setdefault(use.file, set()).add(use.owner)

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for other in edges.get(waiting.pop(), set()) - found:
                found.add(other)
                waiting.append(other)
        return found

    reach = {file: reached(file) for file in edges}
    circles = [{other for other in reach[file] if file in reach.get(other, ())} for file in reach]
    unique: list[set[str]] = []
    for circle in circles:
        if circle and circle not in unique:
            unique.append(circle)
    return unique


def wrong_circles(walls: Walls, uses: list[Use]) -> list[str]:
    """Return the circles among files for which the table has no reason, and reasons for none."""
    found = find_circles(uses)
    new = [circle for circle in found if circle not in walls.circles]
    gone = [circle for circle in walls.circles if circle not in found]
    return [
        *(f"a circle among {', '.join(sorted(circle))}" for circle in new),
        *(f"there is no circle among {', '.join(sorted(circle))} any more" for circle in gone),
    ]


def wrong_headers(walls: Walls, vmm: Path) -> list[str]:
    """Return the circles of headers, whose inline functions no symbol of an object tells of."""
    uses = [
        Use(str(path.relative_to(vmm)), header, header)
        for path, _ in _sources(walls, vmm)
        if path.suffix == ".h"
        for header in _INCLUDE.findall(path.read_text())
    ]
    return [f"a circle among {', '.join(sorted(circle))}" for circle in find_circles(uses)]


def wrong_owners(objects: Path, vmm: Path) -> list[str]:
    """Return each variable at file scope that is not marked as somebody's (vmm/lib/owner.h)."""
    wrong = []
    for name, path in _objects(objects, vmm):
        with path.open("rb") as file:
            elf = ELFFile(file)
            table = elf.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection), f"{path} has no symbols"
            for symbol in table.iter_symbols():
                if not symbol.name or not isinstance(symbol["st_shndx"], int):
                    continue
                section = elf.get_section(symbol["st_shndx"])
                if section["sh_flags"] & SH_FLAGS.SHF_WRITE and section.name not in _OWNED:
                    wrong.append(f"{name}: {symbol.name} has no owner")
    return wrong


def _uses_of(builds: Iterable[Path], vmm: Path) -> list[Use]:
    return list(dict.fromkeys(use for objects in builds for use in read_uses(objects, vmm)))


def check_walls(vmm: Path, *builds: Path, debug: Sequence[Path] = ()) -> list[str]:
    """Return all that contradicts the table of walls, a sentence each.

    builds: folders with object files, which together have all sources. debug: the same of debug
    builds. What these assert makes circles of nearly all files, which are no circles of the design.
    """
    walls = read_walls(vmm / "walls.toml", debug=len(debug) > 0)
    released = _uses_of(builds, vmm)
    if not released:
        return [f"there are no object files below {objects}" for objects in builds]
    uses = list(dict.fromkeys([*released, *_uses_of(debug, vmm)]))
    everywhere = (*builds, *debug)
    owners = dict.fromkeys(wrong for objects in everywhere for wrong in wrong_owners(objects, vmm))
    return [
        *wrong_uses(walls, uses), *wrong_includes(walls, vmm), *wrong_bare(walls, vmm),
        *wrong_stand_ins(walls, vmm), *wrong_headers(walls, vmm),
        *wrong_table(walls, uses, vmm), *wrong_circles(walls, released), *owners,
        *(wrong for (folder, other), header in walls.sees.items()
          for wrong in wrong_names(vmm, folder, other, header)),
    ]  # fmt: skip
