# SPDX-License-Identifier: Apache-2.0
"""What the kernel `complete` can unpack and mount, made on the host by the usual programs."""

import bz2
import gzip
import lzma
import subprocess
from collections.abc import Callable
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT
from gandalf.guests import cpio, debian
from gandalf.guests.places import Places, files_below
from gandalf.guests.rootfs import archive_entries

# Of mksquashfs.
SQUASHED = ("gzip", "lz4", "lzo", "xz", "zstd")
# With a journal, which the guest's own mke2fs does not make, and for ext4 with extents.
JOURNALLED = ("ext3", "ext4")
# What is in each of them. It is longer than several blocks of a file system.
CONTENT = ROOT / "docs" / "linux-guest.md"
_BLOCK = 4096
_IMAGE = "4M"


def _by(*command: str) -> Callable[[bytes], bytes]:
    """Return what packs by a program, which reads and writes its standard streams."""

    def pack(content: bytes) -> bytes:
        return subprocess.run(command, input=content, capture_output=True, check=True).stdout

    return pack


# What Linux unpacks has no other checks than a CRC, and the older format of LZ4.
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "bzip2": bz2.compress,
    "gzip": gzip.compress,
    "lz4": _by("lz4", "-l", "-9", "-q", "-c"),
    "lzma": lambda content: lzma.compress(content, lzma.FORMAT_ALONE),
    "lzo": _by("lzop", "-c"),
    "xz": lambda content: lzma.compress(content, lzma.FORMAT_XZ, lzma.CHECK_CRC32),
    "zstd": _by("zstd", "-q", "-19", "-c"),
}


def images() -> dict[str, Path]:
    """Make the file systems; returns them by their path in a root file system.

    Those that can be written to are mostly empty, and packed.
    """
    folder = BUILD / "boot" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for way in SQUASHED:
        found[f"images/{way}"] = image = folder / way
        _run("mksquashfs", CONTENT, image, "-comp", way, "-b", _BLOCK, "-noappend", "-all-root",
             "-quiet", "-no-progress")  # fmt: skip
    inside = folder / "inside"
    inside.mkdir(exist_ok=True)
    (inside / CONTENT.name).write_bytes(CONTENT.read_bytes())
    for kind in JOURNALLED:
        image = folder / kind
        image.unlink(missing_ok=True)
        _run("/sbin/mke2fs", "-q", "-F", "-t", kind, "-J", "size=1", "-d", inside, image, _IMAGE)
        found[f"images/{kind}.gz"] = packed = folder / f"{kind}.gz"
        packed.write_bytes(gzip.compress(image.read_bytes()))
    return found


def _run(*words: str | Path | int) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def packed_rootfs(way: str) -> str:
    """Return a root file system of BusyBox alone, packed in one of the ways."""
    places = Places(ROOT)
    lock = debian.read_lock(places.lock)
    (package,) = (package for package in lock if package.name == "busybox-static")
    (archive,) = debian.fetch([package], places.cache, lambda _: None)
    folder = BUILD / "boot" / "packed"
    debian.unpack(archive, folder)
    files = {"bin/busybox": folder / "bin" / "busybox"} | files_below(places.inputs / "rootfs")
    output = folder / f"{way}.cpio"
    output.write_bytes(PACKERS[way](cpio.archive(archive_entries(files))))
    return str(output.relative_to(ROOT))
