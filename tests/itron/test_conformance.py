# SPDX-License-Identifier: Apache-2.0
"""The conformance suite of the uITRON kernel, on Gandalf and on a bare PC, with the same results.

tests/itron/conformance/ is the application: it makes all service calls in all states, checks what
they do, and prints a line for each test. Its last lines say what each call has given in each state,
so that a call or a result that no test has any more makes a test fail, and a result that only one
port gives makes the outputs differ.
"""

import re
import sys

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.build.build import make
from tests.boot.systems import Boot, describe

from .native import run_native

SOURCES = ROOT / "tests" / "itron" / "conformance"
KERNEL_H = ROOT / "guest" / "itron" / "include" / "kernel.h"
# The results of the table as the suite prints them, and from where no call gives E_CTX.
BITS = {bit: {f"E_{bit}"} for bit in ("OK", "PAR", "ILUSE", "OBJ", "QOVR", "RLWAI", "TMOUT")}
BITS |= {"NAMED": {"E_OK", "E_ID", "E_NOEXS"}, "NO": {"FALSE"}, "YES": {"TRUE"}}
UNREFUSED = ("ANY", "END")
END = r"^(PASS conformance|FAIL conformance: .*)\n"
# Serial ports at which nothing is: ISA devices with a line of either interrupt controller.
LINES = {3: 0x2F8, 10: 0x3E8, 7: 0x2E8}
DEVICES = tuple(
    word
    for line, port in LINES.items()
    for word in ("-device", f"isa-serial,iobase={port:#x},irq={line}")
)


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    configurator = f"CONFIGURATOR={sys.executable} -m gandalf.itron.configurator"
    make(SOURCES, configurator)


@pytest.fixture(scope="module")
def gandalf() -> str:
    """Return what the suite prints on Gandalf."""
    ports = ", ".join(f'"{port:#x}-{port + 7:#x}"' for port in LINES.values())
    guest = (
        '[[guest]]\nname = "rtos"\nkind = "rtos"\nimage = "build/itron/conformance.elf"\n'
        'memory = "256K"\npriority = 10\n'
        f"interrupts = {list(LINES)}\nports = [{ports}]\n"
    )
    system = describe("uitron-conformance", guest, memory="32M")
    with Boot.start(system, arguments=DEVICES) as machine:
        machine.expect("rtos", END)
        return machine.text("rtos")


@pytest.fixture(scope="module")
def native() -> str:
    """Return what the suite prints on a bare PC."""
    with run_native(BUILD / "itron" / "native" / "conformance.elf", devices=DEVICES) as machine:
        machine.expect(r"(PASS|FAIL) conformance[^\n]*\n")
        return re.sub(r"\r+\n", "\n", machine.text)


def _judge(text: str) -> None:
    """Check that all tests of the plan are there and have passed."""
    failed = re.findall(r"^(?:# .*\n)*not ok .*\n", text, re.M)
    assert not failed, "".join(failed)
    plan = re.match(r"1\.\.(\d+)\n", text)
    assert plan is not None
    assert [int(number) for number in re.findall(r"^ok (\d+) ", text, re.M)] == list(
        range(1, int(plan[1]) + 1)
    )
    assert text.endswith("PASS conformance\n")
    assert "# skip" not in text


def test_on_gandalf(gandalf: str) -> None:
    _judge(gandalf)


def test_on_a_bare_pc(native: str) -> None:
    _judge(native)


def _table() -> dict[str, tuple[str, set[str]]]:
    """Return for each call of calls.h from where it may be made and the results that it needs."""
    text = (SOURCES / "calls.h").read_text().replace("\\\n", " ")
    rows = re.findall(r"CALL\((\w+), (\w+), \w+, \([^()]*\),\s+([\w |]+)\)", text)
    table = {}
    for name, place, results in rows:
        needed = set().union(*(BITS[bit] for bit in results.split(" | ")))
        table[name] = place, needed | (set() if place in UNREFUSED else {"E_CTX"})
    return table


def _seen(text: str) -> dict[str, set[str]]:
    """Return what each call has given, by the suite's last lines."""
    lines = re.findall(r"^# (\w+)((?: [a-z-]+:(?: \w+)+)+)$", text, re.M)
    return {name: set(re.findall(r" (\w+)(?= |$)", states)) for name, states in lines}


def test_the_table_has_every_service_call() -> None:
    declared = re.findall(r"^(?:ER|ER_UINT|void|BOOL) (\w+_\w+)\(", KERNEL_H.read_text(), re.M)
    assert sorted(_table()) == sorted(declared)
    noted = re.findall(r"^#define (\w+_\w+)\(", (SOURCES / "calls.h").read_text(), re.M)
    assert set(declared) <= set(noted)


@pytest.mark.parametrize("port", ["gandalf", "native"])
def test_every_result_was_given(port: str, request: pytest.FixtureRequest) -> None:
    seen = _seen(request.getfixturevalue(port))
    assert seen == {name: results for name, (_, results) in _table().items()}


def test_what_is_missing_is_noticed(native: str) -> None:
    for broken in (
        native.replace("\nok 5 ", "\nnot ok 5 "),
        re.sub(r"\nok 5 .*", "", native),
        native.replace("PASS conformance", "FAIL conformance: 1 of 300"),
    ):
        with pytest.raises(AssertionError):
            _judge(broken)
    assert _seen(native.replace(" E_QOVR", "", 1)) != _seen(native)


def test_the_results_of_both_are_the_same(gandalf: str, native: str) -> None:
    assert gandalf.splitlines() == native.splitlines()
