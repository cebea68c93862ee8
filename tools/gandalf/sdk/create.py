# SPDX-License-Identifier: Apache-2.0
"""`gandalf new`: an application outside of the tree, with its own Makefile and tests."""

import re
import shutil
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import say
from gandalf.base.paths import COMMAND, ROOT, UserError, shown

APPLICATION = ROOT / "guest" / "application"
# Files of every kind.
_COMMON = "common"
# The name of a guest, as the description takes it.
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,14}")
# make and QEMU take these for separators or for more.
_UNUSABLE = re.compile(r"[\s:,;#%$\[\]&|<>()*?\"'`\\~=]")


class Kind(StrEnum):
    """What an application is written for."""

    FREERTOS = "freertos"
    ITRON = "itron"
    BARE = "bare"


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UserError(
            f'"{name}" cannot be the name of a guest, which has at most 15 small letters, digits, '
            "- and _ and begins with a letter: choose one with --name."
        )


def _check_folder(folder: Path) -> None:
    """Raise UserError unless a folder may be made, or is there and empty."""
    whole = folder.resolve()
    found = _UNUSABLE.search(str(whole))
    if found is not None:
        what = "a space" if found[0].isspace() else f'"{found[0]}"'
        raise UserError(
            f"make cannot work in {whole}, whose path has {what} in it: choose another."
        )
    if whole.is_dir() and any(whole.iterdir()):
        raise UserError(f"{shown(folder)} is there and is not empty: choose another directory.")
    if whole.exists() and not whole.is_dir():
        raise UserError(f"{shown(folder)} is a file: choose another directory.")


def _command() -> str:
    """Return how the Makefile calls the command: by its name if PATH leads to this one."""
    found = shutil.which("gandalf")
    same = found is not None and Path(found).resolve() == COMMAND.resolve()
    return "gandalf" if same else str(COMMAND)


def _files(kind: Kind) -> dict[str, Path]:
    """Return what is copied, by its name in the application."""
    return {
        path.name: path
        for folder in (_COMMON, kind)
        for path in sorted((APPLICATION / folder).iterdir())
    }


def create(kind: Kind, folder: Path, name: str) -> list[str]:
    """Make an application; returns the names of its files. Raises UserError with what is wrong."""
    _check_folder(folder)
    _check_name(name)
    values = {"@NAME@": name, "@KIND@": str(kind), "@GANDALF@": _command()}
    files = _files(kind)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, source in files.items():
            text = source.read_text(encoding="utf-8")
            for mark, value in values.items():
                text = text.replace(mark, value)
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{shown(folder)} cannot be written: {error.strerror}.") from error
    return list(files)


def new(
    kind: Annotated[Kind, typer.Argument(help="What it is written for.")],
    directory: Annotated[Path, typer.Argument(help="Where it is made; new, or empty.")],
    name: Annotated[
        str | None,
        typer.Option(
            help="Of the image and the guest, instead of the directory's.", metavar="NAME"
        ),
    ] = None,
) -> None:
    """Make an application of your own outside of the tree: a program that runs, and its tests.

    Its Makefile builds, runs, debugs and tests it; `make help` there says how (docs/sdk.md).
    """
    files = create(kind, directory, name or directory.resolve().name)
    say(f"made {shown(directory)} with {', '.join(files)}")
    say(f"next: cd {shown(directory)} && make run")
