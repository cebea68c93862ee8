# SPDX-License-Identifier: Apache-2.0
"""What a system may have whose guests run without rings of their own (docs/two-level.md)."""

from gandalf.base.toml_lines import Location
from gandalf.description.description import LinuxGuest, System

TWO_LEVEL = "two-level"


def check_levels(system: System) -> None:
    """Whether all that the description asks for exists with two levels of privilege."""
    rings: Location = ("machine", "rings")
    if system.machine.rings != TWO_LEVEL:
        return
    if system.machine.cpus > 1:
        system.mistake(
            f'`rings = "{TWO_LEVEL}"` is for machines with one CPU so far: set `cpus` to 1.',
            ("machine", "cpus"), rings,
        )  # fmt: skip
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest):
            continue
        if guest.mode == "dedicated":
            system.mistake(
                f'{guest.name} has mode "dedicated", in which interrupts go straight to ring 1, '
                f'and `rings = "{TWO_LEVEL}"` leaves that to nobody: use "shared".',
                (*base, "mode"), rings,
            )  # fmt: skip
        if guest.strict_tls:
            system.mistake(
                f'Remove `strict_tls` of {guest.name}: with `rings = "{TWO_LEVEL}"` pages keep '
                "all guests from reading the VMM.", (*base, "strict_tls"), rings,
            )  # fmt: skip
