# SPDX-License-Identifier: Apache-2.0
"""Answers a debugger as a machine would on which one guest runs alone.

gdb speaks its remote protocol with this; addresses are the guest's own, registers are its own
whether it has the CPU or not, and each task of FreeRTOS is a thread.
"""

import re
from collections.abc import Callable
from xml.sax.saxutils import escape as xml_escape
from xml.sax.saxutils import quoteattr

from gandalf.debug.freertos import FreeRtos, Task
from gandalf.debug.remote import INTERRUPT, ClosedError, Remote, escape
from gandalf.debug.state import REGISTERS, Register
from gandalf.debug.target import Stop, Target

_OK, _UNKNOWN, _ERROR = b"OK", b"", b"E14"
_PAGE = 0x1000
# The thread of a guest that has no tasks, or none yet.
_ALONE = 1
_SUPPORTED = b"PacketSize=1000;qXfer:features:read+;qXfer:threads:read+"

Answer = Callable[[re.Match[bytes]], bytes | None]


class Server:
    """A session with one debugger. rtos: the guest's tasks, if it is a FreeRTOS."""

    def __init__(self, gdb: Remote, target: Target, rtos: FreeRtos | None) -> None:
        self._gdb, self._target, self._rtos = gdb, target, rtos
        self._stop = Stop.BREAKPOINT
        self._thread = 0  # 0: the one that runs
        number = rb"([0-9a-f]+)"
        self._answers: list[tuple[re.Pattern[bytes], Answer]] = [
            (re.compile(pattern, re.S), answer)
            for pattern, answer in (
                (rb"\?", lambda _: self._stopped()),
                (rb"qSupported.*", lambda _: _SUPPORTED),
                (rb"qXfer:features:read:.*", self._forward),
                (rb"qRcmd,.*", self._command),
                (rb"qXfer:threads:read::" + number + b"," + number, self._thread_list),
                (rb"qfThreadInfo", lambda _: b"m" + b",".join(b"%x" % n for n in self._numbers())),
                (rb"qsThreadInfo", lambda _: b"l"),
                (rb"qC", lambda _: b"QC%x" % self._running()),
                (rb"qAttached.*", lambda _: b"1"),
                (rb"T" + number, lambda m: _OK if int(m[1], 16) in self._numbers() else _ERROR),
                (rb"Hg(-?[0-9a-f]+)", self._select),
                (rb"Hc.*", lambda _: _OK),
                (rb"g", lambda _: self._registers()),
                (rb"G([0-9a-f]+)", self._set_registers),
                (rb"p" + number, self._register),
                (rb"P" + number + b"=([0-9a-f]{8})", self._set_register),
                (rb"m" + number + b"," + number, self._memory),
                (rb"M" + number + b"," + number + b":([0-9a-f]*)", self._set_memory),
                (rb"([zZ])([0-4])," + number + b",(.+)", self._breakpoint),
                (rb"[sS].*", lambda _: self._go(self._target.step)),
                (rb"[cC].*", lambda _: self._go(self._target.resume)),
                (rb"D.*", self._detach),
                (rb"k|vKill.*", self._kill),
            )
        ]

    def serve(self) -> None:
        """Answer until the debugger or the machine ends."""
        try:
            while True:
                packet = self._gdb.receive()
                if packet != INTERRUPT:
                    self._serve(packet)
        except ClosedError:
            return

    def _serve(self, packet: bytes) -> None:
        for pattern, answer in self._answers:
            match = pattern.fullmatch(packet)
            if match:
                try:
                    data = answer(match)
                except ValueError:
                    data = _ERROR
                if data is not None:
                    self._gdb.send(escape(data))
                return
        self._gdb.send(_UNKNOWN)

    # --- Running ---

    def _interrupted(self) -> bool:
        self._gdb.wait(0)
        return self._gdb.poll() == INTERRUPT

    def _go(self, run: Callable[[Callable[[], bool]], Stop]) -> bytes | None:
        try:
            self._stop = run(self._interrupted)
        except ClosedError:  # the machine has switched itself off, or the debugger is gone
            self._gdb.send(b"W00")
            raise
        self._thread = 0
        return self._stopped()

    def _stopped(self) -> bytes:
        return b"T%02xthread:%x;" % (self._stop.value, self._running())

    def _detach(self, _: re.Match[bytes]) -> bytes | None:
        self._gdb.send(_OK)
        for address in self._target.breakpoints:
            self._target.qemu.ask(b"z0,%x,1" % address)
        self._target.qemu.send(b"D")
        raise ClosedError

    def _kill(self, _: re.Match[bytes]) -> bytes | None:
        raise ClosedError

    # --- Threads ---

    def _tasks(self) -> list[Task]:
        return self._rtos.tasks() if self._rtos is not None else []

    def _numbers(self) -> list[int]:
        return [task.tcb for task in self._tasks()] or [_ALONE]

    def _running(self) -> int:
        return (self._rtos.current() if self._rtos is not None else 0) or _ALONE

    def _select(self, match: re.Match[bytes]) -> bytes:
        self._thread = max(int(match[1], 16), 0)
        return _OK

    def _thread_list(self, match: re.Match[bytes]) -> bytes:
        rows = [
            f'<thread id="{task.tcb:x}" name={quoteattr(task.name)}>'
            f"{xml_escape(task.state)}</thread>"
            for task in self._tasks()
        ] or [f'<thread id="{_ALONE}"/>']
        text = f'<?xml version="1.0"?><threads>{"".join(rows)}</threads>'.encode()
        start, size = int(match[1], 16), int(match[2], 16)
        more = b"m" if start + size < len(text) else b"l"
        return more + text[start : start + size]

    # --- Registers and memory ---

    def _saved(self) -> dict[str, Register] | None:
        """Return the registers of the chosen thread that stand in memory; None: in the CPU."""
        if self._rtos is not None and self._thread not in (0, _ALONE, self._running()):
            registers = self._rtos.saved(self._thread)
            physical = self._target.guest.physical
            return {
                name: Register(item.value, item.address and physical(item.address))
                for name, item in registers.items()
            }
        return None if self._target.live else self._target.guest.saved()

    def _registers(self) -> bytes:
        block = self._target.qemu.ask(b"g")
        saved = self._saved()
        if saved is None:
            return block
        first = b"".join(saved[name].value.to_bytes(4, "little") for name in REGISTERS)
        return first.hex().encode() + block[2 * len(first) :]

    def _register(self, match: re.Match[bytes]) -> bytes | None:
        number, saved = int(match[1], 16), self._saved()
        if saved is None or number >= len(REGISTERS):
            return self._forward(match)
        return saved[REGISTERS[number]].value.to_bytes(4, "little").hex().encode()

    def _put(self, number: int, value: bytes) -> bytes:
        saved = self._saved()
        if saved is None or number >= len(REGISTERS):
            return self._target.qemu.ask(b"P%x=%s" % (number, value.hex().encode()))
        address = saved[REGISTERS[number]].address
        if address is None:
            return _ERROR
        self._target.write(address, value)
        return _OK

    def _set_register(self, match: re.Match[bytes]) -> bytes:
        return self._put(int(match[1], 16), bytes.fromhex(match[2].decode()))

    def _set_registers(self, match: re.Match[bytes]) -> bytes:
        before, after = (bytes.fromhex(text.decode()) for text in (self._registers(), match[1]))
        for number in range(len(REGISTERS)):
            value = after[4 * number : 4 * number + 4]
            if value != before[4 * number : 4 * number + 4]:
                self._put(number, value)
        return _OK

    def _pieces(self, address: int, size: int) -> list[tuple[int, int]]:
        """Return where memory of the guest is, page by page, as far as there is any."""
        found = []
        while size:
            count = min(size, _PAGE - address % _PAGE)
            place = self._target.guest.physical(address)
            if place is None:
                break
            found.append((place, count))
            address, size = address + count, size - count
        return found

    def _memory(self, match: re.Match[bytes]) -> bytes:
        pieces = self._pieces(int(match[1], 16), int(match[2], 16))
        if not pieces and int(match[2], 16):
            return _ERROR
        return b"".join(self._target.read(*piece) for piece in pieces).hex().encode()

    def _set_memory(self, match: re.Match[bytes]) -> bytes:
        size, data = int(match[2], 16), bytes.fromhex(match[3].decode())
        pieces = self._pieces(int(match[1], 16), size)
        if sum(count for _, count in pieces) != size or len(data) != size:
            return _ERROR
        for place, count in pieces:
            self._target.write(place, data[:count])
            data = data[count:]
        return _OK

    def _breakpoint(self, match: re.Match[bytes]) -> bytes:
        """Set or clear one. QEMU's are linear addresses, which the guest's segments begin at."""
        address = (int(match[3], 16) + self._target.guest.linear) & 0xFFFFFFFF
        answer = self._target.qemu.ask(b"%s%s,%x,%s" % (match[1], match[2], address, match[4]))
        if match[2] in (b"0", b"1") and answer == _OK:
            known = self._target.breakpoints
            known.add(address) if match[1] == b"Z" else known.discard(address)
        return answer

    # --- What QEMU answers itself ---

    def _forward(self, match: re.Match[bytes]) -> bytes:
        return self._target.qemu.ask(match[0])

    def _command(self, match: re.Match[bytes]) -> bytes:
        """Let QEMU's monitor do a command; what it prints comes before its answer."""
        answer = self._forward(match)
        while answer[:1] == b"O" and answer != _OK:
            self._gdb.send(answer)
            answer = self._target.qemu.receive()
        return answer
