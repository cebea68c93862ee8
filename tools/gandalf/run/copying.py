# SPDX-License-Identifier: Apache-2.0
"""Copies a file into or out of a running Linux through its console.

Linux's own tools do it, which a shell on that console is told to use: so nothing need run there but
the shell, which must be waiting for a command. The bytes go packed, in the letters of base64, and
count only if their SHA-256 is right at the other end.
"""

import base64
import gzip
import hashlib
import re
import shlex
import zlib
from collections.abc import Callable

from gandalf.base.paths import UserError
from gandalf.console.console import CTRL_A
from gandalf.run.machine import Machine, MachineError

# Bytes for each line of base64: a terminal takes 4,095 characters, and the VMM keeps 1,024.
_CHUNK = 720
# Seconds for a line, or for what the shell does with the whole file.
_PATIENCE = 60.0
_PULL_PATIENCE = 3600.0
# What the shell prints; the command line that makes it do so does not look like that.
_TOOK, _SUM, _DONE = r"gandalf-took", r"gandalf-sum:([0-9a-f]{64})", r"gandalf-done:(\d+)"
# Takes lines until an empty one, each of which the sender sends when the one before has been taken.
_PUSH = (
    'f={path}; if [ -d "$f" ]; then echo "sh: it is a folder: end it with a slash"; false; else '
    'stty -echo; (: > "$f.part.gz") && echo gandalf-took && '
    'while read -r l && [ "$l" ]; do echo "$l" | base64 -d >> "$f.part.gz" || break; '
    'echo gandalf-took; done; stty echo; gunzip -f "$f.part.gz" && '
    '[ "$(sha256sum < "$f.part")" = "{sum}  -" ] && chmod {mode:o} "$f.part" && '
    'mv "$f.part" "$f"; fi; echo "gandalf-done:$?"'
)
_PULL = (
    'f={path}; s=$(sha256sum < "$f") && echo "gandalf-sum:$s" && gzip -c < "$f" | base64; '
    '[ "$s" ]; echo "gandalf-done:$?"'
)
_CLEAR_LINE = "\x15"


def attend(machine: Machine) -> None:
    """Have a machine that has run for a while say who has the keyboard."""
    machine.send_raw(CTRL_A + b"n")


def _begin(machine: Machine, console: str, command: str) -> int:
    """Type a command; returns where in the console's text its output begins."""
    machine.skip(console)
    start = len(machine.text(console))
    machine.send(console, f"{_CLEAR_LINE}{command}\n")
    return start


def _complaint(machine: Machine, console: str, start: int) -> str:
    """Return what the shell or its tools said first; what follows comes of that."""
    lines = [line.strip() for line in machine.text(console)[start:].splitlines()]
    said = [line for line in lines[1:] if re.match(r"(?:-?sh|-?ash|[\w/-]+): ", line)]
    return said[0] if said else "its checksum is wrong there"


def push(
    machine: Machine,
    console: str,
    content: bytes,
    path: str,
    mode: int = 0o644,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Copy bytes to a file of the Linux on a console. progress: is told how many per cent.

    Raises UserError if that fails; a file of that name is as it was then.
    """
    packed = gzip.compress(content, mtime=0)
    found = hashlib.sha256(content).hexdigest()
    command = _PUSH.format(path=shlex.quote(path), sum=found, mode=mode)
    start = _begin(machine, console, command)
    for first in range(0, len(packed) + _CHUNK, _CHUNK):
        answer = machine.expect(console, rf"^(?:{_TOOK}|{_DONE})\n", _PATIENCE)
        if answer[1]:
            raise UserError(f"{path} cannot be written: {_complaint(machine, console, start)}.")
        progress(min(100, 100 * first // len(packed)))
        machine.send_raw(base64.b64encode(packed[first : first + _CHUNK]) + b"\n")
    done = machine.expect(console, rf"^{_DONE}\n", _PATIENCE)
    if done[1] != "0":
        raise UserError(f"{path} cannot be written: {_complaint(machine, console, start)}.")


def pull(machine: Machine, console: str, path: str) -> bytes:
    """Return the bytes of a file of the Linux on a console. Raises UserError if that fails."""
    start = _begin(machine, console, _PULL.format(path=shlex.quote(path)))
    done = machine.expect(console, rf"^{_DONE}\n", _PULL_PATIENCE)
    # Behind that the prompt may have begun, which is made of letters, too.
    text = machine.text(console)[start : done.start()]
    found = re.search(rf"^{_SUM}", text, re.M)
    if done[1] != "0" or found is None:
        raise UserError(f"{path} cannot be read: {_complaint(machine, console, start)}.")
    letters = "".join(re.findall(r"^[A-Za-z0-9+/]+=*$", text[found.end() :], re.M))
    try:
        content = gzip.decompress(base64.b64decode(letters, validate=True))
    except (ValueError, EOFError, OSError, zlib.error):
        content = b""
    if hashlib.sha256(content).hexdigest() != found[1]:
        raise UserError(f"{path} did not arrive as it is; the kernel may have written in between.")
    return content


__all__ = ["MachineError", "attend", "pull", "push"]
