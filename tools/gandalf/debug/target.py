# SPDX-License-Identifier: Apache-2.0
"""QEMU's side of a debugging session: memory, registers, and running until a guest has the CPU.

QEMU shows CPUs as they are, the VMM in ring 0 included; each is a thread to a debugger, and
breakpoints are linear addresses of whichever comes there. Here a guest runs from one of its own
instructions to another, and the VMM's work between them passes unseen, and so does what the other
CPUs do.
"""

import re
from collections.abc import Callable
from enum import Enum

from gandalf.base.paths import UserError
from gandalf.build.build import Built
from gandalf.build.symbols import Image
from gandalf.debug.remote import INTERRUPT, Remote
from gandalf.debug.state import REGISTERS, GuestState

# Bytes that one packet reads or writes.
_CHUNK = 0x400
# The IRETs by which the VMM returns to guests; an image without two levels has the first alone.
_RETURNS = ("return_iret", "call_iret", "view_switch_iret")
_THREAD = re.compile(rb"thread:(?:p[0-9a-f]+\.)?([0-9a-f]+);")
_CS, _EIP, _EAX = (REGISTERS.index(name) for name in ("cs", "eip", "eax"))


class Stop(Enum):
    """Why the guest stands still; the value is the number of a signal."""

    BREAKPOINT = 5
    INTERRUPT = 2
    FAULT = 6  # the VMM has stopped it for a mistake


class Target:
    """A machine in QEMU that stands still but while one of the functions below runs it.

    cpu: the guest's, whose registers are those that QEMU tells of while it stands still.
    """

    def __init__(self, qemu: Remote, built: Built, cpu: int) -> None:
        self.qemu = qemu
        self._thread = cpu + 1
        code = Image(built.vmm, "vmm").addresses
        # The last instruction of each way back to a guest, and the report on one that has ended.
        self._entries = {code[name] for name in _RETURNS if name in code}
        self._report = code["report"]
        self.breakpoints: set[int] = set()  # linear addresses, of instructions
        self.guest: GuestState

    def begin(self) -> None:
        """Learn that the machine stands still. All memory is physical from now on."""
        self.qemu.ask(b"?")
        if self.qemu.ask(b"Qqemu.PhyMemMode:1") != b"OK":
            raise UserError(
                "This QEMU cannot show physical memory to a debugger; 4.1 and later can."
            )
        self._select()

    def read(self, address: int, size: int) -> bytes:
        """Return physical memory."""
        data = b""
        while len(data) < size:
            count = min(size - len(data), _CHUNK)
            answer = self.qemu.ask(b"m%x,%x" % (address + len(data), count))
            if answer[:1] == b"E":
                raise ValueError(f"there is no memory at {address:#x}")
            data += bytes.fromhex(answer.decode())
        return data

    def write(self, address: int, data: bytes) -> None:
        """Write physical memory."""
        for start in range(0, len(data), _CHUNK):
            piece = data[start : start + _CHUNK]
            self.qemu.ask(b"M%x,%x:%s" % (address + start, len(piece), piece.hex().encode()))

    def _select(self) -> None:
        """Have QEMU tell of the guest's CPU, whichever has stopped."""
        self.qemu.ask(b"Hg%x" % self._thread)

    def registers(self) -> list[int]:
        """Return the CPU's registers, in the order of REGISTERS."""
        block = bytes.fromhex(self.qemu.ask(b"g")[: 8 * len(REGISTERS)].decode())
        return [int.from_bytes(block[4 * i : 4 * i + 4], "little") for i in range(len(REGISTERS))]

    @property
    def live(self) -> bool:
        """Whether the CPU executes the guest, so that its registers are the CPU's."""
        return self.guest.runs(self.registers()[_CS])

    def _run(self, command: bytes, interrupted: Callable[[], bool]) -> int:
        """Let the machine go on until QEMU says that it has stopped; returns the thread that has.

        Others may have reached breakpoints at the same time: they stop there when they go on.
        """
        self.qemu.send(command)
        while (answer := self.qemu.poll()) is None or answer == INTERRUPT:
            self.qemu.wait(0.1)
            if interrupted():
                self.qemu.send_raw(INTERRUPT)
        stopped = _THREAD.search(answer)
        self._select()
        return int(stopped[1], 16) if stopped else self._thread

    def _step(self, thread: int, interrupted: Callable[[], bool]) -> None:
        """Execute one instruction of whoever runs there, although a breakpoint may be on it.

        All others stand still, so that none passes a breakpoint meanwhile.
        """
        self._breakpoints(b"z", self.breakpoints)
        self._run(b"vCont;s:%x" % thread, interrupted)
        self._breakpoints(b"Z", self.breakpoints)

    def _breakpoints(self, command: bytes, addresses: set[int]) -> None:
        """Set (Z) or clear (z) breakpoints."""
        for address in addresses:
            self.qemu.ask(b"%s0,%x,1" % (command, address))

    def _continue(self, addresses: set[int], interrupted: Callable[[], bool]) -> int:
        """Run until a breakpoint of the user's, or one at these addresses of the VMM.

        Returns the thread that has stopped.
        """
        self._breakpoints(b"Z", addresses)
        thread = self._run(b"vCont;c", interrupted)
        self._breakpoints(b"z", addresses)
        return thread

    def _reason(self) -> Stop | None:
        """Return why the guest has stopped; None if it was the VMM, or another guest."""
        registers = self.registers()
        if registers[_CS] & 3:
            return Stop.BREAKPOINT if self.guest.runs(registers[_CS]) else None
        reported = registers[_EIP] == self._report and self.guest.is_vm(registers[_EAX])
        return Stop.FAULT if reported else None

    def resume(self, interrupted: Callable[[], bool], *, to_guest: bool = False) -> Stop:
        """Run until the guest reaches a breakpoint, has ended, or somebody interrupts.

        to_guest: or until it executes its next instruction.
        """
        internal = {self._report, *self._entries} if to_guest else {self._report}
        asked = False

        def ask() -> bool:
            nonlocal asked
            new = not asked and interrupted()
            asked |= new
            return new

        while True:
            thread = self._continue(internal, ask)
            if asked:
                return Stop.INTERRUPT
            reason = self._reason() if thread == self._thread else None
            if reason is not None:
                return reason
            self._step(thread, ask)
            if asked:
                return Stop.INTERRUPT
            if to_guest and self.live:
                return Stop.BREAKPOINT

    def step(self, interrupted: Callable[[], bool]) -> Stop:
        """Execute one instruction of the guest, with whatever the VMM does for it."""
        if not self.live:
            stop = self.resume(interrupted, to_guest=True)
            if stop is not Stop.BREAKPOINT:
                return stop
        self._step(self._thread, lambda: False)
        if self.live:
            return Stop.BREAKPOINT
        return self.resume(interrupted, to_guest=True)
