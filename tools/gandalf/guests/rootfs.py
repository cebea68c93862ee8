# SPDX-License-Identifier: Apache-2.0
"""Builds the root file system of the Linux guest."""

import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from gandalf.base.paths import UserError
from gandalf.guests import cpio, debian
from gandalf.guests.debian import Log, Package
from gandalf.guests.places import (
    RECIPE,
    STAMP,
    Places,
    compiler_version,
    digest_of,
    exclusive,
    files_below,
    is_stamped,
    replace_file,
    require_tools,
    write_stamp,
)

ROOTFS_TOOLS = {"gcc": "gcc", "make": "make", "lz4": "lz4", "dpkg-deb": "dpkg"}
# Package: what of it is a program that goes into the root file system.
ROOTFS_PROGRAMS = {
    "busybox-static": ("bin/busybox",),
    "nftables": ("usr/sbin/nft",),
    "rt-tests": ("usr/bin/*",),
    "stress-ng": ("usr/bin/stress-ng",),
}
# What the small image leaves out: two thirds of the whole are stress-ng's libraries.
ROOTFS_LARGE = ("stress-ng", "nftables")
SMALL = "small.cpio"
# What that leaves out in which figures of the bench are measured: it is as it was without these.
ROOTFS_UNMEASURED = ("nftables",)
MEASURED = "measured.cpio"
# Opened by the C library at run time when a thread is cancelled; no program names it.
ROOTFS_LOADED_LATE = ("libgcc_s.so.1",)
LIBRARY_FOLDER = "lib/i386-linux-gnu"
ROOTFS_FOLDERS = ("bin", "dev", "etc", "proc", "root", "sbin", "sys", "tmp", "usr/bin", "usr/sbin")
ROOTFS_LINKS = {
    "init": "bin/busybox",
    "bin/sh": "busybox",
    "lib/ld-linux.so.2": "i386-linux-gnu/ld-linux.so.2",
}


def build_rootfs(root: Path, log: Log) -> Path:
    """Build the guest's root file system unless it is up to date; return the image.

    The small one, without ROOTFS_LARGE, and that of the bench, without ROOTFS_UNMEASURED, are built
    beside it, from the same packages.
    """
    places = Places(root)
    packages = [package for package in debian.read_lock(places.lock) if package.group == "rootfs"]
    output = places.rootfs
    image = output / "initramfs.cpio"
    others = {output / SMALL: ROOTFS_LARGE, output / MEASURED: ROOTFS_UNMEASURED}
    stamp = digest_of(*_rootfs_inputs(places, packages))
    with exclusive(output):
        if not (is_stamped(output, stamp) and all(path.exists() for path in (image, *others))):
            require_tools(ROOTFS_TOOLS)
            archives = debian.fetch(packages, places.cache, log)
            log("building the root file system")
            (output / STAMP).unlink(missing_ok=True)
            programs = build_programs(places)
            with tempfile.TemporaryDirectory(dir=output) as scratch:
                for archive in archives:
                    debian.unpack(archive, Path(scratch))
                for path, without in ((image, ()), *others.items()):
                    entries = _collect(Path(scratch), places, without) | programs
                    _write_image(entries, path)
            write_stamp(output, stamp)
            log(f"root file system built ({image.stat().st_size / 1e6:.1f} MB)")
    return image


def build_small_rootfs(root: Path, log: Log) -> Path:
    """Build the same; return the image without ROOTFS_LARGE."""
    return build_rootfs(root, log).with_name(SMALL)


def build_measured_rootfs(root: Path, log: Log) -> Path:
    """Build the same; return the image without ROOTFS_UNMEASURED."""
    return build_rootfs(root, log).with_name(MEASURED)


def _rootfs_inputs(places: Places, packages: list[Package]) -> Iterator[bytes]:
    """Give everything that the root file system depends on."""
    yield f"{RECIPE} {ROOTFS_PROGRAMS} {ROOTFS_LARGE} {ROOTFS_UNMEASURED}".encode()
    yield f"{ROOTFS_FOLDERS} {ROOTFS_LINKS}".encode()
    for package in packages:
        yield package.sha256.encode()
    yield compiler_version()
    folders = (places.inputs / "rootfs", places.rootfs_extra, places.control, places.abi)
    for folder in folders:
        for name, path in files_below(folder).items():
            yield f"{name} {_mode(path):o}".encode()
            yield path.read_bytes()


def build_programs(places: Places) -> dict[str, Path]:
    """Build gandalfctl; returns the files of the root file system by their path there."""
    make = ["make", "--no-print-directory", "-C", str(places.control), f"BUILD={places.programs}"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()[-20:]
        raise UserError("\n".join([*lines, "gandalfctl did not compile; see above."]))
    return {"sbin/gandalfctl": places.programs / "gandalfctl"}


def _mode(path: Path) -> int:
    return 0o755 if os.access(path, os.X_OK) else 0o644


def _collect(unpacked: Path, places: Places, without: tuple[str, ...]) -> dict[str, Path]:
    """Return what goes into the image: path there, file here. without: packages it has not."""
    left_out = {path for package in without for path in _programs(unpacked, package)}
    paths = {path for package in ROOTFS_PROGRAMS for path in _programs(unpacked, package)}
    entries = {str(path.relative_to(unpacked)): path for path in sorted(paths - left_out)}
    entries |= libraries(list(entries.values()), unpacked)
    entries |= files_below(places.inputs / "rootfs")
    entries |= files_below(places.rootfs_extra)
    return entries


def _programs(unpacked: Path, package: str) -> Iterator[Path]:
    """Give the programs of a package where all packages are unpacked in one folder."""
    for pattern in ROOTFS_PROGRAMS[package]:
        yield from (path for path in unpacked.glob(pattern) if needed_libraries(path) is not None)


def libraries(
    programs: list[Path], unpacked: Path, beside: Collection[str] = ()
) -> dict[str, Path]:
    """Return every library that the programs need, directly or not, but those beside them."""
    available = {path.name: path for path in unpacked.rglob("*.so*") if path.is_file()}
    found: dict[str, Path] = {}
    queue = [(name, "the C library") for name in ROOTFS_LOADED_LATE]
    queue += [(name, path.name) for path in programs for name in needed_libraries(path) or ()]
    while queue:
        name, user = queue.pop()
        if name in found or name in beside:
            continue
        if name not in available:
            raise UserError(
                f"{user} needs {name}, which no pinned package has: add its package to "
                "ROOTFS_LIBRARIES in tools/gandalf/guests/linux.py and run "
                "`build/venv/bin/python -m gandalf.guests.linux update-lock`."
            )
        found[name] = available[name]
        queue += [(needed, name) for needed in needed_libraries(available[name]) or ()]
    return {f"{LIBRARY_FOLDER}/{name}": path for name, path in found.items()}


def needed_libraries(path: Path) -> list[str] | None:
    """Return the libraries that an ELF file names, or None if it is not an ELF file."""
    try:
        with path.open("rb") as file:
            sections = ELFFile(file).iter_sections()
            dynamic = (part for part in sections if isinstance(part, DynamicSection))
            tags = [tag for part in dynamic for tag in part.iter_tags("DT_NEEDED")]
            # pyelftools gives the tag this attribute at run time.
            return [tag.needed for tag in tags]  # type: ignore[attr-defined]
    except (ELFError, IsADirectoryError):
        return None


def _write_image(entries: dict[str, Path], image: Path) -> None:
    """Write the image, which has the same bytes wherever and whenever it is made."""
    # The legacy format, which is the one that Linux reads. It unpacks ten times as fast as gzip;
    # without compression two guests' images would not fit the VMM's share of the address space.
    compressor = ["lz4", "-l", "-9", "-q", "-c"]
    archive = cpio.archive(archive_entries(entries))
    packed = subprocess.run(compressor, input=archive, capture_output=True, check=True).stdout
    replace_file(image, packed)


def archive_entries(files: dict[str, Path]) -> list[cpio.Entry]:
    """Return the entries of the archive, parents before their children. files: path there, here."""
    return [
        *cpio.parents([*files, *ROOTFS_LINKS], ROOTFS_FOLDERS),
        cpio.device("dev/console", 5, 1),
        *(cpio.file(name, files[name]) for name in sorted(files)),
        *(cpio.link(name, target) for name, target in sorted(ROOTFS_LINKS.items())),
    ]
