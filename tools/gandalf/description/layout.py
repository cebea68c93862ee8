# SPDX-License-Identifier: Apache-2.0
"""Places guests, shadow pool, VMM and module in the machine's memory.

The VMM starts at 1 MiB and has the space up to 4 MiB. Above it follow Linux and
the pool, which begin and end on large pages, then the RTOSes. The module - the
guests' images as they were, from which they are restarted - is moved by the VMM
to the top of RAM if it lies in the way of something.
"""

from dataclasses import dataclass

from gandalf.base.abi import abi
from gandalf.base.toml_lines import Location
from gandalf.description.cpus import cpus_of
from gandalf.description.description import System
from gandalf.description.quantities import size_text

VMM_START = 0x100000
VMM_END = 0x400000
# What a PC's firmware keeps for itself at the top of RAM, at most.
FIRMWARE = 0x100000


@dataclass(frozen=True, order=True)
class Region:
    """A piece of the machine's memory: start to end (behind its last byte), and whose it is."""

    start: int
    end: int
    owner: str

    @property
    def size(self) -> int:
        return self.end - self.start

    def overlaps(self, other: "Region") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Layout:
    """Where everything lies."""

    guests: tuple[Region, ...]
    # Those of a Linux lie at the end of its own memory.
    channels: tuple[Region, ...]
    pool: Region
    module: Region
    others: tuple[Region, ...]

    def regions(self) -> list[Region]:
        return sorted([*self.guests, self.pool, self.module, *self.others])


def align_up(value: int, to: int) -> int:
    return -(-value // to) * to


def _first_fit(taken: list[Region], size: int, alignment: int, owner: str) -> Region:
    """Return the lowest free region of a size."""
    candidates = sorted(align_up(region.end, alignment) for region in taken)
    for start in candidates:
        region = Region(start, start + size, owner)
        if not any(region.overlaps(other) for other in taken):
            return region
    raise AssertionError("the end of the highest region is always free")


def place(system: System, module_size: int) -> Layout:
    """Place a system whose description is free of mistakes as far as it was read.

    module_size: bytes of the module, 0 if not known. What does not fit is
    placed beyond the end of memory; check_layout() says so.
    """
    large, page = abi()["MEMORY_ALIGNMENT"], abi()["PAGE_SIZE"]
    low = Region(0, VMM_START, "BIOS, video memory")
    vmm = Region(VMM_START, VMM_END, "VMM")
    firmware = Region(system.machine.memory - FIRMWARE, system.machine.memory, "firmware")
    taken = [low, vmm]
    placed: dict[int, Region] = {}
    for number, (_, guest) in enumerate(system.guests):
        if guest.memory_base is not None:
            end = guest.memory_base + guest.memory
            placed[number] = Region(guest.memory_base, end, guest.name)
            taken.append(placed[number])

    def place_kind(kind: str, alignment: int) -> None:
        for number, (_, guest) in enumerate(system.guests):
            if guest.kind == kind and number not in placed:
                placed[number] = _first_fit(taken, guest.memory, alignment, guest.name)
                taken.append(placed[number])

    place_kind("linux", large)
    pools = system.machine.shadow_pool * system.machine.cpus
    pool = _first_fit(taken, pools, large, "shadow page tables")
    taken.append(pool)
    place_kind("rtos", page)
    module_start = firmware.start - align_up(module_size, page)
    module = Region(module_start, firmware.start, "guest images")
    guests = tuple(placed[number] for number in range(len(system.guests)))
    channels = _place_channels(system, guests, taken)
    return Layout(guests, channels, pool, module, (low, vmm, firmware))


def _place_channels(
    system: System, guests: tuple[Region, ...], taken: list[Region]
) -> tuple[Region, ...]:
    """Place each channel: at the end of its Linux's memory, or of its own."""
    ends = {guest.name: region.end for (_, guest), region in
            zip(system.guests, guests, strict=True) if guest.kind == "linux"}  # fmt: skip
    regions = []
    for _, channel in system.channels:
        owner = f"{channel.table} {channel.name}"
        linux = next((name for name in channel.between if name in ends), None)
        if linux is None:
            regions.append(_first_fit(taken, channel.size, abi()["PAGE_SIZE"], owner))
            taken.append(regions[-1])
        else:
            ends[linux] -= channel.size
            regions.append(Region(ends[linux], ends[linux] + channel.size, owner))
    return tuple(regions)


def check_layout(system: System, layout: Layout) -> None:
    """Note what overlaps or does not fit."""
    _check_overlaps(system, layout)
    _check_sizes(system, layout)


def _check_overlaps(system: System, layout: Layout) -> None:
    fixed: list[Region] = []
    for (index, guest), region in zip(system.guests, layout.guests, strict=True):
        if guest.memory_base is None:
            continue
        where: Location = ("guest", index, "memory_base")
        for other in [*layout.others[:2], *fixed]:
            if region.overlaps(other):
                system.mistake(
                    f"The memory of {guest.name} ({region.start:#x}-{region.end:#x}) overlaps that "
                    f"of {other.owner} ({other.start:#x}-{other.end:#x}).",
                    where, ("guest", index, "memory"), ("guest", index, "name"),
                )  # fmt: skip
        fixed.append(region)


def _check_sizes(system: System, layout: Layout) -> None:
    fields: list[Location] = [("machine", "memory"), ("machine", "shadow_pool")]
    fields += [("guest", index, "memory") for index, _ in system.guests]
    used = (layout.pool, *layout.guests, *layout.channels)
    top = max(region.end for region in used)
    if top > layout.module.start:
        needed = size_text(align_up(top + layout.module.size + FIRMWARE, 1 << 20))
        system.mistake(
            "The guests, their channels, the shadow pool, the guests' images "
            f"({layout.module.size >> 10}K) and "
            f"{size_text(VMM_END + FIRMWARE)} for the VMM and the firmware need {needed}, but the "
            f"machine has {size_text(system.machine.memory)}.",
            *fields,
        )
    for cpu in range(system.machine.cpus):
        _check_rtoses(system, cpu)


def _check_rtoses(system: System, cpu: int) -> None:
    """A CPU's instance of the VMM maps its RTOSes with a page in front of each, and channels."""
    limit = abi()["RTOS_MEMORY_MAXIMUM"]
    rtoses = [
        (guest.memory + abi()["PAGE_SIZE"] + system.channel_bytes(guest), index)
        for index, guest in system.guests
        if guest.kind == "rtos" and cpus_of(guest) == [cpu]
    ]
    rtos = sum(size for size, _ in rtoses)
    if rtos > limit:
        places: list[Location] = [("guest", index, "memory") for _, index in rtoses]
        system.mistake(
            f"All RTOSes of CPU {cpu} together, with their channels and a page in front of each, "
            f"take {size_text(rtos)}; the VMM can map {size_text(limit)}.",
            ("guest", max(rtoses)[1], "memory"), *places,
        )  # fmt: skip
