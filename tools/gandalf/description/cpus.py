# SPDX-License-Identifier: Apache-2.0
"""Checks which guests are on which CPU, and beside whom."""

from gandalf.base.abi import abi
from gandalf.base.toml_lines import Location
from gandalf.description.description import Guest, LinuxGuest, System


def cpus_of(guest: Guest) -> list[int]:
    """Return the CPUs that a guest has a vCPU on, that which boots it first."""
    if isinstance(guest, LinuxGuest) and guest.cpus is not None:
        return guest.cpus or [guest.cpu]
    return [guest.cpu]


def check_cpus(system: System) -> None:
    """Whether the CPUs that are named can be there."""
    cpus, most = system.machine.cpus, abi()["CPUS_MAXIMUM"]
    if cpus > most:
        system.mistake(
            f"Gandalf runs on {most} CPUs at most: set `cpus` to that, not {cpus}.",
            ("machine", "cpus"),
        )
    for base, guest in system.located():
        for cpu in cpus_of(guest):
            if cpu >= cpus:
                exist = "CPU 0" if cpus == 1 else f"CPUs 0 to {cpus - 1}"
                system.mistake(
                    f"CPU {cpu} does not exist: the machine has {exist}.",
                    (*base, _field(guest)), ("machine", "cpus"),
                )  # fmt: skip
        if isinstance(guest, LinuxGuest) and guest.cpus is not None:
            _check_several(system, base, guest, guest.cpus)


def _field(guest: Guest) -> str:
    return "cpus" if isinstance(guest, LinuxGuest) and guest.cpus is not None else "cpu"


def _check_several(system: System, base: Location, guest: LinuxGuest, cpus: list[int]) -> None:
    """Whether a Linux can have several vCPUs, and these."""
    place = (*base, "cpus")
    if len(cpus) < 2:
        system.mistake("`cpus` names two CPUs at least; for one there is `cpu`.", place)
    twice = sorted({cpu for cpu in cpus if cpus.count(cpu) > 1})
    if twice:
        system.mistake(f"`cpus` names CPU {twice[0]} twice; each vCPU has one of its own.", place)
    if 0 in cpus[1:]:
        system.mistake(
            "`cpus` must begin with CPU 0 if the guest has it, since that CPU decides when the "
            "machine is switched off.",
            place,
        )
    if guest.cpu != 0:
        system.mistake("A guest has `cpu` or `cpus`, not both: remove `cpu`.", place)
    if guest.mode == "dedicated":
        system.mistake(
            f'{guest.name} has mode "dedicated" and several CPUs; use "shared".',
            (*base, "mode"), place,
        )  # fmt: skip


def check_sharing(system: System) -> None:
    """Who may be on one CPU with whom."""
    first: dict[int, str] = {}
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest):
            continue
        for cpu in set(cpus_of(guest)):
            if cpu in first:
                system.mistake(
                    f"CPU {cpu} already has a Linux guest, {first[cpu]}; "
                    "there can be one on a CPU.",
                    (*base, "kind"), (*base, _field(guest)),
                )  # fmt: skip
            first.setdefault(cpu, guest.name)
        if guest.mode == "dedicated":
            _check_dedicated(system, base, guest)


def _check_dedicated(system: System, base: Location, guest: LinuxGuest) -> None:
    kind = (*base, "kind")
    beside = [
        other.name
        for place, other in system.located()
        if other is not guest
        and guest.cpu in cpus_of(other)
        and not any(system.is_doubtful((*place, name)) for name in ("name", "kind", "cpu", "cpus"))
    ]
    if system.machine.cpus > 1:
        system.mistake(
            f'{guest.name} has mode "dedicated", in which it takes the interrupt controllers, '
            f"and the machine has {system.machine.cpus} CPUs, which all need them: set `mode` "
            'to "shared", or `cpus` to 1.',
            (*base, "mode"), ("machine", "cpus"), kind,
        )  # fmt: skip
    if beside:
        system.mistake(
            f'{guest.name} has mode "dedicated" and {", ".join(beside)} on the same CPU: a '
            "dedicated Linux masks interrupts and uses ports without the VMM; set `mode` to "
            '"shared", or remove the others.',
            (*base, "mode"), kind,
        )  # fmt: skip
