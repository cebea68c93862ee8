# SPDX-License-Identifier: Apache-2.0
"""Small images and a description of a system made of them."""

import struct

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
