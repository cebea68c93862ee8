# SPDX-License-Identifier: Apache-2.0
"""Writes a cpio archive in the "newc" format, from which Linux makes its first root file system.

No file has to exist with the owner, the mode or as the device that the archive names, so nobody
needs to be root, and the same entries give the same bytes.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# Of every entry, so that it does not depend on when it was made.
_TIME = 1704067200
_MAGIC = "070701"
_LAST = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """A file of the archive. mode: with the kind of file. device: major and minor number."""

    name: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def folder(name: str) -> Entry:
    """Return a folder."""
    return Entry(name, stat.S_IFDIR | 0o755)


def file(name: str, path: Path) -> Entry:
    """Return a copy of a file; of its mode counts only whether it can be executed."""
    mode = 0o755 if os.access(path, os.X_OK) else 0o644
    return Entry(name, stat.S_IFREG | mode, path.read_bytes())


def link(name: str, target: str) -> Entry:
    """Return a symbolic link."""
    return Entry(name, stat.S_IFLNK | 0o777, target.encode())


def device(name: str, major: int, minor: int) -> Entry:
    """Return a character device that only root may use."""
    return Entry(name, stat.S_IFCHR | 0o600, device=(major, minor))


def parents(names: list[str], folders: Iterable[str] = ()) -> list[Entry]:
    """Return folders and what lies above them and above the named files, outer ones first."""
    above = {str(parent) for name in [*names, *folders] for parent in PurePosixPath(name).parents}
    return [folder(name) for name in sorted({*above, *folders} - {"."})]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _record(number: int, entry: Entry) -> bytes:
    name = entry.name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    owner, checksum, disk = (0, 0), 0, (0, 0)
    fields = (
        number, entry.mode, *owner, links, _TIME, len(entry.content), *disk, *entry.device,
        len(name), checksum,
    )  # fmt: skip
    header = _MAGIC + "".join(f"{field:08x}" for field in fields)
    return _padded(header.encode() + name) + _padded(entry.content)


def archive(entries: list[Entry]) -> bytes:
    """Return the archive. Folders have to come before what they hold."""
    records = [_record(number, entry) for number, entry in enumerate(entries, 1)]
    return b"".join([*records, _record(0, Entry(_LAST, 0))])
