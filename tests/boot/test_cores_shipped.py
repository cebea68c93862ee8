# SPDX-License-Identifier: Apache-2.0
"""The systems for several CPUs as they are shipped: each Linux works, and no RTOS misses anything.

In QEMU the CPUs are threads of the host, so there the time of an RTOS says nothing. In Bochs they
take turns, and time is what they execute.
"""

import re

import pytest

from gandalf.base.paths import ROOT
from gandalf.description.cpus import cpus_of
from gandalf.description.description import LinuxGuest, System
from gandalf.run.emulator import Bochs

from .systems import FEW_INSTRUCTIONS, PATIENCE, PROMPT, Boot
from .test_cores import BESIDE_POOL, beside_pools

SYSTEMS = ROOT / "systems"
SHARED = (
    "cores-linux", "cores-smp", "cores-smp-4", "cores-smp-8", "cores-apart", "smp-shared-cores",
    "cores-rtoses",
)  # fmt: skip
# While this one's Linux runs nobody else has the serial port.
DEDICATED = "cores-dedicated"
# In test_cores.py.
CHANNEL = "cores-freertos"
ONLINE = "cat /sys/devices/system/cpu/online"
BEATS = r"^activations=(\d+) .* missed=(\d+)\n"

pytestmark = pytest.mark.rings


def linuxes(system: System) -> list[LinuxGuest]:
    return [guest for _, guest in system.guests if isinstance(guest, LinuxGuest)]


def rtoses(system: System) -> list[str]:
    return [guest.name for _, guest in system.guests if not isinstance(guest, LinuxGuest)]


def works(machine: Boot, guest: LinuxGuest) -> None:
    """Have a Linux tell its CPUs, and use the last one alone, and all."""
    vcpus = len(cpus_of(guest))
    machine.wait_for_prompt(guest.name)
    said = machine.command(guest.name, f"echo; {ONLINE} || echo 0", PROMPT, PATIENCE)
    assert re.search(rf"^0{f'-{vcpus - 1}' if vcpus > 1 else ''}$", said, re.M), said
    for line in (f"taskset -c {vcpus - 1} hackbench -g 1 -l 2", "hackbench -g 1 -l 10"):
        assert "40 tasks" in machine.command(guest.name, line, PROMPT, PATIENCE)


def are_apart(machine: Boot, guests: list[LinuxGuest]) -> None:
    """See that each Linux has memory and a clock of its own: each writes at the same place."""
    for guest in guests:
        line = f"echo of {guest.name} > /tmp/mark"
        machine.command(guest.name, line, PROMPT, PATIENCE)
    for guest in guests:
        said = machine.command(guest.name, "cat /tmp/mark; hwclock -r", PROMPT, PATIENCE)
        assert re.search(rf"^of {guest.name}$", said, re.M), said
        assert re.search(r" \d\d:\d\d:\d\d \d{4}\b", said), said


def misses_nothing(machine: Boot, name: str) -> None:
    """See an RTOS at work from now on; in Bochs it has been in time."""
    machine.skip(name)
    machine.expect(name, BEATS, PATIENCE)
    if isinstance(machine.emulator, Bochs):
        told = re.findall(BEATS, machine.text(name), re.M)
        assert {missed for _, missed in told} == {"0"}, told


def boot(name: str, emulator: str) -> None:
    with Boot.start(SYSTEMS / f"{name}.toml", emulator=emulator, ips=FEW_INSTRUCTIONS) as machine:
        system = machine.built.checked.system
        for guest in linuxes(system):
            works(machine, guest)
        are_apart(machine, linuxes(system))
        for rtos in rtoses(system):
            misses_nothing(machine, rtos)
        sizes = beside_pools(machine)
        assert len(sizes) == system.machine.cpus - 1
        assert max(sizes) <= BESIDE_POOL


@pytest.mark.parametrize("name", SHARED)
def test_in_qemu(name: str) -> None:
    boot(name, "qemu")


@pytest.mark.long
@pytest.mark.parametrize("name", SHARED)
def test_in_bochs(name: str) -> None:
    boot(name, "bochs")


@pytest.mark.long
def test_one_of_each_mode_in_bochs() -> None:
    """The dedicated one ends, so that the others are seen (in QEMU: test_dedicated_cores.py)."""
    path = SYSTEMS / f"{DEDICATED}.toml"
    with Boot.start(path, emulator="bochs", ips=FEW_INSTRUCTIONS) as machine:
        dedicated, shared = linuxes(machine.built.checked.system)
        works(machine, dedicated)
        machine.send(dedicated.name, "poweroff -f\n")
        machine.expect("vmm", r"^guest linux is off", PATIENCE)
        works(machine, shared)
        misses_nothing(machine, "rtos")


def test_all_are_here() -> None:
    shipped = {path.stem for path in SYSTEMS.glob("*cores*.toml")}
    assert shipped == {*SHARED, DEDICATED, CHANNEL}
