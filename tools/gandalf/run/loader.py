# SPDX-License-Identifier: Apache-2.0
"""The disk from which Bochs boots: a sector that starts a kernel, the kernel, and its module.

The sector is tools/loader/multiboot.S, where there is more about it.
"""

import functools
import struct
from pathlib import Path

from gandalf.base.making import Log, quiet
from gandalf.base.paths import BUILD, INSTALLED, ROOT, UserError
from gandalf.build.build import make
from gandalf.description.images import Image, ImageError, read_vmm

BOOT_SECTOR = BUILD / "loader" / "multiboot.bin"
# As multiboot.S has them: where in the sector is what is filled in here, and where in memory the
# kernel finds what it is told.
_ENTRY, _INFORMATION, _INFORMATION_BYTES = 4, 16, 104
_MEMORY, _MEMORY_MAP = 0x9000, 0x9100
# The Multiboot information, 3.3 of the specification: its flags for modules and a memory map, and
# the place for the list of modules behind it.
_FLAGS = 0x08 | 0x40
_MODULES = 88
_SECTOR, _PAGE = 512, 4096
# Of a disk whose size tells its geometry: 16 heads with 63 sectors each.
_CYLINDER = 16 * 63 * _SECTOR


@functools.cache
def build_boot_sector(log: Log = quiet) -> Path:
    """Return the sector, built, which is seen to once. An installed SDK has it."""
    if not INSTALLED:
        make(ROOT / "tools" / "loader", str(BOOT_SECTOR), what="Bochs' loader", log=log)
    return BOOT_SECTOR


def write_disk(disk: Path, kernel: Path, module: Path | None, memory: int) -> None:
    """Write a disk that starts a kernel.

    memory: of the machine, MiB. Raises UserError if there is no room in it, or no such kernel.
    """
    try:
        image = read_vmm(kernel)
    except ImageError as error:
        raise UserError(f"{kernel} {error}.") from error
    flat = _flat(image)
    start = image.start + len(flat)
    content = module.read_bytes() if module else b""
    end = start + len(content)
    if end > memory << 20:
        raise UserError(
            f"The system does not fit into {memory} MiB of memory: it ends at {end:#x}."
        )
    modules = [(start, end)] if module else []
    sectors = -(-(len(flat) + len(content)) // _SECTOR)
    with disk.open("wb") as file:
        file.write(_boot_sector(image, sectors, modules))
        file.write(flat)
        file.write(content)
        file.truncate(-(-file.tell() // _CYLINDER) * _CYLINDER)


def _flat(image: Image) -> bytes:
    """Return a kernel as it is in memory, to the end of its last page."""
    end = max(segment.end for segment in image.segments)
    flat = bytearray(-(-end // _PAGE) * _PAGE - image.start)
    for segment in image.segments:
        at = segment.address - image.start
        flat[at : at + len(segment.content)] = segment.content
    return bytes(flat)


def _boot_sector(image: Image, sectors: int, modules: list[tuple[int, int]]) -> bytes:
    """Return the first sector. modules: the first address of each, and that behind it."""
    information = bytearray(_INFORMATION_BYTES)
    struct.pack_into("<I", information, 0, _FLAGS)
    struct.pack_into("<II", information, 20, len(modules), _MEMORY + _MODULES)
    struct.pack_into("<I", information, 48, _MEMORY_MAP)
    for start, end in modules:
        struct.pack_into("<IIII", information, _MODULES, start, end, 0, 0)
    sector = bytearray(build_boot_sector().read_bytes())
    struct.pack_into("<III", sector, _ENTRY, image.entry, image.start, sectors)
    sector[_INFORMATION : _INFORMATION + _INFORMATION_BYTES] = information
    return bytes(sector)
