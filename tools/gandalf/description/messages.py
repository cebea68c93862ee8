# SPDX-License-Identifier: Apache-2.0
"""Which CPU sends messages to which other one, and what for (docs/several-cores.md)."""

from collections.abc import Iterable

from gandalf.description.cpus import cpus_of
from gandalf.description.description import LinuxGuest, System

EACH_OTHER = "each other"
Row = tuple[str, str, str]


def _text(cpus: Iterable[int]) -> str:
    """Name CPUs, those that follow each other by the first and the last: "CPU 0, 2-4"."""
    groups: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if groups and groups[-1][-1] == cpu - 1:
            groups[-1].append(cpu)
        else:
            groups.append([cpu])
    names = [str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups]
    return "CPU " + ", ".join(names)


def _devices(system: System) -> list[Row]:
    return [
        (_text([0]), _text(cpus_of(guest)[:1]), f"IRQ {irq} of {guest.name}")
        for _, guest in system.guests
        for irq in sorted(guest.interrupts)
        if cpus_of(guest)[0] != 0
    ]


def _channels(system: System) -> list[Row]:
    homes = {guest.name: cpus_of(guest)[0] for _, guest in system.guests}
    rows = []
    for _, channel in system.channels:
        ends = [homes.get(name) for name in channel.between]
        if None not in ends and ends[0] != ends[1]:
            both = [end for end in ends if end is not None]
            rows.append((_text(both), EACH_OTHER, f"doorbell of the channel {channel.name}"))
    return rows


def _siblings(system: System) -> list[Row]:
    """What vCPUs of one guest have to say to each other."""
    rows = []
    for _, guest in system.guests:
        cpus = cpus_of(guest)
        if not isinstance(guest, LinuxGuest) or len(set(cpus)) == 1:
            continue
        others = [cpu for cpu in cpus if cpu != cpus[0]]
        rows += [
            (_text(cpus), EACH_OTHER, f"{guest.name}: interrupts, starts and ends of its vCPUs"),
            (_text(others), _text(cpus[:1]), f"{guest.name}: accesses to ports; the answers back"),
        ]
        if guest.migrate:
            rows.append((_text(cpus), EACH_OTHER, f"{guest.name}: vCPUs that move"))
    return rows


def _management(system: System) -> list[Row]:
    """Orders for guests of other CPUs: by guests that manage, and by the VMM's command line."""
    homes = [cpus_of(guest)[0] for _, guest in system.guests]
    rows = []
    for _, guest in system.guests:
        others = [home for home in homes if home not in cpus_of(guest) or len(cpus_of(guest)) > 1]
        if isinstance(guest, LinuxGuest) and guest.control and others:
            what = f"orders of {guest.name}, which manages guests; the answers back"
            rows.append((_text(cpus_of(guest)), _text(others), what))
    if away := [home for home in homes if home != 0]:
        rows.append((_text([0]), _text(away), "orders typed at the VMM's console"))
    return rows


def _consoles(system: System) -> list[Row]:
    away = [cpu for _, guest in system.guests for cpu in cpus_of(guest)[:1] if cpu != 0]
    logs = range(1, system.machine.cpus)
    rows = [(_text(logs), _text([0]), "what guests print, and the VMM's log")]
    if away:
        rows.append((_text([0]), _text(away), "what is typed for guests"))
    return rows


def messages(system: System) -> list[Row]:
    """Return (from, to, what for) of the messages between CPUs, of which there are several."""
    everybody = _text(range(system.machine.cpus))
    return [
        *_devices(system),
        *_channels(system),
        *_siblings(system),
        *_management(system),
        *_consoles(system),
        (everybody, EACH_OTHER, "what has become of guests; each second, their counters"),
    ]
