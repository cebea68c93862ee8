# SPDX-License-Identifier: Apache-2.0
"""The kernel's rules, checked by an application of its own, on Gandalf and on a bare PC.

tests/itron/kernel/ is the application. It has a task, a helper of a higher, of a lower and of the
same priority, handlers and an object of each kind.
"""

import re
import sys

import pytest

from gandalf.build import make
from gandalf.paths import BUILD, ROOT
from tests.boot.systems import Boot, describe

from .native import run_native

# At least so many expectations are there; none is left out on the way.
EXPECTATIONS = 800
END = r"(\d+) hold, (\d+) do not\s+(PASS|FAIL) rules"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    configurator = f"CONFIGURATOR={sys.executable} -m gandalf.itron_configurator"
    make(ROOT / "tests" / "itron" / "kernel", configurator)


def _judge(match: re.Match[str], text: str) -> None:
    assert match[3] == "PASS", text
    assert match[2] == "0"
    assert int(match[1]) >= EXPECTATIONS


def test_the_rules_on_gandalf() -> None:
    guest = (
        '[[guest]]\nname = "rtos"\nkind = "rtos"\nimage = "build/itron/rules.elf"\n'
        'memory = "256K"\npriority = 10\n'
    )
    with Boot.start(describe("uitron-rules", guest, memory="32M")) as machine:
        match = machine.expect("rtos", END)
        _judge(match, machine.text("rtos"))


def test_the_rules_on_a_bare_pc() -> None:
    with run_native(BUILD / "itron" / "native" / "rules.elf") as machine:
        match = machine.expect(END)
        _judge(match, machine.text)
