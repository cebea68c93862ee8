# SPDX-License-Identifier: Apache-2.0
"""Makes a bootable ISO image of a system, with GRUB, for a real PC, QEMU and Bochs."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from gandalf.base.paths import UserError, shown, system_folder
from gandalf.build.build import Built

_GRUB_MODULES = Path("/usr/lib/grub/i386-pc")
_CONFIGURATION = """\
set timeout=0
menuentry "Gandalf: {name}" {{
	multiboot /boot/gandalf.elf
	module /boot/system.bin
}}
"""


def _is_current(image: Path, built: Built) -> bool:
    if not image.exists():
        return False
    made = image.stat().st_mtime_ns
    return all(path.stat().st_mtime_ns < made for path in (built.vmm, built.module))


def make_iso(built: Built) -> Path:
    """Return the ISO image of a system, made anew if it is older than what it holds.

    Raises UserError if GRUB's tools are missing or fail.
    """
    name = built.checked.system.path.stem
    deterministic = built.module.stem.removeprefix("system")
    image = system_folder(built.checked.system.path) / f"gandalf{deterministic}.iso"
    if _is_current(image, built):
        return image
    if shutil.which("grub-mkrescue") is None or not _GRUB_MODULES.exists():
        raise UserError("There is no grub-mkrescue for PCs; run `tools/setup image`.")
    with tempfile.TemporaryDirectory(prefix="gandalf-iso-") as scratch:
        boot = Path(scratch) / "boot"
        (boot / "grub").mkdir(parents=True)
        shutil.copy(built.vmm, boot / "gandalf.elf")
        shutil.copy(built.module, boot / "system.bin")
        (boot / "grub" / "grub.cfg").write_text(_CONFIGURATION.format(name=name))
        # GRUB takes the modules of every platform that it finds; a PC with a BIOS needs these.
        command = ["grub-mkrescue", "-d", str(_GRUB_MODULES), "-o", str(image), scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not image.exists():
        image.unlink(missing_ok=True)
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"Making {shown(image)} failed: {reason}")
    os.utime(image)
    return image
