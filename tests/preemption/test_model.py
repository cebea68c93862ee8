# SPDX-License-Identifier: Apache-2.0
"""The model of how the VMM's work is preempted (preemption.pml), checked exhaustively by SPIN.

Every mistake that the model can be built with must be found, so that a model that says yes to
everything does not pass.
"""

import re

import pytest

from gandalf.base.paths import BUILD, ROOT
from tests import spin

MODEL = ROOT / "tests" / "preemption" / "preemption.pml"
PROPERTIES = re.findall(r"^ltl (\w+)", MODEL.read_text(), re.M)
MISTAKES = spin.mistakes(MODEL, {"EVENTS", "CHIPS"})
# A device that interrupts either has something wait for Linux, or a chip that Linux looks at.
VARIANTS = ((), ("CHIPS",))
# Enough that each line interrupts, and two of them twice.
EVENTS = 6
# Without reduction, and with interrupts that never end, the ways are long.
DEPTH = 2_000_000


def _check(name: str, *defines: str, ltl: str = "", optimise: str = "-O2") -> str:
    """Return what the verifier says of a model.

    Without a property assertions are checked, and that nothing is stuck; interrupts never end.
    With one they do, since nothing that waits for Linux happens under an endless storm of them.
    """
    bound = [f"EVENTS={EVENTS}"] if ltl else []
    # Partial-order reduction does not go with `provided`, nor does SPIN's fairness, which counts
    # what waits for the core as able to run. None is needed: one process can step at a time.
    kind = [] if ltl else ["-DSAFETY", "-DNOCLAIM"]
    return spin.verify(
        MODEL, BUILD / "preemption" / name, [*defines, *bound], [optimise, "-DNOREDUCE", *kind],
        ["-a", "-N", ltl] if ltl else [], DEPTH,
    )  # fmt: skip


def _tell(what: str, output: str) -> None:
    print(f"{what}: {spin.states(output)} states")


@pytest.mark.parametrize("variant", VARIANTS, ids=["plain", "chips"])
def test_no_assertion_fails_however_interrupts_come(variant: tuple[str, ...]) -> None:
    output = _check("-".join(["assertions", *variant]).lower(), *variant)
    assert spin.errors(output) == 0, output
    _tell("assertions", output)
    processes = output.partition("unreached in claim")[0]
    # Nothing in the model is dead: what cannot happen is not checked.
    unreached = [
        line for line in spin.unreached(processes) if line != "-end-" and "events" not in line
    ]
    assert not unreached, unreached


@pytest.mark.parametrize("ltl", PROPERTIES)
def test_the_model_has_the_property(ltl: str) -> None:
    output = _check(ltl, ltl=ltl)
    assert spin.errors(output) == 0, output
    _tell(ltl, output)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    variant = ("CHIPS",) if mistake.endswith("DUE") else ()
    output = _check(mistake.lower(), mistake, *variant, optimise=spin.AT_ONCE)
    assert spin.errors(output) > 0, output
