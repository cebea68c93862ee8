# SPDX-License-Identifier: Apache-2.0
"""The command `gandalf`: one verb for each step of a system's life."""

import os
import sys
from typing import Annotated

import typer

from gandalf import __version__
from gandalf.base.paths import UserError
from gandalf.bench.verb import bench
from gandalf.budgets import size
from gandalf.build.verbs import build, check, image
from gandalf.debug.verb import gdb
from gandalf.explain.report import explain_command
from gandalf.guests.modules import module
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


app.command()(check)
app.command()(build)
app.command()(run)
app.command()(image)
app.command()(console)
app.command()(push)
app.command()(pull)
app.command()(size)
app.command()(gdb)
app.command("explain")(explain_command)
app.command()(measure)
app.command()(trace)
app.command()(bench)
app.command()(itron_configure)
app.command()(masked)
app.command()(module)
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
