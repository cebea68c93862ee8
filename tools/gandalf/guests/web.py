# SPDX-License-Identifier: Apache-2.0
"""Builds the FreeRTOS guests that speak TCP/IP, when FreeRTOS and lwIP are there."""

from pathlib import Path

from gandalf.base.making import Log, run_make
from gandalf.guests import freertos, lwip


def build(root: Path, log: Log) -> Path:
    """Build the web server, and the RTOS that fetches its page; returns the server's image.

    Raises UserError with a sentence that says what to do.
    """
    _build(root, root / "guest" / "web", "the web server", log)
    return root / "build" / "web" / "web.elf"


def build_services(root: Path, log: Log) -> Path:
    """Build the bench's RTOS with TCP/IP; returns its image. Raises UserError as build() does."""
    _build(root, root / "bench" / "lwip", "the bench's RTOS with TCP/IP", log)
    return root / "build" / "bench" / "lwip" / "services.elf"


def _build(root: Path, folder: Path, what: str, log: Log) -> None:
    arguments = freertos.prepare(root, log)
    lwip.fetch(root, log)
    done = run_make(folder, *arguments, what=what, log=log)
    freertos.check(done, f"Building {what}")
