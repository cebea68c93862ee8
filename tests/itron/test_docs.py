# SPDX-License-Identifier: Apache-2.0
"""docs/itron.md says what is true: its example runs, and its numbers are the headers'."""

import re
import sys
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.build.build import make

from .native import run_native

TEXT = (ROOT / "docs" / "itron.md").read_text()
KERNEL_H = (ROOT / "guest" / "itron" / "include" / "kernel.h").read_text()
HELLO_H = """\
#include "kernel.h"
void hello_wake(VP_INT exinf);
void hello_run(VP_INT exinf);
"""


def _block(language: str) -> str:
    block = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    return block[1]


def test_the_example_runs(tmp_path: Path) -> None:
    (tmp_path / "hello.cfg").write_text(_block("cfg"))
    (tmp_path / "hello.c").write_text(_block("c"))
    (tmp_path / "hello.h").write_text(HELLO_H)
    (tmp_path / "Makefile").write_text(_block("make"))
    configurator = f"CONFIGURATOR={sys.executable} -m gandalf.itron.configurator"
    make(tmp_path, f"ROOT={ROOT}", f"BUILD={tmp_path / 'build'}", configurator)
    assert (tmp_path / "build" / "hello.elf").is_file()
    with run_native(tmp_path / "build" / "native" / "hello.elf") as machine:
        times = [int(machine.expect(r"(\d+) ms\s")[1]) for _ in range(3)]
    assert times == [1, 501, 1001]


@pytest.mark.parametrize(
    ("name", "row", "form"),
    [
        ("TMAX_TPRI", "Task priorities", "1 to {}"),
        ("TMAX_ACTCNT", "Requests counted", "up to {} each"),
        ("TMAX_WUPCNT", "Requests counted", "up to {} each"),
        ("TMAX_SUSCNT", "Requests counted", "up to {} each"),
        ("TMAX_MAXSEM", "Semaphore count", "up to {}"),
        ("TBIT_FLGPTN", "Bits of event flags and task exceptions", "{}"),
        ("TBIT_TEXPTN", "Bits of event flags and task exceptions", "{}"),
        ("TMAX_RELTIM", "Relative times and time-outs", "up to {} ms"),
    ],
)
def test_limits_are_those_of_the_header(name: str, row: str, form: str) -> None:
    value = re.search(rf"^#define {name} (\w+?)U?\b", KERNEL_H, re.MULTILINE)
    assert value is not None
    assert f"| {row} | {form.format(int(value[1].rstrip('U'), 0))}" in TEXT
