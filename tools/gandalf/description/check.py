# SPDX-License-Identifier: Apache-2.0
"""Checks how the parts of a system fit together, and shows what belongs to whom.

Every rule notes its mistake at the line that has to change. Rules look at one
thing each and do not depend on each other, so one run reports them all.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console as RichConsole
from rich.table import Table as RichTable

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.base.toml_lines import Location
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.description import cpus, levels, linux_boot, owners
from gandalf.description.description import TRAP, Channel, LinuxGuest, System, read_description
from gandalf.description.guests import Loaded, kernel_variant, load_all, module_bytes
from gandalf.description.layout import Layout, check_layout, place
from gandalf.description.messages import messages
from gandalf.description.quantities import PortRange, size_text
from gandalf.guests.places import VARIANTS_OF_MODE

_SMALLEST_MACHINE = 16 << 20
_LARGEST_MACHINE = 3 << 30


@dataclass(frozen=True)
class Checked:
    """A system with what was found out about it while it was checked."""

    system: System
    loaded: list[Loaded | None]
    layout: Layout


def _check_machine(system: System) -> None:
    machine = system.machine
    where: Location = ("machine", "memory")
    if not _SMALLEST_MACHINE <= machine.memory <= _LARGEST_MACHINE:
        system.mistake(
            f"`memory` of the machine must be between {size_text(_SMALLEST_MACHINE)} and "
            f"{size_text(_LARGEST_MACHINE)}, not {size_text(machine.memory)}.", where,
        )  # fmt: skip
    if machine.memory % (1 << 20):
        system.mistake("`memory` of the machine must be a whole number of MiB.", where)
    alignment, most = abi()["MEMORY_ALIGNMENT"], abi()["POOL_MAXIMUM"]
    least = max(alignment, abi()["POOL_MINIMUM"])
    pool = machine.shadow_pool
    if pool % alignment or not least <= pool <= most:
        system.mistake(
            f"`shadow_pool` must be a multiple of {size_text(alignment)} from {size_text(least)} "
            f"to {size_text(most)}, not {size_text(pool)}.",
            ("machine", "shadow_pool"),
        )


def _check_console(system: System) -> None:
    names = [guest.name for _, guest in system.guests]
    focus = system.console.focus
    if focus is not None and focus not in names:
        guests = [("guest", index, "name") for index, _ in system.guests]
        system.mistake(
            f'`focus` names "{focus}", and there is no such guest; there are {", ".join(names)}.',
            ("console", "focus"), *guests,
        )  # fmt: skip
    _check_screen(system)
    uart = system.console.uart
    if uart is None:
        return
    where: Location = ("console", "uart")
    clash = owners.reserved_port_clash(system, owners.uart_ports(uart))
    if clash:
        system.mistake(f"The console's ports overlap {clash[0]}, the {clash[1]}.", where)
    reserved = owners.reserved_interrupt(uart.interrupt)
    if reserved:
        system.mistake(f"The console cannot have IRQ {uart.interrupt}, the {reserved}.", where)


def _check_screen(system: System) -> None:
    if not system.console.screen:
        if system.console.keys:
            system.mistake("`keys` is for `screen = true` only.", ("console", "keys"))
        return
    where: Location = ("console", "screen")
    uart = system.console.uart
    if uart is not None and uart.interrupt == owners.KEYBOARD_IRQ:
        system.mistake("The console cannot have IRQ 1, the keyboard's.", ("console", "uart"), where)
    alone = owners.dedicated_guest(system)
    if alone is not None:
        system.mistake(f"Remove `screen`: {alone.name} has the machine for itself.", where)
    for base, guest in system.located():
        if isinstance(guest, LinuxGuest) and guest.lock_holder_preemption == TRAP:
            system.mistake(
                f'{guest.name} has `lock_holder_preemption = "{TRAP}"`, for which the VMM has no '
                'room beside screen and keyboard: use "pull", or remove `screen`.',
                (*base, "lock_holder_preemption"), where,
            )  # fmt: skip


def _check_names(system: System) -> None:
    seen: dict[str, Location] = {}
    for base, guest in system.located():
        where = (*base, "name")
        if guest.name == VMM_CONSOLE:
            system.mistake(f'The name "{guest.name}" is taken by the VMM\'s own console.', where)
        elif guest.name in seen:
            line = system.document.line(seen[guest.name])
            system.mistake(
                f'The name "{guest.name}" is already taken in line {line}.',
                where, seen[guest.name],
            )  # fmt: skip
        seen.setdefault(guest.name, where)


def _check_number_of_guests(system: System) -> None:
    most = abi()["GUESTS_MAXIMUM"]
    for count, (base, _) in enumerate(system.located()):
        if count == most:
            system.mistake(f"There are too many guests: {most} is the most.", base)


def _check_priorities(system: System) -> None:
    for base, guest in system.located():
        where, kind = (*base, "priority"), (*base, "kind")
        if isinstance(guest, LinuxGuest) and guest.priority != 0:
            system.mistake(
                f"`priority` of a Linux guest is 0, not {guest.priority}: it runs when no RTOS "
                "needs the CPU.", where, kind,
            )  # fmt: skip
        if guest.kind == "rtos" and guest.priority == 0:
            system.mistake("`priority` of an RTOS must be 1 to 255; 0 is Linux's.", where, kind)


def _check_memory(system: System) -> None:
    for base, guest in system.located():
        kind = (*base, "kind")
        unit = abi()["MEMORY_ALIGNMENT"] if guest.kind == "linux" else abi()["PAGE_SIZE"]
        least = linux_boot.LOWEST_KERNEL + unit if guest.kind == "linux" else 2 * unit
        if guest.memory < least:
            system.mistake(
                f"`memory` of {guest.name} must be at least {size_text(least)}, "
                f"not {size_text(guest.memory)}.", (*base, "memory"), kind,
            )  # fmt: skip
            system.doubtful.add((*base, "memory"))
        for name, value in (("memory", guest.memory), ("memory_base", guest.memory_base or 0)):
            if value % unit:
                system.mistake(
                    f"`{name}` of {guest.name} must be a multiple of {size_text(unit)}, "
                    f"not {size_text(value)}.", (*base, name), kind,
                )  # fmt: skip


def _check_interrupts(system: System) -> None:
    given: dict[int, str] = {}
    reserved = owners.vmm_interrupts(system)
    for base, guest in system.located():
        for position, number in enumerate(guest.interrupts):
            where = system.item((*base, "interrupts"), position)
            if number in reserved:
                system.mistake(
                    f"IRQ {number}, the {reserved[number]}, belongs to the VMM and cannot be "
                    f"given to {guest.name}.", where, ("console", "uart"),
                )  # fmt: skip
            elif number in given:
                system.mistake(
                    f"IRQ {number} is given to {guest.name}, but {given[number]} has it already.",
                    where,
                )
            given.setdefault(number, guest.name)


def _check_ports(system: System) -> None:
    limit, most = abi()["PORT_LIMIT"], abi()["PORT_RANGES_MAXIMUM"]
    given: list[tuple[str, PortRange]] = []
    for base, guest in system.located():
        if len(guest.ports) > most:
            system.mistake(f"{guest.name} has too many port ranges: {most} is the most.",
                           system.item((*base, "ports"), most))  # fmt: skip
        for position, ports in enumerate(guest.ports):
            where = system.item((*base, "ports"), position)
            if ports.last >= limit:
                system.mistake(
                    f"Ports {ports} cannot be given to a guest: {limit - 1:#x} is the last that "
                    "can.", where,
                )  # fmt: skip
            for owned, what in owners.port_clashes(system, ports):
                system.mistake(
                    f"Ports {ports} cannot be given to {guest.name}: {owned} is the {what}.",
                    where, ("console", "uart"),
                )  # fmt: skip
            for name, other in given:
                if other.overlaps(ports):
                    system.mistake(
                        f"Ports {ports} are given to {guest.name}, but {name} has {other} already.",
                        where,
                    )
            given.append((guest.name, ports))


def _check_dedicated(system: System) -> None:
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest) or guest.mode != "dedicated":
            continue
        for name, value in (("ports", guest.ports), ("interrupts", guest.interrupts)):
            if value:
                system.mistake(
                    f"Remove `{name}`: a dedicated Linux has all {name} of the machine.",
                    (*base, name), (*base, "mode"),
                )  # fmt: skip


def _kind_of_linux(guest: LinuxGuest) -> str:
    return "several CPUs" if guest.cpus is not None else f'mode "{guest.mode}"'


def _check_kernels(system: System) -> None:
    """The tool's own kernels are each for one mode; of others nobody knows."""
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest):
            continue
        variant = kernel_variant(system.resolve(guest.kernel))
        fitting = VARIANTS_OF_MODE["several CPUs" if guest.cpus is not None else guest.mode]
        if variant is not None and variant not in fitting:
            system.mistake(
                f"The kernel `{variant}` does not run with {_kind_of_linux(guest)}; there are "
                f"{', '.join(f'build/linux/{name}/vmlinux' for name in fitting)} for it.",
                (*base, "kernel"), (*base, "mode"), (*base, "cpus"),
            )  # fmt: skip


def _check_command_lines(system: System) -> None:
    for base, guest in system.located():
        if not isinstance(guest, LinuxGuest):
            continue
        where = (*base, "command_line")
        for word in linux_boot.clashing_options(guest.command_line):
            system.mistake(f"Remove `{word}` from `command_line`: Gandalf sets it itself.", where)
        if not guest.command_line.isascii() or not guest.command_line.isprintable():
            system.mistake("`command_line` may hold printable ASCII characters only.", where)


def _check_channel_guests(system: System, index: int, channel: Channel) -> None:
    where: Location = (channel.table, index, "between")
    names = [guest.name for _, guest in system.guests]
    for name in channel.between:
        if name not in names:
            system.mistake(
                f'`between` names "{name}", and there is no such guest; there are '
                f"{', '.join(names)}.",
                where,
            )
    if channel.between[0] == channel.between[1]:
        system.mistake("`between` must name two different guests.", where)
    irq = abi()["DOORBELL_IRQ"]
    for base, guest in system.located():
        if isinstance(guest, LinuxGuest) and guest.name in channel.between:
            if irq in guest.interrupts:
                system.mistake(
                    f"IRQ {irq} is the doorbell of {guest.name}'s channels.", (*base, "interrupts")
                )
            if guest.mode == "dedicated":
                system.mistake(f"{guest.name} has the machine for itself: no channels.", where)
    kinds = {guest.name: guest.kind for _, guest in system.guests}
    if channel.between[0] != channel.between[1] and all(
        kinds.get(name) == "linux" for name in channel.between
    ):
        system.mistake(_two_linuxes(channel), where)


def _two_linuxes(channel: Channel) -> str:
    """Say why a channel cannot be: it lies in its Linux's memory, and no Linux sees another's."""
    return (
        f"{' and '.join(channel.between)} are both a Linux, and neither sees memory of the other: "
        f"one of the two guests of a {channel.table} must be an RTOS."
    )


def _check_channels(system: System) -> None:
    most, page = abi()["CHANNELS_MAXIMUM"], abi()["PAGE_SIZE"]
    largest = abi()["CHANNEL_SIZE_MAXIMUM"]
    seen: set[tuple[str, str]] = set()
    for count, (index, channel) in enumerate(system.channels):
        base: Location = (channel.table, index)
        if count == most:
            system.mistake(f"There are too many channels: {most} is the most.", base)
        if (channel.table, channel.name) in seen:
            system.mistake(f'There is a {channel.table} "{channel.name}" already.',
                           (*base, "name"))  # fmt: skip
        seen.add((channel.table, channel.name))
        if channel.size % page or not page <= channel.size <= largest:
            system.mistake(
                f"`size` of a {channel.table} must be a multiple of {size_text(page)} up to "
                f"{size_text(largest)}, not {size_text(channel.size)}.",
                (*base, "size"),
            )
        _check_channel_guests(system, index, channel)


_RULES = (
    _check_machine, _check_console, _check_names, _check_number_of_guests, cpus.check_cpus,
    cpus.check_sharing, levels.check_levels, _check_priorities, _check_memory, _check_interrupts,
    _check_ports, _check_dedicated, _check_kernels, _check_command_lines, _check_channels,
)  # fmt: skip


def _module_size(loaded: list[Loaded | None]) -> int:
    """Return the bytes of the module as far as its images exist; 0 if none does."""
    images = module_bytes([item for item in loaded if item])
    return images + ctypes.sizeof(abi().structures["gandalf_table"]) if images else 0


def check(path: Path, deterministic: bool = False, built: bool = True) -> Checked:
    """Read and check a description. The mistakes are in .system of the result.

    Images that the tool has yet to build are left out, and all that it builds unless they are
    built: what is there may be of another time. Raises UserError if the description itself cannot
    be read.
    """
    try:
        system = read_description(path)
    except OSError as error:
        raise UserError(f"The description {path} cannot be read: {error.strerror}.") from error
    for rule in _RULES:
        rule(system)
    loaded = load_all(system, deterministic, built)
    layout = place(system, _module_size(loaded))
    if system.guests:
        check_layout(system, layout)
    return Checked(system, loaded, layout)


def checked_or_fail(path: Path, deterministic: bool = False, built: bool = True) -> Checked:
    """Check a description, as check() does; raises UserError with every mistake if there is one."""
    result = check(path, deterministic, built)
    if result.system.mistakes:
        raise UserError("\n".join(result.system.messages()))
    return result


def _show(
    console: RichConsole, title: str, columns: list[str], rows: Sequence[tuple[str, ...]]
) -> None:
    table = RichTable(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column == "size" else "left")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print()


def show(checked: Checked, console: RichConsole) -> None:
    """Print the memory map and who owns each interrupt, port range, timer and CPU."""
    system = checked.system
    memory = [
        (f"{region.start:#010x}", f"{region.end - 1:#010x}", size_text(region.size), region.owner)
        for region in checked.layout.regions()
        if region.size
    ]
    _show(console, "Memory", ["first", "last", "size", "owner"], memory)
    columns = ["what it is", "owner"]
    _show(console, "Interrupts", ["interrupt", *columns], owners.interrupt_owners(system))
    _show(console, "I/O ports", ["ports", *columns], owners.port_owners(system))
    _show(console, "Timers", ["timer", "what it does", "owner"], owners.timer_owners(system))
    if system.machine.cpus > 1:
        _show(console, "CPUs", ["CPU", "guests", "what else it owns"], owners.cpu_owners(system))
        columns = ["from", "to", "what for"]  # between CPUs
        _show(console, "Messages", columns, messages(system))
    for number, (_, guest) in enumerate(system.guests):
        if checked.loaded[number] is None:
            console.print(f"The images of {guest.name} are not built yet; `gandalf build` does it.")
