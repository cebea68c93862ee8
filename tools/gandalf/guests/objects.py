# SPDX-License-Identifier: Apache-2.0
"""Begins a variant of the guest kernel with the objects of another one.

The functions of asm/gandalf.h are the only ones whose code the patch changes in headers, and three
quarters of a kernel's objects use none of them. These are the same bytes in a kernel without the
patch, so they are not compiled again; the others are, and what the patch changes itself.

The kernel's makefiles keep beside each object the command that made it and the files that this
read. Both are written anew for the other source: then make does what is left to do.
"""

import re
import shutil
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from gandalf.base.abi import abi
from gandalf.guests.places import STAMP, remove_folder

PAGE_BITS = 12
# The header among the files that were read, and those that it includes.
_READ = r"(gandalf\.h|\.\./\.\./\.\./\.\./drivers/misc/gandalf/\w+\.h)"


@dataclass(frozen=True)
class Side:
    """A kernel's objects, the source that they are of, and the header included in front."""

    output: Path
    source: Path
    header: Path | None

    def flag(self) -> str:
        """Return how the header stands in each command."""
        return f"-include {self.header}" if self.header else ""


def begin_with_objects(origin: Side, target: Side, changed: Iterable[str]) -> None:
    """Copy the objects of a kernel, without those that a patch of it makes others.

    changed: the files of the source that the patch changes. The copy has all objects or none: make
    would take half an object for one that is up to date.
    """
    part = target.output.with_name(f"{target.output.name}.part")
    remove_folder(part)
    shutil.copytree(origin.output, part, symlinks=True)
    (part / STAMP).unlink()
    if origin.source != target.source:
        for path in _differing(part, changed):
            path.unlink(missing_ok=True)
        for path in part.rglob("*.o"):
            path.touch()  # a patched header may be newer than what does not depend on the patch
        for path in part.rglob(".*"):
            if path.suffix in (".cmd", ".d") and path.is_file():
                path.write_text(_for_other_source(path.read_text(), origin, target))
    part.rename(target.output)


@cache
def _traces() -> re.Pattern[bytes]:
    """Match what the functions of asm/gandalf.h leave in code.

    That is an address in one of two pages, or the instruction of a hypercall. Other bytes may look
    like that, and cost a compilation.
    """
    instruction = bytes((0xCD, abi()["HYPERCALL_VECTOR"]))
    numbers = {abi()[page] >> PAGE_BITS for page in ("SHARED_PAGE", "SHARED_ALIAS")}
    addresses = (
        struct.pack("<I", number << PAGE_BITS | offset)[1:]
        for number in numbers
        for offset in range(0, 1 << PAGE_BITS, 1 << 8)
    )
    return re.compile(b"|".join(map(re.escape, (instruction, *addresses))))


def uses_header(path: Path) -> bool:
    """Return whether an object has code of asm/gandalf.h, as far as its bytes can say."""
    with path.open("rb") as file:
        return any(
            section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and _traces().search(section.data())
            for section in ELFFile(file).iter_sections()
        )


def _differing(output: Path, changed: Iterable[str]) -> Iterator[Path]:
    for name in changed:
        if not name.endswith(".h"):
            yield (output / name).with_suffix(".o")
    for path in list(output.rglob("*.o")):
        if uses_header(path):
            yield path


def _for_other_source(text: str, origin: Side, target: Side) -> str:
    """Return a command and what it read, as they are of another source."""
    if origin.header and not target.header:
        text = text.replace(f" {origin.flag()}", "")
        read = rf"^  {re.escape(str(origin.header.parent))}/{_READ} \\\n"
        text = re.sub(read, "", text, flags=re.M)
    return text.replace(str(origin.source), str(target.source))
