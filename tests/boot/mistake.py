# SPDX-License-Identifier: Apache-2.0
"""Gives the VMM of one CPU a mistake that no guest can cause, by QEMU's interface for debuggers."""

import socket
import struct
import time
from pathlib import Path

from gandalf.build.symbols import variable_address

from .systems import Boot

# Nothing is mapped there, in no address space.
_NOWHERE = 0xDEAD0000
# Of `expire` in struct deadline.
_EXPIRE = 16
_PATIENCE = 60


class _Debugger:
    """A connection to QEMU's gdb stub, which stops the machine while it lasts."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_PATIENCE)
        self._socket.connect(str(path))

    def ask(self, packet: str) -> str:
        """Send a packet, and return its answer."""
        checksum = sum(packet.encode()) % 256
        self._socket.sendall(f"${packet}#{checksum:02x}".encode())
        end, data = time.monotonic() + _PATIENCE, b""
        while b"#" not in data[:-2] and time.monotonic() < end:
            data += self._socket.recv(4096)
        self._socket.sendall(b"+")
        return data.decode().partition("$")[2].partition("#")[0]

    def close(self) -> None:
        self._socket.close()


def debugger_arguments(path: Path) -> tuple[str, str]:
    """Return QEMU's arguments for an interface at this path."""
    path.unlink(missing_ok=True)
    return "-gdb", f"unix:{path},server=on,wait=off"


def vmm_fails(machine: Boot, path: Path, cpu: int) -> None:
    """Have the VMM of a CPU call, within a second, what is no function.

    Its variables lie at the same addresses as those of the other CPUs: whose are changed is said
    by the page tables of the CPU that the debugger looks through.
    """
    address = variable_address(machine.built.vmm, "notices_due") + _EXPIRE
    debugger = _Debugger(path)
    try:
        assert debugger.ask(f"Hg{cpu + 1}") == "OK"
        assert debugger.ask(f"M{address:x},4:{struct.pack('<I', _NOWHERE).hex()}") == "OK"
        assert debugger.ask("D") == "OK"
    finally:
        debugger.close()
