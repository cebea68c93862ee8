# SPDX-License-Identifier: Apache-2.0
"""The VMM's own multiplexer of consoles, vmm/device/console_mux.c, built for the host."""

import ctypes
import subprocess
from pathlib import Path

from gandalf.base.paths import ROOT

NAMES = ["vmm", "linux", "rtos"]


def build_library(folder: Path) -> ctypes.CDLL:
    """Return the VMM's multiplexer as a shared library."""
    output = folder / "console.so"
    names = ("console", "console_input", "console_mux", "escape", "../lib/format", "../lib/math")
    sources = [ROOT / "vmm" / "device" / f"{name}.c" for name in names]
    includes = [f"-I{ROOT / place}" for place in ("vmm", "vmm/no_screen", ".")]
    command = ["gcc", "-O1", "-shared", "-fPIC", *includes, *map(str, sources), "-o", str(output)]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(output))
    loaded.console_add.restype = ctypes.c_void_p
    loaded.console_put.restype = ctypes.c_bool
    return loaded


class Multiplexer:
    """The VMM's multiplexer with a few consoles."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._mux = ctypes.create_string_buffer(1 << 17)
        library.console_mux_init(self._mux)
        self._consoles = {
            name: ctypes.c_void_p(library.console_add(self._mux, name.encode())) for name in NAMES
        }

    def write(self, name: str, text: bytes) -> bytes:
        """Write; returns what had to be read to make room, as the UART would."""
        output = b""
        for byte in text:
            while not self._library.console_put(self._consoles[name], byte):
                output += self.read(1)
        return output

    def type(self, keys: bytes) -> None:
        for key in keys:
            self._library.console_input(self._mux, key)

    def read(self, limit: int = 1 << 20) -> bytes:
        output = bytearray()
        while len(output) < limit:
            byte = self._library.console_output(self._mux)
            if byte < 0:
                break
            output.append(byte)
        return bytes(output)
