# SPDX-License-Identifier: Apache-2.0
"""Machines of several CPUs in Bochs, which simulates them in turn and is deterministic."""

import re
import time
from pathlib import Path

from gandalf.base.paths import BUILD, UserError
from gandalf.bench.target import PATIENCE
from gandalf.build.build import Built
from gandalf.run import emulator
from gandalf.run.options import options_for

# Where the descriptions of these systems are written, as one differs from the other by a number.
FOLDER = BUILD / "bench" / "systems"
OPTIONS = ("cpu: model=p3_katmai, quantum=16", "clock: sync=none, time0=1704067200")
_SHOWN = 1500

_LINUX = """
[[guest]]
name = "{name}"
kind = "linux"
{cpus}
kernel = "build/linux/{kernel}/vmlinux"
initrd = "build/bench/{initrd}.cpio"
command_line = "console=ttyS0 quiet"
memory = "128M"
"""
_RTOS = """
[[guest]]
name = "{name}"
kind = "rtos"
cpu = {cpu}
image = "build/{image}.elf"
memory = "1M"
priority = {priority}
"""


def linux(name: str, cpus: str, kernel: str, initrd: str) -> str:
    """Return a Linux's part of a description. cpus: its line of that name."""
    return _LINUX.format(name=name, cpus=cpus, kernel=kernel, initrd=initrd)


def rtos(name: str, image: str, cpu: int = 0, priority: int = 10) -> str:
    """Return an RTOS's part of a description."""
    return _RTOS.format(name=name, image=image, cpu=cpu, priority=priority)


def describe(name: str, cpus: int, *guests: str, more: str = "") -> Path:
    """Write the description of a system and return its path."""
    path = FOLDER / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = f'[machine]\nmemory = "512M"\ncpus = {cpus}\n'
    text = "\n".join([machine, *guests, more])
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def options_of(built: Built, rate: int) -> emulator.Options:
    """Return how Bochs runs a system."""
    return options_for(built, True, ips=rate)


def machine_text(options: emulator.Options) -> str:
    cpus, rate = options.cpus, options.ips // 1_000_000
    return f"bochs p3_katmai, {cpus} CPUs, {rate} instructions in a us, {options.memory} MiB"


def watch(options: emulator.Options, done: str, patience: float = PATIENCE) -> bytes:
    """Run a machine until it has printed something, and return all that it printed.

    done: regular expression. patience: seconds of a CPU that Bochs may take. Raises UserError if
    the machine ends before.
    """
    machine, text, mark = emulator.Bochs(options), b"", re.compile(done.encode(), re.S)
    try:
        while not mark.search(text):
            if machine.cpu_time() > patience:
                raise UserError(f"There was no `{done}` within {patience:g} s.{_tail(text)}")
            if not (data := machine.read()):
                if not machine.alive():
                    raise UserError(f"The machine ended early.{_tail(text)}")
                time.sleep(0.05)
            text += data
    finally:
        machine.stop()
    return text


def _tail(text: bytes) -> str:
    return f"\nThe last of what it printed:\n{text[-_SHOWN:].decode(errors='replace')}"
