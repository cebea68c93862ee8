# SPDX-License-Identifier: Apache-2.0
"""What several tests of the host tool use: small images, descriptions, a stand-in for the VMM."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import RTOS_ELF, VMLINUX_ELF, bzimage_bytes
from hypothesis import configuration, settings

HERE = Path(__file__).parent

# The same examples every time, and no folder of their own in the tree.
configuration.set_hypothesis_home_dir(HERE.parents[1] / "build" / "cache" / "hypothesis")
settings.register_profile("tree", derandomize=True, database=None, deadline=None)
settings.load_profile("tree")

LINKER_SCRIPT = """
ENTRY(start)
SECTIONS {
	. = 1M;
	.text : { *(.multiboot) *(.text*) *(.rodata*) }
	.data : { *(.data*) *(.bss*) }
	/DISCARD/ : { *(.note*) *(.comment) *(.eh_frame*) }
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one of each image."""
    (tmp_path / "rtos.elf").write_bytes(RTOS_ELF)
    (tmp_path / "vmlinux").write_bytes(VMLINUX_ELF)
    (tmp_path / "bzImage").write_bytes(bzimage_bytes(b"\xf4" * 5000))
    (tmp_path / "initrd").write_bytes(b"070701" * 1000)
    return tmp_path


@pytest.fixture
def describe(folder: Path) -> Callable[[str], Path]:
    """A function that writes a description beside the images."""

    def write(text: str) -> Path:
        path = folder / f"system-{folder.name}.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="session")
def dummy_vmm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A multiboot program that stands in for the VMM (dummy_vmm.c)."""
    scratch = tmp_path_factory.mktemp("dummy")
    (scratch / "dummy.ld").write_text(LINKER_SCRIPT)
    output = scratch / "dummy.elf"
    subprocess.run(
        [
            "gcc", "-m32", "-O1", "-ffreestanding", "-fno-pie", "-fno-stack-protector",
            "-fcf-protection=none", "-nostdlib", "-static", "-Wl,--build-id=none",
            f"-Wl,-T,{scratch / 'dummy.ld'}", str(HERE / "dummy_vmm.c"), "-o", str(output),
        ],
        check=True,
    )  # fmt: skip
    return output
