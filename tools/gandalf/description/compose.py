# SPDX-License-Identifier: Apache-2.0
"""Composes a checked system into the module that the VMM boots from.

The module is the table of abi/table.h and, behind it, the bytes of every image.
It depends on the description and the images only: the same input gives the same
bytes.
"""

import ctypes
import zlib

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.description import linux_boot
from gandalf.description.check import Checked
from gandalf.description.cpus import cpus_of
from gandalf.description.description import (
    REMEDIES,
    TRAP,
    Channel,
    Guest,
    LinuxGuest,
    Machine,
    RtosGuest,
    System,
)
from gandalf.description.guests import Loaded
from gandalf.description.keyboard import layout as keyboard_layout
from gandalf.description.layout import Region, align_up
from gandalf.description.levels import TWO_LEVEL
from gandalf.description.table import Table, TableChannel, TableGuest, TableImage

# Of each image from the start of the module, so that copies are fast.
_IMAGE_ALIGNMENT = 16


def _kind(guest: Guest) -> int:
    if isinstance(guest, RtosGuest):
        return abi()["KIND_RTOS"]
    if guest.cpus is not None:
        return abi()["KIND_LINUX_SMP"]
    return abi()["KIND_LINUX_DEDICATED" if guest.mode == "dedicated" else "KIND_LINUX_SHARED"]


def _flags(guest: Guest) -> int:
    if isinstance(guest, RtosGuest):
        return 0
    strict = abi()["GUEST_STRICT_TLS"] if guest.strict_tls else 0
    migrates = abi()["GUEST_MIGRATES"] if guest.migrate else 0
    if guest.lock_holder_preemption in REMEDIES:
        migrates |= abi()["GUEST_REMEDIES"]
    if guest.lock_holder_preemption == TRAP:
        migrates |= abi()["GUEST_TRAP"]
    if not guest.yielding_spin:
        migrates |= abi()["GUEST_SPINS"]
    return strict | migrates | (abi()["GUEST_CONTROL"] if guest.control else 0)


def _of_several(guest: Guest) -> dict[str, int]:
    """Return the fields that only a Linux with several vCPUs has."""
    if not isinstance(guest, LinuxGuest) or guest.cpus is None:
        return {}
    policy = guest.lock_holder_preemption.upper().replace("-", "_")
    return {
        "slice_us": guest.slice_us,
        "preemption": abi()[f"PREEMPTION_{policy}"],
        "delay_limit_us": guest.delay_limit_us,
    }


def _table_flags(system: System) -> int:
    machine = system.machine
    flags = {
        "INTERRUPTIBLE": machine.interruptible,
        "CPUS_OPTIONAL": not machine.cpus_required,
        "SCREEN": system.console.screen,
        "NO_PREFILL": not machine.prefill,
        "NO_DIRECT_SWITCH": not machine.direct_switch,
        "NO_HINTS": not machine.cache_hints,
        "GLOBAL_PAGES": machine.global_pages,
        "DETECT": machine.coherence == "detect",
    }
    bits = sum(abi()[f"TABLE_{name}"] for name, is_set in flags.items() if is_set)
    return bits | (_cache_flags(machine) if machine.rings == TWO_LEVEL else 0)


def _cache_flags(machine: Machine) -> int:
    policy = abi()[f"TABLE_CACHE_{machine.cache_policy.upper()}"]
    entries = machine.cache_entries * abi()["TABLE_CACHE_UNIT"]
    return entries | policy * abi()["TABLE_POLICY_UNIT"]


def _table_guest(guest: Guest, loaded: Loaded, region: Region) -> TableGuest:
    linux = isinstance(guest, LinuxGuest)
    return TableGuest(
        name=guest.name,
        kind=_kind(guest),
        priority=guest.priority,
        memory_base=region.start,
        memory_size=region.size,
        entry=loaded.entry,
        boot_parameters=linux_boot.BOOT_PARAMETERS if linux else 0,
        command_line=loaded.number,
        command_line_size=linux_boot.COMMAND_LINE_END - loaded.number if linux else 0,
        on_reboot=abi()["POLICY_" + guest.on_reboot.upper()],
        on_fault=abi()["POLICY_" + guest.on_fault.upper()],
        restart_limit=guest.restart_limit,
        interrupts=sum(1 << number for number in set(guest.interrupts)),
        flags=_flags(guest),
        watchdog_ms=guest.watchdog_ms,
        cpu=cpus_of(guest)[0],
        vcpu_count=len(cpus_of(guest)),
        vcpu_cpus=tuple(cpus_of(guest)),
        **_of_several(guest),
        port_ranges=tuple((ports.first, ports.last) for ports in guest.ports),
    )


def _sides(system: System, channel: Channel) -> tuple[int, int]:
    """Return the places of a channel's guests; the description is free of mistakes."""
    first, second = (system.place_of(name) for name in channel.between)
    assert first is not None
    assert second is not None
    return first, second


def _images(loaded: list[Loaded]) -> tuple[list[TableImage], bytes]:
    """Return the images' entries in the table, and the bytes behind the table.

    What two guests have in common is there once, unless it may be replaced for one of them.
    """
    start = align_up(ctypes.sizeof(abi().structures["gandalf_table"]), _IMAGE_ALIGNMENT)
    content = bytearray()
    images = []
    places: dict[bytes, int] = {}
    for number, guest in enumerate(loaded):
        for name, segment in guest.segments:
            room = max(guest.room, len(segment.content))
            place = places.get(segment.content) if guest.is_linux else None
            if place is None:
                content += bytes(-len(content) % _IMAGE_ALIGNMENT)
                place = len(content)
                content += segment.content.ljust(room, b"\0")
            if guest.is_linux:
                places[segment.content] = place
            images.append(
                TableImage(
                    guest=number,
                    offset=start + place if room else 0,
                    file_size=len(segment.content),
                    room=room,
                    load_address=segment.address,
                    memory_size=segment.memory_size,
                    checksum=zlib.crc32(segment.content),
                    name=name,
                )
            )
    return images, bytes(content)


def compose(checked: Checked) -> bytes:
    """Return the module of a system. Raises UserError if an image is not built yet."""
    system, layout = checked.system, checked.layout
    loaded = [item for item in checked.loaded if item is not None]
    if len(loaded) != len(checked.loaded):
        raise UserError("An image of the system is not built; run `gandalf build` first.")
    images, content = _images(loaded)
    most = abi()["IMAGES_MAXIMUM"]
    if len(images) > most:
        raise UserError(
            f"The guests' images have {len(images)} segments; {most} fit into the table. "
            "Link the RTOS images with fewer LOAD segments."
        )
    guests = [
        _table_guest(guest, item, region)
        for (_, guest), item, region in zip(system.guests, loaded, layout.guests, strict=True)
    ]
    channels = [
        TableChannel(channel.shared_name, _sides(system, channel), region.start, region.size)
        for (_, channel), region in zip(system.channels, layout.channels, strict=True)
    ]
    start = align_up(ctypes.sizeof(abi().structures["gandalf_table"]), _IMAGE_ALIGNMENT)
    uart = system.console.uart
    table = Table(
        module_size=start + len(content),
        pool_base=layout.pool.start,
        cpus=system.machine.cpus,
        pool_size=system.machine.shadow_pool,
        console_port=uart.port if uart else 0,
        console_interrupt=uart.interrupt if uart else 0,
        console_baud=uart.baud if uart else 0,
        focus=system.focus(),
        flags=_table_flags(system),
        levels=abi()["LEVELS_TWO" if system.machine.rings == TWO_LEVEL else "LEVELS_RINGS"],
        guests=tuple(guests),
        images=tuple(images),
        channels=tuple(channels),
        keys=keyboard_layout(system.console.keys) if system.console.screen else (),
    )
    return table.pack().ljust(start, b"\0") + content
