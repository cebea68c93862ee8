# SPDX-License-Identifier: Apache-2.0
"""Runs the test suites that `make test` and `make check` are made of, and counts.

Every suite is a command whose last lines say `N passed, N failed` (pytest's way
of saying so counts too). Its output is shown as it comes and kept in
build/test/NAME.log. The last line here is the sum.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from gandalf.masked_check import check_image
from gandalf.paths import BUILD, ROOT
from gandalf.size import source_files

PYTHON = sys.executable
FUZZ_SECONDS = 30


@dataclass(frozen=True)
class Count:
    """How many tests passed and failed."""

    passed: int = 0
    failed: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed"


def parse_count(output: str, status: int) -> Count:
    """Return what a suite's last line with a count says.

    A suite that fails without a failed test, or says nothing, counts as one failure.
    """
    for line in reversed(output.splitlines()):
        found = re.findall(r"(\d+) (passed|failed|errors?)\b", line)
        if not found:
            continue
        passed = sum(int(number) for number, what in found if what == "passed")
        failed = sum(int(number) for number, what in found if what != "passed")
        if (status and not failed) or passed + failed == 0:
            failed += 1
        return Count(passed, failed)
    return Count(0, 1)


def _run(name: str, command: list[str]) -> tuple[int, str]:
    """Run a command in the tree's root; show and keep its output. Returns status and output."""
    folder = BUILD / "test"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    with (
        (folder / f"{name}.log").open("w") as log,
        subprocess.Popen(
            command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, errors="replace",
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            log.write(line)
            lines.append(line)
    return process.returncode, "".join(lines)


def _make(folder: str, *arguments: str) -> list[str]:
    return ["make", "--no-print-directory", "-C", folder, *arguments]


def _pytest(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", "-c", "tools/pyproject.toml", "--rootdir", ".", *arguments]


SUITES: dict[str, list[str]] = {
    "check": [PYTHON, "-m", "gandalf.suite", "--check"],
    "unit": _make("tests/unit", "run"),
    "asan": _make("tests/unit", "asan"),
    "fuzz": _make("tests/fuzz", "run", f"SECONDS={FUZZ_SECONDS}"),
    "mutants": _make("tests/fuzz", "mutants"),
    "preemption": _pytest("tests/preemption"),
    "python": _pytest("tests/python"),
    "boot": _pytest("tests/boot"),
    "isolation": _pytest("tests/isolation"),
    "itron": _pytest("tests/itron"),
    "measure": _pytest("tests/measure"),
    "bench-test": _pytest("tests/bench"),
}


def run_suites(names: list[str]) -> Count:
    """Run suites by name and print the sum."""
    total = Count()
    for name in names:
        print(f"=== {name}", flush=True)
        start = time.monotonic()
        status, output = _run(name, SUITES[name])
        count = parse_count(output, status)
        print(f"=== {name}: {count} in {time.monotonic() - start:.0f} s", flush=True)
        total += count
    print(total, flush=True)
    return total


def _files(folders: list[str]) -> list[str]:
    present = [ROOT / folder for folder in folders if (ROOT / folder).is_dir()]
    return [str(path.relative_to(ROOT)) for path in source_files(present) if path.suffix == ".c"]


def _vmm_build(folder: str, *arguments: str) -> list[str]:
    return _make("vmm", "-j2", f"BUILD={BUILD / 'check' / folder}", *arguments)


def _identical() -> str:
    """Compare two builds of the VMM that were made in different folders."""
    images = [BUILD / "check" / folder / "gandalf.elf" for folder in ("first", "second")]
    if not all(image.exists() for image in images):
        return "the VMM was not built"
    first, second = (image.read_bytes() for image in images)
    return "" if first == second else "the two builds differ: something depends on the folder"


def _masked() -> str:
    """Compare what masks interrupts in the VMM with the table of masked sections."""
    image = BUILD / "check" / "first" / "gandalf.elf"
    return "\n".join(check_image(image)) if image.exists() else "the VMM was not built"


def _licences() -> str:
    """Look for the licence line that every source file begins with."""
    folders = ("abi", "vmm", "guest", "measure", "bench", "tools", "tests", "systems")
    kinds = (".c", ".h", ".S", ".py", ".toml", ".ld")
    bare = []
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*")):
        if path.suffix in kinds and path.name != "Cargo.toml":
            head = path.read_text().splitlines()[:2]
            if not any("SPDX-License-Identifier:" in line for line in head):
                bare.append(path)
    return "".join(f"{path.relative_to(ROOT)}: no SPDX line\n" for path in bare)


def _systems() -> list[str]:
    folders = (ROOT / "systems", ROOT / "bench" / "systems")
    paths = (path for folder in folders for path in folder.glob("*.toml"))
    return sorted(str(path.relative_to(ROOT)) for path in paths)


_C_FOLDERS = [
    "vmm", "guest/rtos", "guest/demo", "guest/freertos", "guest/itron", "guest/tests", "measure",
    "bench", "guest/linux/control", "tests/itron",
]  # fmt: skip


def _check_steps() -> list[tuple[str, list[str] | Callable[[], str]]]:
    """Return the steps of `make check`: a command, or a function that returns what is wrong."""
    python = ["tools/gandalf", "tests"]
    cppcheck = [
        "cppcheck", "--quiet", "--error-exitcode=1", "--inline-suppr", "--std=c11",
        "--enable=warning,performance,portability", "--suppress=missingIncludeSystem",
        # Symbols of the linker script that begin and end an array are two objects to it.
        "--suppress=comparePointers",
        "-I.", "-Iabi", "-Ivmm", "-Ivmm/lib",
        "-Iguest/rtos", "-Iguest/rtos/include", "-Iguest/demo",
        "-Iguest/itron/include", "-Iguest/itron/kernel", "-Iguest/itron/port/ia32",
    ]  # fmt: skip
    ruff, config = [PYTHON, "-m", "ruff"], ["--config", "tools/pyproject.toml"]
    mypy = [PYTHON, "-m", "mypy", "--config-file", "tools/pyproject.toml"]
    return [
        ("the VMM builds without a warning", _vmm_build("first")),
        ("it builds a second time, elsewhere", _vmm_build("second")),
        ("the two builds are the same to the byte", _identical),
        ("the debug build builds without a warning", _vmm_build("debug", "DEBUG=1")),
        ("each masked section has a name and a bound", _masked),
        ("every bool that a function returns is looked at", _vmm_build(
            "results", f"EXTRA_CFLAGS=-Wno-attributes -include {ROOT / 'tools/checked_bool.h'}",
        )),
        ("gcc -fanalyzer", _vmm_build("analyzer", "EXTRA_CFLAGS=-fanalyzer")),
        ("cppcheck", [*cppcheck, *_files(_C_FOLDERS)]),
        ("ruff check", [*ruff, "check", *config, *python]),
        ("ruff format", [*ruff, "format", "--check", *config, *python]),
        ("mypy", [*mypy, *python]),
        ("licence lines", _licences),
        ("budgets", [PYTHON, "-m", "gandalf.cli", "size"]),
        *((f"gandalf check {name}", [PYTHON, "-m", "gandalf.cli", "check", name])
          for name in _systems()),
    ]  # fmt: skip


def run_checks() -> Count:
    """Run the steps of `make check`; each counts as a test and shows its output if it fails."""
    total = Count()
    for name, step in _check_steps():
        if callable(step):
            wrong = step()
        else:
            try:
                done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True, check=False)
                output = done.stdout + done.stderr
                wrong = output or f"status {done.returncode}" if done.returncode else ""
            except FileNotFoundError:
                wrong = f"there is no {step[0]}; run `tools/setup run test`"
        print(f"{'FAILED' if wrong else 'passed'}: {name}", flush=True)
        if wrong:
            print(wrong.rstrip(), flush=True)
        total += Count(0, 1) if wrong else Count(1, 0)
    print(total, flush=True)
    return total


def main() -> int:
    """Run `--check`, the suites named on the command line, or all of them."""
    names = sys.argv[1:]
    count = run_checks() if names == ["--check"] else run_suites(names or list(SUITES))
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
