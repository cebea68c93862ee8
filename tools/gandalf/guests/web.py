# SPDX-License-Identifier: Apache-2.0
"""Builds the web server of a FreeRTOS guest, when FreeRTOS and lwIP are there."""

from pathlib import Path

from gandalf.base.making import Log, run_make
from gandalf.guests import freertos, lwip


def build(root: Path, log: Log) -> Path:
    """Build the server, and the RTOS that fetches its page; returns the server's image.

    Raises UserError with a sentence that says what to do.
    """
    arguments = freertos.prepare(root, log)
    lwip.fetch(root, log)
    done = run_make(root / "guest" / "web", *arguments, what="the web server", log=log)
    freertos.check(done, "Building the web server")
    return root / "build" / "web" / "web.elf"
