# SPDX-License-Identifier: Apache-2.0
"""`gandalf explain` on what a terminal showed, saved: applications of each kind that went wrong."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from .test_first_sight import PATIENCE, leave
from .test_sdk import KINDS

GANDALF = (sys.executable, "-m", "gandalf.cli")
# All of them print their beats, by a function that fails.
MISTAKE = """
static __attribute__((noipa)) unsigned int quotient(unsigned int of)
{
	volatile unsigned int zero = 0;

	return of / zero;
}
"""
CALLERS = {"freertos": "print_run", "itron": "beat_run", "bare": "main"}
MACHINE = '[machine]\nmemory = "32M"\n'
GUEST = """
[[guest]]
name = "{name}"
kind = "rtos"
image = "./{name}/build/{name}.elf"
memory = "1M"
priority = {priority}
"""


def make_application(folder: Path, kind: str, name: str, *, good: bool = False) -> None:
    subprocess.run([*GANDALF, "new", kind, name], cwd=folder, check=True)
    main = folder / name / "main.c"
    text = main.read_text()
    if not good:
        head, behind, rest = text.partition('#include "print.h"\n')
        text = head + behind + rest.replace('beat %u\\n", ', 'beat %u\\n", quotient(100) + ')
        last = text.rindex("#include")
        last = text.index("\n", last) + 1
        text = text[:last] + MISTAKE + text[last:]
    main.write_text(text)
    clean = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", f"GANDALF={shlex.join(GANDALF)}"]
    subprocess.run(command, cwd=folder / name, check=True, env=clean)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One application of each kind, all of which fail, and one that goes on."""
    folder = tmp_path_factory.mktemp("saved")
    for kind in KINDS:
        make_application(folder, kind, kind)
    make_application(folder, "bare", "good", good=True)
    guests = [GUEST.format(name=name, priority=10 + at) for at, name in enumerate((*KINDS, "good"))]
    path = folder / "system.toml"
    path.write_text(MACHINE + "".join(guests))
    return path


@pytest.fixture(scope="module")
def saved(system: Path) -> Path:
    """Return the file with all that a terminal of 100 by 30 showed until the three had failed."""
    path = system.with_name("saved.txt")
    with path.open("w", encoding="utf-8", newline="") as file:
        terminal = pexpect.spawn(
            GANDALF[0], [*GANDALF[1:], "run", str(system)], timeout=PATIENCE, encoding="utf-8",
            dimensions=(30, 100), echo=False,
        )  # fmt: skip
        terminal.logfile_read = file
        try:
            for _ in KINDS:
                terminal.expect(r"gandalf: guest \w+ stopped: ")
            terminal.expect(r"beat \d+\r\n")  # of the good one, behind what is said of the others
            leave(terminal)
        finally:
            terminal.close(force=True)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_report_says_who_called_whom(kind: str, system: Path, saved: Path) -> None:
    done = subprocess.run(
        [*GANDALF, "explain", str(system), str(saved)], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = [text for text in done.stdout.split("guest ") if text.startswith(f"{kind} stopped")]
    lines = report.splitlines()
    assert "divide error (#DE) without a handler" in lines[0]
    assert lines[1].startswith("  at quotient+")
    assert "main.c:" in lines[1]
    assert lines[3].startswith(f"  called from {CALLERS[kind]}+")
    assert "main.c:" in lines[3]


def test_where_the_words_end_the_backtrace_says_so(system: Path, saved: Path) -> None:
    """As if the text had the first word of each stack alone."""
    text = saved.read_text(encoding="utf-8", errors="replace")
    cut = re.sub(r"(gandalf:   stack .{8}: .{8}).*\n(gandalf:   stack .*\n)*", r"\1\n", text)
    done = subprocess.run(
        [*GANDALF, "explain", str(system), "-"], check=False, capture_output=True, text=True,
        input=cut,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    for report in done.stdout.split("guest ")[1:]:
        assert "  called from " in report
        # The rule by which main() returns is an expression, at which a backtrace ends in any case.
        ends = "  the backtrace ends here: the word of the stack at " in report
        assert ends != report.startswith("bare stopped")
