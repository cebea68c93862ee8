# SPDX-License-Identifier: Apache-2.0
"""The 64-bit systems of the bench: Debian's kernel on the bare machine, and the same as Xen's dom0.

Both are made from Debian packages pinned in bench/amd64/packages.lock, which are unpacked below
build/bench/amd64 and never installed. They run in QEMU with the same options, and have the same
user land in memory: BusyBox, hackbench, and what the bench adds.

Neither package has symbols. Kernel and hypervisor know their own, at the same addresses each time;
so they are asked once, in machines of their own, and the answers are kept.
"""

import contextlib
import fcntl
import gzip
import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from gandalf.base.command import run
from gandalf.base.paths import BUILD, ROOT, UserError, shown
from gandalf.guests import cpio, debian
from gandalf.guests.debian import Log, Package
from gandalf.guests.rootfs import needed_libraries
from gandalf.run.emulator import Options, Qemu
from gandalf.run.terminal import Terminal

NATIVE, XEN = "native-amd64", "xen-pv"
ORIGIN = debian.Origin("bench/amd64/packages.lock", "bench.amd64")
LOCK = ROOT / ORIGIN.lock
OUTPUT = BUILD / "bench" / "amd64"
# Shared with the 32-bit guest, as are its start-up files.
CACHE = BUILD / "cache"
ROOTFS = ROOT / "guest" / "linux" / "rootfs"

# Raised when the steps below change, so that old results are made again.
_RECIPE = 2

KERNEL_META = "linux-image-amd64"
KERNEL_PATTERN = r"linux-image-6\.1\..*-amd64"
XEN_PACKAGE = "xen-hypervisor-4.17-amd64"
# What a module for the kernel is built with, beside headers that have the kernel's own name.
KBUILD_PACKAGE = "linux-kbuild-6.1"
# Package: the programs of it that go into the root file system.
PROGRAMS = {"busybox-static": ("bin/busybox",), "rt-tests": ("usr/bin/hackbench",)}
LIBRARIES = ("libc6", "libnuma1")
_LIBRARY_FOLDER = "lib/x86_64-linux-gnu"
_FOLDERS = (
    "bin", "dev", "etc", "lib64", "proc", "root", "sbin", "sys", "tmp", "usr/bin", "usr/sbin",
)  # fmt: skip
_LINKS = {
    "init": "bin/busybox",
    "bin/sh": "busybox",
    "lib64/ld-linux-x86-64.so.2": "../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
}

MEGABYTES = 512
# What Xen has beside its guest's memory.
XEN_MEGABYTES = 256
# Nothing random, no calibration of clocks against each other, and, as in the 32-bit kernels, no
# mitigations: Gandalf has none either. And no HPET, in whose usual mode the clock's interrupt line
# is its own.
KERNEL_OPTIONS = (
    "nokaslr", "norandmaps", "tsc=reliable", "tsc_early_khz=1000000", "mitigations=off",
    "hpet=disable",
)  # fmt: skip
XEN_OPTIONS = (
    "com1=115200,8n1", "console=com1", f"dom0_mem={MEGABYTES}M,max:{MEGABYTES}M",
    "dom0_max_vcpus=1", "spec-ctrl=no",
)  # fmt: skip
PROMPT = r"gandalf:\S*# "
# What the plug-in has to know of each: which part of ring 0 is a VMM's, and which of ring 3 is the
# kernel of the guest. Xen has all of ring 0, and its part of the address space is below that.
PLUGIN_OPTIONS = {NATIVE: {"vmm": "0-0"}, XEN: {"guest": "0xffff880000000000-0xfffffffffffff000"}}
SECOND_PORT = "/dev/ttyS1"


@dataclass(frozen=True)
class Parts:
    """What a system boots from. xen: None on the bare machine."""

    kernel: Path
    rootfs: Path
    xen: Path | None = None


def pinned(group: str) -> list[Package]:
    """Return the packages of a group."""
    packages = [package for package in debian.read_lock(LOCK) if package.group == group]
    if not packages:
        raise UserError(f"{shown(LOCK)} names no {group}: restore it from the repository.")
    return packages


@contextlib.contextmanager
def stamped(result: Path, *inputs: str) -> Iterator[bool]:
    """Let one build at a time make a file in a folder of its own; gives whether it has to."""
    digest = hashlib.sha256("\n".join([str(_RECIPE), *inputs]).encode()).hexdigest()
    result.parent.mkdir(parents=True, exist_ok=True)
    stamp = result.with_name(".gandalf-stamp")
    with result.with_name(".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = stamp.read_text(encoding="ascii") if stamp.exists() and result.exists() else ""
        if known != digest:
            stamp.unlink(missing_ok=True)
        yield known != digest
        stamp.write_text(digest, encoding="ascii")


def _extract(archive: Path, pattern: str, target: Path) -> None:
    """Write the one file of a package whose path matches, without the megabytes of the others."""
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
        contextlib.suppress(tarfile.ReadError),
        tarfile.open(fileobj=process.stdout, mode="r|") as files,
    ):
        for member in files:
            content = files.extractfile(member) if re.fullmatch(pattern, member.name) else None
            if content is not None:
                target.write_bytes(content.read())
                process.kill()
                return
    raise UserError(
        f"{shown(archive)} has no file {pattern}: delete it and run the command again, or correct "
        "tools/gandalf/bench/amd64.py for this version of the package."
    )


def file_of(group: str, pattern: str, target: Path, log: Log) -> Path:
    """Return the one file of a group's package whose path matches."""
    package = pinned(group)[0]
    with stamped(target, package.sha256, pattern) as outdated:
        if outdated:
            archive = debian.fetch([package], CACHE, log, ORIGIN)[0]
            _extract(archive, pattern, target)
    return target


def build_kernel(log: Log) -> Path:
    """Return Debian's kernel, fetched and unpacked unless it is there."""
    return file_of("kernel", r"\./boot/vmlinuz-.*", OUTPUT / "kernel" / "image", log)


def build_xen(log: Log) -> Path:
    """Return Debian's Xen, fetched and unpacked unless it is there: an ELF file."""
    packed = file_of("xen", r"\./boot/xen-.*-amd64\.gz", OUTPUT / "xen" / "image", log)
    image = OUTPUT / "xen-elf" / "image"
    with stamped(image, pinned("xen")[0].sha256) as outdated:
        if outdated:
            # QEMU's multiboot loader takes no compressed file.
            image.write_bytes(gzip.decompress(packed.read_bytes()))
    return image


def build_rootfs(files: Mapping[str, Path], log: Log) -> Path:
    """Return the root file system, built unless it is there. files: added, by their path in it.

    There is one for each set of paths, so that a machine for another purpose changes none.
    """
    packages = pinned("rootfs")
    added = {**_files_below(ROOTFS), **files}
    inputs = [f"{PROGRAMS} {_LINKS} {_FOLDERS}", *(entry.sha256 for entry in packages)]
    inputs += [f"{name} {debian.file_sha256(path)}" for name, path in sorted(added.items())]
    purpose = hashlib.sha256(" ".join(sorted(files)).encode()).hexdigest()[:8]
    image = OUTPUT / f"rootfs-{purpose}" / "initramfs.cpio"
    with stamped(image, *inputs) as outdated:
        if outdated:
            archives = debian.fetch(packages, CACHE, log, ORIGIN)
            with tempfile.TemporaryDirectory(dir=OUTPUT) as scratch:
                for archive in archives:
                    debian.unpack(archive, Path(scratch))
                image.write_bytes(cpio.archive(_entries(Path(scratch), added)))
    return image


def _files_below(folder: Path) -> dict[str, Path]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path for path in files}


def _entries(unpacked: Path, added: Mapping[str, Path]) -> list[cpio.Entry]:
    """Return what the root file system consists of."""
    programs = {name: unpacked / name for names in PROGRAMS.values() for name in names}
    files = programs | _libraries([*programs.values(), *added.values()], unpacked) | dict(added)
    return [
        *cpio.parents([*files, *_LINKS], _FOLDERS),
        cpio.device("dev/console", 5, 1),
        *(cpio.file(name, path) for name, path in sorted(files.items())),
        *(cpio.link(name, target) for name, target in sorted(_LINKS.items())),
    ]


def _libraries(programs: list[Path], unpacked: Path) -> dict[str, Path]:
    """Return every library that the programs need, directly or not."""
    available = {path.name: path for path in unpacked.rglob("*.so*") if path.is_file()}
    found: dict[str, Path] = {}
    queue = [name for path in programs for name in needed_libraries(path) or ()]
    while queue:
        name = queue.pop()
        if name in found:
            continue
        if name not in available:
            raise UserError(
                f"No pinned package has {name}: add its package to LIBRARIES in "
                f"tools/gandalf/bench/amd64.py and run `{ORIGIN.update}`."
            )
        found[name] = available[name]
        queue += needed_libraries(available[name]) or ()
    return {f"{_LIBRARY_FOLDER}/{name}": path for name, path in found.items()}


def build(name: str, files: Mapping[str, Path], log: Log) -> Parts:
    """Return what a system boots from. Raises UserError with the reason if it cannot be had."""
    kernel, rootfs = build_kernel(log), build_rootfs(files, log)
    return Parts(kernel, rootfs, build_xen(log) if name == XEN else None)


def qemu_options(parts: Parts, folder: Path, arguments: tuple[str, ...]) -> Options:
    """Return how QEMU is to run a system. folder: a scratch one that lasts as long as QEMU."""
    line = " ".join(KERNEL_OPTIONS)
    if parts.xen is None:
        kernel, memory = parts.kernel, MEGABYTES
        boot = ("-initrd", str(parts.rootfs), "-append", f"console=ttyS0 {line}")
    else:
        # QEMU splits a list of multiboot modules at commas and spaces, which a path may have.
        for name, target in (("vmlinuz", parts.kernel), ("initramfs", parts.rootfs)):
            (folder / name).symlink_to(target)
        modules = f"{folder}/vmlinuz console=hvc0 {line},{folder}/initramfs"
        kernel, memory = parts.xen, MEGABYTES + XEN_MEGABYTES
        boot = ("-initrd", modules, "-append", " ".join(XEN_OPTIONS))
    return Options(
        memory=memory, kernel=kernel, deterministic=True, arguments=(*boot, *arguments),
        program="qemu-system-x86_64", cpu="qemu64",
    )  # fmt: skip


class Amd64:
    """A 64-bit system.

    files: further ones of the root file system, by their path there: the workload. arguments:
    further ones for QEMU, as the plug-in's.
    """

    def __init__(
        self, name: str, files: Mapping[str, Path], log: Log, arguments: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self._files, self._log, self._arguments = files, log, arguments
        self._folder: Path | None = None
        self._qemu: Qemu | None = None

    def start(self) -> Terminal:
        """Boot up to the shell's prompt. Raises UserError if a part cannot be had."""
        parts = build(self.name, self._files, self._log)
        self._folder = Path(tempfile.mkdtemp(prefix="gandalf-amd64-"))
        self._qemu = Qemu(qemu_options(parts, self._folder, self._arguments))
        terminal = Terminal(self._qemu, PROMPT)
        terminal.wait_for_prompt()
        terminal.shell("stty columns 500; dmesg -n 1")
        return terminal

    def stop(self) -> None:
        """End the machine."""
        if self._qemu is not None:
            self._qemu.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._qemu = self._folder = None


LOCK_HEADING = f"""SPDX-License-Identifier: Apache-2.0
The Debian packages that the bench's 64-bit systems are made from. Written by
`{ORIGIN.update}`; path is relative to a Debian mirror.
They are of the release itself, whose versions stay: those of its security
archive leave the mirrors with each update."""


def header_packages(kernel: str) -> tuple[str, ...]:
    """Return what a module for a kernel is built with."""
    headers = kernel.replace("-image-", "-headers-")
    return headers, headers.removesuffix("-amd64") + "-common", KBUILD_PACKAGE


def update_lock(log: Log) -> Path:
    """Pin the newest packages of the release; return the lock file."""
    lists = debian.Lists(CACHE / "apt", "amd64", log, ORIGIN)
    kernels = [name for name in lists.depends(KERNEL_META) if re.fullmatch(KERNEL_PATTERN, name)]
    if len(kernels) != 1:
        raise UserError(
            f"Debian's {KERNEL_META} names no kernel 6.1: correct KERNEL_META in "
            "tools/gandalf/bench/amd64.py."
        )
    wanted = [("kernel", kernels[0]), ("xen", XEN_PACKAGE)]
    wanted += [("headers", name) for name in header_packages(kernels[0])]
    wanted += [("rootfs", name) for name in sorted({*PROGRAMS, *LIBRARIES})]
    packages = [lists.newest(group, name) for group, name in wanted]
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    debian.write_lock(LOCK, packages, LOCK_HEADING)
    log(f"{shown(LOCK)} pins {len(packages)} packages")
    return LOCK


app = typer.Typer(help="Build and run the bench's 64-bit systems.", no_args_is_help=True)


@app.command("update-lock")
def _update_lock_command() -> None:
    """Pin the newest packages of the Debian release in bench/amd64/packages.lock."""
    update_lock(typer.echo)


@app.command("shell")
def _shell_command(
    system: str = typer.Argument(help=f"{NATIVE} or {XEN}"),
    lines: list[str] = typer.Argument(help="what to type at the shell, a line each"),  # noqa: B008
    add: list[Path] = typer.Option([], help="a program for /bin"),  # noqa: B008
) -> None:
    """Boot a system, type lines at its shell, and print what they answer."""
    if system not in (NATIVE, XEN):
        raise UserError(f"There is no system {system}: use {NATIVE} or {XEN}.")
    running = Amd64(system, {f"bin/{path.name}": path for path in add}, typer.echo)
    try:
        terminal = running.start()
        for line in lines:
            typer.echo(terminal.shell(line))
    finally:
        running.stop()


if __name__ == "__main__":
    run(app)
