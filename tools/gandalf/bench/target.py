# SPDX-License-Identifier: Apache-2.0
"""A machine of the bench: how it is run with the plug-in, and what came of it."""

import re
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gandalf.base.paths import BUILD, UserError
from gandalf.bench.masked import MASKED
from gandalf.bench.results import Outlier
from gandalf.bench.workload import BY_ITSELF, DONE, WORK, Output, Work
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run import emulator

Log = Callable[[str], None]
FOLDER = BUILD / "bench"
PATIENCE = 600.0
# As many times longer a machine may take with the model of caches.
CACHE_SLOWNESS = 4
# For each second of the machine's time that a script is to take. Nobody waits so long but for one
# that hangs, on a host that does much else.
PATIENCE_PER_SECOND = 30.0
_DONE = re.compile(DONE.encode(), re.M)
# More than the script's last line has.
_OVERLAP = 200
_SHOWN_LINES = 15


@dataclass(frozen=True)
class Run:
    """What a system did.

    measurements: one for each bracket of the output, in order; none if nobody measured. between:
    all the rest from the script's first line to the power-off; none if nobody measured that.
    cache: with the model of caches.
    entry_name: says what the linear address of a handler is. vmm: ring 0 is a VMM's. machine,
    command_line: QEMU's words without paths, and Linux's. more, places, outliers: of an operation,
    as in its result. footprint: as in the results, what the machine itself has said.
    """

    output: Output
    measurements: tuple[Measurement, ...]
    entry_name: Callable[[int], str]
    vmm: bool
    machine: str
    command_line: str
    between: tuple[Measurement, ...] = ()
    cache: bool = False
    more: dict[str, dict[str, float]] = field(default_factory=dict)
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    outliers: dict[str, tuple[Outlier, ...]] = field(default_factory=dict)
    footprint: dict[str, dict[str, int]] = field(default_factory=dict)


class Target(ABC):
    """A system that can be measured. native: the system that it is compared with."""

    name: str
    native: str | None
    # Of the set that is run after each change.
    is_quick = True
    # A further machine of a system, without which the system's own figures are there.
    is_part = False
    # About how many seconds it takes; what counts is how they compare with the others'.
    share = 15.0
    # Of its emulator, in the words that a user would give.
    emulator_options: tuple[str, ...] = (
        "-icount shift=0,sleep=off", "-rtc base=2024-01-01T00:00:00,clock=vm", "-seed 1",
    )  # fmt: skip
    # What it can measure.
    operations: tuple[str, ...] = (*BY_ITSELF, *(part.operation for part in WORK), *MASKED)

    def prepare(self, log: Log) -> None:  # noqa: B027 - not each has something
        """Build what takes minutes, before anything is measured. Raises UserError if it fails."""

    @abstractmethod
    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        """Boot, do the work, and return what came of it. Raises UserError if it cannot be had."""


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gandalf-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_series(folder: Path, kind: str = "") -> tuple[Measurement, ...]:
    """Read what the plug-in has written, in order."""
    found = folder.glob(f"measurement{kind}.[0-9]*")
    paths = sorted(found, key=lambda path: int(path.suffix.removeprefix(".")))
    return tuple(read_measurement(path) for path in paths)


def read_session(folder: Path) -> tuple[tuple[Measurement, ...], tuple[Measurement, ...]]:
    """Read what belongs to the brackets of the script's operations, and all the rest of it.

    The first bracket is that of `bench boot`.
    """
    first, *brackets = read_series(folder)
    last = read_measurement(_last(folder))
    return tuple(brackets), (first, *read_series(folder, ".between"), last)


def plugin(
    addresses: Mapping[str, int], prefix: str, folder: Path, **more: str | int
) -> tuple[str, ...]:
    """Return QEMU's arguments for the plug-in. more: further options of it."""
    build_plugin()
    return plugin_arguments(
        out=str(folder / "measurement"), series=1,
        begin=addresses[f"{prefix}_sys_umask"], end=addresses[f"{prefix}_sys_times"], **more,
    )  # fmt: skip


def plugin_of_session(
    addresses: Mapping[str, int], prefix: str, folder: Path, cache: bool, **more: str | int
) -> tuple[str, ...]:
    """Return the same for one that measures all from the script's first line to the power-off.

    cache: with the model of caches.
    """
    last = addresses[f"{prefix}_sys_reboot"]
    model = {"cache": 1} if cache else {}
    return plugin(addresses, prefix, folder, between=1, last=last, **model, **more)


def machine_text(options: emulator.Options) -> str:
    return f"{options.program} -cpu {options.cpu} -m {options.memory}"


def watch(
    options: emulator.Options, folder: Path, patience: float = PATIENCE, session: bool = False
) -> bytes:
    """Run a machine up to the end of the script, and return what left its serial port.

    That goes to a file: a machine whose reader is slow would wait, and so not be deterministic.
    session: up to the power-off, behind which the plug-in writes no more.
    """
    path = folder / "output"
    end, position = time.monotonic() + patience, 0
    qemu = emulator.Qemu(replace(options, output=path))

    def done() -> bool:
        return path.exists() and _DONE.search(path.read_bytes()[position:]) is not None

    try:
        while not done() or (session and not _last(folder).exists()):
            if not qemu.alive():
                if done() and (not session or _last(folder).exists()):
                    break
                raise UserError(f"The machine ended early. {qemu.outcome().sentence}{_tail(path)}")
            if time.monotonic() > end:
                raise UserError(f"The script had no end within {patience:g} s.{_tail(path)}")
            position = max((path.stat().st_size if path.exists() else 0) - _OVERLAP, 0)
            time.sleep(0.1)
    finally:
        qemu.stop()
    return path.read_bytes()


def patience_for(cache: bool) -> float:
    return PATIENCE * CACHE_SLOWNESS if cache else PATIENCE


def _last(folder: Path) -> Path:
    """Return what the plug-in writes at the power-off."""
    return folder / "measurement.last"


def _tail(path: Path) -> str:
    lines = path.read_text(errors="replace").splitlines()[-_SHOWN_LINES:] if path.exists() else []
    return "\n".join(["", "The last lines:", *lines])


def function_names(find: Callable[[int], tuple[str, int] | None]) -> Callable[[int], str]:
    def name(linear: int) -> str:
        found = find(linear)
        return found[0] if found else f"{linear:#010x}"

    return name
