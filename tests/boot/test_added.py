# SPDX-License-Identifier: Apache-2.0
"""A hypercall and a virtual chip are each added to the VMM by a file: no other line is changed."""

from pathlib import Path

from gandalf.build.build import build_vmm, make
from gandalf.build.profile import FULL, find_profile

from .changed import changed_sources, profile_here
from .systems import Boot, describe, linux
from .test_masked import ATTACK

HYPERCALL_FILE = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* What a test adds: a hypercall that doubles. */
#include "arch.h"
#include "core/hypercall.h"

static u32 hypercall_double(struct vcpu *vcpu)
{
	return 2 * frame_argument(vcpu->frame, 0);
}
HYPERCALL(60, HYPERCALL_OF_LINUX, hypercall_double);
"""
CHIP_FILE = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* What a test adds: a chip whose port has the complement of what is written to it. */
#include "guests/x86/port.h"
#include "lib/owner.h"

OF_CORE static u8 last;

static u8 chip_read(UNUSED struct board *board, UNUSED u16 port)
{
	return (u8)~last;
}

static void chip_write(UNUSED struct board *board, UNUSED u16 port, u8 value)
{
	last = value;
}

static const struct port_range chip_ports = {0x0a30, 0x0a31, chip_read, chip_write};
PORT_RANGE(chip_ports);
"""


def add_files(copy: Path) -> None:
    """Add both to a copy of the VMM's sources."""
    folder = copy / "vmm" / "guests" / "x86"
    (folder / "added_hypercall.c").write_text(HYPERCALL_FILE)
    (folder / "added_chip.c").write_text(CHIP_FILE)


def attack(machine: Boot, line: str) -> str:
    """Have Linux's kernel do something, and return what came of it."""
    return machine.shell(f'echo "{line}" > /dev/gandalf-attack; cat /dev/gandalf-attack')


def test_a_file_adds_a_hypercall_and_another_a_port_range() -> None:
    profile = find_profile(profile_here(FULL))
    folder = changed_sources("added", build_vmm(profile).parent, add_files)
    make(folder / "vmm", "-j2", f"PROFILE={profile.name}", f"BUILD={folder / 'build'}")
    vmm = folder / "build" / "gandalf.elf"
    description = describe("added", linux(kernel=ATTACK))
    with Boot.start(description, vmm=vmm) as machine:
        machine.wait_for_shell()
        assert "0000002a" in attack(machine, "hypercall 60 21 0 0")
        attack(machine, "out 0xa30 0x5a")
        assert "a5" in attack(machine, "in 0xa31")
    # Without the files nobody answers at the port, and the hypercall ends the guest.
    with Boot.start(description) as machine:
        machine.wait_for_shell()
        assert "ff" in attack(machine, "in 0xa31")
        machine.send("linux", 'echo "hypercall 60 21 0 0" > /dev/gandalf-attack\n')
        machine.expect("vmm", r"^guest linux stopped: unknown hypercall 60\n")
