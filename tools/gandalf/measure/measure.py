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
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console as RichConsole
from rich.table import Table

from gandalf.base.paths import BUILD, ROOT, UserError
from gandalf.build.build import Built, build, make
from gandalf.build.symbols import Symbols, vector_text
from gandalf.description.check import Checked
from gandalf.description.description import LinuxGuest
from gandalf.measure import masked
from gandalf.measure.measurement import Block, Measurement, Window, Windows, read_measurement
from gandalf.measure.task_trace import TaskTrace, find
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for

SHELL_PROMPT = r"gandalf:\S*# "
PLUGIN = BUILD / "measure" / "plugin.so"
PATIENCE = 600.0
_BEGIN_CALL, _END_CALL = "__ia32_sys_umask", "__ia32_sys_times"
_SHOWN = 10
_SHARES = 3
# How many words the plug-in sets.
_SETS = 8
_FUNCTIONS = 20
AtEnd = Callable[["Session"], None]


def build_plugin() -> Path:
    """Build the plug-in; returns its file. Raises UserError if it cannot be built."""
    make(ROOT / "measure")
    return PLUGIN


def plugin_arguments(**options: str | int) -> tuple[str, ...]:
    """Return QEMU's arguments for the plug-in; options: those in measure/plugin.c, in order."""
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

    intervals: addresses, or names that Symbols.address() knows: (from, to). record: keep windows of
    at least so many instructions, and stop the machine where the measurement ends.
    """

    command: str | None = None
    seconds: float = 1.0
    intervals: tuple[tuple[str, str], ...] = ()
    record: int | None = None


def _linux(checked: Checked) -> str | None:
    """Return the name of the first Linux guest."""
    for _, guest in checked.system.guests:
        if isinstance(guest, LinuxGuest):
            return guest.name
    return None


class Session:
    """A system in QEMU with the plug-in, for one measurement."""

    def __init__(self, built: Built, task: Task) -> None:
        self.built, self.task = built, task
        self.symbols = Symbols(built)
        self.linux = _linux(built.checked)
        # Only a task that records is shown on a time line.
        self.tasks: tuple[TaskTrace, ...] = () if task.record is None else tuple(find(built))
        if task.command is not None and self.linux is None:
            raise UserError("A command needs a Linux guest to run in; use --for instead.")
        self._folder = Path(tempfile.mkdtemp(prefix="gandalf-measure-"))
        options = options_for(built, True, None, self._plugin())
        self.machine = Machine.attach(built, emulators.start("qemu", options))
        self._control: Control | None = None

    def _plugin(self) -> tuple[str, ...]:
        """Return QEMU's arguments for this task."""
        words: dict[str, str | int] = {
            "out": str(self._output),
            "control": str(self._folder / "control"),
            **masked.plugin_option(),
        }
        if self.task.command is None:
            words["for"] = round(self.task.seconds * 1e9)
        elif self._has_marks:
            words["begin"] = self.symbols.address(f"{self.linux}:{_BEGIN_CALL}")
            words["end"] = self.symbols.address(f"{self.linux}:{_END_CALL}")
        if self.task.record is not None:
            words |= {"stop": 1, "record": max(self.task.record, 1)}
        flag, text = plugin_arguments(**words)
        for start, end in self.task.intervals:
            text += f",from={self.symbols.address(start)},to={self.symbols.address(end)}"
        return flag, text + "".join(f",set={tasks.on}" for tasks in self.tasks[:_SETS])

    @property
    def _output(self) -> Path:
        return self._folder / "measurement.json"

    @property
    def _has_marks(self) -> bool:
        images = [image for image in self.symbols.images if image.owner == self.linux]
        return any({_BEGIN_CALL, _END_CALL} <= image.addresses.keys() for image in images)

    def _wait_for_shell(self) -> None:
        """Wait until the system is ready: Linux's shell, or the first guest's keyboard."""
        if self.linux is None:
            self.machine.select(self.built.focus, PATIENCE)
            return
        self.machine.expect(self.linux, SHELL_PROMPT, PATIENCE)
        self._shell("stty columns 500; dmesg -n 1")

    def _shell(self, line: str, meanwhile: Callable[[], None] | None = None) -> str:
        if self.linux is None:
            raise UserError("There is no Linux guest.")
        return self.machine.command(self.linux, line, SHELL_PROMPT, PATIENCE, meanwhile)

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
            self._wait_for_shell()
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
    built = build(description, log, deterministic=True)
    log("building the plug-in")
    build_plugin()
    with closing(Session(built, task)) as session:
        log("booting; the plug-in makes that take a few times as long as usual")
        return session.run(at_end), session.symbols


# --- Tables ---


def _table(title: str, *columns: str) -> Table:
    """Return a table; a column whose name begins with ">" holds numbers."""
    table = Table(title=title, title_justify="left", show_edge=False)
    for name in columns:
        table.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left")
    return table


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _rings(result: Measurement) -> Table:
    table = _table("Instructions", "ring", ">all", ">share", ">masked", ">share of the ring's")
    for ring in (0, 1, 2, 3):
        executed, masked = result.executed(ring), result.executed(ring, masked=True)
        if executed:
            table.add_row(
                str(ring), f"{executed:,}", _percent(executed, result.instructions),
                f"{masked:,}", _percent(masked, executed),
            )  # fmt: skip
    masked = sum(result.executed(ring, masked=True) for ring in range(4))
    table.add_row("all", f"{result.instructions:,}", "", f"{masked:,}", "")
    return table


def _window_kinds(result: Measurement) -> Table:
    table = _table(
        "Windows in which no interrupt can be taken", "where", ">windows", ">instructions",
        ">mean", ">longest",
    )  # fmt: skip
    for name, windows in (("all rings", result.windows), ("VMM", result.vmm_windows)):
        longest = windows.longest[0].instructions if windows.longest else 0
        mean = windows.total / windows.count if windows.count else 0
        table.add_row(
            name, f"{windows.count:,}", f"{windows.total:,}", f"{mean:,.0f}", f"{longest:,}"
        )
    return table


def _lengths(windows: Windows) -> Table:
    table = _table("Lengths of the VMM's windows", ">from", ">to", ">windows", ">share")
    for bits, count in enumerate(windows.lengths):
        if count:
            low, high = (1 << bits) >> 1, (1 << bits) - 1
            table.add_row(f"{low:,}", f"{high:,}", f"{count:,}", _percent(count, windows.count))
    return table


def shares(blocks: tuple[Block, ...], symbols: Symbols) -> list[tuple[str, int]]:
    """Return the functions that blocks belong to with their instructions, the most costly first."""
    sums: Counter[str] = Counter()
    for block in blocks:
        sums[symbols.function(block.linear)] += block.instructions
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def _spent(window: Window, symbols: Symbols) -> str:
    most = shares(window.blocks, symbols)[:_SHARES]
    return ", ".join(f"{name} {count:,}" for name, count in most)


def _longest(windows: Windows, symbols: Symbols) -> Table:
    """Those of the same length and function count as one row."""
    table = _table(
        "The VMM's longest windows", ">instructions", ">times", "begins at", "ends at", "spent in"
    )
    rows: dict[tuple[str, ...], int] = {}
    for window in windows.longest:
        row = (
            f"{window.instructions:,}", symbols.place(window.begin), symbols.place(window.end),
            _spent(window, symbols),
        )  # fmt: skip
        rows[row] = rows.get(row, 0) + 1
    for (length, *rest), times in list(rows.items())[:_SHOWN]:
        table.add_row(length, str(times), *rest)
    return table


def _longest_by_entry(result: Measurement, symbols: Symbols) -> Table:
    table = _table(
        "The VMM's longest window of each entry", ">instructions", "begins at", "ends at",
        "spent in",
    )  # fmt: skip
    windows = [row.window for row in result.handlers if row.window.instructions]
    for window in sorted(windows, key=lambda window: -window.instructions):
        table.add_row(
            f"{window.instructions:,}", symbols.place(window.begin), symbols.place(window.end),
            _spent(window, symbols),
        )  # fmt: skip
    return table


def _sections(result: Measurement, symbols: Symbols) -> Table:
    table = _table(
        "The VMM's masked sections (docs/masked-sections.md)", "section", ">times", ">longest",
        ">bound", "spent in",
    )  # fmt: skip
    for row in masked.Sections(symbols).stretches(result):
        table.add_row(
            row.name or f"NOT IN THE TABLE: {row.place}", f"{row.times:,}",
            f"{row.longest.instructions:,}", "" if row.bound is None else f"{row.bound:,}",
            _spent(row.longest, symbols),
        )  # fmt: skip
    return table


def _profile(result: Measurement, symbols: Symbols) -> Table:
    table = _table("Where the VMM's instructions went", "function", ">instructions", ">share")
    whole = sum(block.instructions for block in result.profile)
    for name, count in shares(result.profile, symbols)[:_FUNCTIONS]:
        table.add_row(name, f"{count:,}", _percent(count, whole))
    return table


def _entries(result: Measurement, symbols: Symbols) -> Table:
    table = _table(
        "Interrupts and exceptions by the vector of the VMM's entry", "vector", ">hardware",
        ">others", ">from ring 0", ">ring 1", ">ring 3", ">mean stay", ">longest stay",
    )  # fmt: skip
    rows = [handler for handler in result.handlers if handler.ring == 0]
    for handler in sorted(rows, key=lambda row: -(row.hardware + row.exceptions)):
        vector = symbols.entries.vector(handler.linear)
        name = symbols.place(handler.linear) if vector is None else vector_text(vector)
        mean = f"{handler.instructions / handler.stays:,.0f}" if handler.stays else ""
        ring0, ring1, _, ring3 = (f"{count:,}" for count in handler.from_rings)
        table.add_row(
            name, f"{handler.hardware:,}", f"{handler.exceptions:,}", ring0, ring1, ring3, mean,
            f"{handler.longest:,}",
        )  # fmt: skip
    return table


def _events(result: Measurement) -> Table:
    table = _table("Events", "what", ">ring 0", ">ring 1", ">ring 3")
    for name, counts in sorted(result.events.items()):
        if any(counts):
            table.add_row(name, *(f"{counts[ring]:,}" for ring in (0, 1, 3)))
    table.add_row("ring changes", f"{result.ring_changes:,}")
    table.add_row("entries into ring 0", f"{result.entries:,}")
    return table


def _intervals(result: Measurement, symbols: Symbols) -> Table:
    table = _table("Intervals", "from", "to", ">count", ">minimum", ">mean", ">99.9 %", ">maximum")
    for row in result.intervals:
        table.add_row(
            symbols.place(row.from_), symbols.place(row.to), f"{row.count:,}", f"{row.minimum:,}",
            f"{row.mean:,.1f}", f"{row.p999:,}", f"{row.maximum:,}",
        )  # fmt: skip
    return table


def show(result: Measurement, symbols: Symbols, console: RichConsole) -> None:
    """Print everything as tables."""
    tables = [
        _rings(result), _window_kinds(result), _lengths(result.vmm_windows),
        _longest(result.vmm_windows, symbols), _longest_by_entry(result, symbols),
        _sections(result, symbols),
        _profile(result, symbols), _entries(result, symbols), _events(result),
    ]  # fmt: skip
    if result.intervals:
        tables.append(_intervals(result, symbols))
    for table in tables:
        console.print(table)
        console.print()
    console.print(
        f"{result.instructions:,} instructions in {result.nanoseconds / 1e6:,.1f} ms of virtual "
        "time, sleep included"
    )
