# SPDX-License-Identifier: Apache-2.0
"""The table by which a Linux with several vCPUs finds them.

It is that of Intel's MultiProcessor Specification 1.4, in the last KiB of base memory, where Linux
looks for it. There is a processor for each vCPU, and no I/O APIC: the 8259s lead to the first.
"""

import struct

from gandalf.base.abi import abi

ADDRESS = 0x9FC00
SIZE = 0x400

_REVISION = 4
_APIC_VERSION = 0x14
# Bits of a processor's entry, and of what CPUID says of it: an FPU, a local APIC.
_ENABLED, _BOOTS = 1, 2
_SIGNATURE, _FEATURES = 0x673, 0x201
_ENTRY_PROCESSOR, _ENTRY_BUS, _ENTRY_LOCAL_INTERRUPT = 0, 1, 4
_NMI, _EXTERNAL = 1, 3
_ALL_APICS = 0xFF
_POINTER = struct.Struct("<4sIBBB5s")
_HEADER = struct.Struct("<4sHBB8s12sIHHIHBB")


def _checked(content: bytes, place: int) -> bytes:
    """Return the content with the byte at a place such that the sum of all is 0."""
    byte = -sum(content) % 256
    return content[:place] + bytes([byte]) + content[place + 1 :]


def _processor(number: int) -> bytes:
    flags = _ENABLED | (_BOOTS if number == 0 else 0)
    return struct.pack(
        "<BBBBIIQ", _ENTRY_PROCESSOR, number, _APIC_VERSION, flags, _SIGNATURE, _FEATURES, 0
    )


def _local_interrupt(kind: int, apic: int, line: int) -> bytes:
    return struct.pack("<BBHBBBB", _ENTRY_LOCAL_INTERRUPT, kind, 0, 0, 0, apic, line)


def mp_table(processors: int) -> bytes:
    """Return what is at ADDRESS: the pointer, and the table behind it."""
    entries = [_processor(number) for number in range(processors)]
    entries.append(struct.pack("<BB6s", _ENTRY_BUS, 0, b"ISA   "))
    entries += [_local_interrupt(_EXTERNAL, 0, 0), _local_interrupt(_NMI, _ALL_APICS, 1)]
    body = b"".join(entries)
    header = _HEADER.pack(
        b"PCMP", _HEADER.size + len(body), _REVISION, 0, b"GANDALF ", b"VIRTUAL PC  ", 0, 0,
        len(entries), abi()["APIC_BASE"], 0, 0, 0,
    )  # fmt: skip
    table = _checked(header + body, 7)
    pointer = _POINTER.pack(b"_MP_", ADDRESS + _POINTER.size, 1, _REVISION, 0, bytes(5))
    return _checked(pointer, 10) + table
