# SPDX-License-Identifier: Apache-2.0
"""The workload on the host: each operation does what it says, and mistakes are sentences.

Nothing here looks at how long anything takes.
"""

import subprocess
from pathlib import Path

import pytest

from gandalf.bench import turns
from gandalf.bench import workload as bench_workload
from gandalf.bench.cores import IPI, SHOOTDOWN
from gandalf.bench.policies import APART
from gandalf.bench.workload import CHANNEL, NETWORK, TASK, WORK, parse

# What needs files of the guest's root file system, or its kernel's driver.
ELSEWHERE = ("fork_exec", "exec_dynamic", "shell", "rtc_latency")
HERE = [part.operation for part in WORK if part.operation not in ELSEWHERE]


@pytest.fixture(scope="module", params=[32, 64])
def program(request: pytest.FixtureRequest) -> Path:
    return bench_workload.build_programs(request.param)["bin/bench"]


def bench(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=3600
    )


def test_it_knows_the_operations_of_the_tool(program: Path) -> None:
    known = [*(part.operation for part in (*WORK, TASK, *CHANNEL)), IPI, SHOOTDOWN, APART]
    known += [part.operation for part in NETWORK]
    assert bench(program, "list").stdout.split() == known


@pytest.mark.parametrize("operation", HERE)
def test_an_operation_does_what_it_says(program: Path, operation: str) -> None:
    done = bench(program, "sample", operation, "50")
    assert (done.returncode, done.stderr) == (0, "")
    (sample,) = parse(done.stdout).samples
    assert (sample.operation, sample.samples) == (operation, 50)
    assert 0 < sample.minimum <= sample.median <= sample.maximum
    assert sample.minimum <= sample.mean <= sample.maximum
    parts = 8 if operation == "context_switch" else 1
    (bracket,) = parse(bench(program, "count", operation, "5").stdout).brackets
    assert (bracket.operation, bracket.operations) == (operation, 5 * parts)
    assert bracket.ticks > 0


@pytest.mark.parametrize("processes", [1, 4])
def test_processes_have_turns(program: Path, processes: int) -> None:
    program = program.with_name(turns.PROGRAM)
    assert bench(program, "list").stdout.split() == list(turns.OPERATIONS)
    done = bench(program, "count", f"turns_{processes}", "5")
    assert (done.returncode, done.stderr) == (0, "")
    (bracket,) = parse(done.stdout).brackets
    assert bracket.operations == 5 * processes


def test_a_program_that_fails_is_no_result(program: Path) -> None:
    for operation in ("exec_dynamic", "shell"):
        done = bench(program, "sample", operation, "1", "/nonexistent")
        assert done.returncode == 1
        # A shell has a line of its own before.
        assert done.stderr.endswith(f"bench: {operation}: the child failed\n")
        assert done.stdout == ""


def test_the_load_ends(program: Path) -> None:
    done = bench(program, "flush", "2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ("rtc_latency", "there is no /dev/gandalf-rtc"),
        *((part.operation, "there is no such channel") for part in CHANNEL),
    ],
)
def test_a_kernel_without_the_driver_is_no_result(program: Path, operation: str, why: str) -> None:
    done = bench(program, "sample", operation, "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert parse(done.stderr).complaints[operation].startswith(why)


def test_the_script_of_commands_succeeds(program: Path) -> None:
    done = bench(program, "count", "shell", "1", str(bench_workload.SOURCES / "commands.sh"))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_script_runs_fifty_commands() -> None:
    lines = (bench_workload.SOURCES / "commands.sh").read_text().splitlines()
    assert 5 * sum(line.startswith(("\t/bin/", "\t/usr/bin/")) for line in lines) == 50


@pytest.mark.parametrize(
    ("arguments", "status", "why"),
    [
        ((), 2, "usage: bench"),
        (("sample", "syscall"), 2, "usage: bench"),
        (("sample", "nothing", "1"), 1, "there is no such operation"),
        (("sample", "syscall", "0"), 1, "N is 1 to 4096"),
        (("count", "syscall", "5000"), 1, "N is 1 to 4096"),
        (("sample", "shell", "1"), 1, "needs a program or script"),
    ],
)
def test_mistakes_are_sentences(
    program: Path, arguments: tuple[str, ...], status: int, why: str
) -> None:
    done = bench(program, *arguments)
    assert done.returncode == status
    assert why in done.stderr
