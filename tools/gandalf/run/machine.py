# SPDX-License-Identifier: Apache-2.0
"""Drives a system from a test: starts it, reads each console, types, looks inside.

    with Machine(ROOT / "systems" / "default.toml") as machine:
        machine.expect("linux", r"~ # ", 60)
        print(machine.command("linux", "uname -r", r"~ # "))

A thread reads the serial port all the time, so that the machine never waits for
the test. QEMU runs only while a test waits for something: an idle machine without
a real clock would take a whole CPU of the host from its neighbours. Timeouts are
for hangs only: they are seconds of a CPU that the emulator has had, or seconds in which it
has slept, so that a busy host does not use them up; or many times as many of the host's clock.
"""

import codecs
import re
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from qemu.qmp import QMPError

from gandalf.build.build import Built, build
from gandalf.build.iso import make_iso
from gandalf.console.console import CTRL_A
from gandalf.console.demultiplex import VMM_CONSOLE, Demultiplexer
from gandalf.run import emulator as emulators
from gandalf.run.options import options_for

_SHOWN_LINES = 15
# How much longer than its timeout something may take by the host's clock.
_SLOWNESS = 20
# Seconds of sleep that count between two looks at the emulator, which are a second apart.
_LOOKED = 2
_NOTICE = b" has the keyboard]\r\n"


class MachineError(AssertionError):
    """What a test waited for did not come; the text has the consoles' last lines."""


class _Console:
    """What a console has printed, with \\n as the end of lines, and how much is consumed.

    It is the same whatever the pieces in which it comes: one may end within a character, or
    within a line end. Before a line feed any number of carriage returns may come, as a guest's
    terminal adds one to those that it copies from another console.
    """

    def __init__(self) -> None:
        self.text = ""
        self.position = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        decoded = self._held + self._decoder.decode(data)
        whole = decoded.rstrip("\r")
        self._held = decoded[len(whole) :]
        self.text += re.sub(r"\r+\n", "\n", whole)


class Patience:
    """Tells when a machine has had more time than it may take: computing, or asleep.

    It is asked often. How long the emulator has slept is seen from one second to the next.
    """

    def __init__(self, emulator: emulators.Emulator, seconds: float) -> None:
        self._emulator, self._seconds = emulator, seconds
        self._cpu_time = emulator.cpu_time()
        self._end = time.monotonic() + _SLOWNESS * seconds
        self._asleep = 0.0
        self._looked = self._look()

    def _look(self) -> tuple[float, float]:
        """Return the time now, and how much of all time the emulator has not been asleep."""
        awake = self._emulator.cpu_time() + self._emulator.waiting_time()
        return time.monotonic(), awake

    def _slept(self) -> float:
        """Return for how long the emulator has had nothing to do, though it might have run."""
        if time.monotonic() - self._looked[0] >= 1:
            (before, awake), self._looked = self._looked, self._look()
            asleep = self._looked[0] - before - (self._looked[1] - awake)
            # If nobody looked for long, the host may have stood still.
            self._asleep += min(max(asleep, 0), _LOOKED)
        return self._asleep

    def is_over(self) -> bool:
        used = self._emulator.cpu_time() - self._cpu_time
        over = used > self._seconds or self._slept() > self._seconds
        return over or time.monotonic() > self._end


class Machine:
    """A running system. Consoles are known by their guests' names; the VMM's is "vmm"."""

    def __init__(
        self,
        system: Path,
        emulator: str = "qemu",
        deterministic: bool = True,
        arguments: tuple[str, ...] = (),
        memory: int | None = None,
        ips: int = 1_000_000_000,
        from_iso: bool = False,
        log: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Build and start a system.

        emulator: "qemu" or "bochs". arguments: further ones for the emulator. memory: MiB,
        instead of what the description says. ips: of Bochs. from_iso: boot from the ISO image
        with GRUB. log: gets lines about the build.
        """
        built = build(system, log, deterministic)
        iso = make_iso(built) if from_iso else None
        options = options_for(built, deterministic, memory, arguments, iso, ips)
        self._run([*built.names, VMM_CONSOLE], emulators.start(emulator, options))

    @classmethod
    def attach(cls, built: Built, emulator: emulators.Emulator) -> Self:
        """Return a driver for an emulator that a test has started itself."""
        return cls.on([*built.names, VMM_CONSOLE], emulator)

    @classmethod
    def on(cls, names: list[str], emulator: emulators.Emulator) -> Self:
        """Return a driver for any machine. names: of its consoles, the VMM's last."""
        machine = cls.__new__(cls)
        machine._run(names, emulator)
        return machine

    def _run(self, names: list[str], emulator: emulators.Emulator) -> None:
        self.emulator = emulator
        self.names = names
        self._demultiplexer = Demultiplexer(self.names)
        self._consoles = {name: _Console() for name in self.names}
        self._changed = threading.Condition()
        self._stopping = False
        self._paused = False
        # Everything that came out of the serial port, for tests of the multiplexing itself.
        self.stream = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._stopping:
            running = self.emulator.alive()
            ready, _, _ = select.select([self.emulator.line], [], [], 0.1)
            data = self.emulator.read() if ready else b""
            if data:
                self._take(data)
            elif ready or not running:
                break
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def _take(self, data: bytes) -> None:
        with self._changed:
            self.stream += data
            for name, text in self._demultiplexer.feed(data):
                self._consoles[name].add(text)
            self._changed.notify_all()

    def text(self, console: str) -> str:
        """Return everything that a console has printed so far."""
        with self._changed:
            return self._consoles[console].text

    @property
    def focus(self) -> str:
        """The console that has the keyboard."""
        with self._changed:
            return self._demultiplexer.focus

    def pause(self) -> None:
        """Stop QEMU's virtual time until something is waited for; Bochs cannot be stopped."""
        if isinstance(self.emulator, emulators.Qemu) and not self._paused and not self._stopping:
            self._paused = True  # whatever becomes of the command, resume() undoes it
            self._monitor("stop")

    def resume(self) -> None:
        """Let virtual time go on."""
        if self._paused:
            self._paused = not self._monitor("cont")

    def _monitor(self, command: str) -> bool:
        """Give QEMU a command; false if it has ended meanwhile."""
        try:
            self._qemu().monitor.cmd(command)
        except (OSError, EOFError, QMPError):
            return False
        return True

    def _wait(self, what: str, condition: Callable[[], bool], timeout: float) -> None:
        """Wait for a condition on what was printed; the caller holds the lock."""
        patience = Patience(self.emulator, timeout)
        if not condition():
            self.resume()
        while not condition():
            if self._stopping:
                raise MachineError(f"The machine ended before {what}.\n{self.report()}")
            if patience.is_over():
                raise MachineError(
                    f"{timeout} s went by without {what}.\n{self.report()}\n{self._hardware()}"
                )
            self._changed.wait(1)
        self.pause()

    def report(self) -> str:
        """Return the last lines of every console, for messages."""
        parts = []
        for name, console in self._consoles.items():
            lines = console.text.splitlines()[-_SHOWN_LINES:]
            parts.append("\n".join([f"--- {name}, last lines:", *lines]))
        return "\n".join(parts)

    def _hardware(self) -> str:
        """Return what QEMU says of the hardware: why a machine stands still."""
        if not isinstance(self.emulator, emulators.Qemu):
            return ""
        parts = []
        for line in ("info status", "info registers -a", "info lapic", "info pic"):
            try:
                parts.append(f"--- {line}:\n{self.hmp(line)}")
            except (OSError, EOFError, QMPError) as error:
                parts.append(f"--- {line}: {error}")
        return "\n".join(parts)

    def expect(self, console: str, regex: str, timeout: float = 300) -> re.Match[str]:
        """Wait until a console has printed a match, and consume the text up to its end.

        Returns the match. Raises MachineError when the timeout is over or the machine ends.
        """
        pattern = re.compile(regex, re.MULTILINE)
        state = self._consoles[console]
        found: list[re.Match[str]] = []

        def matches() -> bool:
            match = pattern.search(state.text, state.position)
            if match:
                found.append(match)
            return match is not None

        with self._changed:
            self._wait(f"{regex!r} on the console {console}", matches, timeout)
            state.position = found[0].end()
        return found[0]

    def skip(self, console: str) -> None:
        """Have the next expect() begin with what is printed from now on."""
        with self._changed:
            state = self._consoles[console]
            state.position = len(state.text)

    def send_raw(self, keys: bytes) -> None:
        """Send bytes to the serial port as they are."""
        self.emulator.write(keys)

    def select(self, console: str, timeout: float = 300) -> None:
        """Give a console the keyboard, with Ctrl-A n as often as it takes.

        At the start the keyboard goes to the console that the description says; that comes first.
        """
        with self._changed:
            self._wait("the keyboard's going to a guest", lambda: _NOTICE in self.stream, timeout)
        for _ in self.names:
            if self.focus == console:
                return
            with self._changed:
                before = self.stream.count(_NOTICE)
            self.send_raw(CTRL_A + b"n")
            with self._changed:
                self._wait(
                    "the keyboard's going to the next console",
                    lambda before=before: self.stream.count(_NOTICE) > before,  # type: ignore[misc]
                    timeout,
                )
        if self.focus != console:
            raise MachineError(f"Ctrl-A n never reaches the console {console}.\n{self.report()}")

    def send(self, console: str, text: str) -> None:
        """Type text on a console; a Ctrl-A in it reaches the guest."""
        self.select(console)
        self.send_raw(text.encode().replace(CTRL_A, CTRL_A + b"a"))

    def command(
        self,
        console: str,
        line: str,
        prompt: str,
        timeout: float = 300,
        meanwhile: Callable[[], None] | None = None,
    ) -> str:
        """Type a line, wait for the prompt, and return what was printed in between.

        prompt: regular expression. The echo of the line is left out of the result. meanwhile:
        called when the line has been typed.
        """
        with self._changed:
            state = self._consoles[console]
            state.position = len(state.text)
            start = state.position
        self.send(console, line + "\n")
        if meanwhile is not None:
            meanwhile()
        match = self.expect(console, rf"(?:\A|\n)[^\n]*?{prompt}", timeout)
        output = self.text(console)[start : match.start()]
        return output.partition("\n")[2] if line in output.partition("\n")[0] else output

    def wait_off(self, timeout: float = 300) -> emulators.Outcome:
        """Wait until the machine has switched itself off, and return how."""
        patience = Patience(self.emulator, timeout)
        self.resume()
        while self.emulator.alive():
            if patience.is_over():
                raise MachineError(f"The machine is still on after {timeout} s.\n{self.report()}")
            time.sleep(0.05)
        self._reader.join()
        return self.emulator.outcome()

    def hmp(self, line: str) -> str:
        """Run a command of QEMU's monitor ("info registers") and return its output."""
        answer = self._qemu().monitor.cmd("human-monitor-command", **{"command-line": line})
        return str(answer)

    def memory(self, address: int, size: int) -> bytes:
        """Return bytes of the machine's physical memory. QEMU only."""
        content = self._qemu().memory(address, size)
        if content is None:
            raise MachineError("QEMU does not show its memory any more")
        return content

    def _qemu(self) -> emulators.Qemu:
        if not isinstance(self.emulator, emulators.Qemu):
            raise MachineError("only QEMU can be asked that")
        return self.emulator

    def stop(self) -> None:
        """End the machine."""
        self._stopping = True
        self._reader.join()
        self.emulator.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
