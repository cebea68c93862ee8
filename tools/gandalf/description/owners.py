# SPDX-License-Identifier: Apache-2.0
"""Who owns each interrupt, I/O port, timer and CPU of the machine.

Ports listed here are never given to a guest: the VMM owns the device, or the
device could be used to write any memory (DMA) or to stop the whole machine.
"""

from gandalf.description.cpus import cpus_of
from gandalf.description.description import LinuxGuest, System, Uart
from gandalf.description.quantities import PortRange

VMM = "VMM"
NOBODY = "nobody"

# Ports and what they are.
_VMM_PORTS = (
    (PortRange(0x00, 0x0F), "DMA controller, which can write any memory"),
    (PortRange(0x20, 0x21), "interrupt controller"),
    (PortRange(0x40, 0x43), "interval timer"),
    (PortRange(0x60, 0x60), "keyboard controller, which can reset the machine"),
    (PortRange(0x61, 0x61), "interval timer's gate"),
    (PortRange(0x64, 0x64), "keyboard controller, which can reset the machine"),
    (PortRange(0x70, 0x71), "real-time clock"),
    (PortRange(0x80, 0x8F), "DMA page registers and delay port"),
    (PortRange(0x92, 0x92), "A20 gate and reset"),
    (PortRange(0xA0, 0xA1), "second interrupt controller"),
    (PortRange(0xB2, 0xB3), "system management interrupt"),
    (PortRange(0xC0, 0xDF), "second DMA controller, which can write any memory"),
    (PortRange(0xF0, 0xF1), "floating-point error latch"),
    (PortRange(0xF4, 0xF4), "power switch of the test machines"),
    (PortRange(0x402, 0x402), "firmware's log"),
    (PortRange(0x4D0, 0x4D1), "interrupt controller's trigger modes"),
    (PortRange(0x510, 0x51B), "QEMU's firmware interface, which can write any memory"),
    (PortRange(0x600, 0x63F), "power management"),
    (PortRange(0xCF8, 0xCFF), "PCI configuration and reset"),
)

# Where the chips of many boards answer, too: those of Intel's PIIX and ICH, whose data sheets list
# them among the fixed I/O addresses. Between the copies of the 8259s and the 8254 there are other
# devices, such as a Super I/O chip's configuration at 0x2e and 0x4e.
_COPIES = (
    (PortRange(0x10, 0x1F), "DMA controller"),
    (PortRange(0x22, 0x23), "switch from the interrupt controller to the APICs"),
    *((PortRange(at, at + 1), "interrupt controller") for at in (0x24, 0x28, 0x2C)),
    *((PortRange(at, at + 1), "interrupt controller") for at in (0x30, 0x34, 0x38, 0x3C)),
    (PortRange(0x50, 0x53), "interval timer"),
    *((PortRange(at, at), "interval timer's gate") for at in (0x63, 0x65, 0x67)),
    (PortRange(0x72, 0x77), "real-time clock"),
    (PortRange(0x90, 0x91), "DMA page registers"),
    (PortRange(0x93, 0x9F), "DMA page registers"),
    *((PortRange(at, at + 1), "second interrupt controller") for at in (0xA4, 0xA8, 0xAC)),
    *((PortRange(at, at + 1), "second interrupt controller") for at in (0xB0, 0xB4, 0xB8, 0xBC)),
)

# With `screen`.
_SCREEN_PORTS = (PortRange(0x3B0, 0x3DF), "screen of the consoles")
KEYBOARD_IRQ = 1

_VMM_INTERRUPTS = {
    0: "interval timer",
    2: "second interrupt controller",
    8: "real-time clock",
    13: "floating-point errors",
}

_KINDS = {3: "COM2", 4: "COM1", 6: "floppy", 7: "printer", 1: "keyboard", 12: "mouse"}
_KINDS |= {14: "first disk", 15: "second disk"}


def uart_ports(uart: Uart) -> PortRange:
    return PortRange(uart.port, uart.port + 7)


def vmm_ports(system: System) -> list[tuple[PortRange, str]]:
    """Return the ports that no guest can have, with what they are."""
    uart = system.console.uart
    own = [(uart_ports(uart), "serial port of the consoles")] if uart else []
    return sorted([*_ports_but_the_uart(system), *own])


def _ports_but_the_uart(system: System) -> list[tuple[PortRange, str]]:
    return [*_VMM_PORTS, *([_SCREEN_PORTS] if system.console.screen else [])]


def vmm_interrupts(system: System) -> dict[int, str]:
    """Return the interrupts that no guest can have, with what they are."""
    uart = system.console.uart
    own = {uart.interrupt: "serial port of the consoles"} if uart else {}
    own |= {KEYBOARD_IRQ: "keyboard of the consoles"} if system.console.screen else {}
    return _VMM_INTERRUPTS | own


def port_clashes(system: System, ports: PortRange) -> list[tuple[PortRange, str]]:
    """Return what a guest's ports collide with among those that no guest can have."""
    return [item for item in [*vmm_ports(system), *_COPIES] if item[0].overlaps(ports)]


def reserved_port_clash(system: System, ports: PortRange) -> tuple[PortRange, str] | None:
    """Return what a UART's ports collide with among the VMM's other ones, or None."""
    others = [*_ports_but_the_uart(system), *_COPIES]
    return next((item for item in others if item[0].overlaps(ports)), None)


def reserved_interrupt(number: int) -> str | None:
    return _VMM_INTERRUPTS.get(number)


def dedicated_guest(system: System) -> LinuxGuest | None:
    """Return the Linux that has the CPU and all ports to itself, if there is one."""
    guests = (guest for _, guest in system.guests)
    return next(
        (guest for guest in guests if isinstance(guest, LinuxGuest) and guest.mode == "dedicated"),
        None,
    )


def interrupt_owners(system: System) -> list[tuple[str, str, str]]:
    """Return (interrupt, what it is, owner) for the 16 interrupts of the 8259 pair."""
    alone = dedicated_guest(system)
    reserved = vmm_interrupts(system)
    rows = []
    for number in range(16):
        given = [guest.name for _, guest in system.guests if number in guest.interrupts]
        what = reserved.get(number, _KINDS.get(number, ""))
        shared_owner = VMM if number in reserved else (given or [NOBODY])[0]
        owner = alone.name if alone else shared_owner
        rows.append((f"IRQ {number}", what, owner))
    return rows


def port_owners(system: System) -> list[tuple[str, str, str]]:
    """Return (ports, what they are, owner), by port."""
    alone = dedicated_guest(system)
    rows = [] if alone else [(ports, what, VMM) for ports, what in vmm_ports(system)]
    rows += [(ports, "", guest.name) for _, guest in system.guests for ports in guest.ports]
    named = [(str(ports), what, owner) for ports, what, owner in sorted(rows)]
    if alone:
        return [*named, ("0x0-0xffff", "all of them", alone.name)]
    return [*named, ("all others", "", NOBODY)]


def timer_owners(system: System) -> list[tuple[str, str, str]]:
    """Return (timer, what it does, owner)."""
    alone = dedicated_guest(system)
    if alone:
        rows = [
            ("interval timer", "ticks", alone.name),
            ("real-time clock", "date, /dev/rtc", alone.name),
            ("local APIC timer", "ticks, if the kernel uses it", alone.name),
            ("time stamp counter", "read by everyone", "shared"),
        ]
        if system.machine.cpus > 1:
            rows.append(("local APIC timers of other CPUs", "next deadline of their guests", VMM))
    else:
        rows = [
            ("local APIC timer", "next deadline of all guests; interval timer if there is none",
             VMM),
            ("interval timer", "deadlines where there is no local APIC", VMM),
            ("real-time clock", "date at the start", VMM),
            ("time stamp counter", "read by everyone", "shared"),
        ]  # fmt: skip
    for _, guest in system.guests:
        if guest is alone:
            continue
        if isinstance(guest, LinuxGuest):
            rows.append(("virtual interval timer", "ticks of Linux", guest.name))
            rows.append(("virtual real-time clock", "date, /dev/rtc", guest.name))
        else:
            rows.append(("virtual periodic timer", "ticks of the RTOS", guest.name))
    return rows


def cpu_owners(system: System) -> list[tuple[str, str, str]]:
    """Return (CPU, its guests, what else it owns) for each CPU of several."""
    rows = []
    for cpu in range(system.machine.cpus):
        guests = [guest.name for _, guest in system.guests if cpu in cpus_of(guest)]
        own = "interrupt controllers, serial port, screen, keyboard, clock chip" if cpu == 0 else ""
        rows.append((f"CPU {cpu}", ", ".join(guests) or NOBODY, own))
    return rows
