# SPDX-License-Identifier: Apache-2.0
"""A screen that an emulator shows on a pseudoterminal of its own is read."""

import select
import subprocess
import sys

from gandalf.run.screen import Screen

# Seconds that nobody waits for.
LONG = 600.0

# Shows more than a pseudoterminal takes, once it has been told that somebody reads it.
SHOWS = """
import os, sys
mine, other = os.openpty()
print("made", flush=True)
sys.stdin.readline()
for _ in range(300):
    os.write(mine, b"a line\\n" * 128)
print("shown", flush=True)
"""


def shows(read: bool) -> bool:
    """Return whether a process goes on that shows much, if its screen is read or not."""
    with subprocess.Popen(
        [sys.executable, "-c", SHOWS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"made\n"
        shown = Screen(process.pid) if read else None
        process.stdin.write(b"\n")
        process.stdin.flush()
        ready = select.select([process.stdout], [], [], LONG if read else 1.0)[0]
        line = process.stdout.readline() if ready else b""
        process.kill()
        process.wait()
        if shown is not None:
            shown.close()
    return line == b"shown\n"


def test_a_screen_that_is_read_keeps_nobody() -> None:
    """Bochs makes a pseudoterminal for its screen, and waits when that is full."""
    assert shows(read=True)
    assert not shows(read=False)
