# SPDX-License-Identifier: Apache-2.0
"""What the machines of the bench's 32-bit systems share: their files, scripts and names."""

from collections.abc import Callable
from pathlib import Path

from gandalf.base.paths import ROOT, UserError
from gandalf.bench import workload as bench_workload
from gandalf.bench.target import FOLDER, Log
from gandalf.build.build import Built
from gandalf.build.symbols import Symbols, vector_text
from gandalf.description.description import LinuxGuest
from gandalf.description.linux_boot import DETERMINISTIC_OPTIONS, TOOL_OPTIONS
from gandalf.guests import rootfs as linux_rootfs

SYSTEMS = ROOT / "bench" / "systems"
INITRD = FOLDER / "initramfs.cpio"
# What the kernel calls its system calls.
I386 = "__ia32"
# The VMM adds it to the command line of its guests.
CLOCK = "tsc_early_khz=1000000"


def own_script(path: Path, text: str, log: Log, more: dict[str, Path] | None = None) -> None:
    """Make the root file system with another script than that of the operations, and more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    added = {**bench_workload.build_programs(32), **(more or {}), "root/.profile": path}
    bench_workload.extended(linux_rootfs.build_measured_rootfs(ROOT, log), added, INITRD)


def vector_names(symbols: Symbols) -> Callable[[int], str]:
    def name(linear: int) -> str:
        vector = symbols.entries.vector(linear)
        if vector is not None:
            return vector_text(vector)
        return symbols.place(linear).removeprefix("linux: ")

    return name


def own_command_line(built: Built) -> str:
    """Return the command line that Linux gets."""
    for _, guest in built.checked.system.guests:
        if isinstance(guest, LinuxGuest):
            return " ".join([guest.command_line, *TOOL_OPTIONS, *DETERMINISTIC_OPTIONS, CLOCK])
    raise UserError(f"{built.checked.system.path} has no Linux guest.")
