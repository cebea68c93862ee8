# SPDX-License-Identifier: Apache-2.0
"""The FreeRTOS guest and the small guests: what can be known without running them."""

import random
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT, UserError
from gandalf.description import guests
from gandalf.guests import freertos as guest_freertos

GUEST = ROOT / "guest"
FREERTOS = GUEST / "freertos"
DEMO = GUEST / "demo"
RTOS = GUEST / "rtos"
HEADER = (ROOT / "abi" / "gandalf.h").read_text()
ABI_TEXT = (ROOT / "docs" / "guest-abi.md").read_text()
PORTING_TEXT = (ROOT / "docs" / "porting-an-rtos.md").read_text()

# Instructions that ring 1 must not or need not execute.
FORBIDDEN = {"cli", "sti", "hlt", "lidt", "lgdt", "lldt", "ltr", "popf", "in", "out", "invlpg"}

STATISTICS_PROGRAM = """
#include <stdio.h>
#include "statistics.h"
int main(void)
{
	static struct statistics statistics;
	unsigned latency, missed;
	statistics_reset(&statistics);
	printf("%u %u\\n", statistics_mean(&statistics), statistics_percentile(&statistics, 999));
	while (scanf("%u %u", &latency, &missed) == 2)
		statistics_add(&statistics, latency, missed);
	printf("%u %u %u %u %u %u %u\\n",
		statistics.activations, statistics.minimum, statistics_mean(&statistics),
		statistics_percentile(&statistics, 999), statistics_percentile(&statistics, 500),
		statistics.maximum, statistics.missed);
}
"""

FORMAT_PROGRAM = """
#include <stdio.h>
#include "print.h"
void console_write(const char *text, size_t length)
{
	fwrite(text, 1, length, stdout);
}
int main(void)
{
	char longer[2 * PRINT_MAXIMUM + 1];
	print("%d %d %u %x|", -5, -2147483647 - 1, 4294967295u, 0xbeefu);
	print("%5u|%05u|%08x|%3d|", 42u, 42u, 0xabcu, -7);
	print("%s %c %%|\\n", "text", 'c');
	for (unsigned i = 0; i < sizeof(longer); i++)
		longer[i] = i + 1 < sizeof(longer) ? 'x' : 0;
	print("%s", longer);
}
"""


def host_program(folder: Path, text: str, source: Path) -> Path:
    """Compile a program together with a guest's source file, for the host."""
    program = folder / "program"
    main = folder / "main.c"
    main.write_text(text)
    subprocess.run(
        ["gcc", "-Wall", "-Werror", f"-I{source.parent}", main, source, "-o", program],
        check=True,
    )
    return program


@pytest.fixture(scope="module")
def statistics_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("statistics")
    return host_program(folder, STATISTICS_PROGRAM, DEMO / "statistics.c")


def statistics(program: Path, samples: list[tuple[int, int]]) -> list[int]:
    """Return activations, minimum, mean, p99.9, median, maximum, missed of samples."""
    given = "".join(f"{latency} {missed}\n" for latency, missed in samples)
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
    empty, line = done.stdout.splitlines()
    assert empty == "0 0"
    return [int(word) for word in line.split()]


def percentile(latencies: list[int], permille: int) -> int:
    """Return the latency that at least permille/1000 of all kept."""
    above = len(latencies) * (1000 - permille) // 1000
    return sorted(latencies)[len(latencies) - 1 - above]


@pytest.mark.parametrize("count", [1, 2, 999, 1000, 1001, 20000])
@pytest.mark.parametrize("largest", [100, 5000, 2**32 - 1])
def test_statistics(statistics_program: Path, count: int, largest: int) -> None:
    numbers = random.Random(count)  # noqa: S311 - a test wants the same figures every time
    samples = [(numbers.randint(0, largest), numbers.randint(0, 2)) for _ in range(count)]
    latencies = [latency for latency, _ in samples]
    result = statistics(statistics_program, samples)
    assert result[0] == count
    assert result[1] == min(latencies)
    assert result[2] == sum(latencies) // count
    assert result[5] == max(latencies)
    assert result[6] == sum(missed for _, missed in samples)
    for shown, permille in ((result[3], 999), (result[4], 500)):
        exact = percentile(latencies, permille)
        assert exact <= shown <= max(exact + exact // 64, exact)


def test_statistics_at_the_ends(statistics_program: Path) -> None:
    for latency in (0, 1, 127, 128, 129, 255, 256, 2**31 - 1, 2**31, 2**32 - 1):
        assert statistics(statistics_program, [(latency, 0)])[1:6] == [latency] * 5


def test_print(tmp_path: Path) -> None:
    program = host_program(tmp_path, FORMAT_PROGRAM, RTOS / "print.c")
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    first, rest = shown.split("\n")
    assert first == "-5 -2147483648 4294967295 beef|   42|00042|00000abc| -7|text c %|"
    assert rest == "x" * 199


def compile_guest(source: Path, folder: Path) -> Path:
    """Compile one file of a guest that needs no FreeRTOS."""
    output = folder / f"{source.name}.o"
    subprocess.run(
        ["gcc", "-m32", "-Os", "-ffreestanding", "-fno-pie", "-mgeneral-regs-only"]
        + [f"-I{path}" for path in (ROOT / "abi", RTOS, RTOS / "include")]
        + ["-c", str(source), "-o", str(output)],
        check=True,
    )
    return output


@pytest.mark.parametrize("name", ["freertos/port/port.S", "rtos/entry.S", "rtos/console.c"])
def test_support_executes_nothing_privileged(name: str, tmp_path: Path) -> None:
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", compile_guest(GUEST / name, tmp_path)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    mnemonics = set(re.findall(r"^ +[0-9a-f]+:\s+([a-z0-9]+)", listing, flags=re.MULTILINE))
    assert "int" in mnemonics or "ud2" in mnemonics
    assert not mnemonics & FORBIDDEN


def test_kernel_is_pinned() -> None:
    assert 'freertos-next = { version = "=0.12.0"' in (FREERTOS / "Cargo.toml").read_text()
    lock = (FREERTOS / "Cargo.lock").read_text()
    package = next(part for part in lock.split("[[package]]") if '"freertos-next"\n' in part)
    assert re.search(r'^version = "0\.12\.0"$', package, flags=re.MULTILINE)
    assert re.search(r'^checksum = "[0-9a-f]{64}"$', package, flags=re.MULTILINE)


class Commands:
    """Stands in for subprocess.run and remembers what was to be run."""

    def __init__(self, cargo: str = "cargo 1.85.0 (abc 2025-01-01)", failing: str = "") -> None:
        self.cargo, self.failing = cargo, failing
        self.calls: list[list[str]] = []

    def __call__(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.calls.append(command)
        if command[0] == "cargo":
            return subprocess.CompletedProcess(command, 0, self.cargo, "")
        status = 2 if self.failing and self.failing in command else 0
        return subprocess.CompletedProcess(command, status, "", "the reason" if status else "")

    def make(
        self, folder: Path, *arguments: str, what: str, log: Callable[[str], None]
    ) -> subprocess.CompletedProcess[str]:
        """Stand in for run_make as well: something is always to be done."""
        log(f"building {what}")
        return self(["make", "-C", str(folder), *arguments])


Stand = Callable[[Commands], Commands]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Stand:
    """Return what puts Commands in the place of all that runs programs."""

    def put(commands: Commands) -> Commands:
        monkeypatch.setattr(subprocess, "run", commands)
        monkeypatch.setattr(guest_freertos, "run_make", commands.make)
        return commands

    return put


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree in which FreeRTOS is not fetched yet, and a machine with a Cargo."""
    (tmp_path / "guest" / "freertos").mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        (tmp_path / "guest" / "freertos" / name).write_text("")
    monkeypatch.delenv("FREERTOS", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    return tmp_path


def build(tree: Path) -> list[str]:
    """Build and return what was logged."""
    lines: list[str] = []
    assert guest_freertos.build(tree, lines.append) == tree / "build" / "freertos" / "demo.elf"
    return lines


def test_build_with_own_kernel(
    tree: Path, monkeypatch: pytest.MonkeyPatch, stand_in: Stand
) -> None:
    commands = stand_in(Commands())
    kernel = tree / "kernel"
    for name in guest_freertos.KERNEL_FILES:
        (kernel / name).parent.mkdir(parents=True, exist_ok=True)
        (kernel / name).write_text("")
    monkeypatch.setenv("FREERTOS", str(kernel))
    assert build(tree) == ["building FreeRTOS"]
    assert commands.calls[0][-1] == f"FREERTOS={kernel}"


def test_own_kernel_is_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREERTOS", str(tree))
    with pytest.raises(UserError, match=r"has no tasks\.c: set it to the folder"):
        build(tree)


def test_no_cargo(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UserError, match="Cargo, which is not there: install it"):
        build(tree)


def test_old_cargo(tree: Path, stand_in: Stand) -> None:
    stand_in(Commands(cargo="cargo 0.66.0"))
    with pytest.raises(UserError, match=r"needs Cargo 1\.85 and cargo 0\.66\.0 is here"):
        build(tree)


def fetched(tree: Path) -> None:
    """Make it look as if FreeRTOS had been fetched."""
    stamp = tree / "build" / "freertos" / "vendor" / "fetched"
    stamp.parent.mkdir(parents=True)
    stamp.write_text("")


def test_build_fetches_once(tree: Path, stand_in: Stand) -> None:
    commands = stand_in(Commands())
    assert build(tree) == ["fetching FreeRTOS", "building FreeRTOS"]
    assert [call[-1] for call in commands.calls if "make" in call] == [
        "fetch", str(tree / "guest" / "freertos"),
    ]  # fmt: skip
    fetched(tree)
    assert build(tree) == ["building FreeRTOS"]


def test_fetching_fails(tree: Path, stand_in: Stand) -> None:
    stand_in(Commands(failing="fetch"))
    with pytest.raises(UserError, match=r"the reason\nFetching .* failed; see above"):
        build(tree)


def test_building_fails(tree: Path, stand_in: Stand) -> None:
    fetched(tree)
    stand_in(Commands(failing="-C"))
    with pytest.raises(UserError, match=r"the reason\nBuilding FreeRTOS failed; see above"):
        build(tree)


def test_every_misdeed_has_a_guest() -> None:
    names = guests.test_guests()
    for source, prefix in ((RTOS / "misdeed.c", "bad"), (GUEST / "tests/pc/misdeed.c", "pc")):
        table = re.search(r"misdeeds\[\] = \{\n(.*?)\n\};", source.read_text(), flags=re.DOTALL)
        assert table is not None
        misdeeds = re.findall(r'\{ "([a-z0-9-]+)"', table[1])
        assert len(misdeeds) > 15
        images = {f"{prefix}-{name}".replace("bad-bad-", "bad-") for name in misdeeds}
        assert images <= names


def header_numbers() -> dict[str, int]:
    """Return the numbers that the ABI header defines."""
    found = re.findall(r"^#define (GANDALF_\w+) \(?(-?\w+)\)?$", HEADER, flags=re.MULTILINE)
    return {name: int(value, 0) for name, value in found}


def documented_cells(name: str) -> str:
    """Return the row or line of the ABI's page that names a constant."""
    lines = [line for line in ABI_TEXT.splitlines() if f"`{name}`" in line]
    assert lines, f"docs/guest-abi.md does not name {name}"
    return "\n".join(lines)


def number_forms(value: int) -> set[str]:
    """Return how the page may write a number."""
    forms = {str(value), f"{value:,}", f"0x{value:X}", f"0x{value:x}"}
    return forms | ({f"\N{MINUS SIGN}{-value}"} if value < 0 else set())


DOCUMENTED = sorted(
    name
    for name in header_numbers()
    if not name.endswith(("_MINIMUM", "_CHUNK"))  # limits stand in the rows of their calls
)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_number(name: str) -> None:
    value = header_numbers()[name]
    words = set(re.findall(r"[\N{MINUS SIGN}-]?[0-9][0-9A-Fa-fx,]*", documented_cells(name)))
    assert number_forms(value) & {word.rstrip(",") for word in words}


def test_documented_limits() -> None:
    numbers = header_numbers()
    timer = documented_cells("GANDALF_HYPERCALL_TIMER")
    assert f"{numbers['GANDALF_TIMER_MINIMUM']} to 1,000,000" in timer
    for name in ("GANDALF_HYPERCALL_CONSOLE_WRITE", "GANDALF_HYPERCALL_CONSOLE_READ"):
        assert f"at most {numbers['GANDALF_CONSOLE_CHUNK']}" in documented_cells(name)


def test_documented_commands() -> None:
    tables = [DEMO / "commands.h", FREERTOS / "crash.c"]
    names = [re.findall(r'\{ "(\w+)", "', path.read_text()) for path in tables]
    assert all(names)
    for name in chain.from_iterable(names):
        assert f"| `{name}" in PORTING_TEXT


def test_documented_line() -> None:
    form = re.search(r'terminal_print\("(activations=.*?)"', (DEMO / "measurement.c").read_text())
    assert form is not None
    assert re.search("^ {4}" + form[1].replace("%u", r"\d+") + "$", PORTING_TEXT, re.MULTILINE)
