# SPDX-License-Identifier: Apache-2.0
"""What systems have in common that `gandalf bench` measures in Bochs: script, files and samples."""

from dataclasses import replace
from pathlib import Path

from gandalf.base.paths import ROOT
from gandalf.bench import cores
from gandalf.bench import cores_machine as machines
from gandalf.bench.cores import STORM
from gandalf.bench.target import FOLDER, Log, Run, Target
from gandalf.bench.workload import build_programs, extended
from gandalf.guests import rootfs as linux_rootfs

# What Linux is given, beside what the tool adds.
COMMAND_LINE = "console=ttyS0 quiet"
DONE = r"bench: the script is done\r*\n"
# The place of an RTOS's image below build/ that halts at once, and of one that measures itself.
IDLE, DEMO = "bench/rtos/idle", "freertos/demo-anew"


class Simulated(Target):
    """A machine in Bochs."""

    emulator_options = machines.OPTIONS
    is_quick = False


def initrd_of(name: str, script: str, log: Log, more: dict[str, Path] | None = None) -> Path:
    """Make the root file system with a script and more files, and return its path."""
    profile = FOLDER / f"script-{name}"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text(script)
    added = {**build_programs(32), **(more or {}), "root/.profile": profile}
    return extended(linux_rootfs.build_measured_rootfs(ROOT, log), added, FOLDER / f"{name}.cpio")


def run_of(output: cores.CoresOutput, names: tuple[str, ...], machine: str, line: str) -> Run:
    """Return a run with a sample for each operation."""
    samples, more = list(output.plain.samples), {}
    for name in names:
        if name in output.together:
            samples.append(cores.together_sample(name, output))
            more[name] = cores.together_events(name, output)
        elif name == STORM and "fork_exit" in output.together:
            samples.append(cores.storm_sample(output))
            more[name] = cores.storm_events(output)
        elif name in output.elapsed:
            samples.append(cores.elapsed_sample(name, output))
            more[name] = cores.elapsed_events(name, output)
    plain = replace(output.plain, samples=tuple(samples))
    return Run(plain, (), hex, False, machine, line, more=more)
