# SPDX-License-Identifier: Apache-2.0
"""`gandalf check`, `gandalf build` and `gandalf image`: from a description to what boots."""

from rich.console import Console as RichConsole

from gandalf.base.command import Deterministic, SystemFile, say
from gandalf.base.paths import UserError, shown
from gandalf.build.build import build as build_system
from gandalf.build.iso import make_menu_iso
from gandalf.build.selftest import build_selftest
from gandalf.description import check as checking


def check(system: SystemFile) -> None:
    """Check a description; show the memory map and who owns what.

    All mistakes are shown at once, each as FILE:LINE: SENTENCE. Nothing is built.
    """
    result = checking.check(system)
    if result.system.mistakes:
        raise UserError("\n".join(result.system.messages()))
    checking.show(result, RichConsole())


def build(system: SystemFile, deterministic: Deterministic = False) -> None:
    """Build the guests, the VMM and the module that it boots from."""
    built = build_system(system, say, deterministic)
    say(f"built {shown(built.vmm)} and {shown(built.module)}")


def image(system: SystemFile) -> None:
    """Make a bootable ISO image with GRUB, for a PC with a BIOS.

    Write it to a USB stick with dd, or burn it. The serial port of the description carries the
    consoles; `gandalf console` attaches to its other end. GRUB's menu, on the screen and there, has
    a self-test of the PC and its memory map besides.
    """
    built = build_system(system, say)
    say(f"made {shown(make_menu_iso(built, build_selftest(built, say)))}")
