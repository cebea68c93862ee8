# SPDX-License-Identifier: Apache-2.0
"""Looks for instructions of the VMM that lock memory, for which another core may have to wait.

Nothing between cores rests on a lock, and an RTOS's way to its task least of all. What may lock
memory all the same is in vmm/walls.toml, function by function.
"""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from gandalf.base.paths import UserError

_FUNCTION = re.compile(r"^[0-9a-f]+ <(\w[\w.]*)>:$")
# An exchange with memory locks it without a prefix (SDM vol. 3, 9.1.2.1).
_LOCKED = re.compile(r"^ *[0-9a-f]+:\t(lock .*|xchg\w? (?! *%\w+,%\w+$).*)$")
# A fence, on a word of the core's own stack (order_stores() in vmm/arch/ia32/cpu.h).
_FENCE = re.compile(r"lock addl? +\$0x0,\(%esp\)$")


def _locked(objects: Path) -> Iterator[tuple[str, str]]:
    """Yield functions of an object file that lock memory, with the instruction."""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", "--wide", str(objects)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"objdump cannot read {objects}: {done.stderr.strip()}")
    function = ""
    for line in done.stdout.splitlines():
        if found := _FUNCTION.match(line):
            function = found[1]
        elif (found := _LOCKED.match(line)) and not _FENCE.match(found[1]):
            yield function, found[1].strip()


def check_locks(vmm: Path, *builds: Path) -> list[str]:
    """Return the locked accesses that the table does not have, and what it has in vain."""
    table = tomllib.loads((vmm / "walls.toml").read_text()).get("locked", [])
    assert all(entry["why"] for entry in table), "who locks memory has a reason"
    allowed = {function for entry in table for function in entry["functions"]}
    wrong, used = [], set()
    for build in builds:
        for path in sorted(build.rglob("*.o")):
            for function, instruction in _locked(path):
                used.add(function)
                if function not in allowed:
                    file = path.relative_to(build).with_suffix("")
                    wrong.append(f"{file}: {function} locks memory: {instruction}")
    unused = [f"walls.toml: {function} locks no memory" for function in sorted(allowed - used)]
    return [*dict.fromkeys(wrong), *unused]
