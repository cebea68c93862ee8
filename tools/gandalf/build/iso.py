# SPDX-License-Identifier: Apache-2.0
"""Makes a bootable ISO image of a system, with GRUB, for a real PC, QEMU and Bochs."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from gandalf.base.paths import UserError, shown, system_folder
from gandalf.build.build import Built
from gandalf.guests.places import digest_of

_GRUB_MODULES = Path("/usr/lib/grub/i386-pc")
_ENTRY = """\
menuentry "{title}" {{
	{commands}
}}
"""
_AT_ONCE = "set timeout=0\n"
_MENU = "set timeout=5\n"
# GRUB's menu is on the screen and on the serial line.
_SERIAL = """\
serial --port={port:#x} --speed={baud}
terminal_input console serial
terminal_output console serial
"""
_MEMORY = ("Memory map of this PC", ["lsmmap", "echo Any key goes back.", "read key"])
_SELFTEST = "Self-test of this PC"
# The memory map is a part of it. It stays to be read for some seconds where there is no cable.
_BEFORE_SELFTEST = ["lsmmap", "sleep --interruptible 5"]


def make_iso(built: Built) -> Path:
    """Return the ISO image of a system, made anew unless it holds the same already.

    Raises UserError if GRUB's tools are missing or fail.
    """
    deterministic = built.module.stem.removeprefix("system")
    image = system_folder(built.checked.system.path) / f"gandalf{deterministic}.iso"
    files = {"gandalf.elf": built.vmm, "system.bin": built.module}
    _make(image, _AT_ONCE + _entry(*_system(built, *files)), files)
    return image


def make_menu_iso(built: Built, selftest: Built | None) -> Path:
    """Return the ISO image of a system for a PC, whose user chooses in GRUB's menu.

    selftest: the system of that entry, if there is one. Raises UserError as make_iso() does.
    """
    image = system_folder(built.checked.system.path) / "gandalf-pc.iso"
    files = {"gandalf.elf": built.vmm, "system.bin": built.module}
    uart = built.checked.system.console.uart
    text = _SERIAL.format(port=uart.port, baud=uart.baud) if uart is not None else ""
    text += _MENU + _entry(*_system(built, *files))
    if selftest is not None:
        more = {"selftest.elf": selftest.vmm, "selftest.bin": selftest.module}
        text += _entry(_SELFTEST, [*_BEFORE_SELFTEST, *_system(selftest, *more)[1]])
        files |= more
    _make(image, text + _entry(*_MEMORY), files)
    return image


def _system(built: Built, vmm: str, module: str) -> tuple[str, list[str]]:
    """Return the title of a system in a menu, and what GRUB is to do with its two files."""
    title = f"Gandalf: {built.checked.system.path.stem}"
    return title, [f"multiboot /boot/{vmm}", f"module /boot/{module}"]


def _entry(title: str, commands: list[str]) -> str:
    return _ENTRY.format(title=title, commands="\n\t".join(commands))


def make_linux_iso(image: Path, kernel: Path, initrd: Path, command_line: str) -> Path:
    """Make the ISO image of a Linux on the bare machine, and return its path.

    kernel: its bzImage. Raises UserError as make_iso() does.
    """
    commands = [f"linux /boot/kernel {command_line}", "initrd /boot/initrd"]
    image.parent.mkdir(parents=True, exist_ok=True)
    files = {"kernel": kernel, "initrd": initrd}
    _make(image, _AT_ONCE + _entry("Linux", commands), files)
    return image


def _make(image: Path, configuration: str, files: dict[str, Path]) -> None:
    """Make an image with files in /boot, by name, and GRUB's configuration, unless it is there.

    What an image holds is noted beside it. Times of files say little: of two VMMs for a system the
    older one may be the one that is wanted now.
    """
    note = image.with_suffix(".digest")
    digest = digest_of(configuration.encode(), *(path.read_bytes() for path in files.values()))
    if image.exists() and note.exists() and note.read_text() == digest:
        return
    note.unlink(missing_ok=True)
    _write(image, configuration, files)
    note.write_text(digest)


def _write(image: Path, configuration: str, files: dict[str, Path]) -> None:
    """Have GRUB's tools write an image."""
    if shutil.which("grub-mkrescue") is None or not _GRUB_MODULES.exists():
        raise UserError("There is no grub-mkrescue for PCs; run `tools/setup image`.")
    with tempfile.TemporaryDirectory(prefix="gandalf-iso-") as scratch:
        boot = Path(scratch) / "boot"
        (boot / "grub").mkdir(parents=True)
        for name, path in files.items():
            shutil.copy(path, boot / name)
        (boot / "grub" / "grub.cfg").write_text(configuration)
        # GRUB takes the modules of every platform that it finds; a PC with a BIOS needs these.
        command = ["grub-mkrescue", "-d", str(_GRUB_MODULES), "-o", str(image), scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not image.exists():
        image.unlink(missing_ok=True)
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"Making {shown(image)} failed: {reason}")
