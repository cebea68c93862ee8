# SPDX-License-Identifier: Apache-2.0
"""A vCPU is asked to move at each instruction of the VMM's work for it; nothing else differs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gandalf.stress.moves import LONG, SHORT, run

from .changed import SMP, changed_debug, substitute

# One interrupt comes in each round of these, and in those of the others none.
WITH_INTERRUPT = {
    "tell", "told", "halt", "interrupt-own", "interrupt-waits", "interrupt-at-return", "apic-timer",
}  # fmt: skip
# These have interrupts masked for the most part, since what they touch is shared with handlers.
MOSTLY_MASKED = {"tell", "told", "halt", "apic-timer", "arrive", "in", "out"}
# Far less than the first vCPU asks until it gives up.
IN_VAIN = 10


@pytest.mark.parametrize("names", [SHORT, pytest.param(LONG, marks=pytest.mark.long)])
def test_a_move_may_be_asked_for_at_each_instruction(names: tuple[str, ...]) -> None:
    outcome = run(names)
    mistakes = outcome.mistakes()
    assert not mistakes, "\n".join(mistakes[:20])
    assert outcome.operations.keys() == set(names)
    for name, operation in outcome.operations.items():
        assert operation.interrupts == (name in WITH_INTERRUPT), name
        assert operation.asked <= IN_VAIN, name
        assert name in MOSTLY_MASKED or operation.at_once > operation.rounds / 2, name


# --- Mistakes ---

MIGRATE = "guests/x86/smp/migrate.c"


def work_is_left(folder: Path) -> None:
    """Have a vCPU leave while the VMM works for it."""
    core = folder / "vmm" / "core"
    substitute(core / "migration.c", " && !vm->vcpus->working", "")
    substitute(core / "schedule.c", "return vcpu->priority == 0 && !vcpu->working", "return true")
    substitute(core / "idle.c", "if (turn_is_at_work())", "if (false)")


def request_waits(folder: Path) -> None:
    """Have the idle vCPU not told of a request, which then waits for something else."""
    told = "\tschedule_housekeeping(HOUSEKEEPING_RELEASE);\n}\n\n/* A request"
    substitute(folder / "vmm" / "core" / "migration.c", told, "}\n\n/* A request")


def without(line: str) -> Callable[[Path], None]:
    """Return what has something not taken along."""
    return lambda folder: substitute(folder / "vmm" / MIGRATE, line, "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("mistake", "change", "names"),
    [
        ("work", work_is_left, ("hypercall-null", "load-tls")),
        ("request", request_waits, ("hypercall-null",)),
        ("cr2", without("\tshared->cr2 = luggage->cr2;\n"), ("page-fault-user",)),
        (
            "flag",
            without("\tshared->interrupt_flag = luggage->interrupt_flag;\n"),
            ("hypercall-null",),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_found(
    mistake: str, change: Callable[[Path], None], names: tuple[str, ...]
) -> None:
    vmm = changed_debug(f"moves-{mistake}", change, SMP)
    assert run(names, vmm).mistakes()
