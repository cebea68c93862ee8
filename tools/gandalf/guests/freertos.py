# SPDX-License-Identifier: Apache-2.0
"""Builds the FreeRTOS guest: fetches the kernel with Cargo and compiles demo and port.

guest/freertos/Makefile does the work and knows what is up to date; this module finds out what
is missing beforehand and says so.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from gandalf.base.making import Log, run_make
from gandalf.base.paths import UserError, shown

# The first Cargo that reads the crate (Rust edition 2024).
CARGO_MINIMUM = (1, 85)
# Files without which a folder is no FreeRTOS kernel.
KERNEL_FILES = ("tasks.c", "queue.c", "list.c", "include/FreeRTOS.h")
# Seconds that fetching may take before the network is regarded as dead.
FETCH_TIMEOUT = 300
TIMED_OUT = 124  # the status of timeout(1) then
# Lines of a failed command that are shown.
LINES_SHOWN = 20


def _own_kernel() -> Path | None:
    """Return the checkout that the variable FREERTOS names; None if it is not set."""
    value = os.environ.get("FREERTOS")
    if not value:
        return None
    folder = Path(value).expanduser().resolve()
    missing = [name for name in KERNEL_FILES if not (folder / name).is_file()]
    if missing:
        raise UserError(
            f"FREERTOS names {shown(folder)}, which has no {missing[0]}: set it to the folder of "
            "a FreeRTOS kernel, or leave it unset to have one fetched."
        )
    return folder


def _check_cargo() -> None:
    """Raise UserError unless there is a Cargo that can fetch the kernel."""
    advice = (
        "install it (Debian 12 has the package cargo-web, later ones cargo), or set FREERTOS to "
        "the folder of a FreeRTOS kernel"
    )
    if shutil.which("cargo") is None:
        raise UserError(f"FreeRTOS is fetched with Cargo, which is not there: {advice}.")
    done = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"cargo (\d+)\.(\d+)", done.stdout)
    if found is None or (int(found[1]), int(found[2])) < CARGO_MINIMUM:
        version = done.stdout.strip() or "cargo"
        wanted = ".".join(map(str, CARGO_MINIMUM))
        raise UserError(f"FreeRTOS needs Cargo {wanted} and {version} is here: {advice}.")


def _fetch(folder: Path) -> None:
    """Fetch the kernel. Raises UserError with the reason if that fails."""
    # `timeout` ends what make has started, too: it would go on beside the next attempt.
    command = ["timeout", str(FETCH_TIMEOUT), "make", "--no-print-directory", "-C", str(folder)]
    done = subprocess.run([*command, "fetch"], capture_output=True, text=True, check=False)
    if done.returncode == TIMED_OUT:
        raise UserError(
            f"Fetching FreeRTOS took more than {FETCH_TIMEOUT} s: check the network and try again."
        )
    check(done, "Fetching FreeRTOS (is the network there?)")


def check(done: "subprocess.CompletedProcess[str]", what: str) -> None:
    """Raise UserError with make's last lines, and what failed, if it did."""
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()[-LINES_SHOWN:]
        raise UserError("\n".join([*lines, f"{what} failed; see above."]))


def _is_fetched(root: Path) -> bool:
    """Return whether the kernel that Cargo.lock names is there."""
    stamp = root / "build" / "freertos" / "vendor" / "fetched"
    sources = [root / "guest" / "freertos" / name for name in ("Cargo.toml", "Cargo.lock")]
    return stamp.is_file() and all(
        source.stat().st_mtime <= stamp.stat().st_mtime for source in sources
    )


def prepare(root: Path, log: Log) -> list[str]:
    """Fetch the kernel unless it is there; returns what tells make which kernel it is.

    Raises UserError with a sentence that says what to do.
    """
    own = _own_kernel()
    if own is not None:
        return [f"FREERTOS={own}"]
    if not _is_fetched(root):
        _check_cargo()
        log("fetching FreeRTOS")
        _fetch(root / "guest" / "freertos")
    return []


def build(root: Path, log: Log) -> Path:
    """Build the demo; returns its image. Raises UserError with a sentence that says what to do."""
    folder = root / "guest" / "freertos"
    arguments = prepare(root, log)
    check(run_make(folder, *arguments, what="FreeRTOS", log=log), "Building FreeRTOS")
    return root / "build" / "freertos" / "demo.elf"
