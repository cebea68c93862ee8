# SPDX-License-Identifier: Apache-2.0
"""Measures the uITRON kernel's two ports: text of the kernel, images, lines of source.

The images are those of one application, whose objects are the same in both. What an image was
made of is what the compiler's dependency files name, so that no list of files has to be kept.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from rich.console import Console as RichConsole
from rich.table import Table as RichTable

from gandalf.base.paths import BUILD, ROOT, UserError, shown
from gandalf.build.size import Measure, count_lines

KERNEL_BUDGET = 24 * 1024
# Of the native image's size; what the hybrid paper reports (87 KB and 80 KB).
IMAGE_PERCENT = 109

_ITRON = ROOT / "guest" / "itron"
_RTOS = ROOT / "guest" / "rtos"
# What the linker reads; the compiler's dependency files do not name it.
_SCRIPTS = {"gandalf": _RTOS / "rtos.ld", "native": _ITRON / "port" / "native" / "native.ld"}
_WRITABLE, _ALLOCATED, _NO_BITS = 0x1, 0x2, "SHT_NOBITS"


@dataclass(frozen=True)
class Port:
    """One of the two images and what it was made of."""

    name: str
    kernel_text: int  # text and read-only data of guest/itron/kernel and port/ia32, all of it
    text: int  # of the image: text and read-only data, data that is loaded, data that is 0
    data: int
    bss: int
    own_lines: int  # without blank lines and comments: in files that the other port does not use
    lines: int  # in all

    @property
    def total(self) -> int:
        return self.text + self.data + self.bss


def _sizes(path: Path) -> tuple[int, int, int]:
    """Return bytes of text with read-only data, data, and data that is 0, as `size` does."""
    text = data = bss = 0
    with path.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            size, flags = section["sh_size"], section["sh_flags"]
            if not flags & _ALLOCATED:
                continue
            if section["sh_type"] == _NO_BITS:
                bss += size
            elif flags & _WRITABLE:
                data += size
            else:
                text += size
    return text, data, bss


def _dependencies(file: Path) -> set[Path]:
    """Return the files of the tree that an object was compiled from, in the folder of the kernel.

    A compiler's cache may give them relative to that.
    """
    words = re.sub(r"\\\n", " ", file.read_text()).split(":", 1)[1].split("\n", 1)[0].split()
    paths = {(_ITRON / word).resolve() for word in words}
    return {path for path in paths if path.is_relative_to(ROOT) and not path.is_relative_to(BUILD)}


def _sources(folder: Path, port: str) -> set[Path]:
    """Return the sources of an image: the application's, which both share, and the port's."""
    files = [*folder.glob("*.d"), *(folder / port).glob("*.d")]
    return {_SCRIPTS[port]}.union(*(_dependencies(file) for file in files))


def _lines(paths: set[Path]) -> int:
    return sum(count_lines(path.read_text()) for path in paths)


def _kernel_text(folder: Path) -> int:
    """Return the text of all that the kernel has, however little of it the image needs."""
    sources = [*(_ITRON / "kernel").glob("*.c"), _ITRON / "port" / "ia32" / "context.c"]
    names = [path.stem for path in sources] + ["context_switch"]
    return sum(_sizes(folder / f"{name}.o")[0] for name in names)


def measure_ports(build: Path, name: str) -> dict[str, Port]:
    """Measure an application's two images. Raises UserError if they are not built."""
    images = {"gandalf": build / f"{name}.elf", "native": build / "native" / f"{name}.elf"}
    for image in images.values():
        if not image.is_file():
            raise UserError(f"There is no {shown(image)}; run `make -C guest/itron` first.")
    folder = build / name
    sources = {port: _sources(folder, port) for port in images}
    shared = sources["gandalf"] & sources["native"]
    return {
        port: Port(
            port,
            _kernel_text(folder / port),
            *_sizes(image),
            own_lines=_lines(sources[port] - shared),
            lines=_lines(sources[port]),
        )
        for port, image in images.items()
    }


def budgets(ports: dict[str, Port]) -> list[Measure]:
    """Return what must hold for the two ports of the kernel."""
    gandalf, native = ports["gandalf"], ports["native"]
    text = max(port.kernel_text for port in ports.values())
    loaded = native.text + native.data
    return [
        Measure("uITRON kernel text", text, KERNEL_BUDGET, "bytes"),
        Measure("uITRON image", gandalf.total, native.total * IMAGE_PERCENT // 100, "bytes"),
        Measure(
            "uITRON image, what is loaded", gandalf.text + gandalf.data,
            loaded * IMAGE_PERCENT // 100, "bytes",
        ),
        Measure("uITRON port", gandalf.own_lines, native.own_lines - 1, "lines"),
    ]  # fmt: skip


def show(ports: dict[str, Port], console: RichConsole) -> None:
    """Print the ports side by side."""
    table = RichTable(title="uITRON, its demo", title_justify="left", show_edge=False)
    table.add_column("what")
    table.add_column("unit")
    for column in (*ports, "gandalf/native"):
        table.add_column(column, justify="right")
    rows = [
        ("kernel text", "bytes", [port.kernel_text for port in ports.values()]),
        ("image: text", "bytes", [port.text for port in ports.values()]),
        ("image: data", "bytes", [port.data for port in ports.values()]),
        ("image: bss", "bytes", [port.bss for port in ports.values()]),
        ("image", "bytes", [port.total for port in ports.values()]),
        ("source of this port alone", "lines", [port.own_lines for port in ports.values()]),
        ("source", "lines", [port.lines for port in ports.values()]),
    ]
    for what, unit, (gandalf, native) in rows:
        ratio = f"{gandalf / native:.3f}" if native else ""
        table.add_row(what, unit, f"{gandalf:,}", f"{native:,}", ratio)
    console.print(table)
    console.print()
