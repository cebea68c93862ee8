# SPDX-License-Identifier: Apache-2.0
"""Builds the kernel's own tests of what it offers to programs (tools/testing/selftests), for i386.

They come out of the package that the guest kernels are built from, whose other parts the kernels
are built without, and are compiled by their own makefiles against this kernel's headers. What
they are linked with beyond the C library is static.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import UserError, shown
from gandalf.guests import debian, rootfs
from gandalf.guests.debian import Log, Package
from gandalf.guests.kernel import KERNEL_PACKAGE, KERNEL_TOOLS, kernel_package, unpack_source
from gandalf.guests.places import (
    RECIPE,
    Places,
    compiler_version,
    digest_of,
    exclusive,
    files_below,
    is_stamped,
    remove_folder,
    require_tools,
    write_stamp,
)

# Folders of tools/testing/selftests: those of what a VMM can get wrong. Linux 6.1 has no folder
# `signal`: its tests of signals are in `x86` and `sigaltstack`.
GROUPS = (
    "x86", "futex/functional", "sigaltstack", "timers", "seccomp", "rseq", "vm", "breakpoints",
    "ptrace", "prctl", "syscall_user_dispatch", "membarrier", "mincore", "vDSO", "clone3",
)  # fmt: skip
# What the makefiles do not build where the machine is named i386.
BESIDE = {"vm": ("protection_keys",)}
# What of the kernel's source they and its headers are made from.
SOURCE_PARTS = (
    "Makefile", "Kbuild", "arch/x86", "include", "scripts", "lib/test_hmm_uapi.h", "mm/gup_test.h",
    "tools/arch/x86", "tools/include", "tools/scripts", "tools/testing/selftests",
)  # fmt: skip
# The group of packages.lock with what some of them are linked with.
PACKAGES = "selftests"
# Where they are in the guest.
FOLDER = "selftests"


@dataclass(frozen=True)
class Selftests:
    """What was built. files: path in the root file system, file here. failed: why one was not."""

    programs: tuple[str, ...]
    files: dict[str, Path]
    failed: dict[str, str]


def build_selftests(root: Path, log: Log) -> Selftests:
    """Build the tests unless they are up to date."""
    places = Places(root)
    packages = debian.read_lock(places.lock)
    linked = [package for package in packages if package.group == PACKAGES]
    libraries = [package for package in packages if package.group == "rootfs"]
    folder = root / "build" / "selftests"
    with exclusive(folder):
        source = folder / "source"
        stamp = digest_of(*_inputs(kernel_package(places), [*linked, *libraries]))
        if not is_stamped(source, stamp):
            require_tools(KERNEL_TOOLS)
            remove_folder(folder / "packages")
            for archive in debian.fetch([*linked, *libraries], places.cache, log):
                debian.unpack(archive, folder / "packages")
            (archive,) = debian.fetch([kernel_package(places)], places.cache, log)
            log("building the kernel's tests of itself")
            remove_folder(source)
            unpack_source(archive, source, _members())
            _make(source, folder / "packages", folder / "build.log")
            write_stamp(source, stamp)
        return _built(folder)


def _inputs(kernel: Package, packages: list[Package]) -> list[bytes]:
    sums = [package.sha256 for package in (kernel, *packages)]
    parts = f"{RECIPE} {sums} {GROUPS} {BESIDE} {SOURCE_PARTS} {_flags(Path())}"
    return [parts.encode(), compiler_version()]


def _members() -> list[str]:
    return [f"{KERNEL_PACKAGE}/{part}" for part in SOURCE_PARTS]


def _flags(packages: Path) -> list[str]:
    """Return the variables of make by which the tests are compiled for the guest."""
    return [
        "CC=gcc -m32", "ARCH=x86", "MACHINE=i386", "uname_M=i386",
        f"USERCFLAGS=-w -isystem {packages}/usr/include",
        f"USERLDFLAGS=-L{packages}/usr/lib/i386-linux-gnu",
    ]  # fmt: skip


def _make(source: Path, packages: Path, log_path: Path) -> None:
    """Make the kernel's headers, then all tests that compile."""
    flags = _flags(packages)
    tests = source / "tools" / "testing" / "selftests"
    with log_path.open("w", encoding="utf-8") as log_file:

        def make(*words: str) -> int:
            command = ["make", "--silent", "--keep-going", *words]
            return subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log_file, stderr=subprocess.STDOUT,
                check=False,
            ).returncode  # fmt: skip

        if make("-C", str(source), "ARCH=i386", "headers") != 0:
            raise UserError(f"The kernel has no headers for its tests: see {shown(log_path)}.")
        for group in GROUPS:
            make("-C", str(tests / group), *flags)
            for name in BESIDE.get(group, ()):
                more = ["LDLIBS=-lm", f"USERCFLAGS=-w -mxsave -isystem {packages}/usr/include"]
                make("-C", str(tests / group), *flags, *more, str(tests / group / name))


def _built(folder: Path) -> Selftests:
    """Look at what there is."""
    tests = folder / "source" / "tools" / "testing" / "selftests"
    programs: dict[str, Path] = {}
    for group in GROUPS:
        for name, path in files_below(tests / group).items():
            if "/" not in name and rootfs.needed_libraries(path) is not None:
                programs[f"{group}/{name}"] = path
    # The library of a test that lies beside it is found there.
    own = {path.name for path in programs.values()}
    files = {f"{FOLDER}/{name}": path for name, path in programs.items()}
    files |= rootfs.libraries(list(programs.values()), folder / "packages", own)
    log = (folder / "build.log").read_text(encoding="utf-8", errors="replace")
    names = tuple(sorted(name for name in programs if not name.endswith(".so")))
    return Selftests(names, files, failures(log))


_FAILED = re.compile(
    r"^make\S*: \*\*\* .*?(?:\[\S+: |target ')\S*?/selftests/(\S+?)(?:\]|',)", re.M
)
_REASON = re.compile(r"^.*?: (?:fatal error|error|undefined reference).*$", re.M)


def failures(log: str) -> dict[str, str]:
    """Return which tests did not compile, and the first thing that the compiler said of each."""
    found: dict[str, str] = {}
    before = 0
    for match in _FAILED.finditer(log):
        reason = _REASON.search(log, before, match.start())
        found[match[1]] = reason[0] if reason else match[0]
        before = match.end()
    return found
