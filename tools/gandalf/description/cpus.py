# SPDX-License-Identifier: Apache-2.0
"""Checks which guests are on which CPU, and beside whom."""

from gandalf.base.abi import abi
from gandalf.description.description import LinuxGuest, System


def check_cpus(system: System) -> None:
    """Whether the CPUs that are named can be there."""
    cpus, most = system.machine.cpus, abi()["CPUS_MAXIMUM"]
    if cpus > most:
        system.mistake(
            f"Gandalf runs on {most} CPUs at most: set `cpus` to that, not {cpus}.",
            ("machine", "cpus"),
        )
    for base, guest in system.located():
        if guest.cpu >= cpus:
            exist = "CPU 0" if cpus == 1 else f"CPUs 0 to {cpus - 1}"
            system.mistake(
                f"CPU {guest.cpu} does not exist: the machine has {exist}.",
                (*base, "cpu"), ("machine", "cpus"),
            )  # fmt: skip


def check_sharing(system: System) -> None:
    """Who may be on one CPU with whom."""
    first: dict[int, str] = {}
    for base, guest in system.located():
        kind = (*base, "kind")
        if not isinstance(guest, LinuxGuest):
            continue
        if guest.cpu in first:
            system.mistake(
                f"CPU {guest.cpu} already has a Linux guest, {first[guest.cpu]}; "
                "there can be one on a CPU.",
                kind, (*base, "cpu"),
            )  # fmt: skip
        first.setdefault(guest.cpu, guest.name)
        beside = [
            other.name
            for place, other in system.located()
            if other is not guest
            and other.cpu == guest.cpu
            and not any(system.is_doubtful((*place, name)) for name in ("name", "kind", "cpu"))
        ]
        if guest.mode == "dedicated" and system.machine.cpus > 1:
            system.mistake(
                f'{guest.name} has mode "dedicated", in which it takes the interrupt controllers, '
                f"and the machine has {system.machine.cpus} CPUs, which all need them: set `mode` "
                'to "shared", or `cpus` to 1.',
                (*base, "mode"), ("machine", "cpus"), kind,
            )  # fmt: skip
        if guest.mode == "dedicated" and beside:
            system.mistake(
                f'{guest.name} has mode "dedicated" and {", ".join(beside)} on the same CPU: a '
                "dedicated Linux masks interrupts and uses ports without the VMM; set `mode` to "
                '"shared", or remove the others.',
                (*base, "mode"), kind,
            )  # fmt: skip
