# SPDX-License-Identifier: Apache-2.0
"""Copies of the VMM's image with other code in places, for what the VMM itself never does."""

from pathlib import Path

from elftools.elf.elffile import ELFFile

from gandalf.base.paths import BUILD
from tests.boot.systems import World

from .outside import vmm_image, vmm_path

_OUTPUT = BUILD / "isolation"


def patched(name: str, **functions: bytes) -> Path:
    """Return a copy of the VMM in which functions begin with other code. name: of the file."""
    image = vmm_image()
    content = bytearray(vmm_path().read_bytes())
    with vmm_path().open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".text")
        assert section is not None
        place = section["sh_offset"] - section["sh_addr"]
    for function, code in functions.items():
        start = image.symbols[function] + place
        content[start : start + len(code)] = code
    path = _OUTPUT / World.rings / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
