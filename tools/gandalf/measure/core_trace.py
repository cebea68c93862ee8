# SPDX-License-Identifier: Apache-2.0
"""Reads the trace rings of a system with several CPUs, each of which has its own of each guest.

QEMU runs each CPU in a thread of the host, and the plug-in of measure/ counts the instructions of
one CPU. So it has no part in this, and there are no stretches with interrupts masked and no tasks
of RTOSes to show. What is left is what the VMM wrote down, on a clock that the CPUs share.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing

from gandalf.base.paths import UserError
from gandalf.build.build import Built
from gandalf.build.symbols import Symbols
from gandalf.description.cpus import cpus_of
from gandalf.measure.measure import (
    Task,
    first_linux,
    line_checked,
    shell,
    wait_until_ready,
)
from gandalf.measure.ring import ReadMemory, Ring, read_layout, read_ring
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for

# LAYOUT_IMAGE of vmm/arch/ia32/layout.h: where physical address 0 is in the VMM's address space.
_IMAGE = 0xFC400000
# Of entries of page directories and page tables (Intel SDM volume 3, 4.3).
_PRESENT, _LARGE, _FRAME = 0x001, 0x080, 0xFFFFF000
_PAGE, _LARGE_PAGE = 0x1000, 0x400000
_PAGING = 1 << 31


def instance_reader(read: ReadMemory, cr3: int) -> ReadMemory:
    """Return a function that reads the VMM's image as one CPU's instance has it.

    read: reads physical memory. cr3: of that CPU. The function takes the address that the image was
    loaded to, and follows the CPU's page tables to that instance's copy.
    """

    def entry(table: int, index: int) -> int:
        return int.from_bytes(read((table & _FRAME) + 4 * index, 4), "little")

    def translate(linear: int) -> int:
        directory = entry(cr3, linear >> 22)
        if directory & _PRESENT and directory & _LARGE:
            return (directory & -_LARGE_PAGE) + linear % _LARGE_PAGE
        page = entry(directory, linear >> 12 & 0x3FF) if directory & _PRESENT else 0
        if not page & _PRESENT:
            raise UserError(f"The page tables of a CPU do not lead to the VMM ({linear:#x}).")
        return (page & _FRAME) + linear % _PAGE

    def read_image(address: int, size: int) -> bytes:
        content, linear = b"", _IMAGE + address
        while len(content) < size:
            at = linear + len(content)
            content += read(translate(at), min(_PAGE - at % _PAGE, size - len(content)))
        return content

    return read_image


def read_rings(built: Built, machine: Machine) -> Iterator[tuple[int, Ring]]:
    """Yield each CPU that has come up, with what its rings have. The machine is stopped.

    A CPU has no memory for the rings of guests that have no vCPU there.
    """
    layout = read_layout(built.vmm)
    guests = [cpus_of(guest) for _, guest in built.checked.system.guests]
    text = machine.hmp("info registers -a")
    registers = re.findall(r"CPU#(\d+).*?CR0=([0-9a-f]+) CR2=\S+ CR3=([0-9a-f]+)", text, re.S)
    for cpu, cr0, cr3 in registers:
        if int(cr0, 16) & _PAGING:
            read = instance_reader(machine.memory, int(cr3, 16))
            here = [place for place, cpus in enumerate(guests) if int(cpu) in cpus]
            yield int(cpu), read_ring(layout, read, here)


class CoreSession:
    """A system on several CPUs in QEMU, for one task."""

    def __init__(self, built: Built, task: Task) -> None:
        self.built, self.task = built, task
        self.linux = first_linux(built.checked)
        line_checked(task, self.linux)
        self.machine = Machine.attach(built, emulators.start("qemu", options_for(built, True)))

    def run(self) -> dict[int, Ring]:
        """Boot, do the task, and return what the rings held at its end, by CPU."""
        try:
            wait_until_ready(self.machine, self.built, self.linux)
            if self.task.command is None:
                self.machine.resume()
                time.sleep(self.task.seconds)
            else:
                self._command(self.task.command)
            self.machine.pause()
            return dict(read_rings(self.built, self.machine))
        except MachineError as error:
            emulator = self.machine.emulator
            why = str(error) if emulator.alive() else emulator.outcome().sentence
            raise UserError(why) from error

    def _command(self, command: str) -> None:
        output = shell(self.machine, self.linux, f'{command}; echo "status:$?"')
        found = re.search(r"^status:(\d+)$", output, re.M)
        if not found or found[1] != "0":
            raise UserError(f"The command failed in Linux:\n{output.strip()}")

    def close(self) -> None:
        self.machine.stop()


def trace_cores(
    built: Built, task: Task, log: Callable[[str], None]
) -> tuple[dict[int, Ring], Symbols]:
    """Run the task in a system with several CPUs; return the CPUs' rings at its end."""
    with closing(CoreSession(built, task)) as session:
        log("booting; with several CPUs the VMM's events are shown, and nothing of the plug-in")
        return session.run(), Symbols(built)
