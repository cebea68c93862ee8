# SPDX-License-Identifier: Apache-2.0
"""Builds the RAM disk of the measurements: the usual one, and programs of our own before it.

Its login shell runs `cost 1` before it shows a prompt, so that the time until then is known however
late a test types.
"""

import subprocess
from pathlib import Path

from gandalf import guest_linux
from gandalf.paths import BUILD, ROOT

_SOURCES = Path(__file__).parent
_ALIGNMENT = 4


def build_initrd() -> Path:
    """Return the root file system with /bin/cost, and a login script that runs it.

    Linux unpacks several archives in a row; only the last may be compressed.
    """
    folder = BUILD / "boot" / "workload"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["gcc", "-m32", "-Os", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie",
         "-fno-stack-protector", "-mno-sse", "-Wall", "-Wextra", "-Werror",
         "-o", folder / "bin" / "cost", _SOURCES / "cost.c"],
        check=True,
    )  # fmt: skip
    (folder / "root").mkdir(exist_ok=True)
    (folder / "root" / ".profile").write_text("cost 1\n")
    archive = subprocess.run(
        ["cpio", "--create", "--format=newc", "--reproducible", "--owner=0:0", "--quiet"],
        input=b"bin\nbin/cost\nroot\nroot/.profile\n", cwd=folder, capture_output=True, check=True,
    ).stdout  # fmt: skip
    usual = guest_linux.build_rootfs(ROOT, lambda _: None).read_bytes()
    initrd = BUILD / "boot" / "initramfs-workload.cpio"
    initrd.write_bytes(archive + bytes(-len(archive) % _ALIGNMENT) + usual)
    return initrd
