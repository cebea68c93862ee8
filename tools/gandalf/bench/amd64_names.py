# SPDX-License-Identifier: Apache-2.0
"""The names of what addresses of a 64-bit system belong to; the system itself is asked for them."""

import contextlib
import gzip
import re
from bisect import bisect_right
from pathlib import Path

from gandalf.base.paths import UserError
from gandalf.bench.amd64 import OUTPUT, SECOND_PORT, XEN, Amd64, file_of, pinned, stamped
from gandalf.guests.debian import Log

# With these Linux shows Xen's symbols; they depend on each other in this order.
_XEN_MODULES = ("xen-privcmd.ko", "xenfs.ko")
_KERNEL_SYMBOLS = "grep -i ' t ' /proc/kallsyms | grep -v '\\['"
_XEN_SYMBOLS = " && ".join([
    *(f"insmod /lib/{name}" for name in _XEN_MODULES),
    "mount -t xenfs xenfs /proc/xen", "grep -i ' t ' /proc/xen/xensyms",
])  # fmt: skip
# Xen makes the beginning of its SYSCALL entry at run time, for the first CPU here.
_XEN_STUB = "ffff82d07fffe000 t syscall_stub\n"
# What lies further behind a symbol is not its function's.
_LARGEST_FUNCTION = 0x10000


class Names:
    """The functions of a kernel or hypervisor, from lines as those of /proc/kallsyms."""

    def __init__(self, text: str) -> None:
        found = re.findall(r"^([0-9a-f]{16}) \w (\S+)", text, re.M)
        self.addresses: dict[str, int] = {}
        for address, name in found:
            self.addresses.setdefault(name, int(address, 16))
        # Of several names of an address the alphabetically first.
        names = sorted(self.addresses.items(), key=lambda item: (item[1], item[0]), reverse=True)
        self._places = sorted({address: name for name, address in names}.items())
        self._starts = [address for address, _ in self._places]

    def find(self, address: int) -> tuple[str, int] | None:
        """Return the function at an address and the distance from its beginning."""
        index = bisect_right(self._starts, address) - 1
        start, name = self._places[max(index, 0)]
        return (name, address - start) if 0 <= address - start < _LARGEST_FUNCTION else None


def names(system: str, log: Log) -> Names:
    """Return the functions of Linux, or of Xen, which has ring 0: the system is run if need be."""
    result = OUTPUT / f"symbols-{system}" / "symbols.gz"
    group, command = ("xen", _XEN_SYMBOLS) if system == XEN else ("kernel", _KERNEL_SYMBOLS)
    with stamped(result, command, *(entry.sha256 for entry in pinned(group))) as outdated:
        if outdated:
            log(f"asking {system} for its symbols")
            _ask(system, command, result, log)
    text = gzip.decompress(result.read_bytes()).decode()
    return Names(text + _XEN_STUB if system == XEN else text)


def _ask(system: str, command: str, result: Path, log: Log) -> None:
    """Have a system write what a command prints, packed, to its second serial port.

    The first one is Xen's, which is slow.
    """
    port = ("-chardev", f"file,id=symbols,path={result}", "-serial", "chardev:symbols")
    machine = Amd64(system, _xen_modules(log) if system == XEN else {}, log, port)
    try:
        line = f"stty -F {SECOND_PORT} raw && ({command}) | gzip >{SECOND_PORT}"
        output = machine.start().shell(line)
    finally:
        machine.stop()
    text = b""
    with contextlib.suppress(EOFError, OSError):
        text = gzip.decompress(result.read_bytes())
    if not text:
        raise UserError(f"{system} does not tell its symbols: {output.strip() or 'no reason'}")


def _xen_modules(log: Log) -> dict[str, Path]:
    return {
        f"lib/{name}": file_of("kernel", rf"\./lib/modules/.*/{name}", OUTPUT / name / name, log)
        for name in _XEN_MODULES
    }
