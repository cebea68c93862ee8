# SPDX-License-Identifier: Apache-2.0
"""`gandalf module`: modules of Linux that are built outside of its source, for `complete`."""

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import say
from gandalf.base.paths import ROOT, UserError, shown
from gandalf.guests.debian import Log
from gandalf.guests.kernel import KBUILD_ENVIRONMENT, build_kernel, make_variables, side_of
from gandalf.guests.places import Places, Variant, exclusive

# The only kernel that has modules. A module is for one kernel: others do not take it.
_KERNEL: Variant = "complete"


def build_modules(directory: Path, root: Path, log: Log) -> list[Path]:
    """Build what a directory's Makefile names in obj-m, as the kernel's documentation has it.

    Everything is written beside the sources. Returns the modules.
    """
    folder = directory.resolve()
    if not any((folder / name).is_file() for name in ("Kbuild", "Makefile")):
        raise UserError(f"{shown(directory)} has no Makefile with obj-m: it is no module of Linux.")
    if set(str(folder)) & set(" :"):
        raise UserError(f"{folder}: Linux builds no modules below a name with a space or a colon.")
    places = Places(root)
    build_kernel(_KERNEL, root, log)
    side = side_of(_KERNEL, places)
    command = ["make", "--silent", f"O={side.output}", f"M={folder}", "ARCH=i386"]
    with exclusive(places.linux):
        done = subprocess.run(
            [*command, *make_variables(_KERNEL, side), "modules"],
            cwd=side.source, env=os.environ | KBUILD_ENVIRONMENT, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    modules = sorted(folder.rglob("*.ko"))
    if done.returncode != 0 or not modules:
        raise UserError(f"{done.stdout}{done.stderr}Building modules in {shown(folder)} failed.")
    return modules


def module(
    directory: Annotated[Path, typer.Argument(help="Where the sources are, and a Makefile.")],
) -> None:
    """Build modules of Linux for the kernel `complete`; docs/linux-guest.md has an example."""
    for path in build_modules(directory, ROOT, say):
        print(shown(path))
