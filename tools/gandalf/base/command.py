# SPDX-License-Identifier: Apache-2.0
"""How a module with a command line of its own is run (`python -m gandalf.NAME`)."""

import typer

from gandalf.base.paths import UserError


def run(app: typer.Typer) -> None:
    """Run a command line; a mistake of the user ends it with one sentence."""
    try:
        app()
    except UserError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(1) from None
