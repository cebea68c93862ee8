# SPDX-License-Identifier: Apache-2.0
"""Where the parts of the Linux guest are, and what marks them as built."""

import contextlib
import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gandalf.base.paths import UserError, shown

Variant = Literal[
    "patched", "dedicated", "native", "attack", "smp", "smp-native", "complete", "complete-smp",
    "complete-native", "complete-smp-native",
]  # fmt: skip
# Files that are compiled for a variant, of one with an origin those that differ, for the progress
# display only.
KERNEL_FILES: dict[Variant, int] = {
    "patched": 630, "native": 180, "dedicated": 180, "attack": 10, "smp": 670, "smp-native": 260,
    "complete": 1105, "complete-smp": 1185, "complete-native": 240, "complete-smp-native": 380,
}  # fmt: skip
# Which of them run in each mode. The lines that make the interrupt flag a word in memory are needed
# on a shared CPU, and wrong on a dedicated one, where the flag that counts is the processor's. A
# dedicated Linux has one CPU, so those with `smp-native` in their names run without a VMM only.
VARIANTS_OF_MODE: dict[str, tuple[Variant, ...]] = {
    "shared": ("patched", "complete", "attack"),
    "dedicated": ("native", "dedicated", "complete-native"),
    "several CPUs": ("smp", "complete-smp"),
}
# A copy of the kernel's sources.
Tree = Literal["patched", "dedicated", "native", "smp"]

# Raised when the steps below change, so that old results are made again.
RECIPE = 1


@dataclass(frozen=True)
class Places:
    """Where the parts of the Linux guest are, below the root of the tree."""

    root: Path

    @property
    def inputs(self) -> Path:
        """The folder of the guest in the tree."""
        return self.root / "guest" / "linux"

    @property
    def lock(self) -> Path:
        """The pinned packages."""
        return self.inputs / "packages.lock"

    @property
    def patch(self) -> Path:
        """The change of Linux's own sources."""
        return self.inputs / "gandalf.patch"

    @property
    def smp_patch(self) -> Path:
        """The change of Linux's own sources for several CPUs, in the place of the other."""
        return self.inputs / "gandalf-smp.patch"

    def patch_of(self, tree: Tree) -> Path:
        """The patch of a tree that has one."""
        return self.smp_patch if tree == "smp" else self.patch

    @property
    def header(self) -> Path:
        """The functions that the patch calls."""
        return self.inputs / "asm" / "gandalf.h"

    @property
    def fragment(self) -> Path:
        """The kernel's configuration, as far as it differs from tinyconfig."""
        return self.inputs / "config.fragment"

    @property
    def smp_fragment(self) -> Path:
        """What the configuration for several CPUs has other than that."""
        return self.inputs / "smp.fragment"

    @property
    def complete_fragment(self) -> Path:
        """What the configuration for programs of a distribution has other than that."""
        return self.inputs / "complete.fragment"

    @property
    def complete_smp_fragment(self) -> Path:
        """What the configuration with both of the last has more than the two."""
        return self.inputs / "complete-smp.fragment"

    def fragments(self, variant: Variant) -> tuple[Path, ...]:
        """The fragments that a variant is configured with; a later one wins."""
        found = [self.fragment]
        if "smp" in variant:
            found.append(self.smp_fragment)
        if "complete" in variant:
            found.append(self.complete_fragment)
        if "complete-smp" in variant:
            found.append(self.complete_smp_fragment)
        return tuple(found)

    @property
    def drivers(self) -> Path:
        """Our drivers, and how they are built."""
        return self.inputs / "driver"

    @property
    def abi(self) -> Path:
        """The guests' interface."""
        return self.root / "abi"

    def driver_files(self) -> dict[str, Path]:
        """Return what becomes a folder of drivers in the kernel's source, by name."""
        return files_below(self.drivers) | files_below(self.abi)

    @property
    def control(self) -> Path:
        """The sources of gandalfctl."""
        return self.inputs / "control"

    @property
    def programs(self) -> Path:
        """What of the root file system is built here."""
        return self.root / "build" / "control"

    @property
    def cache(self) -> Path:
        """Downloaded packages."""
        return self.root / "build" / "cache"

    @property
    def linux(self) -> Path:
        """Everything built of the kernel."""
        return self.root / "build" / "linux"

    @property
    def rootfs(self) -> Path:
        """The root file system and what it is made from."""
        return self.root / "build" / "rootfs"

    @property
    def rootfs_extra(self) -> Path:
        """Files that other parts of the build add to the root file system."""
        return self.root / "build" / "rootfs-extra"

    def source(self, tree: Tree) -> Path:
        """The kernel's sources."""
        return self.linux / "source" / tree


def compiler_version() -> bytes:
    require_tools({"gcc": "gcc"})
    return subprocess.run(["gcc", "--version"], capture_output=True, check=True).stdout


def read_input(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{shown(path)} is missing: restore it from the repository.") from None


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their path in it; nothing if there is no such folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path for path in files}


STAMP = ".gandalf-stamp"


def digest_of(*parts: bytes) -> str:
    """Return one checksum over several byte strings."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def is_stamped(folder: Path, stamp: str) -> bool:
    try:
        return (folder / STAMP).read_text(encoding="ascii") == stamp
    except FileNotFoundError:
        return False


def write_stamp(folder: Path, stamp: str) -> None:
    (folder / STAMP).write_text(stamp, encoding="ascii")


def remove_folder(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file as a new one, so that hard links to the old one keep their content."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Let one build at a time work in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def require_tools(tools: dict[str, str]) -> None:
    missing = sorted({package for tool, package in tools.items() if shutil.which(tool) is None})
    if missing:
        raise UserError(
            f"To build the Linux guest, install {', '.join(missing)} (Debian's names), then run "
            "the command again."
        )


def require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"The guest kernel needs {needed / 1e9:.0f} GB of disk and {shown(folder)} has "
            f"{free / 1e9:.1f} GB free: make room and run the command again."
        )
