# SPDX-License-Identifier: Apache-2.0
"""Makes a bootable ISO image of a system, with GRUB, for a real PC, QEMU and Bochs."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gandalf.base.paths import UserError, shown, system_folder
from gandalf.build.build import Built

_GRUB_MODULES = Path("/usr/lib/grub/i386-pc")
_CONFIGURATION = """\
set timeout=0
menuentry "{title}" {{
	{commands}
}}
"""


def _is_current(image: Path, files: Iterable[Path]) -> bool:
    if not image.exists():
        return False
    made = image.stat().st_mtime_ns
    return all(path.stat().st_mtime_ns < made for path in files)


def make_iso(built: Built) -> Path:
    """Return the ISO image of a system, made anew if it is older than what it holds.

    Raises UserError if GRUB's tools are missing or fail.
    """
    deterministic = built.module.stem.removeprefix("system")
    image = system_folder(built.checked.system.path) / f"gandalf{deterministic}.iso"
    files = {"gandalf.elf": built.vmm, "system.bin": built.module}
    if not _is_current(image, files.values()):
        title = f"Gandalf: {built.checked.system.path.stem}"
        _make(image, title, ["multiboot /boot/gandalf.elf", "module /boot/system.bin"], files)
    return image


def make_linux_iso(image: Path, kernel: Path, initrd: Path, command_line: str) -> Path:
    """Make the ISO image of a Linux on the bare machine, and return its path.

    kernel: its bzImage. Raises UserError as make_iso() does.
    """
    commands = [f"linux /boot/kernel {command_line}", "initrd /boot/initrd"]
    image.parent.mkdir(parents=True, exist_ok=True)
    _make(image, "Linux", commands, {"kernel": kernel, "initrd": initrd})
    return image


def _make(image: Path, title: str, commands: list[str], files: dict[str, Path]) -> None:
    """Make an image with files in /boot, by name, and what GRUB is to do with them."""
    if shutil.which("grub-mkrescue") is None or not _GRUB_MODULES.exists():
        raise UserError("There is no grub-mkrescue for PCs; run `tools/setup image`.")
    with tempfile.TemporaryDirectory(prefix="gandalf-iso-") as scratch:
        boot = Path(scratch) / "boot"
        (boot / "grub").mkdir(parents=True)
        for name, path in files.items():
            shutil.copy(path, boot / name)
        text = _CONFIGURATION.format(title=title, commands="\n\t".join(commands))
        (boot / "grub" / "grub.cfg").write_text(text)
        # GRUB takes the modules of every platform that it finds; a PC with a BIOS needs these.
        command = ["grub-mkrescue", "-d", str(_GRUB_MODULES), "-o", str(image), scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not image.exists():
        image.unlink(missing_ok=True)
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"Making {shown(image)} failed: {reason}")
    os.utime(image)
