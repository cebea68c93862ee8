# SPDX-License-Identifier: Apache-2.0
"""The 64-bit systems of the bench as machines that are run."""

from dataclasses import dataclass
from pathlib import Path

from gandalf.bench import amd64 as bench_amd64
from gandalf.bench import amd64_driver as bench_amd64_driver
from gandalf.bench import amd64_names
from gandalf.bench import workload as bench_workload
from gandalf.bench.target import (
    FOLDER,
    Log,
    Run,
    Target,
    function_names,
    machine_text,
    patience_for,
    plugin_of_session,
    read_session,
    scratch,
    watch,
)
from gandalf.bench.workload import SLEEPING, WORK, Work

_AMD64 = "__x64"


@dataclass
class Amd64(Target):
    """A 64-bit system of gandalf.bench.amd64. Debian's kernel has no driver for what sleeps."""

    name: str
    native: str | None = None
    cache: bool = False
    is_quick = False
    share = 60.0
    operations = tuple(name for name in Target.operations if name not in SLEEPING)

    def _added(self, work: tuple[Work, ...], log: Log) -> dict[str, Path]:  # noqa: ARG002
        """Return the files that the root file system has for the bench."""
        awake = tuple(part for part in work if not part.sleeps)
        return bench_workload.files(64, awake, FOLDER / "script-amd64")

    def run(self, work: tuple[Work, ...], log: Log) -> Run:
        # Asking a system for its names may build another root file system.
        kernel, ring_0 = (amd64_names.names(name, log) for name in (bench_amd64.NATIVE, self.name))
        parts = bench_amd64.build(self.name, self._added(work, log), log)
        with scratch() as folder:
            more = bench_amd64.PLUGIN_OPTIONS[self.name]
            arguments = plugin_of_session(kernel.addresses, _AMD64, folder, self.cache, **more)
            options = bench_amd64.qemu_options(parts, folder, arguments)
            text = watch(options, folder, patience=patience_for(self.cache), session=True).decode(
                errors="replace"
            )
            seen, between = read_session(folder)
        return Run(
            bench_workload.parse(text), seen, function_names(ring_0.find),
            self.name == bench_amd64.XEN, machine_text(options),
            _amd64_command_line(self.name), between=between, cache=self.cache,
        )  # fmt: skip


@dataclass
class Clock(Amd64):
    """A 64-bit system that loads our driver of the clock: a second machine of Amd64's."""

    is_part = True
    operations = SLEEPING

    def _added(self, work: tuple[Work, ...], log: Log) -> dict[str, Path]:  # noqa: ARG002
        sleeping, load = tuple(part for part in WORK if part.sleeps), bench_amd64_driver.LOAD
        added = bench_workload.files(64, sleeping, FOLDER / "script-amd64-clock", load)
        return {**added, bench_amd64_driver.MODULE: bench_amd64_driver.build_driver(log)}


def _amd64_command_line(system: str) -> str:
    """Return Linux's command line, with Xen's before it if there is one."""
    words = bench_amd64.KERNEL_OPTIONS
    if system == bench_amd64.XEN:
        return " ".join([*bench_amd64.XEN_OPTIONS, "--", "console=hvc0", *words])
    return " ".join(["console=ttyS0", *words])
