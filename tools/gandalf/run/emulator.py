# SPDX-License-Identifier: Apache-2.0
"""Starts QEMU or Bochs with a system and gives access to its serial port.

Whatever the host does, no byte of the serial port is lost, and how fast the port is read
makes no difference to the machine. QEMU writes to a pipe with so much room that it is never
full: a UART that cannot get rid of a byte would look slow to the guest. (A socket is full
with 278 bytes, when they are written one by one.) Bochs throws away what it cannot write
to a terminal, but waits for a socket, and time stands still for the guest. For its own
screen it makes a pseudoterminal, which is read here: else it would wait for room there
some minutes later, for ever. Both end with this process (setpriv --pdeathsig).
"""

import contextlib
import fcntl
import os
import re
import select
import shutil
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path

from qemu.qmp import QMPError
from qemu.qmp.legacy import QEMUMonitorProtocol

from gandalf.base.paths import UserError
from gandalf.console.console import read_line, write_all
from gandalf.run import bochs, busy, screen
from gandalf.run.bochs import PENTIUM_III
from gandalf.run.loader import write_disk

# The VMM writes 0x10 or 0x11 to QEMU's isa-debug-exit, which exits with twice that plus 1.
QEMU_POWERED_OFF = 33
QEMU_VMM_FAILED = 35
_START_OF_TIME = "2024-01-01T00:00:00"
_START_OF_TIME_SECONDS = 1704067200
# What the VMM says before it switches the machine off, and how far from the end at most.
_POWERED_OFF = b"all guests are off"
_TAIL = 4096
# What a pipe may hold without privileges.
_PIPE_SIZE = 1 << 20


@dataclass(frozen=True)
class Options:
    """How to run a machine.

    memory: MiB. uart: "com1" or "com2". iso: boot from this image instead of loading kernel and
    module. gdb: wait for a debugger where QEMU's option -gdb says. ips: Bochs' instructions per
    virtual second, which is also the frequency of its time stamp counter. program: QEMU's. cpu:
    what is emulated, by the emulator's own name for it. output: a file that gets what leaves
    the serial port, which then takes no input; it takes all at once, so that no reader can hold
    the machine up. shift: an instruction takes 2 to the power of it nanoseconds of virtual
    time. pace: QEMU's plug-in that holds virtual time back where it is ahead of the host's
    clock; without it, unless deterministic, QEMU sets it to the host's clock whenever the CPU
    sleeps. cpus: with more than one QEMU runs each in a thread of the host, and time is the
    host's; in_turn: in one thread, each until it executes PAUSE or halts, or for a tenth of a
    second: then the machine is deterministic, and time is the sum of what all execute.
    """

    memory: int
    kernel: Path | None = None
    module: Path | None = None
    iso: Path | None = None
    uart: str = "com1"
    deterministic: bool = False
    gdb: str | None = None
    ips: int = 1_000_000_000
    arguments: tuple[str, ...] = field(default=())
    program: str = "qemu-system-i386"
    cpu: str = PENTIUM_III
    output: Path | None = None
    shift: int = 0
    cpus: int = 1
    in_turn: bool = False
    pace: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """How a machine ended; clean: all guests had powered off."""

    clean: bool
    sentence: str


_SWITCHED_OFF = Outcome(True, "The machine has switched itself off.")
_VMM_FAILED = Outcome(False, "The VMM has stopped the machine; its last line says why.")


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise UserError(f"There is no {name}; run `tools/setup run test` to install it.")
    return path


class Emulator(ABC):
    """A running machine. line, keyboard: descriptors of its serial port, to read and to write."""

    line: int
    keyboard: int
    # The last bytes read from it.
    tail = b""

    def read(self) -> bytes:
        """Return what has arrived at the serial port; nothing when it is closed."""
        data = read_line(self.line)
        self.tail = (self.tail + data)[-_TAIL:]
        return data

    def read_soon(self) -> bytes:
        """Return what arrives at the serial port within a moment; nothing if that is nothing."""
        ready = self.line >= 0 and select.select([self.line], [], [], 0.1)[0]
        return self.read() if ready else b""

    def write(self, keys: bytes) -> None:
        """Send bytes to the serial port."""
        write_all(self.keyboard, keys)

    def memory(self, _address: int, _size: int) -> bytes | None:
        """Return bytes of the machine's physical memory; None where they cannot be read."""
        return None

    @abstractmethod
    def process(self) -> int:
        """Return the number of the emulator's process."""

    def cpu_time(self) -> float:
        """Return the seconds of a CPU that the emulator has had; 0 when it has ended."""
        try:
            status = Path(f"/proc/{self.process()}/stat").read_text()
        except OSError:
            return 0
        user, system = status.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def waiting_time(self) -> float:
        """Return the seconds that the emulator's threads could have run, but had no CPU."""
        total = 0
        for statistics in Path("/proc").glob(f"{self.process()}/task/*/schedstat"):
            with contextlib.suppress(OSError):  # the thread has ended meanwhile
                total += int(statistics.read_text().split()[1])
        return total / 1e9

    @abstractmethod
    def alive(self) -> bool:
        """Tell whether the machine still runs."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """Wait for the machine's end and return how it ended."""

    @abstractmethod
    def stop(self) -> None:
        """End the machine if it still runs, and free what it used."""


class Qemu(Emulator):
    """QEMU. monitor: its QMP connection."""

    def __init__(self, options: Options) -> None:
        monitor, monitor_theirs = socket.socketpair()
        self._folder = Path(tempfile.mkdtemp(prefix="gandalf-qemu-"))
        serial = self._folder / "uart"
        self.line, self.keyboard = (_pipe(serial.with_suffix(end)) for end in (".out", ".in"))
        os.set_blocking(self.keyboard, True)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the machine
        if options.module is not None:
            options = replace(options, module=_link(options.module, self._folder))
        command = qemu_command(options, serial, monitor_theirs.fileno())
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command], pass_fds=(monitor_theirs.fileno(),),
            stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors,
        )  # fmt: skip
        monitor_theirs.close()
        self._monitor_socket = monitor
        self._monitor: QEMUMonitorProtocol | None = None

    @property
    def monitor(self) -> QEMUMonitorProtocol:
        """The QMP connection, made when it is first used."""
        if self._monitor is None:
            connection = QEMUMonitorProtocol(self._monitor_socket)
            try:
                connection.connect()
            except AssertionError as error:  # so it says that QEMU ended behind its greeting
                raise ConnectionResetError("QEMU has ended") from error
            self._monitor = connection
        return self._monitor

    def memory(self, address: int, size: int) -> bytes | None:
        try:
            answer = self.monitor.cmd(
                "human-monitor-command", **{"command-line": f"xp /{size}xb {address:#x}"}
            )
        except (OSError, EOFError, QMPError):  # it has ended
            return None
        found = re.findall(
            r"0x([0-9a-f]{2})\b", re.sub(r"^[0-9a-f]+:", "", str(answer), flags=re.M)
        )
        return bytes(int(value, 16) for value in found)

    def process(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def outcome(self) -> Outcome:
        status = self._process.wait()
        if status in (QEMU_POWERED_OFF, QEMU_VMM_FAILED):
            return _SWITCHED_OFF if status == QEMU_POWERED_OFF else _VMM_FAILED
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip()
        if status == 0:
            return Outcome(False, "The machine was reset: the VMM or its boot failed.")
        return Outcome(False, f"QEMU ended with status {status}. {words}".strip())

    def stop(self) -> None:
        if self._monitor is not None:
            with contextlib.suppress(EOFError, OSError, QMPError):  # it may have ended by itself
                self._monitor.close()
            self._monitor = None
        self._monitor_socket.close()
        if self.alive():
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self.line >= 0:
            os.close(self.line)
            os.close(self.keyboard)
            self.line = self.keyboard = -1
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _pipe(path: Path) -> int:
    """Make a named pipe with much room; returns a descriptor that has no end of file."""
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    with contextlib.suppress(OSError):  # less, where the user has many already
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return descriptor


def _link(path: Path, folder: Path) -> Path:
    """Name a file in a folder of ours: emulators take a comma or a space for the end of a path."""
    link = folder / f"image{path.suffix}"
    link.symlink_to(path.absolute())
    return link


def qemu_command(options: Options, serial: Path, monitor: int) -> list[str]:
    """Return QEMU's command line; serial: of two pipes, without .in and .out; monitor: a socket."""
    counts = options.deterministic or options.pace
    clock = ["-icount", f"shift={options.shift},sleep={'off' if counts else 'on'}"]
    if options.pace:
        clock += ["-plugin", f"file={options.pace}"]
    if options.cpus > 1:
        thread = ["-accel", f"tcg,thread={'single' if options.in_turn else 'multi'}"]
        clock = [*(clock if options.in_turn else ()), *thread]
        clock += ["-smp", f"{options.cpus},sockets={options.cpus}"]
    if options.deterministic:
        clock += ["-rtc", f"base={_START_OF_TIME},clock=vm", "-seed", "1"]
    if options.iso:
        boot = ["-cdrom", str(options.iso)]
    else:
        module = ["-initrd", str(options.module)] if options.module else []
        boot = ["-kernel", str(options.kernel), *module]
    ports = ["chardev:uart"] if options.uart == "com1" else ["null", "chardev:uart"]
    # A drive without a disk, which QEMU has by default, is what the BIOS would wait for.
    return [
        _program(options.program), "-cpu", options.cpu, "-m", str(options.memory), *boot,
        "-nodefaults", "-vga", "std", "-display", "none", "-no-reboot",
        "-device", "isa-debug-exit,iobase=0xf4,iosize=4", *clock,
        "-chardev", f"file,id=uart,path={options.output}" if options.output else
        f"pipe,id=uart,path={serial}",
        *(word for port in ports for word in ("-serial", port)),
        "-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor,mode=control",
        *(["-gdb", options.gdb, "-S"] if options.gdb else []), *options.arguments,
    ]  # fmt: skip


class Bochs(Emulator):
    """Bochs. log: what Bochs itself has to say."""

    def __init__(self, options: Options) -> None:
        program = _program("bochs-bin")
        bochs.check_roms()
        self._folder = Path(tempfile.mkdtemp(prefix="gandalf-bochs-"))
        self.log = self._folder / "bochs.log"
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self._start(program, options, undo)
            undo.pop_all()

    def _start(self, program: str, options: Options, undo: contextlib.ExitStack) -> None:
        """Start it. undo: gets what ends it, if something fails on the way."""
        boot = self._boot_text(options)
        listener = socket.create_server(("127.0.0.1", 0))
        configuration, script = self._folder / "bochsrc", self._folder / "commands"
        port = listener.getsockname()[1]
        machine = bochs.machine_text(
            memory=options.memory, cpu=options.cpu, cpus=options.cpus, ips=options.ips,
            time=_START_OF_TIME_SECONDS, serial=options.uart, port=port, log=self.log,
        )  # fmt: skip
        configuration.write_text(machine + boot)
        script.write_text("c\nq\n")
        command = ["--pdeathsig", "KILL", program, "-q", "-f", str(configuration)]
        # For each look at a keyboard without a key it would wait a millisecond of the host's, a
        # thousand times and more in a second of its own. At the end of a file it waits for none.
        self._process = subprocess.Popen(
            ["setpriv", *command, "-rc", str(script), *options.arguments],
            env={**os.environ, "TERM": "xterm", "LINES": "50", "COLUMNS": "120"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        undo.callback(self._process.kill)
        self._serial = self._connection(listener)
        self.line = self.keyboard = self._serial.fileno()
        # Its screen is there before its serial port.
        self._screen = screen.Screen(self._process.pid)

    def _boot_text(self, options: Options) -> str:
        if options.iso:
            return bochs.cd_text(_link(options.iso, self._folder))
        if options.kernel is None:
            raise ValueError("Bochs needs a kernel, or an ISO image to boot from")
        disk = self._folder / "disk"
        write_disk(disk, options.kernel, options.module, options.memory)
        return bochs.disk_text(disk)

    def _connection(self, listener: socket.socket) -> socket.socket:
        """Wait until Bochs has connected its serial port."""
        with listener:
            while not select.select([listener], [], [], 0.1)[0]:
                if not self.alive():
                    raise UserError(self.outcome().sentence)
            connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def read(self) -> bytes:
        data = super().read()
        # Bochs' side keeps small pieces back until those before are acknowledged.
        with contextlib.suppress(OSError):
            self._serial.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return data

    def process(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def outcome(self) -> Outcome:
        self._process.wait()
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        if "Shutdown port: shutdown requested" in text:
            # Bochs knows one way to end; the VMM uses it for its own errors as well.
            clean = _POWERED_OFF in self.tail
            return _SWITCHED_OFF if clean else _VMM_FAILED
        panics = [line for line in text.splitlines() if line[11:12] == "p"]
        return Outcome(False, f"Bochs ended. {panics[-1] if panics else ''}".strip())

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._screen.close()
        self._serial.close()
        self.line = self.keyboard = -1
        shutil.rmtree(self._folder, ignore_errors=True)


def start(name: str, options: Options) -> Emulator:
    """Start a machine. name: "qemu" or "bochs". Raises UserError if there is no such program."""
    machine: Emulator = Bochs(options) if name == "bochs" else Qemu(options)
    if seed := os.environ.get(busy.VARIABLE):
        host = busy.BusyHost(int(seed), machine.process(), machine.read, machine.write)
        machine.read, machine.write = host.read, host.write  # type: ignore[method-assign]
    return machine
