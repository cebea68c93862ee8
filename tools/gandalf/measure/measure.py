# SPDX-License-Identifier: Apache-2.0
"""Measures a system from outside: QEMU with the plug-in of measure/, and what becomes of it.

The measurement begins and ends where a guest executes certain instructions, so that neither the
host's speed nor an idle machine changes it: Linux's shell calls umask() before a command and
times() behind it, which hardly any program calls. A kernel without symbols leaves begin and end
to the moments at which the machine is stopped. Timeouts are for hangs only.
"""

import re
import shutil
import socket
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from gandalf.base.making import quiet
from gandalf.base.paths import BUILD, ROOT, UserError
from gandalf.build.build import Built, build, make
from gandalf.build.symbols import Symbols
from gandalf.description.check import Checked
from gandalf.description.cpus import cpus_of
from gandalf.description.description import LinuxGuest
from gandalf.measure import masked
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.measure.ring import history_options, read_layout
from gandalf.measure.task_trace import TaskTrace, find
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for

SHELL_PROMPT = r"gandalf:\S*# "
PLUGIN = BUILD / "measure" / "plugin.so"
PATIENCE = 600.0
_BEGIN_CALL, _END_CALL = "__ia32_sys_umask", "__ia32_sys_times"
# How many words the plug-in sets.
_SETS = 8
FUNCTIONS = 20
AtEnd = Callable[["Session"], None]


def build_plugin(log: Callable[[str], None] = quiet) -> Path:
    """Build the plug-in; returns its file. Raises UserError if it cannot be built."""
    make(ROOT / "measure", what="the plug-in", log=log)
    return PLUGIN


def plugin_arguments(**options: str | int) -> tuple[str, ...]:
    """Return QEMU's arguments for the plug-in; options: those in measure/options.c, in order."""
    words = [f"{name.rstrip('_')}={value}" for name, value in options.items()]
    return ("-plugin", ",".join([f"file={PLUGIN}", *words]))


class Control:
    """The plug-in's socket. The machine must be stopped when a command is given."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("r")

    def command(self, line: str) -> None:
        """Give a command: "begin" or "end". Raises UserError with what is wrong."""
        self._socket.sendall(f"{line}\n".encode())
        answer = self._line()
        while answer == "ended":
            answer = self._line()
        if answer != "ok":
            raise UserError(f"The plug-in answers: {answer.removeprefix('error: ')}.")

    def wait_for_end(self) -> None:
        """Wait until the measurement has ended by itself, while the machine runs."""
        while self._line() != "ended":
            pass

    def _line(self) -> str:
        try:
            line = self._lines.readline()
        except TimeoutError as error:
            raise UserError(f"{PATIENCE} s went by without a word of the plug-in.") from error
        if not line:
            raise UserError("The machine ended before the measurement did.")
        return line.strip()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@dataclass(frozen=True)
class Task:
    """What is to be measured: a command in Linux's shell, or so many virtual seconds.

    intervals: addresses, or names that Symbols.address() knows: (from, to). cpu: which of several,
    of which only what that one executes counts. record: keep windows of
    at least so many instructions, and stop the machine where the measurement ends.
    """

    command: str | None = None
    seconds: float = 1.0
    intervals: tuple[tuple[str, str], ...] = ()
    cpu: int = 0
    record: int | None = None


def first_linux(checked: Checked, cpu: int | None = None) -> str | None:
    """Return the name of the first Linux guest. cpu: by preference one that has this CPU."""
    guests = [guest for _, guest in checked.system.guests if isinstance(guest, LinuxGuest)]
    guests.sort(key=lambda guest: cpu is not None and cpu not in cpus_of(guest))
    return guests[0].name if guests else None


def cpu_measured(built: Built, task: Task) -> int | None:
    """Return which CPU of several is measured. Raises UserError if there is no such one."""
    cpus = built.checked.system.machine.cpus
    if task.cpu >= cpus:
        raise UserError(f"There is no CPU {task.cpu}: the machine's last one is {cpus - 1}.")
    return task.cpu if cpus > 1 else None


def line_checked(task: Task, linux: str | None) -> None:
    """Raise UserError if the task is a command and no Linux is there to run it."""
    if task.command is not None and linux is None:
        raise UserError("A command needs a Linux guest to run in; use --for instead.")


def shell(
    machine: Machine, linux: str | None, line: str, meanwhile: Callable[[], None] | None = None
) -> str:
    """Run a line in Linux's shell and return what it prints."""
    if linux is None:
        raise UserError("There is no Linux guest.")
    return machine.command(linux, line, SHELL_PROMPT, PATIENCE, meanwhile)


def wait_until_ready(machine: Machine, built: Built, linux: str | None) -> None:
    """Wait until a system is ready: Linux's shell, or the first guest's keyboard.

    A prompt ends no line, and only the console with the keyboard shows what is no line yet.
    """
    machine.select(linux or built.focus, PATIENCE)
    if linux is not None:
        machine.expect(linux, SHELL_PROMPT, PATIENCE)
        shell(machine, linux, "stty columns 500; dmesg -n 1")


class Session:
    """A system in QEMU with the plug-in, for one measurement."""

    def __init__(self, built: Built, task: Task) -> None:
        self.built, self.task = built, task
        self._cpu = cpu_measured(built, task)
        self.symbols = Symbols(built, self._cpu)
        self.linux = first_linux(built.checked, self._cpu)
        # Only a task that records is shown on a time line.
        self.tasks: tuple[TaskTrace, ...] = () if task.record is None else tuple(find(built))
        line_checked(task, self.linux)
        self._folder = Path(tempfile.mkdtemp(prefix="gandalf-measure-"))
        options = options_for(built, True, None, self._plugin())
        options = replace(options, in_turn=self._cpu is not None)
        self.machine = Machine.attach(built, emulators.start("qemu", options))
        self._control: Control | None = None

    def _plugin(self) -> tuple[str, ...]:
        """Return QEMU's arguments for this task."""
        words: dict[str, str | int] = {
            "out": str(self._output),
            "control": str(self._folder / "control"),
            **masked.plugin_option(),
        }
        if self._cpu is not None:
            words["vcpu"] = self._cpu
        if self.task.command is None:
            words["for"] = round(self.task.seconds * 1e9)
        elif self._has_marks:
            words["begin"] = self.symbols.address(f"{self.linux}:{_BEGIN_CALL}")
            words["end"] = self.symbols.address(f"{self.linux}:{_END_CALL}")
        if self.task.record is not None:
            words |= {"stop": 1, "record": max(self.task.record, 1)}
            layout, guests = read_layout(self.built.vmm), len(self.built.names)
            words |= history_options(layout, self.history, guests)
        flag, text = plugin_arguments(**words)
        for start, end in self.task.intervals:
            text += f",from={self.symbols.address(start)},to={self.symbols.address(end)}"
        return flag, text + "".join(f",set={tasks.on}" for tasks in self.tasks[:_SETS])

    @property
    def history(self) -> Path:
        """What the VMM wrote to its trace ring while the measurement was on, if it records."""
        return self._folder / "history"

    @property
    def _output(self) -> Path:
        return self._folder / "measurement.json"

    @property
    def _has_marks(self) -> bool:
        """Whether the command begins and ends with calls that the measured CPU executes."""
        guests = [guest for guest in self.symbols.guests if guest.name == self.linux]
        if self._cpu is not None and not any(set(cpus_of(g)) == {self._cpu} for g in guests):
            return False
        images = [image for image in self.symbols.images if image.owner == self.linux]
        return any({_BEGIN_CALL, _END_CALL} <= image.addresses.keys() for image in images)

    def _shell(self, line: str, meanwhile: Callable[[], None] | None = None) -> str:
        return shell(self.machine, self.linux, line, meanwhile)

    def _run_command(self, control: Control, command: str, at_end: AtEnd | None) -> None:
        control.command("begin")
        line = f'umask 22; {command}; status=$?; times >/dev/null; echo "status:$status"'
        if at_end is not None and self._has_marks:
            output = self._shell(line, lambda: self._stop_at_end(control, at_end))
        else:
            output = self._shell(line)
            control.command("end")
        found = re.search(r"^status:(\d+)$", output, re.M)
        if not found or found[1] != "0":
            raise UserError(f"The command failed in Linux:\n{output.strip()}")
        if at_end is not None and not self._has_marks:
            at_end(self)

    def _run_for(self, control: Control, at_end: AtEnd | None) -> None:
        control.command("begin")
        self._stop_at_end(control, at_end)

    def _stop_at_end(self, control: Control, at_end: AtEnd | None) -> None:
        self.machine.resume()
        control.wait_for_end()
        self.machine.pause()
        if at_end is not None:
            at_end(self)

    def run(self, at_end: AtEnd | None = None) -> Measurement:
        """Boot, measure, and return the result. Raises UserError if it cannot be had.

        at_end: called with the machine stopped where the measurement ended, for a task that
        records; if Linux has no symbols, a little later.
        """
        try:
            wait_until_ready(self.machine, self.built, self.linux)
            self.machine.pause()
            self._control = Control(self._folder / "control")
            if self.task.command is not None:
                self._run_command(self._control, self.task.command, at_end)
            else:
                self._run_for(self._control, at_end)
        except MachineError as error:
            emulator = self.machine.emulator
            why = str(error) if emulator.alive() else emulator.outcome().sentence
            raise UserError(why) from error
        return read_measurement(self._output)

    def close(self) -> None:
        if self._control is not None:
            self._control.close()
        self.machine.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def measure(
    description: Path, task: Task, log: Callable[[str], None], at_end: AtEnd | None = None
) -> tuple[Measurement, Symbols]:
    """Build a system and the plug-in, run the task, and return what was measured.

    at_end: see Session.run().
    """
    return measure_built(build(description, log, deterministic=True), task, log, at_end)


def measure_built(
    built: Built, task: Task, log: Callable[[str], None], at_end: AtEnd | None = None
) -> tuple[Measurement, Symbols]:
    """Do that with a system that was built."""
    build_plugin(log)
    with closing(Session(built, task)) as session:
        log("booting; the plug-in makes that take a few times as long as usual")
        return session.run(at_end), session.symbols
