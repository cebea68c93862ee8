# SPDX-License-Identifier: Apache-2.0
"""Sizes and ranges of I/O ports as a description writes them."""

import re
from dataclasses import dataclass

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(value: object) -> int:
    """Return the bytes that "192M", "64K" or "0x400000" mean."""
    match = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)([KMG]?)", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('must be a size in quotation marks such as "192M", "64K" or "0x400000"')
    size = int(match[1], 0 if match[1].startswith("0x") else 10) * _UNITS[match[2]]
    if size >= 1 << 32:
        raise ValueError("must be less than 4G: the machine has 32-bit addresses")
    return size


def size_text(size: int) -> str:
    """Return bytes as a description writes them: "192M", "68K" or "0x1234"."""
    for unit in ("M", "K"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return f"{size:#x}" if size else "0"


@dataclass(frozen=True, order=True)
class PortRange:
    """I/O ports first to last, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first:#x}-{self.last:#x}" if self.last > self.first else f"{self.first:#x}"

    def overlaps(self, other: "PortRange") -> bool:
        return self.first <= other.last and other.first <= self.last


def parse_port_range(value: object) -> PortRange:
    """Return the range that "0x2e8-0x2ef" or "0x80" means."""
    number = r"(0x[0-9a-fA-F]+|\d+)"
    match = re.fullmatch(rf"{number}(?:-{number})?", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('must be ports in quotation marks such as "0x2e8-0x2ef" or "0x80"')
    first, last = (int(text, 16 if text.startswith("0x") else 10) for text in
                   (match[1], match[2] or match[1]))  # fmt: skip
    if last < first:
        raise ValueError("ends before it begins: write the smaller port first")
    return PortRange(first, last)
