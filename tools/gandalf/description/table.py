# SPDX-License-Identifier: Apache-2.0
"""The compiled system description (abi/table.h) as Python objects, and back.

Field names are those of the C structures. Packing checks nothing: that a table
makes sense is the business of check.py, and of the VMM that reads it.
"""

import zlib
from dataclasses import dataclass, field, fields
from typing import Any

from gandalf.base.abi import abi


class TableError(Exception):
    """The bytes are not a table of this version."""


@dataclass(frozen=True)
class TableImage:
    """One struct gandalf_image."""

    guest: int
    offset: int
    file_size: int
    room: int
    load_address: int
    memory_size: int
    checksum: int
    name: str


@dataclass(frozen=True)
class TableGuest:
    """One struct gandalf_guest."""

    name: str
    kind: int
    priority: int
    memory_base: int
    memory_size: int
    entry: int
    boot_parameters: int
    command_line: int
    command_line_size: int
    on_reboot: int
    on_fault: int
    restart_limit: int
    interrupts: int
    flags: int
    watchdog_ms: int = 0
    cpu: int = 0
    vcpu_count: int = 1
    vcpu_cpus: tuple[int, ...] = (0,)
    slice_us: int = 0
    preemption: int = 0
    delay_limit_us: int = 0
    port_ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class TableChannel:
    """One struct gandalf_table_channel."""

    name: str
    guests: tuple[int, int]
    base: int
    size: int


# A key of the keyboard: its values, and the locks that exchange the first two.
TableKey = tuple[tuple[int, int, int], int]


@dataclass(frozen=True)
class Table:
    """One struct gandalf_table, without what packing works out by itself."""

    module_size: int
    pool_base: int
    pool_size: int
    console_port: int
    console_interrupt: int
    console_baud: int
    focus: int
    flags: int = 0
    levels: int = 4
    cpus: int = 1
    guests: tuple[TableGuest, ...] = ()
    images: tuple[TableImage, ...] = field(default=())
    channels: tuple[TableChannel, ...] = ()
    keys: tuple[tuple[TableKey, ...], ...] = ()  # without a prefix, and with it; or none

    def pack(self) -> bytes:
        """Return the table's bytes, with magic, version and checksum."""
        raw = abi().structures["gandalf_table"]()
        raw.magic, raw.version = abi()["TABLE_MAGIC"], abi()["TABLE_VERSION"]
        raw.table_size = len(bytes(raw))
        raw.guest_count, raw.image_count = len(self.guests), len(self.images)
        raw.channel_count = len(self.channels)
        _fill(raw, self, ("guests", "images", "channels", "keys"))
        for number, guest in enumerate(self.guests):
            target = raw.guests[number]
            _fill(target, guest, ("port_ranges", "vcpu_cpus"))
            for position, cpu in enumerate(guest.vcpu_cpus):
                target.vcpu_cpus[position] = cpu
            target.port_range_count = len(guest.port_ranges)
            for position, (first, last) in enumerate(guest.port_ranges):
                target.port_ranges[position].first = first
                target.port_ranges[position].last = last
        for number, image in enumerate(self.images):
            _fill(raw.images[number], image, ())
        for number, channel in enumerate(self.channels):
            _fill(raw.channels[number], channel, ("guests",))
            raw.channels[number].guests[:] = channel.guests
        for half, keys in zip(raw.keys, self.keys, strict=False):
            for target, (values, locks) in zip(half, keys, strict=True):
                target.values[:] = values
                target.locks = locks
        raw.checksum = zlib.crc32(bytes(raw))
        return bytes(raw)


def _fill(raw: Any, source: Any, skipped: tuple[str, ...]) -> None:
    for item in fields(source):
        if item.name not in skipped:
            value = getattr(source, item.name)
            setattr(raw, item.name, value.encode() if isinstance(value, str) else value)


def _values(raw: Any, kind: Any, skipped: tuple[str, ...]) -> dict[str, Any]:
    names = [item.name for item in fields(kind) if item.name not in skipped]
    values = {name: getattr(raw, name) for name in names}
    return {key: value.decode() if isinstance(value, bytes) else value
            for key, value in values.items()}  # fmt: skip


def unpack(content: bytes) -> Table:
    """Read a table from the start of a module. Raises TableError if it is damaged."""
    kind = abi().structures["gandalf_table"]
    if len(content) < len(bytes(kind())):
        raise TableError("too short for a table")
    raw = kind.from_buffer_copy(content)
    if (raw.magic, raw.version) != (abi()["TABLE_MAGIC"], abi()["TABLE_VERSION"]):
        raise TableError("wrong magic or version")
    checksum, raw.checksum = raw.checksum, 0
    if zlib.crc32(bytes(raw)) != checksum:
        raise TableError("wrong checksum")
    guests = []
    for item in raw.guests[: raw.guest_count]:
        ranges = item.port_ranges[: item.port_range_count]
        ports = tuple((part.first, part.last) for part in ranges)
        cpus = tuple(item.vcpu_cpus[: item.vcpu_count])
        values = _values(item, TableGuest, ("port_ranges", "vcpu_cpus"))
        guests.append(TableGuest(**values, port_ranges=ports, vcpu_cpus=cpus))
    images = [TableImage(**_values(item, TableImage, ())) for item in raw.images[: raw.image_count]]
    channels = [
        TableChannel(**_values(item, TableChannel, ("guests",)), guests=tuple(item.guests))
        for item in raw.channels[: raw.channel_count]
    ]
    values = _values(raw, Table, ("guests", "images", "channels", "keys"))
    return Table(
        **values, guests=tuple(guests), images=tuple(images), channels=tuple(channels),
        keys=_unpack_keys(raw),
    )  # fmt: skip


def _unpack_keys(raw: Any) -> tuple[tuple[TableKey, ...], ...]:
    """Return the keys of a table; none if no key types anything."""
    halves = tuple(tuple((tuple(key.values), key.locks) for key in half) for half in raw.keys)
    return halves if any(any(values) for half in halves for values, _ in half) else ()
