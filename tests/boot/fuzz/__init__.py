# SPDX-License-Identifier: Apache-2.0
"""Builds the program that throws random things at the VMM from Linux, and a RAM disk with it."""

import subprocess
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT
from gandalf.bench.workload import extended
from gandalf.build.build import build_itron, make
from gandalf.guests import rootfs as linux_rootfs

_SOURCES = Path(__file__).parent
_TESTS = BUILD / "tests"
# What Linux can load; fuzz.c has these paths too.
IMAGES = {
    "root/uitron.elf": BUILD / "itron" / "demo.elf",
    "root/heartbeat.elf": _TESTS / "heartbeat.elf",
    "root/echo.elf": _TESTS / "channel.elf",
}


def build_initrd() -> str:
    """Build the root file system with the program and images, and return its name."""
    program = BUILD / "boot" / "fuzz" / "fuzz"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["gcc", "-std=gnu17", "-m32", "-march=i686", "-O2", "-static", "-s", "-D_GNU_SOURCE",
         "-D_FILE_OFFSET_BITS=64", f"-I{ROOT / 'abi'}", "-Wall", "-Wextra", "-Wconversion",
         "-Wshadow", "-Werror", "-o", program, _SOURCES / "fuzz.c"],
        check=True,
    )  # fmt: skip
    build_itron()
    make(
        ROOT / "guest" / "tests", *(str(path) for path in IMAGES.values() if _TESTS in path.parents)
    )
    output = BUILD / "boot" / "fuzz.cpio"
    usual = linux_rootfs.build_small_rootfs(ROOT, lambda _: None)
    extended(usual, {"bin/fuzz": program, **IMAGES}, output)
    return str(output.relative_to(ROOT))
