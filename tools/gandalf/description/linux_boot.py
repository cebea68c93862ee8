# SPDX-License-Identifier: Apache-2.0
"""What a boot loader would leave in memory for Linux: boot parameters, command line.

Guest-physical places and formats follow Linux's 32-bit boot protocol. All of
RAM below 1 MiB but the last 4 KiB of 640 is reported as usable: without any, the
kernel panics.
"""

import re
import struct
from dataclasses import dataclass

BOOT_PARAMETERS = 0x90000
BOOT_PARAMETERS_SIZE = 0x1000
COMMAND_LINE = 0x91000
COMMAND_LINE_SIZE = 2048
COMMAND_LINE_END = COMMAND_LINE + COMMAND_LINE_SIZE
LOWEST_KERNEL = 0x100000

# Linux keeps out of the VMM's 64 MiB; uses no instruction that ring 1 has not
# (SYSENTER, STAC, INVPCID, XSETBV, MWAIT), so none of AVX's registers, which the
# VMM does not switch, and no interrupt controller but the 8259; takes the time
# stamp counter, which the VMM leaves alone, for its clock; and does not write to
# port 0x80 to give old chips time, which each time enters the VMM.
TOOL_OPTIONS = (
    "reservetop=64M", "clearcpuid=sep,smap,smep,umip,invpcid,xsave", "idle=halt", "noapic",
    "nolapic", "tsc=reliable", "io_delay=none",
)  # fmt: skip
# With several vCPUs it has a local APIC for each, by a driver of ours.
SMP_OPTIONS = (*(option for option in TOOL_OPTIONS if option != "nolapic"), "apic=gandalf")
# With these two runs print the same addresses.
DETERMINISTIC_OPTIONS = ("nokaslr", "norandmaps")

_RAM, _RESERVED = 1, 2
_LOW_END = 0x9F000
_EXT_MEM_K, _ALT_MEM_K, _E820_COUNT, _E820_TABLE = 0x002, 0x1E0, 0x1E8, 0x2D0
_SETUP_HEADER = 0x1F1
_LOADER_TYPE, _LOAD_FLAGS, _CODE32, _RAMDISK, _RAMDISK_SIZE = 0x210, 0x211, 0x214, 0x218, 0x21C
_COMMAND_LINE_POINTER = 0x228
_LOADED_HIGH = 0x01


@dataclass(frozen=True)
class CommandLine:
    """A command line. number: where in it the VMM writes the frequency of the time stamp counter.

    There are spaces or the end, so that it need not move what follows.
    """

    text: bytes
    number: int


def _split(own: str) -> tuple[str, str]:
    """Return what of a command line is the kernel's, and from the first word "--" on init's."""
    for word in re.finditer(r'(?:[^\s"]|"[^"]*(?:"|$))+', own):
        if word[0] == "--":
            return own[: word.start()], own[word.start() :]
    return own, ""


def command_line(own: str, deterministic: bool, room: int, several: bool = False) -> CommandLine:
    """Return the command line: the user's words, then those that Linux needs on Gandalf.

    Behind "--" Linux would give them to init: so they come before it. room: for the number.
    several: the guest has several vCPUs.
    """
    kernels, inits = _split(own)
    added = SMP_OPTIONS if several else TOOL_OPTIONS
    fixed = DETERMINISTIC_OPTIONS if deterministic else ()
    line = " ".join([kernels.strip(), *added, *fixed, "tsc_early_khz="]).strip()
    return CommandLine((line + (inits and " " * room + inits)).encode(), len(line))


def clashing_options(own: str) -> list[str]:
    """Return the words of a user's command line that the tool or the VMM sets itself."""
    names = {option.partition("=")[0] for option in TOOL_OPTIONS + SMP_OPTIONS} | {"tsc_early_khz"}
    return [word for word in _split(own)[0].split() if word.partition("=")[0] in names]


def _synthetic_header() -> bytes:
    """Return the setup header that a vmlinux, which has none, is booted with."""
    header = bytearray(0x268 - _SETUP_HEADER)

    def put(layout: str, offset: int, value: int) -> None:
        struct.pack_into(layout, header, offset - _SETUP_HEADER, value)

    put("<H", 0x1FE, 0xAA55)  # boot_flag
    put("<I", 0x202, int.from_bytes(b"HdrS", "little"))  # header
    put("<H", 0x206, 0x020F)  # version
    put("<I", 0x22C, 0x37FFFFFF)  # initrd_addr_max
    put("<I", 0x238, COMMAND_LINE_SIZE - 1)  # cmdline_size
    return bytes(header)


def boot_parameters(
    setup_header: bytes, entry: int, memory: int, reserved: int, ramdisk: int, ramdisk_size: int
) -> bytes:
    """Return the page that ESI points to (struct boot_params).

    setup_header: a bzImage's, or nothing for a vmlinux. Sizes in bytes; reserved: at the end of
    its memory, for channels, a multiple of a page;
    ramdisk: guest-physical address of the initial RAM disk, 0 if there is none.
    """
    page = bytearray(BOOT_PARAMETERS_SIZE)
    header = setup_header or _synthetic_header()
    page[_SETUP_HEADER : _SETUP_HEADER + len(header)] = header
    ranges = [
        (0, _LOW_END, _RAM),
        (_LOW_END, LOWEST_KERNEL - _LOW_END, _RESERVED),
        (LOWEST_KERNEL, memory - reserved - LOWEST_KERNEL, _RAM),
    ]
    if reserved:
        ranges.append((memory - reserved, reserved, _RESERVED))
    for index, (start, size, kind) in enumerate(ranges):
        struct.pack_into("<QQI", page, _E820_TABLE + 20 * index, start, size, kind)
    kib = (memory - reserved - LOWEST_KERNEL) // 1024
    struct.pack_into("<B", page, _E820_COUNT, len(ranges))
    struct.pack_into("<I", page, _ALT_MEM_K, kib)
    struct.pack_into("<H", page, _EXT_MEM_K, min(kib, 0xFC00))
    struct.pack_into("<B", page, _LOADER_TYPE, 0xFF)
    struct.pack_into("<B", page, _LOAD_FLAGS, page[_LOAD_FLAGS] | _LOADED_HIGH)
    struct.pack_into("<I", page, _CODE32, entry)
    struct.pack_into("<II", page, _RAMDISK, ramdisk, ramdisk_size)
    struct.pack_into("<I", page, _COMMAND_LINE_POINTER, COMMAND_LINE)
    return bytes(page)
