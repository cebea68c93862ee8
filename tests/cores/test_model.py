# SPDX-License-Identifier: Apache-2.0
"""The models of what cores say to each other, checked exhaustively by SPIN.

message.pml is that of messages, epoch.pml that of the epochs of channels between guests of two.

Every mistake that the model can be built with must be found, so that a model that says yes to
everything does not pass.
"""

import re
import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT

FOLDER = ROOT / "tests" / "cores"
MODELS = ("message", "epoch")
# What a model is built with that is no mistake.
CHOICES = {"EVENTS", "MESSAGES", "A_LOSS_IS_NONE", "TIMES"}


def _mistakes(model: str) -> list[str]:
    text = (FOLDER / f"{model}.pml").read_text()
    return sorted(set(re.findall(r"^#if(?:n?def) (\w+)", text, re.M)) - CHOICES)


MISTAKES = [(model, mistake) for model in MODELS for mistake in _mistakes(model)]
PATIENCE = 300


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _check(name: str, *defines: str, model: str = "message") -> str:
    """Return what the verifier says of a model, having gone through all of its states."""
    folder = BUILD / "cores" / f"{model}-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    _run(folder, "spin", "-a", *(f"-D{define}" for define in defines),
         str(FOLDER / f"{model}.pml"))  # fmt: skip
    _run(folder, "gcc", "-O1", "-DCOLLAPSE", "-DSAFETY", "-o", "pan", "pan.c")
    return _run(folder, "./pan", "-m2000000")


def _errors(output: str) -> int:
    assert "Search not completed" not in output or "errors: 0" not in output, output
    assert "max search depth too small" not in output, output
    found = re.search(r"errors: (\d+)", output)
    assert found, output
    return int(found[1])


# Many messages, so that a window is too short for them; one that is sent again and again.
@pytest.mark.parametrize(
    "choice", [("EVENTS=5",), ("MESSAGES=1", "EVENTS=12")], ids=["many", "one"]
)
def test_no_message_is_lost_or_served_unasked(choice: tuple[str, ...]) -> None:
    output = _check("-".join(["right", *choice]).lower(), *choice)
    assert _errors(output) == 0, output
    states = re.search(r"(\d+) states, stored", output)
    assert states, output
    print(f"{states[1]} states")


def test_all_epochs_are_counted_and_each_stands_for_one_moment() -> None:
    output = _check("right", "TIMES=5", model="epoch")
    assert _errors(output) == 0, output


@pytest.mark.parametrize("model", MODELS)
def test_nothing_in_the_model_is_dead(model: str) -> None:
    """What cannot happen is not checked."""
    output = _check("dead", model=model)
    unreached = re.findall(r"^\t.*\.pml:\d+, state \d+, \"(.*)\"$", output, re.M)
    assert set(unreached) == {"-end-"}, output


@pytest.mark.parametrize(("model", "mistake"), MISTAKES)
def test_a_mistake_is_found(model: str, mistake: str) -> None:
    output = _check(mistake.lower(), mistake, model=model)
    assert _errors(output) > 0, output


def test_a_service_that_nobody_asked_for_is_found() -> None:
    output = _check("unasked", "READER_DOES_NOT_LOOK", "A_LOSS_IS_NONE")
    assert _errors(output) > 0, output
    assert "services[message]<=sent[message]" in output.replace(" ", ""), output
    assert _errors(_check("asked", "SENDER_FORGETS_ORDER", "A_LOSS_IS_NONE", "EVENTS=3")) == 0
