# SPDX-License-Identifier: Apache-2.0
"""Reads guest images - RTOS ELF files, vmlinux and bzImage - into plain segments.

The VMM parses nothing: whatever is wrong with an image is found here, and said
in words that fit behind a file name.
"""

import struct
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

# Linux's 32-bit boot protocol (Documentation/x86/boot.rst of its sources).
SETUP_HEADER = 0x1F1
_SETUP_SECTORS = 0x1F1
_BOOT_FLAG = 0x1FE
_JUMP = 0x200
_MAGIC = 0x202
_VERSION = 0x206
_PREFERRED_ADDRESS = 0x258
_INIT_SIZE = 0x260
_OLDEST_VERSION = 0x20A  # the first with a preferred address and a size


class ImageError(Exception):
    """The image cannot be used; the text continues "NAME ..."."""


@dataclass(frozen=True)
class Segment:
    """Bytes and where they belong, guest-physical or from the start of RTOS memory."""

    address: int
    content: bytes
    memory_size: int

    @property
    def end(self) -> int:
        return self.address + self.memory_size


@dataclass(frozen=True)
class Image:
    """What is loaded, and the address of the first instruction."""

    segments: tuple[Segment, ...]
    entry: int
    # The setup header of a bzImage, which goes into Linux's boot parameters.
    setup_header: bytes = b""

    @property
    def start(self) -> int:
        return min(segment.address for segment in self.segments)

    @property
    def end(self) -> int:
        return max(segment.end for segment in self.segments)


def _read_elf(content: bytes, physical: bool) -> Image:
    try:
        elf = ELFFile(BytesIO(content))
        header = elf.header
        if elf.elfclass != 32 or header["e_machine"] != "EM_386":
            raise ImageError("is not built for 32-bit x86: its ELF header names another machine")
        if header["e_type"] != "ET_EXEC":
            raise ImageError("is not linked to a fixed address: link it without -shared and -pie")
        segments = []
        for part in elf.iter_segments("PT_LOAD"):
            if not part["p_memsz"]:
                continue
            data = part.data()
            if len(data) != part["p_filesz"] or part["p_filesz"] > part["p_memsz"]:
                raise ImageError("is cut short: a segment reaches behind the end of the file")
            address = part["p_paddr"] if physical else part["p_vaddr"]
            segments.append(Segment(address, data, part["p_memsz"]))
    except (ELFError, struct.error, UnicodeDecodeError, ValueError, KeyError) as error:
        raise ImageError("is a damaged ELF file: its headers make no sense") from error
    if not segments:
        raise ImageError("has nothing to load: no segment of type LOAD")
    image = Image(tuple(segments), header["e_entry"])
    _check_segments(image)
    return image


def _check_segments(image: Image) -> None:
    ordered = sorted(image.segments, key=lambda segment: segment.address)
    for lower, upper in pairwise(ordered):
        if lower.end > upper.address:
            raise ImageError(f"has segments that overlap at {upper.address:#x}")
    if not any(
        part.address <= image.entry < part.address + len(part.content) for part in image.segments
    ):
        raise ImageError(
            f"has its entry point {image.entry:#x} outside what the file has of its segments"
        )


def read_rtos(path: Path) -> Image:
    """Read an RTOS image: ELF32, linked at 0. Raises ImageError or OSError."""
    content = path.read_bytes()
    if not content.startswith(b"\x7fELF"):
        raise ImageError("is not an ELF file")
    return _read_elf(content, physical=False)


def read_vmm(path: Path) -> Image:
    """Read the VMM's own image. Raises ImageError or OSError."""
    return _read_elf(path.read_bytes(), physical=True)


def _field(content: bytes, offset: int, size: int) -> int:
    return int.from_bytes(content[offset : offset + size], "little")


def _read_bzimage(content: bytes) -> Image:
    version = _field(content, _VERSION, 2)
    if version < _OLDEST_VERSION:
        raise ImageError(f"speaks boot protocol {version:#x}; {_OLDEST_VERSION:#x} is the oldest")
    sectors = _field(content, _SETUP_SECTORS, 1) or 4
    kernel = content[(sectors + 1) * 512 :]
    if len(content) < _INIT_SIZE + 4 or not kernel:
        raise ImageError("is a bzImage that is cut short")
    address = _field(content, _PREFERRED_ADDRESS, 8)
    size = max(_field(content, _INIT_SIZE, 4), len(kernel))
    if address + size > 1 << 32:
        raise ImageError("wants to be loaded above 4 GiB")
    header_end = _JUMP + 2 + content[_JUMP + 1]
    return Image((Segment(address, kernel, size),), address, content[SETUP_HEADER:header_end])


def read_kernel(path: Path) -> Image:
    """Read a Linux kernel: vmlinux or bzImage. Raises ImageError or OSError."""
    content = path.read_bytes()
    if content.startswith(b"\x7fELF"):
        return _read_elf(content, physical=True)
    if content[_MAGIC : _MAGIC + 4] == b"HdrS" and _field(content, _BOOT_FLAG, 2) == 0xAA55:
        return _read_bzimage(content)
    raise ImageError("is neither an ELF file (vmlinux) nor a bzImage")
