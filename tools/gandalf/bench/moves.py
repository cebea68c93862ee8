# SPDX-License-Identifier: Apache-2.0
"""What the moves of a vCPU take, as the VMM has counted it for `gandalfctl list --json`.

Ticks are those of Bochs (cores.py), which are instructions where nothing else runs in between.
"""

import json
from typing import Any

from gandalf.base.paths import UserError
from gandalf.bench.cores import framed
from gandalf.bench.workload import DYNAMIC, Sample

# A vCPU that has nothing to do, and one that moves in the midst of a load that lasts.
MOVE, MOVE_HACKBENCH = "move", "move_hackbench"
# Moves there and back.
_ROUNDS = (100, 1000)
# Others before, which are not measured.
_BEFORE = 20
# The steps, by the names of the VMM's counts: on the CPU that is left, on the one that is come to,
# and there again when the vCPU first goes on, with its shadow page tables.
STEPS = {"leave_ticks": "leaves", "arrive_ticks": "arrives", "settle_ticks": "settles"}
_MODULUS = 1 << 31


def script(full: bool) -> str:
    """Return the script of a Linux whose second vCPU moves."""
    rounds = _ROUNDS[full]
    return framed([
        *_measured(MOVE, rounds),
        f"{DYNAMIC} -g 1 -l 1000000 >/dev/null &",
        "sleep 1",
        *_measured(MOVE_HACKBENCH, rounds),
    ])  # fmt: skip


def _measured(operation: str, rounds: int) -> list[str]:
    """Return the lines of some moves.

    What asks for them has the first vCPU, so that the second has nothing to do but the load. Some
    more come before: the first to each CPU builds the shadow of the kernel there, and processes
    that last are to have been on both.
    """
    return [
        _moves(_BEFORE),
        f"echo moves={operation}",
        "gandalfctl list --json",
        _moves(rounds),
        "gandalfctl list --json",
    ]


def _moves(rounds: int) -> str:
    return (
        f"taskset 1 sh -c 'i=0; while [ $i -lt {rounds} ]; do gandalfctl move linux 1 0 && "
        "gandalfctl move linux 1 1 || break; i=$((i + 1)); done'"
    )


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
