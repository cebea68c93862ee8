# SPDX-License-Identifier: Apache-2.0
"""Several CPUs, each with an instance of the VMM and guests of its own.

QEMU runs each CPU in a thread of the host, so what is tested there is what happens, and not when;
Bochs simulates them in turn, and is deterministic.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.build import build
from gandalf.build.profile import find_profile
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

from .systems import PATIENCE, Boot, describe, linux, rtos_guest

MACHINE = '[machine]\nmemory = "512M"\n'


def on(cpu: int, guest: str) -> str:
    """Put a guest on a CPU."""
    return guest.replace("[[guest]]\n", f"[[guest]]\ncpu = {cpu}\n", 1)


def describe_cores(name: str, cpus: int, *guests: str, more: str = "") -> Path:
    """Describe a system with several CPUs."""
    path = describe(name, *guests, memory="512M")
    text = path.read_text()
    assert "[machine]\n" in text
    path.write_text(text.replace("[machine]\n", f"[machine]\ncpus = {cpus}\n{more}", 1))
    return path


def two_rtoses(name: str, cpus: int = 2, more: str = "") -> Path:
    return describe_cores(
        name, cpus, on(0, rtos_guest("demo", "first")), on(1, rtos_guest("demo", "second")),
        more=more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def linuxes() -> Iterator[Boot]:
    """A Linux and an RTOS on each of two CPUs."""
    description = describe_cores(
        "cores-linuxes", 2, on(0, linux(more="control = true")), on(0, rtos_guest("heartbeat", "beat")),
        on(1, linux().replace('"linux"', '"other"', 1)), on(1, rtos_guest("heartbeat", "pulse")),
    )  # fmt: skip
    with Boot.start(description, deterministic=False) as machine:
        for name in ("linux", "other"):
            machine.expect(name, r"gandalf:~# ", PATIENCE)
        yield machine


def test_the_image_is_the_one_for_several_cpus(linuxes: Boot) -> None:
    assert linuxes.built.vmm == find_profile("cores").image
    assert re.search(r"^CPU 1: \d+ KiB of its pool are left$", linuxes.text("vmm"), re.M)


@pytest.mark.parametrize("name", ["linux", "other"])
def test_each_linux_works(linuxes: Boot, name: str) -> None:
    output = linuxes.command(name, "hackbench; uname -m", r"gandalf:~# ", PATIENCE)
    assert re.search(r"^Time: ", output, re.M)
    assert output.endswith("i686\n")


@pytest.mark.parametrize("name", ["beat", "pulse"])
def test_each_rtos_works(linuxes: Boot, name: str) -> None:
    linuxes.skip(name)
    linuxes.expect(name, r"^beats=\d+ ", PATIENCE)
