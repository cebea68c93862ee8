# SPDX-License-Identifier: Apache-2.0
"""Builds the RAM disk of the measurements: the usual one, and programs of our own before it.

Its login shell runs `cost 1` before it shows a prompt, so that the time until then is known however
late a test types.
"""

import subprocess
from pathlib import Path

from gandalf import guest_linux
from gandalf.bench_workload import extended
from gandalf.paths import BUILD, ROOT

_SOURCES = Path(__file__).parent


def build_initrd() -> Path:
    """Return the root file system with /bin/cost, and a login script that runs it."""
    folder = BUILD / "boot" / "workload"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["gcc", "-m32", "-Os", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie",
         "-fno-stack-protector", "-mno-sse", "-Wall", "-Wextra", "-Werror",
         "-o", folder / "bin" / "cost", _SOURCES / "cost.c"],
        check=True,
    )  # fmt: skip
    profile = folder / "profile"
    profile.write_text("cost 1\n")
    added = {"bin/cost": folder / "bin" / "cost", "root/.profile": profile}
    usual = guest_linux.build_rootfs(ROOT, lambda _: None)
    return extended(usual, added, BUILD / "boot" / "initramfs-workload.cpio")
