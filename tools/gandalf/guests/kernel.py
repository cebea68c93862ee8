# SPDX-License-Identifier: Apache-2.0
"""Builds the kernels of the Linux guest."""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from unidiff.patch import PatchSet

from gandalf.base.paths import UserError, shown
from gandalf.guests import debian
from gandalf.guests.debian import Log, Package, elapsed
from gandalf.guests.kernel_configuration import KBUILD_ENVIRONMENT, configure
from gandalf.guests.kernel_debug import DEBUG_VARIABLE, split_debug
from gandalf.guests.objects import Side, begin_with_objects
from gandalf.guests.places import (
    KERNEL_FILES,
    RECIPE,
    STAMP,
    Places,
    Tree,
    Variant,
    compiler_version,
    digest_of,
    exclusive,
    is_stamped,
    read_input,
    remove_folder,
    replace_file,
    require_space,
    require_tools,
    write_stamp,
)

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

# Command: the Debian package that has it.
KERNEL_TOOLS = {
    "gcc": "gcc", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc", "patch": "patch",
    "xz": "xz-utils", "dpkg-deb": "dpkg", "objcopy": "binutils",
}  # fmt: skip
# Bytes that a kernel build may take, sources included.
KERNEL_SPACE = 2_000_000_000
PROGRESS_INTERVAL = 10.0

KERNEL_PACKAGE = "linux-source-6.1"
# What a kernel with a CPU of its own has not of the patch: its interrupt flag is the processor's.
FLAG_FILE = "arch/x86/include/asm/irqflags.h"
# Added to drivers/misc/Makefile in the patched source.
DRIVER_LINE = b"obj-y += gandalf/\n"
# Variants that begin with the objects of another one, of which most stay as they are: of those of
# `patched`, only 26 of 669 would in `complete`, since nearly all depend on modules or cgroups.
ORIGINS: dict[Variant, Variant] = {
    "attack": "patched",
    "complete-native": "complete",
    "complete-smp-native": "complete-smp",
    "native": "patched",
    "dedicated": "patched",
    "smp-native": "smp",
}
# Variants whose origin is not built for their sake, since it may not be wanted otherwise.
ALONE: tuple[Variant, ...] = ("dedicated", "complete-native", "complete-smp-native")
# Variants that modules can be built for.
WITH_MODULES: tuple[Variant, ...] = ("complete", "complete-smp")
# Variants that can be debugged by lines and types, and those that begin with their objects. The
# others are those that speed is measured on, and this would take half as long again to compile each
# of them.
WITH_DEBUG: tuple[Variant, ...] = (*WITH_MODULES, "complete-native", "complete-smp-native")
# Where a patched source has the functions that the patch calls.
HEADER_FILE = "arch/x86/include/asm/gandalf.h"


def build_kernel(variant: Variant, root: Path, log: Log) -> Path:
    """Build a variant of the guest kernel unless it is up to date; return its vmlinux.

    Those with `native` in their names are Debian's source without a changed line, `dedicated` has
    those lines of the patch that only make it faster, `patched` has all and runs on a shared CPU,
    and `attack` is `patched` with the attack driver. `smp` is for several vCPUs: it has a patch, a
    driver and a part of the configuration of its own. `complete` and `complete-smp` are `patched`
    and `smp` with what programs of a distribution expect of Linux, and our network driver. Each has
    our other drivers. Beside vmlinux are System.map and arch/x86/boot/bzImage, and of the complete
    ones vmlinux.debug.
    """
    places = Places(root)
    package = kernel_package(places)
    output = places.linux / variant
    vmlinux = output / "vmlinux"
    stamp = digest_of(*_kernel_inputs(variant, places, package))

    def is_built() -> bool:
        return is_stamped(output, stamp) and vmlinux.exists()

    if variant in ORIGINS and variant not in ALONE and not is_built():
        build_kernel(ORIGINS[variant], root, log)
    with exclusive(places.linux):
        if not is_built():
            require_tools(KERNEL_TOOLS)
            require_space(places.linux, KERNEL_SPACE)
            start = time.monotonic()
            source = prepare_source(places, package, _tree(variant), log)
            _add_drivers(places, source)
            if header := side_of(variant, places).header:
                _update_file(header, read_input(places.header))
            if variant in ORIGINS and not output.exists():
                _begin(variant, places, package)
            configure(places.fragments(variant), source, output)
            _make(variant, places, log)
            write_stamp(output, stamp)
            log(f"guest kernel ({variant}) built in {elapsed(start)}")
    return vmlinux


def _make(variant: Variant, places: Places, log: Log) -> None:
    """Make a kernel that is configured. What was split is no input for the next split, which would
    find no debug information there, so it is linked again."""
    vmlinux = places.linux / variant / "vmlinux"
    vmlinux.unlink(missing_ok=True)
    _compile(variant, places, log)
    if variant in WITH_DEBUG:
        split_debug(vmlinux)


def kernel_package(places: Places) -> Package:
    for package in debian.read_lock(places.lock):
        if package.group == "kernel":
            return package
    raise UserError(f"{shown(places.lock)} names no kernel: restore it from the repository.")


def _kernel_inputs(variant: Variant, places: Places, package: Package) -> Iterator[bytes]:
    """Give everything that a kernel build depends on."""
    yield f"{RECIPE} {package.sha256} {SOURCE_EXCLUDES} {KBUILD_ENVIRONMENT}".encode()
    yield compiler_version()
    for fragment in places.fragments(variant):
        yield read_input(fragment)
    if variant in WITH_DEBUG:
        yield DEBUG_VARIABLE.encode()
    yield DRIVER_LINE
    for name, path in places.driver_files().items():
        yield name.encode()
        yield read_input(path)
    tree = _tree(variant)
    if tree != "native":
        yield read_patch(places.patch_of(tree), tree)
        yield HEADER_FILE.encode()
        yield read_input(places.header)


def _tree(variant: Variant) -> Tree:
    match variant:
        case "attack" | "complete":
            return "patched"
        case "complete-smp":
            return "smp"
        case "complete-native" | "complete-smp-native" | "smp-native":
            return "native"
        case _:
            return variant


def read_patch(patch: Path, tree: Tree) -> bytes:
    """Return what of its patch is for a tree: all of it, or all but the interrupt flag's lines."""
    content = read_input(patch)
    if tree != "dedicated":
        return content
    files = PatchSet(content.decode())
    return "".join(str(file) for file in files if file.path != FLAG_FILE).encode()


def prepare_source(places: Places, package: Package, tree: Tree, log: Log) -> Path:
    """Return the folder of the kernel's sources, unpacked and, if wanted, patched."""
    native = places.source("native")
    stamp = digest_of(f"{RECIPE} {package.sha256} {SOURCE_EXCLUDES}".encode())
    if not is_stamped(native, stamp):
        archive = debian.fetch([package], places.cache, log)[0]
        log("unpacking the kernel's sources")
        _remove_objects("native", places)
        remove_folder(native)
        unpack_source(archive, native, [f"--exclude={pattern}" for pattern in SOURCE_EXCLUDES])
        write_stamp(native, stamp)
    if tree == "native":
        return native
    target = places.source(tree)
    stamp = digest_of(stamp.encode(), read_patch(places.patch_of(tree), tree), DRIVER_LINE)
    if not is_stamped(target, stamp):
        _remove_objects(tree, places)
        remove_folder(target)
        _patch_source(native, target, places.patch_of(tree), tree)
        write_stamp(target, stamp)
    return target


def _remove_objects(tree: Tree, places: Places) -> None:
    """Remove what was compiled from a tree: its next files may be older than these objects."""
    for variant in (item for item in get_args(Variant) if _tree(item) == tree):
        remove_folder(places.linux / variant)


def unpack_source(archive: Path, target: Path, choice: Sequence[str]) -> None:
    """Unpack the tar file inside the package; choice: what tar is told of what to leave or take."""
    target.mkdir(parents=True)
    inner = f"./usr/src/{KERNEL_PACKAGE}.tar.xz"
    commands = [
        ["dpkg-deb", "--fsys-tarfile", str(archive)],
        ["tar", "--extract", "--to-stdout", inner],
        ["xz", "--decompress", "--stdout", "--threads=0"],
        ["tar", "--extract", f"--directory={target}", "--strip-components=1", *choice],
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
    """Put our drivers beside Linux's own."""
    makefile = source / "drivers" / "misc" / "Makefile"
    if not makefile.read_bytes().endswith(DRIVER_LINE):
        replace_file(makefile, makefile.read_bytes() + DRIVER_LINE)
    folder = source / "drivers" / "misc" / "gandalf"
    folder.mkdir(exist_ok=True)
    for name, path in places.driver_files().items():
        _update_file(folder / name, read_input(path))


def _update_file(copy: Path, content: bytes) -> None:
    """Put a file of ours into a source. If it stays the same, nothing is compiled again."""
    if not copy.exists() or copy.read_bytes() != content:
        replace_file(copy, content)


def _begin(variant: Variant, places: Places, package: Package) -> None:
    """Begin a variant with the objects of its origin, if that has been built as it is now."""
    origin = ORIGINS[variant]
    stamp = digest_of(*_kernel_inputs(origin, places, package))
    if not is_stamped(places.linux / origin, stamp):
        return
    tree = _tree(origin)
    patch = PatchSet(read_patch(places.patch_of(tree), tree).decode())
    sides = side_of(origin, places), side_of(variant, places)
    begin_with_objects(*sides, [file.path for file in patch])


def side_of(variant: Variant, places: Places) -> Side:
    """Return where a variant's objects and source are."""
    tree = _tree(variant)
    source = places.source(tree)
    return Side(places.linux / variant, source, source / HEADER_FILE if tree != "native" else None)


def make_variables(variant: Variant, side: Side) -> Iterator[str]:
    """Give what the kernel's make is told about a variant."""
    if variant == "attack":
        yield "GANDALF_ATTACK=y"
    if variant in ("smp", "complete-smp"):
        yield "GANDALF_SMP=y"
    if side.header:
        # No line of the patch includes it. KCPPFLAGS reaches all that is made for the target, as it
        # must: what unpacks the kernel includes the changed files, too.
        yield f"KCPPFLAGS={side.flag()}"


def _compile(variant: Variant, places: Places, log: Log) -> None:
    """Run the kernel's make, with a line of progress every few seconds."""
    jobs = len(os.sched_getaffinity(0))
    side = side_of(variant, places)
    output, source = side.output, side.source
    command = ["make", f"--jobs={jobs}", f"O={output}", "ARCH=i386", "bzImage"]
    if variant in WITH_MODULES:
        command.append("modules")  # there are none, but what is built elsewhere needs the symbols
    if variant in WITH_DEBUG:
        command.append(DEBUG_VARIABLE)
    command += make_variables(variant, side)
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
                log(f"compiled {files} of about {max(files, KERNEL_FILES[variant])} files")
                due = time.monotonic() + PROGRESS_INTERVAL
    if process.returncode != 0:
        raise UserError(f"The guest kernel did not compile: see {shown(log_path)}.")


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "no message")
