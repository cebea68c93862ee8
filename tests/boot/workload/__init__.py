# SPDX-License-Identifier: Apache-2.0
"""Builds the RAM disk of the measurements: the usual one, and programs of our own before it.

Its login shell runs `cost 1` before it shows a prompt, so that the time until then is known however
late a test types.
"""

import subprocess
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT, building
from gandalf.bench.workload import extended
from gandalf.guests import rootfs as linux_rootfs

_SOURCES = Path(__file__).parent


def _build(name: str, folder: Path) -> Path:
    """Compile a program that needs no library."""
    program = folder / "bin" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["gcc", "-m32", "-Os", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie",
         "-fno-stack-protector", "-mno-sse", "-Wall", "-Wextra", "-Werror",
         "-o", program, _SOURCES / f"{name}.c"],
        check=True,
    )  # fmt: skip
    return program


def build_initrd() -> Path:
    """Return the root file system with /bin/cost, and a login script that runs it."""
    folder = BUILD / "boot" / "workload"
    added = {"bin/cost": _build("cost", folder), "root/.profile": folder / "profile"}
    added["root/.profile"].write_text("cost 1\n")
    usual = linux_rootfs.build_small_rootfs(ROOT, lambda _: None)
    return extended(usual, added, BUILD / "boot" / "initramfs-workload.cpio")


def build_initrd_with(*names: str, whole: bool = False, more: dict[str, Path] | None = None) -> str:
    """Return the root file system with other programs in /bin, as descriptions name it.

    whole: it is the one with all programs. more: further files, by their path there.
    """
    build = linux_rootfs.build_rootfs if whole else linux_rootfs.build_small_rootfs
    usual = build(ROOT, lambda _: None)
    with building():
        programs = {f"bin/{name}": _build(name, BUILD / "boot" / name) for name in names}
        output = BUILD / "boot" / f"initramfs-{'-'.join(names)}.cpio"
        extended(usual, programs | (more or {}), output)
    return str(output.relative_to(ROOT))
