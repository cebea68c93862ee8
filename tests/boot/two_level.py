# SPDX-License-Identifier: Apache-2.0
"""What the tests of a VMM that alone is privileged share (docs/two-level.md)."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from gandalf.build.build import build_vmm, make
from gandalf.build.profile import find_profile
from gandalf.build.symbols import variable_address
from gandalf.measure.core_trace import instance_reader

from .changed import changed_sources, substitute
from .systems import PATIENCE, Boot

PROFILE = "two-level"
# Of a guest that attacks again and again.
AGAIN = 'on_fault = "restart"\nrestart_limit = 1000'
# The VMM's image is in its address spaces so far above where its first word is in memory.
_IMAGE_ABOVE_MEMORY = 0xFC400000
# Three counters of struct view_switch (vmm/two_level/view_switch.h), and where the first is.
_COUNTERS, _FIRST_COUNTER = ("calls", "returns", "fills"), 0


def direct_ways(machine: Boot, cpu: int = 0) -> Counter[str]:
    """Return how many system calls and returns to processes took the direct ways on a CPU.

    Beside them: how many pages were filled when a kernel returned (fills).
    """
    switch = variable_address(machine.built.vmm, "view_switch")
    size = 4 * len(_COUNTERS)
    machine.pause()
    registers = machine.hmp("info registers -a").partition(f"CPU#{cpu}")[2]
    cr3 = re.search(r"CR3=([0-9a-f]+)", registers)
    assert cr3 is not None
    read = instance_reader(machine.memory, int(cr3[1], 16))
    data = read(switch - _IMAGE_ABOVE_MEMORY + _FIRST_COUNTER, size)
    machine.resume()
    words = (int.from_bytes(data[i : i + 4], "little") for i in range(0, size, 4))
    return Counter(dict(zip(_COUNTERS, words, strict=True)))


def take_direct_ways(machine: Boot, command: str, cpu: int = 0) -> None:
    """See a command's system calls on a CPU, more than 0x1000, take the direct ways in and out."""
    before = direct_ways(machine, cpu)
    machine.shell(command)
    more = direct_ways(machine, cpu) - before
    assert more["calls"] > 0x1000
    assert more["returns"] > 0x1000


def reach_stops(machine: Boot, attack: str) -> None:
    """Have the guest "reach" read, write or jump to what is not its own, which stops it."""
    way, _, place = attack.partition(" ")
    machine.skip("reach")
    machine.send("reach", attack + "\n")
    verb = "writes" if way == "write" else "reads"
    reason = machine.stop_report("reach")
    assert reason == f"page fault (#PF) without a handler: it {verb} {place}"
    machine.expect("reach", r"^reach: ready\n", PATIENCE)
    assert "reached" not in machine.text("reach")


def changed_vmm(name: str, change: Callable[[Path], None], profile_name: str = PROFILE) -> Path:
    """Build the VMM with mistakes; returns the image."""
    profile = find_profile(profile_name)
    folder = changed_sources(name, build_vmm(profile).parent, change)
    make(folder / "vmm", "-j2", f"PROFILE={profile.name}", f"BUILD={folder / 'build'}")
    return folder / "build" / "gandalf.elf"


def unseen_returns(folder: Path) -> None:
    """Leave the kernel its IRET, which faults only for code segments of processes."""
    found = folder / "vmm" / "guests" / "x86" / "two_level" / "return.c"
    substitute(found, "return write_byte_or_fail((u8 *)eip, OPCODE_INT3);", "return eip != 0;")
    substitute(found, "sites[i] = eip + 1;", "sites[i] = 0;")
