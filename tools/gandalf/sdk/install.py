# SPDX-License-Identifier: Apache-2.0
"""Installs the SDK: `make install PREFIX=DIR` makes DIR/bin/gandalf and DIR/share/gandalf.

It holds what an application is built, run, debugged and tested with, and needs neither this tree
nor its own place: both folders may be moved together. What is installed already is replaced as a
whole.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from gandalf import __version__
from gandalf.base.command import run, say
from gandalf.base.paths import INSTALLED_MARK, ROOT, UserError, building, shown
from gandalf.build.build import build_vmm
from gandalf.build.profile import read_profiles
from gandalf.guests import freertos, lwip
from gandalf.run.loader import build_boot_sector
from gandalf.run.pace import build_pacer
from gandalf.sdk.parts import KERNEL_STAMP, PARTS

_COMMAND = """\
#!/bin/sh
# Runs the SDK's command, wherever both have been moved to.
root=$(dirname "$(dirname "$(readlink -f "$0")")")/share/gandalf
PYTHONPATH=$root/tools${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 \\
	exec "$root/venv/bin/python" -m gandalf.cli "$@"
"""
_TEXTS = ("LICENSE", "LICENSES", "README.md", "CHANGELOG.md")
_UNUSABLE = re.compile(r"[\s:,;#%$\[\]&|<>()*?\"'`\\~=]")


def _build() -> None:
    """Build what the SDK has of it, so that nothing needs to be built there."""
    with building():
        for profile in read_profiles():
            build_vmm(profile, say)
        build_pacer(say)
        build_boot_sector(say)
        freertos.build(ROOT, say)
        lwip.fetch(ROOT, say)


def _sources() -> Iterator[Path]:
    """Yield the files of all parts."""
    for part in PARTS:
        for pattern in part.files:
            found = [path for path in sorted((ROOT / part.path).glob(pattern)) if path.is_file()]
            if not found:
                raise UserError(f"{part.path}/{pattern} is missing: restore it or build it.")
            yield from found


def _copy(target: Path) -> None:
    for source in _sources():
        place = target / source.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
    for name in _TEXTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, target / name)
    (target / INSTALLED_MARK).write_text(f"Gandalf {__version__}\n")
    (target / KERNEL_STAMP).touch()


def _install_python(target: Path) -> None:
    """Make the Python environment, of the packages that the tree has pinned."""
    python = str(target / "venv" / "bin" / "python")
    base = str(Path(sys.base_prefix) / "bin" / "python3")
    packages = ["-r", str(target / "tools" / "requirements.txt")]
    for command in (
        [base, "-m", "venv", str(target / "venv")],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--require-hashes", *packages],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stdout + done.stderr).strip().splitlines()[-5:]
            raise UserError("\n".join([*reason, "The SDK's Python environment failed; see above."]))


def _replace(new: Path, folder: Path) -> None:
    """Put a folder in the place of one that may be there."""
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _check(prefix: Path) -> None:
    if _UNUSABLE.search(str(prefix)):
        raise UserError(
            f"make cannot work with an SDK in {prefix}: choose a PREFIX without spaces and the "
            "shell's characters."
        )
    folder = prefix / "share" / "gandalf"
    if folder.exists() and not (folder / INSTALLED_MARK).is_file():
        raise UserError(f"{folder} is there and is no SDK of Gandalf: choose another PREFIX.")
    if ROOT.is_relative_to(folder):
        raise UserError("This is an installed SDK already; install from a clone.")


def install(
    prefix: Annotated[Path, typer.Argument(help="Gets bin/gandalf and share/gandalf.")],
) -> None:
    """Install the SDK."""
    prefix = prefix.expanduser().resolve()
    _check(prefix)
    _build()
    target, new = prefix / "share" / "gandalf", prefix / "share" / "gandalf.new"
    try:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        _copy(new)
        say("installing Python packages")
        _install_python(new)
        _replace(new, target)
        command = prefix / "bin" / "gandalf"
        command.parent.mkdir(exist_ok=True)
        command.write_text(_COMMAND)
        command.chmod(0o755)
    except OSError as error:
        raise UserError(f"{prefix} cannot be written: {error.strerror}.") from error
    say(f"installed {shown(target)} and {shown(command)}")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(install)
    run(app)
