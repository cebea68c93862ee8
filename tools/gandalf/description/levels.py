# SPDX-License-Identifier: Apache-2.0
"""What a system may have whose guests run without rings of their own (docs/two-level.md)."""

from gandalf.base.toml_lines import Location
from gandalf.description.description import REMEDIES, LinuxGuest, Machine, System

TWO_LEVEL = "two-level"
# What only these systems have, and can have taken away.
MEASURES = (
    "direct_switch", "prefill", "cache_entries", "cache_hints", "cache_policy", "coherence",
    "global_pages",
)  # fmt: skip


def _check_measures(system: System) -> None:
    for name in MEASURES:
        if getattr(system.machine, name) != Machine.model_fields[name].default:
            system.mistake(
                f'Remove `{name}`: only with `rings = "{TWO_LEVEL}"` is there something that it '
                "changes.",
                ("machine", name),
            )


def check_levels(system: System) -> None:
    """Whether all that the description asks for exists with two levels of privilege."""
    rings: Location = ("machine", "rings")
    if system.machine.rings != TWO_LEVEL:
        _check_measures(system)
        return
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest):
            continue
        if guest.mode == "dedicated":
            system.mistake(
                f'{guest.name} has mode "dedicated", in which interrupts go straight to ring 1, '
                f'and `rings = "{TWO_LEVEL}"` leaves that to nobody: use "shared".',
                (*base, "mode"), rings,
            )  # fmt: skip
        if guest.cpus is not None and system.console.screen:
            system.mistake(
                f'Remove `cpus` of {guest.name} or `screen`: with `rings = "{TWO_LEVEL}"` a Linux '
                "with several vCPUs has no screen so far.",
                (*base, "cpus"), ("console", "screen"), rings,
            )  # fmt: skip
        if guest.lock_holder_preemption in REMEDIES:
            system.mistake(
                f'{guest.name} has `lock_holder_preemption = "{guest.lock_holder_preemption}"`, '
                f'which does not exist with `rings = "{TWO_LEVEL}"` so far: use "on-demand".',
                (*base, "lock_holder_preemption"), rings,
            )  # fmt: skip
        if guest.strict_tls:
            system.mistake(
                f'Remove `strict_tls` of {guest.name}: with `rings = "{TWO_LEVEL}"` pages keep '
                "all guests from reading the VMM.", (*base, "strict_tls"), rings,
            )  # fmt: skip
