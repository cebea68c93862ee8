# SPDX-License-Identifier: Apache-2.0
"""SPIN, as the tests of every model ask it (tests/cores, tests/preemption)."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Seconds of the host, for hangs only.
PATIENCE = 600
# Steps of the longest way through a model; a longer one would be cut, and errors() says so. Each
# takes memory that the verifier fills before it begins.
DEPTH = 10_000
# The compiler's option for a search that a mistake ends soon: to optimise would take longer.
AT_ONCE = "-O0"


def mistakes(model: Path, choices: set[str]) -> list[str]:
    """Return what a model can be built with, but for the choices that are no mistakes."""
    return sorted(set(re.findall(r"^#if(?:n?def) (\w+)", model.read_text(), re.M)) - choices)


def verify(
    model: Path, folder: Path, defines: Sequence[str], compiler: Sequence[str],
    search: Sequence[str] = (), depth: int = DEPTH,
) -> str:  # fmt: skip
    """Build the verifier of a model in a folder, and return what it says of all the states."""
    folder.mkdir(parents=True, exist_ok=True)
    _run(folder, "spin", "-a", *(f"-D{define}" for define in defines), str(model))
    _run(folder, "gcc", *compiler, "-o", "pan", "pan.c")
    return _run(folder, "./pan", f"-m{depth}", *search)


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def errors(output: str) -> int:
    """Return how many errors the verifier has found, having gone through all or to the first."""
    assert "Search not completed" not in output or "errors: 0" not in output, output
    assert "max search depth too small" not in output, output
    found = re.search(r"errors: (\d+)", output)
    assert found, output
    return int(found[1])


def states(output: str) -> int:
    """Return how many states the verifier has been in."""
    found = re.search(r"(\d+) states, stored", output)
    assert found, output
    return int(found[1])


def unreached(output: str) -> list[str]:
    """Return the steps of a model that nothing leads to."""
    return re.findall(r"^\t.*\.pml:\d+, state \d+, \"(.*)\"$", output, re.M)
