# SPDX-License-Identifier: Apache-2.0
"""Builds the Linux guest: the kernel in four variants, its root file system, and gandalfctl.

Everything comes from Debian packages pinned in guest/linux/packages.lock, lands under build/ and
carries a stamp of what it was made from, so that nothing is made twice.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import typer
from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from unidiff.patch import PatchSet

from gandalf.base.command import run
from gandalf.base.paths import ROOT, UserError, shown
from gandalf.guests import debian
from gandalf.guests.debian import Log, Package, elapsed

Variant = Literal["patched", "dedicated", "native", "attack"]
# Which of them run in each mode. The lines that make the interrupt flag a word in memory are needed
# on a shared CPU, and wrong on a dedicated one, where the flag that counts is the processor's.
VARIANTS_OF_MODE: dict[str, tuple[Variant, ...]] = {
    "shared": ("patched", "attack"),
    "dedicated": ("native", "dedicated"),
}
# A copy of the kernel's sources.
Tree = Literal["patched", "dedicated", "native"]

# Raised when the steps below change, so that old results are made again.
RECIPE = 1

# Parts of the source that no i386 kernel of ours compiles. Kconfig files and makefiles stay.
SOURCE_EXCLUDES = (
    "linux-source-*/arch/[a-wyz]*/*.[chS]",
    "linux-source-*/arch/xtensa/*.[chS]",
    "linux-source-*/arch/*/dts/*",
    "linux-source-*/drivers/gpu/*.[ch]",
    "linux-source-*/drivers/media/*.[ch]",
    "linux-source-*/drivers/net/*/*.[ch]",
    "linux-source-*/drivers/staging/*.[ch]",
    "linux-source-*/sound/*.[ch]",
    "linux-source-*/Documentation/*/*",
    "linux-source-*/tools/perf/*",
    "linux-source-*/tools/testing/*",
)

# Fixed, so that two builds give the same bytes.
KBUILD_ENVIRONMENT = {
    "KBUILD_BUILD_TIMESTAMP": "Mon Jan  1 00:00:00 UTC 2024",
    "KBUILD_BUILD_USER": "gandalf",
    "KBUILD_BUILD_HOST": "gandalf",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
ROOTFS_TIME = 1704067200

# Command: the Debian package that has it.
KERNEL_TOOLS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "xz": "xz-utils",
    "dpkg-deb": "dpkg",
}
ROOTFS_TOOLS = {"gcc": "gcc", "make": "make", "lz4": "lz4", "dpkg-deb": "dpkg"}
# Bytes that a kernel build may take, sources included.
KERNEL_SPACE = 2_000_000_000
# Files that the configuration compiles, for the progress display only.
KERNEL_FILES = 630
PROGRESS_INTERVAL = 10.0

KERNEL_PACKAGE = "linux-source-6.1"
# What a kernel with a CPU of its own has not of the patch: its interrupt flag is the processor's.
FLAG_FILE = "arch/x86/include/asm/irqflags.h"
# Added to drivers/misc/Makefile in the patched source.
DRIVER_LINE = b"obj-y += gandalf/\n"
# Package: what of it is a program that goes into the root file system.
ROOTFS_PROGRAMS = {
    "busybox-static": ("bin/busybox",),
    "rt-tests": ("usr/bin/*",),
    "stress-ng": ("usr/bin/stress-ng",),
}
# Where the libraries that these programs name come from. What no program needs is left out.
ROOTFS_LIBRARIES = (
    "libapparmor1",
    "libbsd0",
    "libc6",
    "libcrypt1",
    "libdrm2",
    "libegl1",
    "libexpat1",
    "libffi8",
    "libgbm1",
    "libgcc-s1",
    "libgles2",
    "libglvnd0",
    "libjpeg62-turbo",
    "libjudydebian1",
    "libkmod2",
    "liblzma5",
    "libmd0",
    "libnuma1",
    "libsctp1",
    "libssl3",
    "libwayland-server0",
    "libxxhash0",
    "libzstd1",
    "zlib1g",
)
# Opened by the C library at run time when a thread is cancelled; no program names it.
ROOTFS_LOADED_LATE = ("libgcc_s.so.1",)
LIBRARY_FOLDER = "lib/i386-linux-gnu"
ROOTFS_FOLDERS = ("bin", "dev", "etc", "proc", "root", "sbin", "sys", "tmp", "usr/bin", "usr/sbin")
ROOTFS_LINKS = {
    "init": "bin/busybox",
    "bin/sh": "busybox",
    "lib/ld-linux.so.2": "i386-linux-gnu/ld-linux.so.2",
}


@dataclass(frozen=True)
class Places:
    """Where the parts of the Linux guest are, below the root of the tree."""

    root: Path

    @property
    def inputs(self) -> Path:
        """The folder of the guest in the tree."""
        return self.root / "guest" / "linux"

    @property
    def lock(self) -> Path:
        """The pinned packages."""
        return self.inputs / "packages.lock"

    @property
    def patch(self) -> Path:
        """The change of Linux's own sources."""
        return self.inputs / "gandalf.patch"

    @property
    def fragment(self) -> Path:
        """The kernel's configuration, as far as it differs from tinyconfig."""
        return self.inputs / "config.fragment"

    @property
    def drivers(self) -> Path:
        """Our drivers, and how they are built."""
        return self.inputs / "driver"

    @property
    def abi(self) -> Path:
        """The guests' interface."""
        return self.root / "abi"

    def driver_files(self) -> dict[str, Path]:
        """Return what becomes a folder of drivers in the kernel's source, by name."""
        return _files_below(self.drivers) | _files_below(self.abi)

    @property
    def control(self) -> Path:
        """The sources of gandalfctl."""
        return self.inputs / "control"

    @property
    def programs(self) -> Path:
        """What of the root file system is built here."""
        return self.root / "build" / "control"

    @property
    def cache(self) -> Path:
        """Downloaded packages."""
        return self.root / "build" / "cache"

    @property
    def linux(self) -> Path:
        """Everything built of the kernel."""
        return self.root / "build" / "linux"

    @property
    def rootfs(self) -> Path:
        """The root file system and what it is made from."""
        return self.root / "build" / "rootfs"

    @property
    def rootfs_extra(self) -> Path:
        """Files that other parts of the build add to the root file system."""
        return self.root / "build" / "rootfs-extra"

    def source(self, tree: Tree) -> Path:
        """The kernel's sources."""
        return self.linux / "source" / tree


def build_kernel(variant: Variant, root: Path, log: Log) -> Path:
    """Build a variant of the guest kernel unless it is up to date; return its vmlinux.

    `native` is Debian's source without a changed line, `dedicated` has those lines of the patch
    that only make it faster, `patched` has all and runs on a shared CPU, and `attack` is `patched`
    with the attack driver. Each has our other drivers. Beside vmlinux are System.map and
    arch/x86/boot/bzImage.
    """
    places = Places(root)
    package = _kernel_package(places)
    output = places.linux / variant
    vmlinux = output / "vmlinux"
    stamp = _digest(*_kernel_inputs(variant, places, package))
    if variant == "attack":
        build_kernel("patched", root, log)
    with _exclusive(places.linux):
        if not (_is_stamped(output, stamp) and vmlinux.exists()):
            _require_tools(KERNEL_TOOLS)
            _require_space(places.linux, KERNEL_SPACE)
            start = time.monotonic()
            source = _prepare_source(places, package, _tree(variant), log)
            _add_drivers(places, source)
            if variant == "attack":
                _copy_objects(output)
            else:
                _configure(places, source, output)
            _compile(variant, source, output, log)
            _write_stamp(output, stamp)
            log(f"guest kernel ({variant}) built in {elapsed(start)}")
    return vmlinux


def _kernel_package(places: Places) -> Package:
    for package in debian.read_lock(places.lock):
        if package.group == "kernel":
            return package
    raise UserError(f"{shown(places.lock)} names no kernel: restore it from the repository.")


def _kernel_inputs(variant: Variant, places: Places, package: Package) -> Iterator[bytes]:
    """Give everything that a kernel build depends on."""
    yield f"{RECIPE} {package.sha256} {SOURCE_EXCLUDES} {KBUILD_ENVIRONMENT}".encode()
    yield _compiler_version()
    yield _read_input(places.fragment)
    yield DRIVER_LINE
    for name, path in places.driver_files().items():
        yield name.encode()
        yield _read_input(path)
    if variant != "native":
        yield read_patch(places.patch, _tree(variant))


def _tree(variant: Variant) -> Tree:
    return "patched" if variant == "attack" else variant


def read_patch(patch: Path, tree: Tree) -> bytes:
    """Return what of the patch is for a tree: all of it, or all but the interrupt flag's lines."""
    content = _read_input(patch)
    if tree != "dedicated":
        return content
    files = PatchSet(content.decode())
    return "".join(str(file) for file in files if file.path != FLAG_FILE).encode()


def _compiler_version() -> bytes:
    _require_tools({"gcc": "gcc"})
    return subprocess.run(["gcc", "--version"], capture_output=True, check=True).stdout


def _read_input(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{shown(path)} is missing: restore it from the repository.") from None


def _prepare_source(places: Places, package: Package, tree: Tree, log: Log) -> Path:
    """Return the folder of the kernel's sources, unpacked and, if wanted, patched."""
    native = places.source("native")
    stamp = _digest(f"{RECIPE} {package.sha256} {SOURCE_EXCLUDES}".encode())
    if not _is_stamped(native, stamp):
        archive = debian.fetch([package], places.cache, log)[0]
        log("unpacking the kernel's sources")
        _remove(native)
        _unpack_source(archive, native)
        _write_stamp(native, stamp)
    if tree == "native":
        return native
    target = places.source(tree)
    stamp = _digest(stamp.encode(), read_patch(places.patch, tree), DRIVER_LINE)
    if not _is_stamped(target, stamp):
        _remove(target)
        _patch_source(native, target, places.patch, tree)
        _write_stamp(target, stamp)
    return target


def _unpack_source(archive: Path, target: Path) -> None:
    """Unpack the tar file inside the package, without what is never compiled."""
    target.mkdir(parents=True)
    excludes = [f"--exclude={pattern}" for pattern in SOURCE_EXCLUDES]
    inner = f"./usr/src/{KERNEL_PACKAGE}.tar.xz"
    commands = [
        ["dpkg-deb", "--fsys-tarfile", str(archive)],
        ["tar", "--extract", "--to-stdout", inner],
        ["xz", "--decompress", "--stdout", "--threads=0"],
        ["tar", "--extract", f"--directory={target}", "--strip-components=1", *excludes],
    ]
    processes: list[subprocess.Popen[bytes]] = []
    for command in commands:
        feed = processes[-1].stdout if processes else None
        is_last = command is commands[-1]
        processes.append(
            subprocess.Popen(
                command,
                stdin=feed or subprocess.DEVNULL,
                stdout=None if is_last else subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        if feed is not None:
            feed.close()
    if [process for process in processes if process.wait() != 0]:
        raise UserError(
            f"{shown(archive)} cannot be unpacked: check that the disk has 2 GB free, or delete "
            "the file and run the command again."
        )


def _patch_source(native: Path, target: Path, patch: Path, tree: Tree) -> None:
    """Make a patched copy of hard links; patch writes a new file for each that it changes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "--archive", "--link", str(native), str(target)], check=True)
    (target / STAMP).unlink()
    result = subprocess.run(
        ["patch", "--strip=1", "--fuzz=0", "--quiet"],
        cwd=target,
        input=read_patch(patch, tree),
        capture_output=True,
        check=False,
    )
    if result.returncode != 0:
        raise UserError(
            f"{shown(patch)} does not apply to the pinned kernel "
            f"({_first_line(result.stdout.decode())}): adapt the patch to this version of Linux."
        )


def _add_drivers(places: Places, source: Path) -> None:
    """Put our drivers beside Linux's own. One that stays the same is not compiled again."""
    makefile = source / "drivers" / "misc" / "Makefile"
    if not makefile.read_bytes().endswith(DRIVER_LINE):
        _replace(makefile, makefile.read_bytes() + DRIVER_LINE)
    folder = source / "drivers" / "misc" / "gandalf"
    folder.mkdir(exist_ok=True)
    for name, path in places.driver_files().items():
        copy, content = folder / name, _read_input(path)
        if not copy.exists() or copy.read_bytes() != content:
            _replace(copy, content)


def _copy_objects(output: Path) -> None:
    """Start the variant `attack` from the objects of `patched`."""
    _remove(output)
    shutil.copytree(output.parent / "patched", output, symlinks=True)
    (output / STAMP).unlink()


def _configure(places: Places, source: Path, output: Path) -> None:
    """Write output/.config: tinyconfig, then the fragment, then the defaults of what is new."""
    output.mkdir(parents=True, exist_ok=True)
    (output / STAMP).unlink(missing_ok=True)
    make = ["make", "--silent", f"O={output}", "ARCH=i386"]
    merge = ["scripts/kconfig/merge_config.sh", "-m", "-O", str(output), str(output / ".config")]
    with (output / "configure.log").open("w", encoding="utf-8") as log_file:
        for command in (
            [*make, "tinyconfig"],
            [*merge, str(places.fragment)],
            [*make, "olddefconfig"],
        ):
            result = subprocess.run(
                command,
                cwd=source,
                env=os.environ | KBUILD_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if result.returncode != 0:
                raise UserError(
                    f"The guest kernel cannot be configured: see {shown(output)}/configure.log."
                )
    check_configuration(places.fragment, output / ".config")


def check_configuration(fragment: Path, configuration: Path) -> None:
    """Raise UserError if a line of the fragment is not what the configuration says.

    Neither may the fragment say that the kernel can be preempted, which no mode is made for.
    """
    wanted = read_configuration(fragment)
    actual = read_configuration(configuration)
    if actual.get("CONFIG_PREEMPTION", "n") != "n":
        raise UserError(
            "The kernel would be preemptible (CONFIG_PREEMPTION), and no guest's may be: set "
            f"CONFIG_PREEMPT_NONE in {shown(fragment)}."
        )
    lost = [name for name, value in wanted.items() if actual.get(name, "n") != value]
    if lost:
        raise UserError(
            f"The kernel's configuration did not take {', '.join(lost)} of {shown(fragment)}: "
            "set what these options depend on, or remove them."
        )


def read_configuration(path: Path) -> dict[str, str]:
    """Return the options of a Kconfig file; an option that is not set has the value "n"."""
    options = {}
    for line in _read_input(path).decode().splitlines():
        if match := re.fullmatch(r"(CONFIG_\w+)=(.*)", line):
            options[match[1]] = match[2]
        elif match := re.fullmatch(r"# (CONFIG_\w+) is not set", line):
            options[match[1]] = "n"
    return options


def _compile(variant: Variant, source: Path, output: Path, log: Log) -> None:
    """Run the kernel's make, with a line of progress every few seconds."""
    jobs = len(os.sched_getaffinity(0))
    command = ["make", f"--jobs={jobs}", f"O={output}", "ARCH=i386", "bzImage"]
    if variant == "attack":
        command.append("GANDALF_ATTACK=y")
    log(f"compiling the guest kernel ({variant})")
    log_path = output / "build.log"
    files, due = 0, time.monotonic() + PROGRESS_INTERVAL
    with (
        log_path.open("w", encoding="utf-8") as log_file,
        subprocess.Popen(
            command,
            cwd=source,
            env=os.environ | KBUILD_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        for line in process.stdout or ():
            log_file.write(line)
            files += line.startswith("  CC ")
            if time.monotonic() >= due:
                log(f"compiled {files} of about {max(files, KERNEL_FILES)} files")
                due = time.monotonic() + PROGRESS_INTERVAL
    if process.returncode != 0:
        raise UserError(f"The guest kernel did not compile: see {shown(log_path)}.")


def build_rootfs(root: Path, log: Log) -> Path:
    """Build the guest's root file system unless it is up to date; return the image."""
    places = Places(root)
    packages = [package for package in debian.read_lock(places.lock) if package.group == "rootfs"]
    output = places.rootfs
    image = output / "initramfs.cpio"
    stamp = _digest(*_rootfs_inputs(places, packages))
    with _exclusive(places.linux):
        source = _prepare_source(places, _kernel_package(places), "native", log)
    with _exclusive(output):
        if not (_is_stamped(output, stamp) and image.exists()):
            _require_tools(ROOTFS_TOOLS)
            archives = debian.fetch(packages, places.cache, log)
            log("building the root file system")
            (output / STAMP).unlink(missing_ok=True)
            programs = build_programs(places)
            with tempfile.TemporaryDirectory(dir=output) as scratch:
                for archive in archives:
                    debian.unpack(archive, Path(scratch))
                entries = _collect(Path(scratch), places) | programs
                _write_image(entries, source, Path(scratch), image)
            _write_stamp(output, stamp)
            log(f"root file system built ({image.stat().st_size / 1e6:.1f} MB)")
    return image


def _rootfs_inputs(places: Places, packages: list[Package]) -> Iterator[bytes]:
    """Give everything that the root file system depends on."""
    yield f"{RECIPE} {ROOTFS_PROGRAMS} {ROOTFS_FOLDERS} {ROOTFS_LINKS} {ROOTFS_TIME}".encode()
    for package in packages:
        yield package.sha256.encode()
    yield _compiler_version()
    folders = (places.inputs / "rootfs", places.rootfs_extra, places.control, places.abi)
    for folder in folders:
        for name, path in _files_below(folder).items():
            yield f"{name} {_mode(path):o}".encode()
            yield path.read_bytes()


def build_programs(places: Places) -> dict[str, Path]:
    """Build gandalfctl; returns the files of the root file system by their path there."""
    make = ["make", "--no-print-directory", "-C", str(places.control), f"BUILD={places.programs}"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()[-20:]
        raise UserError("\n".join([*lines, "gandalfctl did not compile; see above."]))
    return {"sbin/gandalfctl": places.programs / "gandalfctl"}


def _files_below(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their path in it; nothing if there is no such folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path for path in files}


def _mode(path: Path) -> int:
    return 0o755 if os.access(path, os.X_OK) else 0o644


def _collect(unpacked: Path, places: Places) -> dict[str, Path]:
    """Return what goes into the image: path there, file here."""
    entries: dict[str, Path] = {}
    for patterns in ROOTFS_PROGRAMS.values():
        for pattern in patterns:
            programs = [
                path for path in unpacked.glob(pattern) if needed_libraries(path) is not None
            ]
            entries |= {str(path.relative_to(unpacked)): path for path in programs}
    entries |= _libraries(list(entries.values()), unpacked)
    entries |= _files_below(places.inputs / "rootfs")
    entries |= _files_below(places.rootfs_extra)
    return entries


def _libraries(programs: list[Path], unpacked: Path) -> dict[str, Path]:
    """Return every library that the programs need, directly or not."""
    available = {path.name: path for path in unpacked.rglob("*.so*") if path.is_file()}
    found: dict[str, Path] = {}
    queue = [(name, "the C library") for name in ROOTFS_LOADED_LATE]
    queue += [(name, path.name) for path in programs for name in needed_libraries(path) or ()]
    while queue:
        name, user = queue.pop()
        if name in found:
            continue
        if name not in available:
            raise UserError(
                f"{user} needs {name}, which no pinned package has: add its package to "
                "ROOTFS_LIBRARIES in tools/gandalf/guests/linux.py and run "
                "`build/venv/bin/python -m gandalf.guests.linux update-lock`."
            )
        found[name] = available[name]
        queue += [(needed, name) for needed in needed_libraries(available[name]) or ()]
    return {f"{LIBRARY_FOLDER}/{name}": path for name, path in found.items()}


def needed_libraries(path: Path) -> list[str] | None:
    """Return the libraries that an ELF file names, or None if it is not an ELF file."""
    try:
        with path.open("rb") as file:
            sections = ELFFile(file).iter_sections()
            dynamic = (part for part in sections if isinstance(part, DynamicSection))
            tags = [tag for part in dynamic for tag in part.iter_tags("DT_NEEDED")]
            # pyelftools gives the tag this attribute at run time.
            return [tag.needed for tag in tags]  # type: ignore[attr-defined]
    except (ELFError, IsADirectoryError):
        return None


def _write_image(entries: dict[str, Path], source: Path, scratch: Path, image: Path) -> None:
    """Write the image with the kernel's own archiver, which needs no root for device nodes."""
    archiver = scratch / "gen_init_cpio"
    subprocess.run(
        ["gcc", "-O2", "-o", str(archiver), str(source / "usr" / "gen_init_cpio.c")], check=True
    )
    listing = scratch / "listing"
    listing.write_text("\n".join(image_lines(entries)) + "\n", encoding="utf-8")
    command = [str(archiver), "-t", str(ROOTFS_TIME), str(listing)]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    # The legacy format, which is the one that Linux reads. It unpacks ten times as fast as gzip;
    # without compression two guests' images would not fit the VMM's share of the address space.
    compressor = ["lz4", "-l", "-9", "-q", "-c"]
    packed = subprocess.run(compressor, input=archive, capture_output=True, check=True).stdout
    _replace(image, packed)


def image_lines(entries: dict[str, Path]) -> list[str]:
    """Return the lines of a listing for gen_init_cpio, parents before their children."""
    folders = set(ROOTFS_FOLDERS)
    for name in (*entries, *ROOTFS_LINKS, *ROOTFS_FOLDERS):
        folders |= {str(parent) for parent in Path(name).parents} - {"."}
    lines = [f"dir /{name} 755 0 0" for name in sorted(folders)]
    lines.append("nod /dev/console 600 0 0 c 5 1")
    lines += [
        f"file /{name} {entries[name]} {_mode(entries[name]):o} 0 0" for name in sorted(entries)
    ]
    lines += [f"slink /{name} {target} 777 0 0" for name, target in sorted(ROOTFS_LINKS.items())]
    return lines


LOCK_HEADING = """SPDX-License-Identifier: GPL-2.0-only
The Debian packages that the Linux guest is made from. Written by
`build/venv/bin/python -m gandalf.guests.linux update-lock`; path is relative to a Debian mirror.
They are of the release itself, whose versions stay: those of its security
archive leave the mirrors with each update."""


def update_lock(root: Path, log: Log) -> Path:
    """Pin the newest packages of the release; return the lock file."""
    places = Places(root)
    folder = places.cache / "apt"
    kernel = debian.Lists(folder, "amd64", log).newest("kernel", KERNEL_PACKAGE)
    i386 = debian.Lists(folder, "i386", log)
    names = sorted({*ROOTFS_PROGRAMS, *ROOTFS_LIBRARIES})
    packages = [kernel, *(i386.newest("rootfs", name) for name in names)]
    debian.write_lock(places.lock, packages, LOCK_HEADING)
    log(f"{shown(places.lock)} pins {len(packages)} packages")
    return places.lock


STAMP = ".gandalf-stamp"


def _digest(*parts: bytes) -> str:
    """Return one checksum over several byte strings."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def _is_stamped(folder: Path, stamp: str) -> bool:
    try:
        return (folder / STAMP).read_text(encoding="ascii") == stamp
    except FileNotFoundError:
        return False


def _write_stamp(folder: Path, stamp: str) -> None:
    (folder / STAMP).write_text(stamp, encoding="ascii")


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _replace(path: Path, content: bytes) -> None:
    """Write a file as a new one, so that hard links to the old one keep their content."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "no message")


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Let one build at a time work in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _require_tools(tools: dict[str, str]) -> None:
    missing = sorted({package for tool, package in tools.items() if shutil.which(tool) is None})
    if missing:
        raise UserError(
            f"To build the Linux guest, install {', '.join(missing)} (Debian's names), then run "
            "the command again."
        )


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"The guest kernel needs {needed / 1e9:.0f} GB of disk and {shown(folder)} has "
            f"{free / 1e9:.1f} GB free: make room and run the command again."
        )


app = typer.Typer(help="Build the Linux guest.", no_args_is_help=True)


@app.command("kernel")
def _kernel_command(variant: str = typer.Argument(help=", ".join(get_args(Variant)))) -> None:
    """Build the guest kernel."""
    for known in get_args(Variant):
        if variant == known:
            typer.echo(shown(build_kernel(known, ROOT, typer.echo)))
            return
    raise UserError(f"There is no kernel variant {variant}: use one of {get_args(Variant)}.")


@app.command("rootfs")
def _rootfs_command() -> None:
    """Build the guest's root file system."""
    typer.echo(shown(build_rootfs(ROOT, typer.echo)))


@app.command("update-lock")
def _update_lock_command() -> None:
    """Pin the newest packages of the Debian release in guest/linux/packages.lock."""
    update_lock(ROOT, typer.echo)


if __name__ == "__main__":
    run(app)
