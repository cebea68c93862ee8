# SPDX-License-Identifier: Apache-2.0
"""Runs the test suites that `make test` and `make check` are made of, and counts.

Every suite is a command whose last lines say `N passed, N failed` (pytest's way of saying so
counts too). Suites run side by side, one more than the host has CPUs, since for a quarter of their
time they wait for machines whose clock is the host's. Those that take longest begin first, and
none depends on what another does: each builds what it needs under a lock (paths.building), and
what has been compiled once, for another profile or from a copy of a source, ccache remembers.
The output of each is shown when it ends and kept in build/test/NAME.log. The last line is the sum.
"""

import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT
from gandalf.build.build import build_vmm, make
from gandalf.checks import check_steps

PYTHON = sys.executable
FUZZ_SECONDS = 5
# Where distributions keep ccache under the names of the compilers.
CACHED_COMPILERS = ("/usr/lib/ccache", "/usr/lib64/ccache")


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


def _run(name: str, command: list[str], show: bool) -> tuple[int, str]:
    """Run a command in the tree's root and keep its output. Returns status and output."""
    log = BUILD / "test" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    with (
        log.open("w", buffering=1) as file,
        subprocess.Popen(
            command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, errors="replace",
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if show:
                print(line, end="", flush=True)
            file.write(line)
            lines.append(line)
    return process.returncode, "".join(lines)


def _make(folder: str, *arguments: str) -> list[str]:
    return ["make", "--no-print-directory", "-C", folder, *arguments]


def _pytest(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", "-c", "tools/pyproject.toml", "--rootdir", ".", *arguments]


def _boot(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/boot/test_{name}.py" for name in names)


# Files of tests/boot that make suites of their own, so that no suite is the last for long: hostile
# guests and figures with bounds, several CPUs, a Linux on several, two privilege levels, what the
# kernels of the shipped systems have, and how their root file system may be packed.
_BOUNDS = _boot(
    "bad_linux", "bad_rtos", "boundaries", "figures", "fuzz", "interruptible", "latency", "masked"
)
_SEVERAL = _boot(
    "cores", "cores_control", "cores_end", "cores_latency", "cores_shipped", "dedicated_cores"
)
_SMP = _boot("gather", "migration", "preemption", "smp", "smp_sharing")
_COMPLETE = _boot("cgroups", "complete", "network", "network_nat", "network_smp", "web")
_PACKED = _boot("packed")
_LEVELS = tuple(map(str, sorted((ROOT / "tests" / "boot").glob("test_two_level*.py"))))
_APART = (*_BOUNDS, *_SEVERAL, *_SMP, *_COMPLETE, *_PACKED, *_LEVELS)
_SELF_CHECKING = _pytest("tests/boot/test_guests.py", "-k", "self_checking", "--rings", "two-level")
_MORE_TWO_LEVEL = _pytest(*_boot("debug", "tsc"), "--rings", "two-level")
# Once more all that is not about rings, where the VMM alone is privileged (docs/two-level.md says
# what that leaves out). `make test` has the guests that check themselves.
_OTHERS = (f"--ignore={file}" for file in _LEVELS)
_TWO_LEVEL = _pytest("tests/boot", *_OTHERS, "--rings", "two-level")


@dataclass(frozen=True)
class Suite:
    """A command and about how many seconds it takes, by which the longest begin first."""

    seconds: int
    commands: tuple[list[str], ...]


SUITES: dict[str, Suite] = {
    "boot": Suite(840, (_pytest("tests/boot", *(f"--ignore={file}" for file in _APART)),)),
    "boot-levels": Suite(250, (_pytest(*_LEVELS),)),
    "boot-bounds": Suite(800, (_pytest(*_BOUNDS),)),
    "boot-self-checking": Suite(95, (_SELF_CHECKING, _MORE_TWO_LEVEL)),
    "boot-cores": Suite(350, (_pytest(*_SEVERAL),)),
    "boot-smp": Suite(300, (_pytest(*_SMP),)),
    "boot-complete": Suite(370, (_pytest(*_COMPLETE),)),
    "boot-packed": Suite(60, (_pytest(*_PACKED),)),
    "bench-test": Suite(640, (_pytest("tests/bench"),)),
    "isolation": Suite(250, (_pytest("tests/isolation"),)),
    "isolation-two-level": Suite(80, (_pytest("tests/isolation", "--rings", "two-level"),)),
    # Both build the fuzzers, in the same place: one behind the other.
    "fuzz": Suite(300, (
        _make("tests/fuzz", "run", f"SECONDS={FUZZ_SECONDS}"), _make("tests/fuzz", "mutants"),
    )),
    "measure": Suite(220, (_pytest("tests/measure"),)),
    "python": Suite(190, (_pytest("tests/python"),)),
    "preemption": Suite(120, (_pytest("tests/preemption"),)),
    "cores": Suite(240, (_pytest("tests/cores"),)),
    "check": Suite(170, ([PYTHON, "-m", "gandalf.suite", "--check"],)),
    "itron": Suite(100, (_pytest("tests/itron"),)),
    "newcomer": Suite(360, (_pytest("tests/newcomer"),)),
    "asan": Suite(130, (_make("tests/unit", "asan"),)),
}  # fmt: skip

# Asked for by name, as the suites are: parts of them.
PARTS: dict[str, Suite] = {
    "unit": Suite(60, (_make("tests/unit", "run"),)),  # the tests of `asan` without sanitizers
    "mutants": Suite(45, (_make("tests/fuzz", "mutants"),)),
    # Both modes, the management of guests, a hostile kernel: most mistakes show there.
    "boot-quick": Suite(150, (_pytest(*_boot("default", "dedicated", "watchdog")),)),
    "boot-two-level": Suite(1200, (_TWO_LEVEL,)),
    "measure-quick": Suite(30, (_pytest("tests/measure/test_plugin.py"),)),
}  # fmt: skip
QUICK = ("boot-quick", "python", "check", "measure-quick", "asan")


def order(names: list[str]) -> list[str]:
    """Return suites in the order in which they begin: the longest first."""
    every = SUITES | PARTS
    return sorted(names, key=lambda name: -every[name].seconds)


def failures(output: str) -> list[str]:
    """Return the lines of a suite's output that name what failed."""
    return re.findall(r"^(?:FAILED|ERROR|\[  FAILED  \])[: ].*", output, re.MULTILINE)


def run_suite(name: str, lock: threading.Lock, failed: list[str], alone: bool = False) -> Count:
    """Run a suite, one command behind the other; show its output when it has ended, or at once."""
    with lock:
        print(f"=== {name} begins", flush=True)
    start = time.monotonic()
    total = Count()
    for number, command in enumerate((SUITES | PARTS)[name].commands):
        log = name if number == 0 else f"{name}-{number + 1}"
        status, output = _run(log, command, alone)
        count = parse_count(output, status)
        total += count
        with lock:
            failed += [f"{log}: {line}" for line in failures(output)]
            if not alone:
                print(output, end="", flush=True)
            print(f"=== {log}: {count} in {time.monotonic() - start:.0f} s", flush=True)
    return total


def lanes() -> int:
    """Return how many suites run at once."""
    return (os.cpu_count() or 1) + 1


def cache_compilers() -> None:
    """Have what is started from here find compilers that remember, if this machine has them."""
    found = [folder for folder in CACHED_COMPILERS if Path(folder).is_dir()]
    os.environ["PATH"] = os.pathsep.join([*found, os.environ["PATH"]])
    os.environ.setdefault("CCACHE_DIR", str(BUILD / "cache" / "compiler"))


def prepare() -> None:
    """Build what nearly every suite needs, so that none waits for another that builds it."""
    build_vmm()
    make(ROOT / "guest" / "tests")


def run_suites(names: list[str], jobs: int) -> Count:
    """Run suites by name, so many at once, and print what each has found and the sum."""
    lock, failed = threading.Lock(), list[str]()
    if len(names) == 1:
        return run_suite(names[0], lock, failed, alone=True)
    prepare()
    first = order(names)
    with ThreadPoolExecutor(jobs) as pool:
        counts = list(pool.map(lambda name: run_suite(name, lock, failed), first))
    for name, count in zip(first, counts, strict=True):
        print(f"{name}: {count}")
    for line in failed:
        print(line)
    total = sum(counts, Count())
    print(total, flush=True)
    return total


def run_checks() -> Count:
    """Run the steps of `make check`; each counts as a test and shows its output if it fails."""
    total = Count()
    for name, step in check_steps():
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
    """Run `--check`, `--quick`, the suites named on the command line, or all of them."""
    names = sys.argv[1:]
    cache_compilers()
    if names == ["--check"]:
        count = run_checks()
    else:
        chosen = list(QUICK) if names == ["--quick"] else names or list(SUITES)
        if unknown := [name for name in chosen if name not in SUITES | PARTS]:
            sys.exit(f"no suite {', '.join(unknown)}: there are {', '.join(SUITES | PARTS)}")
        count = run_suites(chosen, lanes())
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
