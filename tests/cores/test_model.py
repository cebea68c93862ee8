# SPDX-License-Identifier: Apache-2.0
"""The models of what cores say to each other, checked exhaustively by SPIN.

message.pml is that of messages, limit.pml of how often these interrupt an RTOS, epoch.pml that of
the epochs of channels between guests of two, and relay.pml that of the bytes of consoles. Those of
a Linux on several CPUs are life.pml, how its parts start and end; flush_log.pml, shadows of what
another vCPU changes; flush_epoch.pml, those that a vCPU leaves behind; remote_port.pml, ports;
migration.pml, a vCPU that moves. order.pml is that of what a guest of one core has done by another,
and of images that it loads there. loan.pml is of one core, which an RTOS lends to Linux.

Every mistake that the model can be built with must be found, so that a model that says yes to
everything does not pass.
"""

import pytest

from gandalf.base.paths import BUILD, ROOT
from tests import spin

FOLDER = ROOT / "tests" / "cores"
MODELS = (
    "message", "epoch", "relay", "life", "flush_log", "flush_epoch", "remote_port", "migration",
    "limit", "order", "loan",
)  # fmt: skip
# What a model is built with that is no mistake.
CHOICES = {
    "EVENTS", "MESSAGES", "A_LOSS_IS_NONE", "TIMES", "BYTES", "LIVES", "STARTS", "PAUSES",
    "FLUSHES", "SWITCHES", "LOADS", "REQUESTS", "MOVES", "SENDS", "WISHES",
    "ASKS",
}  # fmt: skip
MISTAKES = [
    (model, mistake)
    for model in MODELS
    for mistake in spin.mistakes(FOLDER / f"{model}.pml", CHOICES)
]


def _check(name: str, *defines: str, model: str = "message", optimise: str = "-O1") -> str:
    folder = BUILD / "cores" / f"{model}-{name}"
    return spin.verify(FOLDER / f"{model}.pml", folder, defines, (optimise, "-DSAFETY"))


# Many messages, so that a window is too short for them; one that is sent again and again.
@pytest.mark.parametrize(
    "choice",
    [
        ("EVENTS=4",), pytest.param(("EVENTS=5",), marks=pytest.mark.long),
        ("MESSAGES=2", "EVENTS=7"), ("MESSAGES=1", "EVENTS=12"),
    ],
    ids=["many", "more", "two", "one"],
)  # fmt: skip
def test_no_message_is_lost_or_served_unasked(choice: tuple[str, ...]) -> None:
    output = _check("-".join(["right", *choice]).lower(), *choice)
    assert spin.errors(output) == 0, output
    print(f"{spin.states(output)} states")


# What goes further than the test of dead steps; those of TAKE_LONG take minutes and 6 GB.
FURTHER = {
    "relay": "BYTES=9",
    "life": "STARTS=3",
    "flush_log": "LOADS=3",
    "flush_epoch": "FLUSHES=3",
    "remote_port": "REQUESTS=5",
    "migration": "SENDS=2",
    "order": "ASKS=2",
    "epoch": "TIMES=3",
}
TAKE_LONG = ("migration", "order", "epoch")


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, marks=pytest.mark.long if model in TAKE_LONG else ())
        for model in FURTHER
    ],
)
def test_no_way_through_a_model_is_wrong(model: str) -> None:
    output = _check("right", FURTHER[model], model=model)
    assert spin.errors(output) == 0, output
    print(f"{spin.states(output)} states")


# Where less than what a mistake needs leads to every step.
ENOUGH = {"migration": ("SENDS=1",)}


@pytest.mark.parametrize("model", MODELS)
def test_nothing_in_the_model_is_dead(model: str) -> None:
    """What cannot happen is not checked."""
    output = _check("dead", *ENOUGH.get(model, ()), model=model)
    assert spin.errors(output) == 0, output
    assert set(spin.unreached(output)) == {"-end-"}, output


# Mistakes that need more of one thing, which is paid for by less of another.
NEEDS = {"READER_BEGINS_WITH_THE_FIRST": ("MESSAGES=2", "EVENTS=6")}


@pytest.mark.parametrize(("model", "mistake"), MISTAKES)
def test_a_mistake_is_found(model: str, mistake: str) -> None:
    needs = NEEDS.get(mistake, ())
    output = _check(mistake.lower(), mistake, *needs, model=model, optimise=spin.AT_ONCE)
    assert spin.errors(output) > 0, output


def test_a_service_that_nobody_asked_for_is_found() -> None:
    output = _check("unasked", "READER_DOES_NOT_LOOK", "A_LOSS_IS_NONE")
    assert spin.errors(output) > 0, output
    assert "services[message]<=sent[message]" in output.replace(" ", ""), output
    assert spin.errors(_check("asked", "SENDER_FORGETS_ORDER", "A_LOSS_IS_NONE", "EVENTS=3")) == 0
