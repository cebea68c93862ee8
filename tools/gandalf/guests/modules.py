# SPDX-License-Identifier: Apache-2.0
"""`gandalf module`: modules of Linux that are built outside of its source."""

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import say
from gandalf.base.paths import ROOT, UserError, shown
from gandalf.guests.debian import Log
from gandalf.guests.kernel import build_kernel, make_variables, side_of
from gandalf.guests.kernel_configuration import KBUILD_ENVIRONMENT
from gandalf.guests.places import Places, Variant, exclusive


def build_modules(
    directory: Path, root: Path, log: Log, kernel: Variant = "complete"
) -> list[Path]:
    """Build what a directory's Makefile names in obj-m, as the kernel's documentation has it.

    Everything is written beside the sources. kernel: one of those that have modules. A module is
    for one kernel: others do not take it. Returns the modules.
    """
    folder = directory.resolve()
    if not any((folder / name).is_file() for name in ("Kbuild", "Makefile")):
        raise UserError(f"{shown(directory)} has no Makefile with obj-m: it is no module of Linux.")
    if set(str(folder)) & set(" :"):
        raise UserError(f"{folder}: Linux builds no modules below a name with a space or a colon.")
    places = Places(root)
    build_kernel(kernel, root, log)
    side = side_of(kernel, places)
    command = ["make", "--silent", f"O={side.output}", f"M={folder}", "ARCH=i386"]
    with exclusive(places.linux):
        done = subprocess.run(
            [*command, *make_variables(kernel, side), "modules"],
            cwd=side.source, env=os.environ | KBUILD_ENVIRONMENT, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    modules = sorted(folder.rglob("*.ko"))
    if done.returncode != 0 or not modules:
        raise UserError(f"{done.stdout}{done.stderr}Building modules in {shown(folder)} failed.")
    return modules


def module(
    directory: Annotated[Path, typer.Argument(help="Where the sources are, and a Makefile.")],
    several_cpus: Annotated[
        bool, typer.Option("--several-cpus", help="For a Linux with several vCPUs.")
    ] = False,
) -> None:
    """Build modules for the kernel `complete`, or `complete-smp`: docs/linux-guest.md."""
    for path in build_modules(directory, ROOT, say, "complete-smp" if several_cpus else "complete"):
        print(shown(path))
