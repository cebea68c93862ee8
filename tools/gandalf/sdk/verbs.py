# SPDX-License-Identifier: Apache-2.0
"""`gandalf sdk` and `gandalf test`: what an application's Makefile calls."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from gandalf import __version__
from gandalf.base.command import SystemFile
from gandalf.base.paths import INSTALLED, ROOT
from gandalf.sdk.create import APPLICATION, Kind
from gandalf.sdk.parts import PARTS

Makefile = Annotated[
    Kind | None,
    typer.Option(help="Print the file of make rules that an application of a kind includes."),
]
Where = Annotated[bool, typer.Option("--path", help="Print the SDK's folder alone.")]


def sdk(makefile: Makefile = None, path: Where = False) -> None:
    """Say where the SDK is, what its parts are, and their licences (docs/sdk.md)."""
    if makefile is not None:
        print(APPLICATION / f"{makefile}.mk")
        return
    if path:
        print(ROOT)
        return
    print(f"SDK of Gandalf {__version__}, {'installed' if INSTALLED else 'a tree'}, in {ROOT}")
    table = Table("part", "what it is", "licence", "in your image", box=None, pad_edge=False)
    for part in PARTS:
        table.add_row(part.path, part.what, part.licence, "yes" if part.linked else "")
    Console().print(table)


def run_tests(
    system: SystemFile,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Behind --: further words for pytest.")
    ] = None,
) -> None:
    """Run the tests beside a description with pytest; their fixture `machine` boots it.

    docs/sdk.md says what a test can do with it. Nothing but test_*.py in that folder is looked at.
    """
    # Both take a while to import, and every make of an application calls the command.
    import pytest

    from gandalf.sdk import fixture

    folder = system.resolve().parent
    sys.dont_write_bytecode = True
    words = ["-p", "no:cacheprovider", "--rootdir", str(folder), *(arguments or [])]
    named = any(Path(word.partition("::")[0]).exists() for word in arguments or [])
    paths = [] if named else [str(path) for path in sorted(folder.glob("test_*.py"))]
    status = pytest.main([*words, *(paths or [str(folder)])], plugins=[fixture.Plugin(system)])
    raise typer.Exit(int(status))
