# SPDX-License-Identifier: Apache-2.0
"""What Linux finds in memory is what its boot protocol asks for."""

import struct

from gandalf.description import linux_boot


def e820(page: bytes) -> list[tuple[int, int, int]]:
    return list(struct.iter_unpack("<QQI", page[0x2D0 : 0x2D0 + 20 * page[0x1E8]]))


def test_parameters_of_a_vmlinux() -> None:
    page = linux_boot.boot_parameters(b"", 0x1000000, 192 << 20, 0, 0xB000000, 12345)
    assert len(page) == 4096
    assert e820(page) == [
        (0, 0x9F000, 1),
        (0x9F000, 0x61000, 2),
        (0x100000, (192 << 20) - 0x100000, 1),
    ]
    assert struct.unpack_from("<H", page, 0x1FE)[0] == 0xAA55
    assert page[0x202:0x206] == b"HdrS"
    assert struct.unpack_from("<H", page, 0x206)[0] >= 0x20C
    assert page[0x210] == 0xFF
    assert page[0x211] & 1
    assert struct.unpack_from("<III", page, 0x214) == (0x1000000, 0xB000000, 12345)
    assert struct.unpack_from("<I", page, 0x228)[0] == linux_boot.COMMAND_LINE
    assert struct.unpack_from("<I", page, 0x1E0)[0] == 191 << 10
    assert page[0x1EF] == 0  # the sentinel of a loader that clears what it does not know


def test_memory_of_channels_is_reserved() -> None:
    page = linux_boot.boot_parameters(b"", 0x1000000, 192 << 20, 0x3000, 0, 0)
    end = (192 << 20) - 0x3000
    assert e820(page)[2:] == [(0x100000, end - 0x100000, 1), (end, 0x3000, 2)]
    assert struct.unpack_from("<I", page, 0x1E0)[0] == (191 << 10) - 12


def test_places_do_not_overlap_and_are_ram() -> None:
    parameters = linux_boot.BOOT_PARAMETERS
    assert parameters + linux_boot.BOOT_PARAMETERS_SIZE <= linux_boot.COMMAND_LINE
    assert linux_boot.COMMAND_LINE + linux_boot.COMMAND_LINE_SIZE <= 0x9F000


def test_command_line() -> None:
    line = linux_boot.command_line('console=ttyS0 x="a  b"', False, 11)
    text = line.text.decode()
    assert text.startswith('console=ttyS0 x="a  b" ')
    hidden = "clearcpuid=sep,smap,smep,umip,invpcid,xsave"
    options = f"reservetop=64M {hidden} noapic tsc=reliable io_delay=none"
    assert set(options.split()) <= set(text.split())
    assert text.endswith(" tsc_early_khz=")
    assert line.number == len(text)
    assert "nokaslr" not in text
    assert b"nokaslr norandmaps" in linux_boot.command_line("", True, 11).text


def test_what_is_inits_comes_behind_what_linux_needs() -> None:
    line = linux_boot.command_line('quiet x="a -- b" -- single -- more', True, 11)
    kernels, inits = line.text[: line.number], line.text[line.number :]
    assert kernels.startswith(b'quiet x="a -- b" reservetop=64M ')
    assert kernels.endswith(b" nokaslr norandmaps tsc_early_khz=")
    assert inits == b" " * 11 + b"-- single -- more"
    assert linux_boot.command_line("--", False, 11).text.startswith(b"reservetop=64M ")
    assert linux_boot.command_line("--x a--b", False, 11).text.endswith(b" tsc_early_khz=")


def test_options_that_clash() -> None:
    assert linux_boot.clashing_options("console=ttyS0 quiet panic=1") == []
    assert linux_boot.clashing_options("quiet -- nolapic") == []
    assert linux_boot.clashing_options("idle=poll reservetop=1M nolapic x") == [
        "idle=poll", "reservetop=1M", "nolapic",
    ]  # fmt: skip
