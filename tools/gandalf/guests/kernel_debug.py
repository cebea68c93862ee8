# SPDX-License-Identifier: Apache-2.0
"""The debug information of the Linux guest's kernels, by which gdb knows lines, types and frames.

It is not an option of the configuration: that would bring other ones with it, and a kernel whose
code is another one. So what is loaded is the same with it and without.
"""

import subprocess
from pathlib import Path
from typing import BinaryIO

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from gandalf.base.paths import UserError, shown

# What the kernel's make is told.
DEBUG_VARIABLE = "KCFLAGS=-g"


def _has_debug(stream: BinaryIO) -> bool:
    try:
        return ELFFile(stream).get_section_by_name(".debug_info") is not None
    except ELFError:
        return False


def split_debug(vmlinux: Path) -> None:
    """Put the debug information of a kernel beside it, where gdb looks for it by its name.

    With it the kernel would be ten times as large, and be read by each build of a system. Raises
    UserError if it has none.
    """
    with vmlinux.open("rb") as stream:
        if not _has_debug(stream):
            raise UserError(f"{shown(vmlinux)} has no debug information that could be split.")
    debug = vmlinux.with_name("vmlinux.debug")
    small = vmlinux.with_name("vmlinux.small")
    for words in (
        ["--only-keep-debug", "--compress-debug-sections", str(vmlinux), str(debug)],
        ["--strip-debug", f"--add-gnu-debuglink={debug}", str(vmlinux), str(small)],
    ):
        done = subprocess.run(["objcopy", *words], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise UserError(
                f"The debug information of {shown(vmlinux)} cannot be split: {done.stderr.strip()}"
            )
    small.replace(vmlinux)
