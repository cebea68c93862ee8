# SPDX-License-Identifier: Apache-2.0
"""The RTOS's own dispatch latency is right: the plug-in measures the same from outside.

And a VMM that keeps interrupts masked for more instructions raises the maximum by as many.
"""

import re
import subprocess
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.bench import interval as bench_interval
from gandalf.bench import machines
from gandalf.bench import target as bench_target
from gandalf.bench.interval import DEVIATION, PERIOD, Found
from gandalf.bench.latency import guests_text
from gandalf.build.build import build, make
from gandalf.build.symbols import Symbols
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Interval, read_measurement
from gandalf.measure.ring import read_layout
from gandalf.measure.trace import names_of
from gandalf.run.options import options_for

HERE = Path(__file__).parent
# What both may differ by: the VMM starts the timer a little late.
AGREEMENT = 20
# So many instructions are above 2 % of a millisecond, and below.
MASKED, FEWER = 30_000, 10_000
assert FEWER < DEVIATION < MASKED
LOAD = "hackbench -g 2 -l 20 >/dev/null"
SCRIPT = f"""\
dmesg -n 1
sleep 1
{LOAD}
sleep 1
echo "bench: the script is done"
times >/dev/null
sleep 1
"""
_LINE = re.compile(r"^activations=(\d+) minimum=(\d+) mean=(\d+) p99\.9=\d+ maximum=(\d+)", re.M)


def quiet(_: str) -> None:
    """Swallow what the build has to say."""


def masking_vmm(instructions: int) -> Path:
    """Return a VMM that masks interrupts for so many instructions; see mask/mask.c.

    It is not compiled as one, since the linker finds no function to replace then.
    """
    folder = BUILD / "tests" / f"mask-{instructions}"
    folder.mkdir(parents=True, exist_ok=True)
    source, part, image = HERE / "mask" / "mask.c", folder / "mask.o", folder / "gandalf.elf"
    flags = ["-m32", "-O2", "-ffreestanding", "-fno-pie", "-mregparm=3", "-mgeneral-regs-only"]
    words = [*flags, f"-DMASKED={instructions}", "-Ivmm", "-I.", "-c", str(source), "-o", str(part)]
    subprocess.run(["gcc", *words], cwd=ROOT, check=True)
    makefile = (ROOT / "vmm" / "Makefile").read_text()
    found = re.search(r"^LDFLAGS := ((?:.*\\\n)*.*)$", makefile, re.M)
    assert found
    own = found[1].replace("\\\n", " ")
    image.unlink(missing_ok=True)
    words = ["AS_ONE=", f"BUILD={folder}", f"LDFLAGS={own} -Wl,--wrap=pit_write {part}"]
    make(ROOT / "vmm", *words)
    return image


@dataclass(frozen=True)
class Both:
    """What the RTOS says and what the plug-in saw of the same activations, but for a second."""

    activations: int
    minimum: int
    mean: float
    maximum: int
    seen: Interval
    intervals: Found


def lines_until(text: str, activations: int) -> list[tuple[int, ...]]:
    """Return the RTOS's lines of so many activations; it may print one more before the end."""
    lines = [tuple(map(int, found)) for found in _LINE.findall(text)]
    sums = accumulate(line[0] for line in lines)
    return lines[: sum(before < activations for before in (0, *sums))]


def run(folder: Path, masked: int | None = None) -> Both:
    """Run the machine of the dispatch latency; masked: on a VMM that masks interrupts."""
    machines.own_script(bench_target.FOLDER / "script-agreement", SCRIPT, quiet)
    built = build(machines.SYSTEMS / "gandalf-realtime.toml", quiet, deterministic=True)
    if masked is not None:
        built = replace(built, vmm=masking_vmm(masked))
    build_plugin()
    symbols, layout = Symbols(built), read_layout(built.vmm)
    kernel = next(image for image in symbols.images if image.owner == "linux")
    words = plugin_arguments(
        out=str(folder / "out"), end=kernel.addresses["__ia32_sys_times"],
        **bench_interval.options(symbols, layout, len(built.names)),
    )  # fmt: skip
    options = options_for(built, True, None, words)
    text = guests_text(built.names, bench_target.watch(options, folder))
    result = read_measurement(folder / "out")
    (intervals,) = bench_interval.find((result,), layout, names_of(built, symbols, layout), ("x",))
    lines = lines_until(text, result.intervals[1].count)
    activations = sum(line[0] for line in lines)
    return Both(
        activations, min(line[1] for line in lines),
        sum(line[0] * line[2] for line in lines) / activations, max(line[3] for line in lines),
        result.intervals[1], intervals,
    )  # fmt: skip


def check(both: Both) -> None:
    """Fail if they disagree. The RTOS's figures begin earlier, and end with a line of theirs."""
    assert min(both.activations, both.seen.count) >= 2000
    assert abs(both.activations - both.seen.count) <= 1500
    assert abs(both.minimum - both.seen.minimum) <= AGREEMENT
    assert abs(both.maximum - both.seen.maximum) <= AGREEMENT


@pytest.fixture(scope="module")
def unmasked(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return run(tmp_path_factory.mktemp("unmasked"))


@pytest.fixture(scope="module")
def fewer(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return run(tmp_path_factory.mktemp("fewer"), FEWER)


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return run(tmp_path_factory.mktemp("masked"), MASKED)


def test_the_rtos_and_the_plug_in_agree(unmasked: Both) -> None:
    check(unmasked)
    assert abs(unmasked.mean - unmasked.seen.mean) <= AGREEMENT


def test_they_agree_where_interrupts_were_masked(masked: Both) -> None:
    check(masked)


def test_masked_instructions_raise_the_maximum_by_their_number(fewer: Both, masked: Both) -> None:
    """Both VMMs mask them once, at the same place."""
    assert masked.maximum - fewer.maximum == pytest.approx(MASKED - FEWER, abs=AGREEMENT)
    assert masked.seen.maximum - fewer.seen.maximum == pytest.approx(MASKED - FEWER, abs=AGREEMENT)


def test_each_outlier_has_its_cause(unmasked: Both, fewer: Both, masked: Both) -> None:
    """Linux's write to its timer, for which the VMM masks interrupts."""
    assert not unmasked.intervals.outliers
    assert not fewer.intervals.outliers
    late, early = masked.intervals.outliers
    assert late.length == pytest.approx(PERIOD + MASKED, abs=2000)
    assert early.length == pytest.approx(PERIOD - MASKED, abs=2000)
    assert early.cause == "the interrupt before was late"
    found = re.match(r"interrupts masked for ([\d,]+) ns in out 0x4[0-3] of linux;",
                     late.cause)  # fmt: skip
    assert found, late.cause
    assert int(found[1].replace(",", "")) >= MASKED
