# SPDX-License-Identifier: Apache-2.0
"""Builds of the VMM from changed copies of its sources.

A copy begins with the objects of the tree's own build, so that only what a change concerns is
compiled again.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT
from gandalf.build.build import make
from gandalf.build.profile import FULL

from .systems import FOUR, World

SMP = "smp"  # the profile that has all that several CPUs can use
# What takes its place, and that of the one for one CPU, where the VMM alone is privileged.
_TWO_LEVEL = {FULL: "two-level", SMP: "two-level-smp"}


def profile_here(profile: str) -> str:
    """Return the profile that takes the place of one with rings in the world of the tests."""
    return profile if World.rings == FOUR else _TWO_LEVEL[profile]


def build_debug(sources: Path = ROOT, folder: Path | None = None, profile: str = FULL) -> Path:
    """Build the debug VMM from the tree or a copy of it; returns the image."""
    here = profile_here(profile)
    folder = folder or BUILD / f"vmm-debug-{here}"
    make(sources / "vmm", "-j2", "DEBUG=1", f"PROFILE={here}", f"BUILD={folder}")
    return folder / "gandalf.elf"


def copy_build(origin: Path, folder: Path) -> None:
    """Copy a build; the lists of what its objects depend on name the new objects."""
    shutil.copytree(origin, folder)
    for path in folder.rglob("*.d"):
        needs = path.read_text().partition(":")[2]
        path.write_text(f"{path.with_suffix('.o')}:{needs}")


def substitute(path: Path, old: str, new: str) -> None:
    """Put a mistake into a file of the VMM."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def changed_sources(name: str, origin: Path, change: Callable[[Path], object]) -> Path:
    """Copy what the VMM is built from and change it; returns the folder.

    Its `build` is a copy of the build `origin`. change: gets the folder.
    """
    folder = BUILD / "boot" / f"changed-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("vmm", "abi"):
        shutil.copytree(ROOT / part, folder / part)
    copy_build(origin, folder / "build")
    change(folder)
    return folder


def build_debug_for_smp() -> Path:
    """Build the debug VMM of the tree for guests with several vCPUs; returns the image."""
    return build_debug(profile=SMP)


def changed_debug(name: str, change: Callable[[Path], object], profile: str = FULL) -> Path:
    """Build a changed debug VMM; returns its image."""
    origin = build_debug() if profile == FULL else build_debug_for_smp()
    folder = changed_sources(name, origin.parent, change)
    return build_debug(folder, folder / "build", profile)
