# SPDX-License-Identifier: Apache-2.0
"""The kernel is small, and its port to the VMM costs less than the one to a bare PC."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT, UserError
from gandalf.build.build import build_itron
from gandalf.itron.size import Port, budgets, measure_ports

KERNEL_H = ROOT / "guest" / "itron" / "include" / "kernel.h"
DEMO = BUILD / "itron" / "demo"


@pytest.fixture(scope="module")
def ports() -> dict[str, Port]:
    build_itron()
    return measure_ports(BUILD / "itron", "demo")


def _symbols(path: Path, *options: str) -> set[str]:
    done = subprocess.run(
        ["nm", *options, str(path)], capture_output=True, text=True, check=True
    )  # fmt: skip
    return {line.split()[-1] for line in done.stdout.splitlines() if " " in line}


def _service_calls() -> set[str]:
    return set(re.findall(r"^(?:ER|ER_UINT|void|BOOL) (\w+_\w+)\(", KERNEL_H.read_text(), re.M))


def test_the_profile_has_70_service_calls() -> None:
    assert len(_service_calls()) == 70


@pytest.mark.parametrize("port", ["gandalf", "native"])
def test_what_is_measured_has_every_service_call(ports: dict[str, Port], port: str) -> None:
    objects = (DEMO / port).glob("*.o")
    defined: set[str] = set().union(*(_symbols(path, "--defined-only") for path in objects))
    assert _service_calls() <= defined
    assert ports[port].kernel_text > 4000


def test_budgets_are_kept(ports: dict[str, Port]) -> None:
    for measure in budgets(ports):
        assert measure.kept, measure


def test_budgets_can_be_broken(ports: dict[str, Port]) -> None:
    gandalf, native = ports["gandalf"], ports["native"]
    worse = replace(
        gandalf,
        kernel_text=24 * 1024 + 1,
        text=native.text * 110 // 100,
        bss=native.bss * 110 // 100,
        own_lines=native.own_lines,
    )
    assert not any(measure.kept for measure in budgets({"gandalf": worse, "native": native}))


def test_sizes_are_those_of_size(ports: dict[str, Port]) -> None:
    for port, image in (("gandalf", "demo.elf"), ("native", "native/demo.elf")):
        path = BUILD / "itron" / image
        done = subprocess.run(["size", str(path)], capture_output=True, text=True, check=True)
        numbers = [int(word) for word in done.stdout.splitlines()[1].split()[:4]]
        measured = ports[port]
        assert numbers == [measured.text, measured.data, measured.bss, measured.total]


def test_both_images_have_the_same_application(ports: dict[str, Port]) -> None:
    application = {path.stem for path in DEMO.glob("*.o")}
    assert {"demo", "measurement", "terminal", "commands"} <= application
    assert all(port.lines > port.own_lines > 100 for port in ports.values())


def test_without_images_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="run `make -C guest/itron` first"):
        measure_ports(tmp_path, "demo")


def test_the_gandalf_image_has_no_privileged_instruction() -> None:
    build_itron()
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(BUILD / "itron" / "demo.elf")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = set(re.findall(r"^ *[0-9a-f]+:\t(?:rep\w* )?(\w+)", listing, re.M))
    assert len(found) > 30
    assert not found & {"cli", "sti", "hlt", "lidt", "lgdt", "ltr", "in", "out", "popf", "invlpg"}
