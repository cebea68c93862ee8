# SPDX-License-Identifier: Apache-2.0
"""What several tests of the host tool use: small images, descriptions, a stand-in for the VMM."""

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
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

Segments = list[tuple[int, bytes, int]]


def elf_bytes(
    segments: Segments, entry: int, machine: int = 3, kind: int = 2, bits: int = 1
) -> bytes:
    """Return an ELF32 file. segments: (address, content, size in memory)."""
    offset = 52 + 32 * len(segments)
    headers, content = b"", b""
    for address, data, size in segments:
        place = offset + len(content)
        headers += struct.pack("<8I", 1, place, address, address, len(data), size, 7, 4096)
        content += data
    identity = b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9)
    rest = struct.pack(
        "<HHIIIIIHHHHHH", kind, machine, 1, entry, 52, 0, 0, 52, 32, len(segments), 0, 0, 0
    )
    return identity + rest + headers + content


def bzimage_bytes(kernel: bytes, address: int = 0x1000000, size: int = 0x400000) -> bytes:
    """Return a bzImage with one setup sector and a kernel."""
    setup = bytearray(1024)
    struct.pack_into("<B", setup, 0x1F1, 1)
    struct.pack_into("<H", setup, 0x1FE, 0xAA55)
    setup[0x200:0x206] = b"\xeb\x66HdrS"
    struct.pack_into("<H", setup, 0x206, 0x20F)
    struct.pack_into("<QI", setup, 0x258, address, size)
    return bytes(setup) + kernel


RTOS_ELF = elf_bytes([(0x1000, b"\xf4" * 64, 64), (0x2000, b"data", 4096)], 0x1000)
VMLINUX_ELF = elf_bytes([(0x1000000, b"\xf4" * 64, 0x200000)], 0x1000000)

GOOD = """\
[machine]
memory = "128M"

[[guest]]
name = "linux"
kind = "linux"
kernel = "./vmlinux"
initrd = "./initrd"
memory = "64M"

[[guest]]
name = "rtos"
kind = "rtos"
image = "./rtos.elf"
memory = "1M"
priority = 10
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
