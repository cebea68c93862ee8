# SPDX-License-Identifier: Apache-2.0
"""Turns a guest of a description into what its memory holds at the start.

Reading images and checking that they fit go together: what check.py reports and
what compose.py writes come from the same load.
"""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from gandalf.base.abi import abi
from gandalf.base.paths import BUILD, ROOT, UserError, shown
from gandalf.base.toml_lines import Location
from gandalf.description import linux_boot, mp_table
from gandalf.description.description import Guest, LinuxGuest, RtosGuest, System
from gandalf.description.images import Image, ImageError, Segment, read_kernel, read_rtos
from gandalf.description.quantities import size_text
from gandalf.guests.places import Variant

_PAGE = 0x1000


@dataclass(frozen=True)
class Loaded:
    """A guest's memory at its start, and where it begins to run."""

    segments: tuple[tuple[str, Segment], ...]
    entry: int
    is_linux: bool
    # Bytes that an RTOS's image, or another in its place, may have; 0: as many as it has.
    room: int = 0
    # Guest-physical address of the place for the number in a Linux's command line.
    number: int = 0


def module_bytes(guests: list[Loaded]) -> int:
    """Return the bytes that guests take in the module, with what alignment may add.

    What two Linux systems have in common is there once.
    """
    pieces = [(guest, segment.content) for guest in guests for _, segment in guest.segments]
    shared = {content for guest, content in pieces if guest.is_linux}
    own = [max(len(content), guest.room) for guest, content in pieces if not guest.is_linux]
    return sum(size + 15 for size in [*own, *map(len, shared)])


def image_names(guest: Guest) -> list[tuple[str, str]]:
    """Return the fields of a guest that name files, with the names."""
    if isinstance(guest, RtosGuest):
        return [("image", guest.image)]
    initrd = [("initrd", guest.initrd)] if guest.initrd is not None else []
    return [("kernel", guest.kernel), *initrd]


@cache
def test_guests() -> frozenset[str]:
    """Return the names of the test guests that guest/tests can build."""
    command = ["make", "--no-print-directory", "-s", "-C", str(ROOT / "guest" / "tests"), "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return frozenset(done.stdout.split())


def builder(path: Path) -> str | None:
    """Return what the tool can build a file with, by its path; None if it must be there."""
    try:
        parts = path.relative_to(BUILD).parts
    except ValueError:
        return None
    match parts:
        case ("linux", variant, "vmlinux") | ("linux", variant, "arch", "x86", "boot", "bzImage"):
            return "kernel" if variant in get_args(Variant) else None
        case ("rootfs", "initramfs.cpio" | "small.cpio"):
            return "rootfs"
        case ("freertos", "demo.elf" | "demo-anew.elf" | "demo-setpoint.elf"):
            return "freertos"
        case ("itron", "demo.elf" | "motor.elf") | ("itron", "native", "demo.elf"):
            return "itron"
        case ("switch", "switch.elf"):
            return "switch"
        case ("web", "web.elf" | "fetch.elf"):
            return "web"
        case ("selftest", "selftest.elf"):
            return "selftest"
        case ("bench", "initramfs.cpio"):
            return "bench"
        case ("bench", "lwip", "services.elf"):
            return "services"
        case ("bench", "rtos", name) if name.endswith(".elf"):
            source = ROOT / "bench" / "rtos" / f"{Path(name).stem}.c"
            return "bench" if source.is_file() else None
        case ("tests", name) if name.endswith(".elf"):
            return "tests" if Path(name).stem in test_guests() else None
    return None


def kernel_variant(path: Path) -> Variant | None:
    """Return which of the tool's kernels a file is, by its path; None if it is none of them."""
    if builder(path) != "kernel":
        return None
    name = path.relative_to(BUILD / "linux").parts[0]
    return next(variant for variant in get_args(Variant) if variant == name)


def _does_not_fit(what: str, guest: Guest, end: int, room: int) -> str:
    return (
        f"{what} does not fit: it ends at {size_text(end)} of {guest.name}'s memory, and only "
        f"{size_text(max(room, 0))} can be used; raise `memory`."
    )


def _flat(image: Image) -> Segment:
    """Return an RTOS's segments as one from address 0, as a guest may replace it (control.h)."""
    content = bytearray(max(part.address + len(part.content) for part in image.segments))
    for part in image.segments:
        content[part.address : part.address + len(part.content)] = part.content
    return Segment(0, bytes(content), max(image.end, len(content)))


class _Loader:
    """Loads one guest; notes mistakes at the fields that they come from.

    built: what the tool builds is up to date, and not left out.
    """

    def __init__(self, system: System, index: int, guest: Guest, built: bool) -> None:
        self._system, self._guest, self._built = system, guest, built
        self._base: Location = ("guest", index)

    def _mistake(self, sentence: str, name: str, *others: str) -> None:
        places = [(*self._base, other) for other in (*others, "kind")]
        self._system.mistake(sentence, (*self._base, name), *places)

    def _path(self, name: str, value: str) -> Path | None:
        """Return the file if it is there; note a mistake if it never will be."""
        path = self._system.resolve(value)
        if path.is_file() and (self._built or builder(path) is None):
            return path
        if builder(path) is None:
            self._mistake(f"`{name}`: there is no file {shown(path)}.", name)
        return None

    def _read(self, name: str, value: str, is_kernel: bool) -> Image | None:
        path = self._path(name, value)
        if path is None:
            return None
        try:
            return read_kernel(path) if is_kernel else read_rtos(path)
        except ImageError as error:
            self._mistake(f"`{name}`: {shown(path)} {error}.", name)
        except OSError as error:
            self._mistake(f"`{name}`: {shown(path)} cannot be read: {error.strerror}.", name)
        return None

    def rtos(self, guest: RtosGuest) -> Loaded | None:
        image = self._read("image", guest.image, is_kernel=False)
        if image is None:
            return None
        room = guest.memory - abi()["PAGE_SIZE"]
        if image.end > room:
            what = f"The image {guest.image}"
            self._mistake(_does_not_fit(what, guest, image.end, room), "memory", "image")
            return None
        part = _flat(image)
        own_room = len(part.content)
        if guest.image_room is not None and not own_room <= guest.image_room <= room:
            self._mistake(
                f"`image_room` must be {size_text(own_room)}, what the image has, to "
                f"{size_text(room)}, not {size_text(guest.image_room)}.",
                "image_room", "memory", "image",
            )  # fmt: skip
        is_controlled = any(
            isinstance(other, LinuxGuest) and other.control for _, other in self._system.guests
        )
        wanted = guest.image_room or (room if is_controlled else own_room)
        return Loaded((("image", part),), image.entry, False, wanted)

    def linux(self, guest: LinuxGuest, deterministic: bool) -> Loaded | None:
        number = abi()["COMMAND_LINE_ROOM"]
        several = guest.cpus is not None
        line = linux_boot.command_line(guest.command_line, deterministic, number, several)
        room = linux_boot.COMMAND_LINE_SIZE - number
        if len(line.text) > room:
            self._mistake(
                f"`command_line` is too long: with what Gandalf adds it has {len(line.text)} "
                f"bytes, and Linux takes {room}.",
                "command_line",
            )
        kernel = self._read("kernel", guest.kernel, is_kernel=True)
        ramdisk = self._ramdisk(guest, kernel)
        if kernel is None or (guest.initrd is not None and ramdisk is None):
            return None
        if not self._kernel_fits(guest, kernel):
            return None
        return self._linux_memory(guest, kernel, ramdisk, line)

    def _ramdisk(self, guest: LinuxGuest, kernel: Image | None) -> Segment | None:
        path = self._path("initrd", guest.initrd) if guest.initrd is not None else None
        if path is None:
            return None
        content = path.read_bytes()
        room = self._room(guest)
        start = (room - len(content)) // _PAGE * _PAGE
        if kernel is not None and start < kernel.end <= room:
            what = (
                f"The initial RAM disk {guest.initrd} ({size_text(len(content))} behind the kernel)"
            )
            end = kernel.end + len(content)
            self._mistake(_does_not_fit(what, guest, end, room), "memory", "initrd")
            return None
        return Segment(start, content, len(content))

    def _kernel_fits(self, guest: LinuxGuest, kernel: Image) -> bool:
        if kernel.start < linux_boot.LOWEST_KERNEL:
            self._mistake(
                f"`kernel`: {guest.kernel} is linked below 1 MiB, where its boot parameters are.",
                "kernel",
            )
            return False
        room = self._room(guest)
        if kernel.end > room:
            what = f"The kernel {guest.kernel}"
            self._mistake(_does_not_fit(what, guest, kernel.end, room), "memory", "kernel")
            return False
        return True

    def _room(self, guest: LinuxGuest) -> int:
        """Return the bytes in front of a Linux's channels, which end its memory."""
        return guest.memory - self._system.channel_bytes(guest)

    def _linux_memory(
        self,
        guest: LinuxGuest,
        kernel: Image,
        ramdisk: Segment | None,
        line: linux_boot.CommandLine,
    ) -> Loaded:
        parameters = linux_boot.boot_parameters(
            kernel.setup_header,
            kernel.entry,
            guest.memory,
            self._system.channel_bytes(guest),
            ramdisk.address if ramdisk else 0,
            len(ramdisk.content) if ramdisk else 0,
        )
        page = Segment(linux_boot.BOOT_PARAMETERS, parameters, linux_boot.BOOT_PARAMETERS_SIZE)
        start, size = linux_boot.COMMAND_LINE, linux_boot.COMMAND_LINE_SIZE
        text = Segment(start, line.text + b"\0", size)
        parts = [("kernel", part) for part in kernel.segments]
        parts += [("boot parameters", page), ("command line", text)]
        parts += [("initrd", ramdisk)] if ramdisk else []
        if guest.cpus is not None:
            table = mp_table.mp_table(len(guest.cpus))
            parts.append(("MP table", Segment(mp_table.ADDRESS, table, mp_table.SIZE)))
        return Loaded(tuple(parts), kernel.entry, True, number=start + line.number)


def _load(loader: _Loader, guest: Guest, deterministic: bool) -> Loaded | None:
    """Load a guest's images; None if one is missing or wrong, which is noted as a mistake."""
    if isinstance(guest, RtosGuest):
        return loader.rtos(guest)
    return loader.linux(guest, deterministic)


def load_all(system: System, deterministic: bool, built: bool) -> list[Loaded | None]:
    """Load every guest of a system; None stands for one of which an image is not there.

    An image that the tool can build and that is not there yet is no mistake. built: those that are
    there are up to date; if not they are left out, too.
    """
    try:
        return [
            _load(_Loader(system, number, guest, built), guest, deterministic)
            for number, guest in system.guests
        ]
    except MemoryError as error:
        raise UserError("The images are larger than this computer's memory.") from error
