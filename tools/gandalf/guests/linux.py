# SPDX-License-Identifier: Apache-2.0
"""The Linux guest by hand (`python -m gandalf.guests.linux`), and the packages that it is made of.

Everything comes from Debian packages pinned in guest/linux/packages.lock, lands under build/ and
carries a stamp of what it was made from, so that nothing is made twice.
"""

from pathlib import Path
from typing import get_args

import typer

from gandalf.base.command import run
from gandalf.base.paths import ROOT, UserError, shown
from gandalf.guests import debian
from gandalf.guests.debian import Log
from gandalf.guests.kernel import KERNEL_PACKAGE, build_kernel
from gandalf.guests.places import Places, Variant
from gandalf.guests.rootfs import ROOTFS_PROGRAMS, build_rootfs
from gandalf.guests.selftests import PACKAGES, build_selftests

# Where the libraries that these programs name come from. What no program needs is left out.
ROOTFS_LIBRARIES = (
    "libapparmor1",
    "libbsd0",
    "libc6",
    "libcrypt1",
    "libdrm2",
    "libedit2",
    "libegl1",
    "libexpat1",
    "libffi8",
    "libgbm1",
    "libgcc-s1",
    "libgles2",
    "libglvnd0",
    "libgmp10",
    "libjansson4",
    "libjpeg62-turbo",
    "libjudydebian1",
    "libkmod2",
    "liblzma5",
    "libmd0",
    "libmnl0",
    "libnftables1",
    "libnftnl11",
    "libnuma1",
    "libsctp1",
    "libssl3",
    "libtinfo6",
    "libwayland-server0",
    "libxtables12",
    "libxxhash0",
    "libzstd1",
    "zlib1g",
)
# What the kernel's tests of itself are linked with.
SELFTEST_LIBRARIES = ("libcap-dev", "libnuma-dev")


LOCK_HEADING = """SPDX-License-Identifier: GPL-2.0-only
The Debian packages that the Linux guest is made from. Written by
`build/venv/bin/python -m gandalf.guests.linux update-lock`; path is relative to a Debian mirror.
They are of the release itself, whose versions stay: those of its security
archive leave the mirrors with each update."""


def update_lock(root: Path, log: Log) -> Path:
    """Pin the newest packages of the release; return the lock file."""
    places = Places(root)
    folder = places.cache / "apt"
    kernel = debian.Lists(folder, "amd64", log).newest("kernel", KERNEL_PACKAGE)
    i386 = debian.Lists(folder, "i386", log)
    names = sorted({*ROOTFS_PROGRAMS, *ROOTFS_LIBRARIES})
    packages = [kernel, *(i386.newest("rootfs", name) for name in names)]
    packages += [i386.newest(PACKAGES, name) for name in SELFTEST_LIBRARIES]
    debian.write_lock(places.lock, packages, LOCK_HEADING)
    log(f"{shown(places.lock)} pins {len(packages)} packages")
    return places.lock


app = typer.Typer(help="Build the Linux guest.", no_args_is_help=True)


@app.command("kernel")
def _kernel_command(variant: str = typer.Argument(help=", ".join(get_args(Variant)))) -> None:
    """Build the guest kernel."""
    for known in get_args(Variant):
        if variant == known:
            typer.echo(shown(build_kernel(known, ROOT, typer.echo)))
            return
    raise UserError(f"There is no kernel variant {variant}: use one of {get_args(Variant)}.")


@app.command("rootfs")
def _rootfs_command() -> None:
    """Build the guest's root file system."""
    typer.echo(shown(build_rootfs(ROOT, typer.echo)))


@app.command("selftests")
def _selftests_command() -> None:
    """Build the kernel's tests of itself."""
    built = build_selftests(ROOT, typer.echo)
    typer.echo(f"{len(built.programs)} programs")
    for name, reason in built.failed.items():
        typer.echo(f"{name} was not built: {reason}")


@app.command("update-lock")
def _update_lock_command() -> None:
    """Pin the newest packages of the Debian release in guest/linux/packages.lock."""
    update_lock(ROOT, typer.echo)


if __name__ == "__main__":
    run(app)
