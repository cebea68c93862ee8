# SPDX-License-Identifier: Apache-2.0
"""The command `gandalf`: one verb for each step of a system's life."""

import os
import sys
from typing import Annotated

import typer
from rich.console import Console as RichConsole

from gandalf import __version__
from gandalf.base.command import Deterministic, SystemFile, say
from gandalf.base.paths import BUILD, VMM_IMAGE, UserError, shown
from gandalf.bench.verb import bench
from gandalf.build import size as sizing
from gandalf.build.build import build as build_system
from gandalf.build.build import build_itron, build_vmm
from gandalf.build.iso import make_iso
from gandalf.build.profile import FULL, read_profiles
from gandalf.debug.verb import gdb
from gandalf.description import check as checking
from gandalf.explain.report import explain_command
from gandalf.itron import size as itron_size
from gandalf.itron.configurator import itron_configure
from gandalf.masked.command import masked
from gandalf.measure.verbs import measure, trace
from gandalf.run.copy_verbs import pull, push
from gandalf.run.verbs import console, run
from gandalf.sdk.create import new
from gandalf.sdk.verbs import run_tests, sdk

app = typer.Typer(
    help="Checks, builds and runs systems of guests on the Gandalf virtual machine monitor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def check(system: SystemFile) -> None:
    """Check a description; show the memory map and who owns what.

    All mistakes are shown at once, each as FILE:LINE: SENTENCE. Nothing is built.
    """
    result = checking.check(system)
    if result.system.mistakes:
        raise UserError("\n".join(result.system.messages()))
    checking.show(result, RichConsole())


@app.command()
def build(system: SystemFile, deterministic: Deterministic = False) -> None:
    """Build the guests, the VMM and the module that it boots from."""
    built = build_system(system, say, deterministic)
    say(f"built {shown(built.vmm)} and {shown(built.module)}")


app.command()(run)


@app.command()
def image(system: SystemFile) -> None:
    """Make a bootable ISO image with GRUB, for a PC with a BIOS.

    Write it to a USB stick with dd, or burn it. The serial port of the description carries the
    consoles; `gandalf console` attaches to its other end.
    """
    built = build_system(system, say)
    say(f"made {shown(make_iso(built))}")


app.command()(console)
app.command()(push)
app.command()(pull)


@app.command()
def size(
    build_first: Annotated[
        bool, typer.Option("--build/--no-build", help="Bring VMM and uITRON up to date first.")
    ] = True,
) -> None:
    """Compare the VMM's size, its lines and the lines changed in Linux with the budgets.

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


app.command()(gdb)
app.command("explain")(explain_command)
app.command()(measure)
app.command()(trace)
app.command()(bench)
app.command()(itron_configure)
app.command()(masked)
app.command()(new)
app.command()(sdk)
app.command("test")(run_tests)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"gandalf {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Checks, builds and runs systems of guests on the Gandalf virtual machine monitor."""


def main() -> None:
    """Run the command; a mistake of the user is shown as it is, without a traceback."""
    try:
        app()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # the reader of the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("gandalf: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
