# SPDX-License-Identifier: Apache-2.0
"""The image whose instructions are known by number, and a function that measures it."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gandalf.emulator import Options, Qemu
from gandalf.measure import build_plugin, plugin_arguments
from gandalf.measurement import Measurement, read_measurement
from gandalf.symbols import Image

SOURCE = Path(__file__).parent / "image.S"

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
    """The image; at: addresses of its labels."""

    path: Path
    at: dict[str, int]

    def options(self, *arguments: str) -> Options:
        return Options(memory=32, kernel=self.path, deterministic=True, arguments=arguments)


@dataclass(frozen=True)
class Run:
    """What a stretch of the image was measured at, and what it sent."""

    result: Measurement
    sent: bytes


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    build_plugin()
    folder = tmp_path_factory.mktemp("image")
    script, output = folder / "image.ld", folder / "image.elf"
    script.write_text(LINKER_SCRIPT)
    command = ["gcc", "-m32", "-nostdlib", "-static", "-Wl,--build-id=none", f"-Wl,-T,{script}"]
    subprocess.run([*command, str(SOURCE), "-o", str(output)], check=True, capture_output=True)
    return Program(output, Image(output, "image").addresses)


@pytest.fixture
def measure(program: Program, tmp_path: Path) -> Callable[..., Run]:
    """A function that runs the image and measures from NAME_begin to NAME_end.

    options: further ones of the plug-in.
    """

    def run(name: str, **options: str | int) -> Run:
        output = tmp_path / f"{name}.json"
        arguments = plugin_arguments(
            out=str(output), begin=program.at[f"{name}_begin"], end=program.at[f"{name}_end"],
            **options,
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
