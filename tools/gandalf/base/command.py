# SPDX-License-Identifier: Apache-2.0
"""What command lines share: how one is run, what it says, and the arguments that several take."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.paths import UserError

SystemFile = Annotated[
    Path,
    typer.Argument(
        metavar="SYSTEM.toml", help="System description; see docs/system-description.md."
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="Count instructions as time and start at a fixed date: every run is the same.",
    ),
]


def say(line: str) -> None:
    """Tell the user on standard error how far a command is."""
    print(f"gandalf: {line}", file=sys.stderr, flush=True)


def run(app: typer.Typer) -> None:
    """Run a command line; a mistake of the user ends it with one sentence."""
    try:
        app()
    except UserError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(1) from None
