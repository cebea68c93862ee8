# SPDX-License-Identifier: Apache-2.0
"""The images whose instructions are known by number, and functions that measure them."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gandalf.build.symbols import Image
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run.emulator import Options, Qemu

FOLDER = Path(__file__).parent

LINKER_SCRIPT = """
ENTRY(start)
SECTIONS {
	. = 1M;
	.text : { *(.multiboot) *(.text) }
	.data : { *(.data) *(.bss) }
	/DISCARD/ : { *(.note*) *(.comment) *(.eh_frame*) }
}
"""


@dataclass(frozen=True)
class Program:
    """An image; at: addresses of its labels. emulator, cpu: QEMU's."""

    path: Path
    at: dict[str, int]
    emulator: str = "qemu-system-i386"
    cpu: str = "pentium3"

    def options(self, *arguments: str) -> Options:
        return Options(
            memory=32, kernel=self.path, deterministic=True, arguments=arguments,
            program=self.emulator, cpu=self.cpu,
        )  # fmt: skip


@dataclass(frozen=True)
class Run:
    """What a stretch of the image was measured at, and what it sent."""

    result: Measurement
    sent: bytes


def link(source: Path, folder: Path, *flags: str) -> Path:
    """Return the multiboot image of an assembler source."""
    script, output = folder / "image.ld", folder / "image.elf"
    script.write_text(LINKER_SCRIPT)
    command = ["gcc", *flags, "-nostdlib", "-static", "-Wl,--build-id=none", f"-Wl,-T,{script}"]
    subprocess.run([*command, str(source), "-o", str(output)], check=True, capture_output=True)
    return output


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    build_plugin()
    output = link(FOLDER / "image.S", tmp_path_factory.mktemp("image"), "-m32")
    return Program(output, Image(output, "image").addresses)


@pytest.fixture(scope="session")
def program64(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The 64-bit image. Its CPU has an instruction with a VEX prefix, and none of AVX."""
    build_plugin()
    folder = tmp_path_factory.mktemp("image64")
    output, image = link(FOLDER / "image64.S", folder, "-m64"), folder / "image32.elf"
    command = ["objcopy", "-O", "elf32-i386", str(output), str(image)]
    subprocess.run(command, check=True, capture_output=True)
    addresses = Image(image, "image").addresses
    return Program(image, addresses, "qemu-system-x86_64", "qemu64,+bmi1")


def measure_with(program: Program, folder: Path) -> Callable[..., Run]:
    """Return a function that runs a program and measures from NAME_begin to NAME_end.

    offset: of the addresses at which the program executes the stretch from those that it is linked
    for. options: further ones of the plug-in.
    """

    def run(name: str, offset: int = 0, **options: str | int) -> Run:
        output = folder / f"{name}.json"
        arguments = plugin_arguments(
            out=str(output), begin=program.at[f"{name}_begin"] + offset,
            end=program.at[f"{name}_end"] + offset, **options,
        )  # fmt: skip
        qemu = Qemu(program.options(*arguments))
        try:
            outcome = qemu.outcome()
            assert outcome.clean, outcome
            sent = qemu.read()
        finally:
            qemu.stop()
        return Run(read_measurement(output), sent)

    return run


@pytest.fixture
def measure(program: Program, tmp_path: Path) -> Callable[..., Run]:
    return measure_with(program, tmp_path)


@pytest.fixture
def measure64(program64: Program, tmp_path: Path) -> Callable[..., Run]:
    return measure_with(program64, tmp_path)
