# SPDX-License-Identifier: Apache-2.0
"""What the moves of a vCPU take, as the VMM has counted it for `gandalfctl list --json`.

Ticks are those of Bochs (cores.py), which are instructions where nothing else runs in between.
"""

import json
from typing import Any

from gandalf.base.paths import UserError
from gandalf.bench.cores import framed
from gandalf.bench.latency import loop
from gandalf.bench.workload import Sample

# A vCPU that has nothing to do, and one that moves in the midst of a load.
MOVE, MOVE_HACKBENCH = "move", "move_hackbench"
# Moves there and back.
_ROUNDS = (100, 1000)
# The steps, by the names of the VMM's counts: on the CPU that is left, on the one that is come to,
# and there again when the vCPU first goes on, with its shadow page tables.
STEPS = {"leave_ticks": "leaves", "arrive_ticks": "arrives", "settle_ticks": "settles"}
_MODULUS = 1 << 31


def script(full: bool) -> str:
    """Return the script of a Linux whose second vCPU moves."""
    rounds = _ROUNDS[full]
    # What asks for the moves has the first vCPU, so that the second has nothing else to do.
    moves = (
        f"taskset 1 sh -c 'i=0; while [ $i -lt {rounds} ]; do gandalfctl move linux 1 0 && "
        "gandalfctl move linux 1 1 || break; i=$((i + 1)); done'"
    )
    # The first move to a CPU builds the shadow of the kernel there, and is not measured.
    lines = ["gandalfctl move linux 1 0", "gandalfctl move linux 1 1"]
    lines += [f"echo moves={MOVE}", "gandalfctl list --json", moves, "gandalfctl list --json"]
    load = loop(MOVE_HACKBENCH, "hackbench -g 1 -l 10 >/dev/null")
    lines += [
        "end=1000000",
        f"({load}) &",
        "sleep 1",
        f"echo moves={MOVE_HACKBENCH}",
        "gandalfctl list --json",
        moves,
        "gandalfctl list --json",
    ]
    return framed(lines)


def _lists(operation: str, text: str) -> list[dict[str, Any]]:
    """Return what both lists say of the vCPU; other lines may be between them."""
    found = []
    at = text.index(f"moves={operation}\n")
    for _ in range(2):
        at = text.index('{"uptime_ms"', at)
        listed, at = json.JSONDecoder().raw_decode(text, at)
        guest = next(guest for guest in listed["guests"] if guest["name"] == "linux")
        found.append(guest["vcpus"][1])
    return found


def sample(operation: str, text: str) -> tuple[Sample, dict[str, float]]:
    """Return what a move takes in all, and in each step, from a Linux's output."""
    try:
        before, after = _lists(operation, text.replace("\r", ""))
    except (ValueError, LookupError, StopIteration) as error:
        raise UserError(f"The moves were not measured: {operation}.\n{text}") from error
    moves = after["moves"] - before["moves"]
    if moves <= 0:
        raise UserError(f"The vCPU has not moved: {operation}.\n{text}")
    parts = {
        f"{step}_ticks": (after[name] - before[name]) % _MODULUS / moves
        for name, step in STEPS.items()
    }
    total = sum(parts.values())
    whole = round(total)
    return Sample(operation, moves, whole, whole, total, whole, 0), parts
