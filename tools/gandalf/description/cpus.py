# SPDX-License-Identifier: Apache-2.0
"""Checks which guests are on which CPU, and beside whom."""

from gandalf.base.abi import abi
from gandalf.base.toml_lines import Location
from gandalf.description.description import Guest, LinuxGuest, System
from gandalf.description.quantities import size_text

# The least that each vCPU on a CPU needs of its pool.
_POOL_OF_VCPU = 1 << 20
# What only a Linux with several vCPUs has.
_OF_SEVERAL = {
    "slice_us", "yielding_spin", "migrate", "lock_holder_preemption", "delay_limit_us",
}  # fmt: skip


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
    if cpus == 1 and "cpus_required" in system.machine.model_fields_set:
        system.mistake(
            "`cpus_required` is for a machine with several CPUs: remove `cpus_required`.",
            ("machine", "cpus_required"),
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
        elif isinstance(guest, LinuxGuest):
            for field in _OF_SEVERAL & guest.model_fields_set:
                system.mistake(
                    f"`{field}` is for a guest with `cpus`: remove `{field}`.", (*base, field)
                )


def _field(guest: Guest) -> str:
    return "cpus" if isinstance(guest, LinuxGuest) and guest.cpus is not None else "cpu"


def _check_several(system: System, base: Location, guest: LinuxGuest, cpus: list[int]) -> None:
    """Whether a Linux can have several vCPUs, and these."""
    place = (*base, "cpus")
    if not 2 <= len(cpus) <= abi()["CPUS_MAXIMUM"]:
        system.mistake(
            f"`cpus` has a CPU for each vCPU, two to {abi()['CPUS_MAXIMUM']}; for one there is "
            "`cpu`.",
            place,
        )
    _check_shared_cpus(system, base, guest, cpus)
    _check_preemption(system, base, guest, cpus)
    if guest.cpu != 0:
        system.mistake("A guest has `cpu` or `cpus`, not both: remove `cpu`.", place)
    if guest.mode == "dedicated":
        system.mistake(
            f'{guest.name} has mode "dedicated" and several CPUs; use "shared".',
            (*base, "mode"), place,
        )  # fmt: skip


def _seats_on(guest: LinuxGuest, cpus: list[int], cpu: int) -> int:
    """Return how many vCPUs may be on a CPU; of a guest that migrates, all but the first."""
    if guest.migrate:
        return len(cpus) - 1 + (cpus[0] == cpu)
    return cpus.count(cpu)


def _check_preemption(system: System, base: Location, guest: LinuxGuest, cpus: list[int]) -> None:
    """Whether its vCPUs can leave a CPU that an RTOS takes, or have it wait."""
    place = (*base, "lock_holder_preemption")
    policy = guest.lock_holder_preemption
    if policy == "none":
        return
    if not guest.migrate:
        system.mistake(
            f'`lock_holder_preemption = "{policy}"` is for vCPUs that move: set `migrate = true`.',
            place,
        )
    if policy == "delayed":
        return
    for _, other in system.located():
        if other.kind == "rtos" and cpus and other.cpu == cpus[0]:
            system.mistake(
                f"{other.name} is on CPU {cpus[0]} with the first vCPU of {guest.name}, which "
                "does not move: put the RTOS on another CPU, have `cpus` begin with another one, "
                "or remove `lock_holder_preemption`.",
                place,
            )


def _check_shared_cpus(system: System, base: Location, guest: LinuxGuest, cpus: list[int]) -> None:
    """Whether a CPU has room for all vCPUs that are to share it."""
    most, pool = abi()["GUESTS_MAXIMUM"], system.machine.shadow_pool
    seats = {cpu: _seats_on(guest, cpus, cpu) for cpu in cpus}
    busiest = max(cpus, key=lambda cpu: seats[cpu], default=0)
    count = seats.get(busiest, 0)
    if count < 2 and "slice_us" in guest.model_fields_set:
        system.mistake(
            "`slice_us` is for vCPUs that share a CPU, and `cpus` names each once: remove "
            "`slice_us`.",
            (*base, "slice_us"), (*base, "cpus"),
        )  # fmt: skip
    others = len(list(system.located())) - 1
    if others + count > most:
        system.mistake(
            f"CPU {busiest} has {count} vCPUs of {guest.name}, each of which counts as a guest "
            f"there, and there are {others} other guests: {most} is the most.",
            (*base, "cpus"),
        )
    least = -(-count * _POOL_OF_VCPU // abi()["MEMORY_ALIGNMENT"]) * abi()["MEMORY_ALIGNMENT"]
    if pool < least:
        system.mistake(
            f"CPU {busiest} has {count} vCPUs of {guest.name}, for which `shadow_pool` must be at "
            f"least {size_text(least)}, not {size_text(pool)}.",
            (*base, "cpus"), ("machine", "shadow_pool"),
        )  # fmt: skip


def check_sharing(system: System) -> None:
    """Who may be on one CPU with whom."""
    first: dict[int, str] = {}
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest):
            continue
        for cpu in sorted(set(cpus_of(guest))):
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
    if guest.cpu != 0:
        system.mistake(
            f'{guest.name} has mode "dedicated" on CPU {guest.cpu}, and devices interrupt CPU 0: '
            'set `cpu` to 0, or `mode` to "shared".',
            (*base, "cpu"), (*base, "mode"), kind,
        )  # fmt: skip
    if beside:
        system.mistake(
            f'{guest.name} has mode "dedicated" and {", ".join(beside)} on the same CPU: a '
            "dedicated Linux masks interrupts and uses ports without the VMM; set `mode` to "
            '"shared", or remove the others.',
            (*base, "mode"), kind,
        )  # fmt: skip
    for place, other in system.located():
        _check_beside_dedicated(system, place, other, guest.name)


def _check_beside_dedicated(system: System, base: Location, guest: Guest, alone: str) -> None:
    """Whether a guest can be on another CPU than a dedicated Linux."""
    if guest.name == alone:
        return
    if isinstance(guest, LinuxGuest) and guest.cpus is not None:
        system.mistake(
            f"{guest.name} has several CPUs, and no VMM for that has what {alone} needs, whose "
            'mode is "dedicated": set its `mode` to "shared", or give this one `cpu`.',
            (*base, "cpus"),
        )
    if guest.interrupts:
        system.mistake(
            f"Remove `interrupts`: {alone}, which is dedicated, has those of all devices.",
            (*base, "interrupts"),
        )
