# SPDX-License-Identifier: Apache-2.0
"""The model of how the VMM's work is preempted (preemption.pml), checked exhaustively by SPIN.

Every mistake that the model can be built with must be found, so that a model that says yes to
everything does not pass.
"""

import re
import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT

MODEL = ROOT / "tests" / "preemption" / "preemption.pml"
SOURCE = MODEL.read_text()
PROPERTIES = re.findall(r"^ltl (\w+)", SOURCE, re.M)
MISTAKES = sorted(set(re.findall(r"^#if(?:n?def) (\w+)", SOURCE, re.M)) - {"EVENTS", "CHIPS"})
# A device that interrupts either has something wait for Linux, or a chip that Linux looks at.
VARIANTS = ((), ("CHIPS",))
# Enough that each line interrupts, and two of them twice.
EVENTS = 6
PATIENCE = 600


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _check(name: str, *defines: str, ltl: str = "") -> str:
    """Return what the verifier says of a model.

    Without a property assertions are checked, and that nothing is stuck; interrupts never end.
    With one they do, since nothing that waits for Linux happens under an endless storm of them.
    """
    folder = BUILD / "preemption" / name
    folder.mkdir(parents=True, exist_ok=True)
    bound = [f"-DEVENTS={EVENTS}"] if ltl else []
    _run(folder, "spin", "-a", *(f"-D{define}" for define in defines), *bound, str(MODEL))
    # Partial-order reduction does not go with `provided`, nor does SPIN's fairness, which counts
    # what waits for the core as able to run. None is needed: one process can step at a time.
    kind = [] if ltl else ["-DSAFETY", "-DNOCLAIM"]
    _run(folder, "gcc", "-O2", "-DCOLLAPSE", "-DNOREDUCE", *kind, "-o", "pan", "pan.c")
    search = ["-a", "-N", ltl] if ltl else []
    return _run(folder, "./pan", "-m2000000", *search)


def _errors(output: str) -> int:
    assert "Search not completed" not in output or "errors: 0" not in output, output
    assert "max search depth too small" not in output, output
    found = re.search(r"errors: (\d+)", output)
    assert found, output
    return int(found[1])


def _tell(what: str, output: str) -> None:
    states = re.search(r"(\d+) states, stored", output)
    assert states, output
    print(f"{what}: {states[1]} states")


@pytest.mark.parametrize("variant", VARIANTS, ids=["plain", "chips"])
def test_no_assertion_fails_however_interrupts_come(variant: tuple[str, ...]) -> None:
    output = _check("-".join(["assertions", *variant]).lower(), *variant)
    assert _errors(output) == 0, output
    _tell("assertions", output)
    processes = output.partition("unreached in claim")[0]
    # Nothing in the model is dead: what cannot happen is not checked.
    unreached = [
        line
        for line in re.findall(r"^\t.*\.pml:\d+, state \d+, \"(.*)\"$", processes, re.M)
        if line != "-end-" and "events" not in line
    ]
    assert not unreached, unreached


@pytest.mark.parametrize("ltl", PROPERTIES)
def test_the_model_has_the_property(ltl: str) -> None:
    output = _check(ltl, ltl=ltl)
    assert _errors(output) == 0, output
    _tell(ltl, output)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    variant = ("CHIPS",) if mistake.endswith("DUE") else ()
    output = _check(mistake.lower(), mistake, *variant)
    assert _errors(output) > 0, output
