# SPDX-License-Identifier: Apache-2.0
"""Fetches lwIP, with which FreeRTOS guests are linked (guest/freertos/lwip.mk).

lwIP's sources are those from which Debian makes its package, without Debian's changes, which are
for its library, sockets and PPP. They are pinned in guest/freertos/lwip/packages.lock, and what is
compiled of them lands under build/. `python -m gandalf.guests.lwip update-lock` pins newer ones.
"""

import subprocess
from pathlib import Path

import typer

from gandalf.base.command import run
from gandalf.base.paths import ROOT, UserError, shown
from gandalf.guests import debian
from gandalf.guests.debian import Log, Origin, Package
from gandalf.guests.places import (
    digest_of,
    exclusive,
    is_stamped,
    remove_folder,
    require_tools,
    write_stamp,
)

ORIGIN = Origin("guest/freertos/lwip/packages.lock", "guests.lwip")
PACKAGE = "lwip"
# What is kept of the sources, and raised when that changes.
KEPT = ("*/src", "*/COPYING")
RECIPE = b"1"

LOCK_HEADING = """SPDX-License-Identifier: Apache-2.0
The sources of lwIP that FreeRTOS guests are linked with. Written by
`build/venv/bin/python -m gandalf.guests.lwip update-lock`; path is relative to a Debian mirror."""


def _pinned(root: Path) -> Package:
    packages = debian.read_lock(root / ORIGIN.lock)
    if len(packages) != 1:
        raise UserError(f"{ORIGIN.lock} does not name one archive: restore it from the repository.")
    return packages[0]


def _unpack(archive: Path, target: Path) -> None:
    """Unpack what is kept, without the folder that holds all."""
    target.mkdir(parents=True)
    command = ["tar", "--extract", f"--file={archive}", f"--directory={target}"]
    command += ["--strip-components=1", "--no-same-owner", "--wildcards", *KEPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(
            f"{shown(archive)} cannot be unpacked ({done.stderr.strip()}): check that the disk has "
            "space, or delete the file and run the command again."
        )


def fetch(root: Path, log: Log) -> Path:
    """Return the folder of lwIP's sources, which are fetched unless they are there."""
    folder = root / "build" / "lwip"
    source = folder / "source"
    package = _pinned(root)
    stamp = digest_of(package.sha256.encode(), RECIPE)
    with exclusive(folder):
        if not is_stamped(source, stamp):
            require_tools({"tar": "tar", "xz": "xz-utils"})
            (archive,) = debian.fetch([package], root / "build" / "cache", log, ORIGIN)
            remove_folder(source)
            _unpack(archive, source)
            write_stamp(source, stamp)
    return source


app = typer.Typer(help="lwIP for FreeRTOS guests.", no_args_is_help=True)


@app.callback()
def _main() -> None:
    """Have the commands by their names, however few there are."""


@app.command("update-lock")
def _update_lock_command() -> None:
    """Pin the newest sources of the Debian release in guest/freertos/lwip/packages.lock."""
    lists = debian.Lists(ROOT / "build" / "cache" / "apt", "source", typer.echo, ORIGIN)
    debian.write_lock(ROOT / ORIGIN.lock, [lists.newest_source("lwip", PACKAGE)], LOCK_HEADING)
    typer.echo(f"{ORIGIN.lock} pins {PACKAGE}")


if __name__ == "__main__":
    run(app)
