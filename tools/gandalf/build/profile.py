# SPDX-License-Identifier: Apache-2.0
"""Chooses the image of the VMM for a system: one that has what the system uses, and little else.

Each file of vmm/profile is a profile and names the parts that its image is without; vmm/Makefile
says what these are; and the budget of its text. Each of them boots in the tests; not every
combination is one.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT, VMM_IMAGE
from gandalf.description.description import REMEDIES, TRAP, LinuxGuest, System
from gandalf.description.levels import TWO_LEVEL

FULL = "full"
TWO_LEVEL_PART = "two_level"
_LINES = re.compile(r"^WITHOUT :=(?P<without>[^\n]*)\n.*^BUDGET := (?P<budget>\d+)$", re.M | re.S)


@dataclass(frozen=True)
class Profile:
    """A profile by its name, the parts of the VMM that its image is without, and its budget."""

    name: str
    without: frozenset[str]
    budget: int  # bytes of text and read-only data

    @property
    def folder(self) -> str:
        """Return the folder below build/ that its image is in."""
        return "vmm" if self.name == FULL else f"vmm-{self.name}"

    @property
    def image(self) -> Path:
        """Return where its image is, or will be."""
        return BUILD / self.folder / VMM_IMAGE.name


def read_profiles() -> list[Profile]:
    """Return all profiles, the smallest first; of the same budget, those with least parts."""
    found = []
    for path in (ROOT / "vmm" / "profile").glob("*.mk"):
        lines = _LINES.search(path.read_text())
        assert lines is not None, path
        parts = frozenset(lines["without"].split())
        found.append(Profile(path.stem, parts, int(lines["budget"]) << 10))
    return sorted(found, key=lambda each: (each.budget, -len(each.without), each.name))


def parts_used(system: System) -> set[str]:
    """Return the parts of the VMM, as vmm/Makefile names them, that a system needs."""
    used = {"channels"} if system.channels else set()
    used |= {"cores"} if system.machine.cpus > 1 else set()
    used |= {"screen"} if system.console.screen else set()
    used |= {TWO_LEVEL_PART} if system.machine.rings == TWO_LEVEL else set()
    for _, guest in system.guests:
        if not isinstance(guest, LinuxGuest):
            used.add("rtos")
            continue
        used |= {"linux", "dedicated" if guest.mode == "dedicated" else "chips"}
        used |= {part for part in ("strict_tls", "control") if getattr(guest, part)}
        used |= {"smp"} if guest.cpus is not None else set()
        used |= {"remedies"} if guest.lock_holder_preemption in REMEDIES else set()
        used |= {"trap_policy"} if guest.lock_holder_preemption == TRAP else set()
    return used


def profile_for(system: System) -> Profile:
    """Return the smallest profile that has all that a system uses.

    One with two levels of privilege has no rings, so it is for no other system.
    """
    used = parts_used(system)
    rings = TWO_LEVEL_PART not in used
    return next(
        profile
        for profile in read_profiles()
        if not profile.without & used and (TWO_LEVEL_PART in profile.without) == rings
    )


def find_profile(name: str) -> Profile:
    """Return the profile of a name, which must be one."""
    (found,) = (profile for profile in read_profiles() if profile.name == name)
    return found


def arguments(profile: Profile) -> tuple[str, str]:
    """Return what tells make, in vmm/, to build its image."""
    return f"PROFILE={profile.name}", f"BUILD={BUILD / profile.folder}"
