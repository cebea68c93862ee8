# SPDX-License-Identifier: Apache-2.0
"""`gandalf size`: the VMM and uITRON beside their budgets."""

from typing import Annotated

import typer
from rich.console import Console as RichConsole

from gandalf.base.paths import BUILD, VMM_IMAGE
from gandalf.build import size as sizing
from gandalf.build.build import build_itron, build_vmm
from gandalf.build.profile import FULL, read_profiles
from gandalf.itron import size as itron_size


def size(
    build_first: Annotated[
        bool, typer.Option("--build/--no-build", help="Bring VMM and uITRON up to date first.")
    ] = True,
) -> None:
    """Compare the sizes of the VMM by profile, and the lines changed in Linux, with the budgets.

    And the uITRON demo for Gandalf with the same demo for a bare PC.

    The exit status is 1 if a budget is broken.
    """
    if build_first:
        build_itron()
    sections, measures = sizing.measure(build_vmm() if build_first else VMM_IMAGE)
    ports = itron_size.measure_ports(BUILD / "itron", "demo")
    images = [(profile, build_vmm(profile) if build_first else profile.image)
              for profile in read_profiles() if profile.name != FULL]  # fmt: skip
    measures += sizing.measure_profiles(item for item in images if item[1].exists())
    measures += itron_size.budgets(ports)
    itron_size.show(ports, RichConsole())
    sizing.show(sections, measures, RichConsole())
    if not all(item.kept for item in measures):
        raise typer.Exit(1)
