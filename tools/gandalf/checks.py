# SPDX-License-Identifier: Apache-2.0
"""What `make check` looks at: builds of the VMM, its walls and masked sections, style, budgets."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console as RichConsole

from gandalf.base.limits import check_limits, sources
from gandalf.base.paths import BUILD, ROOT, UserError, shown
from gandalf.build.build import build_vmm
from gandalf.build.profile import find_profile
from gandalf.build.size import source_files
from gandalf.description.check import checked_or_fail, show
from gandalf.masked.check import check_images
from gandalf.mutate.workbench import read_programs
from gandalf.walls.lock_holder import check_lock_holders
from gandalf.walls.locks import check_locks
from gandalf.walls.unit_tests import check_mirror, check_stand_ins
from gandalf.walls.walks import check_walks
from gandalf.walls.walls import check_walls


def _files(folders: list[str]) -> list[str]:
    present = [ROOT / folder for folder in folders if (ROOT / folder).is_dir()]
    return [str(path.relative_to(ROOT)) for path in source_files(present) if path.suffix == ".c"]


# Profiles that have all files of the VMM together: those that are looked at in every way, and those
# that have stand-ins for what others have.
_WHOLE = ("cores", "smp", "smp-screen", "two-level-smp")
_LEAN = ("rtos", "two-level", "dedicated")
_IMAGES = [find_profile(name).image for name in (*_WHOLE, *_LEAN)]
_SECOND = "second"  # a build of the first of them in another folder
_BUILDS = [image.parent for image in _IMAGES]


def _apart(folder: str) -> Path:
    """Return the folder of a build that only `make check` looks at."""
    return BUILD / "check" / folder


_DEBUG = [_apart(f"debug-{name}") for name in _WHOLE]


def _vmm_build(folder: str, *arguments: str, profile: str = _WHOLE[0]) -> list[str]:
    """Build an image of a profile that only `make check` looks at."""
    words = ["make", "--no-print-directory", "-C", "vmm", "-j2"]
    return [*words, f"PROFILE={profile}", f"BUILD={_apart(folder)}", *arguments]


def _profile_build(name: str) -> Callable[[], str]:
    """Build the image of a profile as systems have it; a warning is an error (vmm/Makefile)."""

    def step() -> str:
        try:
            build_vmm(find_profile(name))
        except UserError as error:
            return str(error)
        return ""

    return step


def _identical() -> str:
    """Compare two builds of the VMM that were made in different folders."""
    images = [_IMAGES[0], _apart(_SECOND) / _IMAGES[0].name]
    if not all(image.exists() for image in images):
        return "the VMM was not built"
    first, second = (image.read_bytes() for image in images)
    return "" if first == second else "the two builds differ: something depends on the folder"


def _masked() -> str:
    """Compare what masks interrupts in the VMM with the table of masked sections."""
    if not all(image.exists() for image in _IMAGES):
        return "the VMM was not built"
    return "\n".join(check_images(_IMAGES))


def _walls() -> str:
    """Compare what the VMM's files use of each other with the table of walls."""
    return "\n".join(check_walls(ROOT / "vmm", *_BUILDS))


def _complete() -> str:
    """Look for sources that none of these builds has, so that nothing above is seen of them."""
    vmm = ROOT / "vmm"
    sources = [path for pattern in ("*.c", "*.S") for path in sorted(vmm.rglob(pattern))]
    return "\n".join(
        f"{shown(source)}: no profile that is checked has it"
        for source in sources
        if not any(
            (folder / source.relative_to(vmm)).with_suffix(".o").exists()
            for folder in (*_BUILDS, *_DEBUG)
        )
    )


def _locks() -> str:
    """Look for instructions for which another core would wait."""
    return "\n".join(check_locks(ROOT / "vmm", *_BUILDS))


def _debug_walls() -> str:
    """Do the same for the debug builds, of which some variables and calls are all there are."""
    return "\n".join(check_walls(ROOT / "vmm", *_BUILDS, debug=_DEBUG))


def _mirror() -> str:
    """Compare the folders of the unit tests with those of the VMM."""
    tests = {f"{test.folder}/test_{test.name}.c": test.sources for test in read_programs()}
    return "\n".join(check_mirror(ROOT, tests))


def _stand_ins() -> str:
    """Look for functions of the VMM that tests stand in for more than once."""
    return "\n".join(check_stand_ins(ROOT))


def _walks() -> str:
    """Compare the walks of the tour with the sources and with the pictures."""
    return "\n".join(check_walks(ROOT / "vmm"))


def _lock_holders() -> str:
    """Compare the pictures of lock-holder preemptions with the trace of them."""
    return "\n".join(check_lock_holders())


def _licences() -> str:
    """Look for the licence line that every source file begins with."""
    folders = ("abi", "vmm", "guest", "measure", "bench", "tools", "tests", "systems")
    kinds = (".c", ".h", ".S", ".py", ".toml", ".ld")
    bare = []
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*")):
        if path.suffix in kinds and path.name != "Cargo.toml":
            head = path.read_text().splitlines()[:2]
            if not any("SPDX-License-Identifier:" in line for line in head):
                bare.append(path)
    return "".join(f"{path.relative_to(ROOT)}: no SPDX line\n" for path in bare)


def _limits() -> str:
    """Look for lines, functions and files that are too long."""
    return "\n".join(check_limits(ROOT, sources(ROOT)))


def _systems() -> list[str]:
    folders = (ROOT / "systems", ROOT / "bench" / "systems")
    paths = (path for folder in folders for path in folder.glob("*.toml"))
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def _description(name: str) -> Callable[[], str]:
    """Check the description of a system and show it, as `gandalf check` does."""

    def step() -> str:
        try:
            show(checked_or_fail(ROOT / name), RichConsole(file=io.StringIO()))
        except UserError as error:
            return str(error)
        return ""

    return step


_C_FOLDERS = [
    "vmm", "guest/rtos", "guest/demo", "guest/freertos", "guest/itron", "guest/switch",
    "guest/web", "guest/selftest", "guest/tests", "measure", "bench", "guest/linux/control",
    "tests/itron", "guest/application/bare",
]  # fmt: skip


def _build_steps() -> list[tuple[str, list[str] | Callable[[], str]]]:
    """Return the steps of `make check` that build the VMM."""
    looks = f"-fanalyzer -Wno-attributes -include {ROOT / 'tools/checked_bool.h'}"
    return [
        *((f"the VMM of {name} builds without a warning", _profile_build(name))
          for name in (*_WHOLE, *_LEAN)),
        # A compiler that remembers the first one would show nothing.
        ("it builds a second time, elsewhere", _vmm_build(_SECOND, "CCACHE_DISABLE=1")),
        ("the two builds are the same to the byte", _identical),
        *((f"the debug build of {name} builds without a warning",
           _vmm_build(f"debug-{name}", "DEBUG=1", profile=name)) for name in _WHOLE),
        *((f"gcc -fanalyzer, and every bool that a function of {name} returns is looked at",
           _vmm_build(f"analyzer-{name}", f"EXTRA_CFLAGS={looks}", profile=name))
          for name in _WHOLE),
    ]  # fmt: skip


def check_steps() -> list[tuple[str, list[str] | Callable[[], str]]]:
    """Return the steps of `make check`: a command, or a function that returns what is wrong."""
    python = ["tools/gandalf", "tests"]
    cppcheck = [
        "cppcheck", "--quiet", "--error-exitcode=1", "--inline-suppr", "--std=c11",
        "--enable=warning,performance,portability", "--suppress=missingIncludeSystem",
        # Symbols of the linker script that begin and end an array are two objects to it.
        "--suppress=comparePointers",
        "-I.", "-Iabi", "-Ivmm", "-Ivmm/lib", "-Ivmm/arch/ia32",
        "-Iguest/rtos", "-Iguest/rtos/include", "-Iguest/demo",
        "-Iguest/itron/include", "-Iguest/itron/kernel", "-Iguest/itron/port/ia32",
    ]  # fmt: skip
    ruff, config = [sys.executable, "-m", "ruff"], ["--config", "tools/pyproject.toml"]
    mypy = [sys.executable, "-m", "mypy", "--config-file", "tools/pyproject.toml"]
    return [
        *_build_steps(),
        ("these builds together have all of the VMM", _complete),
        ("each masked section has a name and a bound", _masked),
        ("each folder of the VMM uses only what it may", _walls),
        ("so does each folder of a debug build", _debug_walls),
        ("no function locks memory but those that may", _locks),
        ("the walks of the tour are as they are drawn", _walks),
        ("so are the lock-holder preemptions", _lock_holders),
        ("the unit tests are in the folders of what they test", _mirror),
        ("a function of the VMM has one stand-in", _stand_ins),
        ("cppcheck", [*cppcheck, *_files(_C_FOLDERS)]),
        ("ruff check", [*ruff, "check", *config, *python]),
        ("ruff format", [*ruff, "format", "--check", *config, *python]),
        ("mypy", [*mypy, *python]),
        ("licence lines", _licences),
        ("lines, functions and files are short", _limits),
        ("budgets", [sys.executable, "-m", "gandalf.cli", "size"]),
        *((f"gandalf check {name}", _description(name)) for name in _systems()),
    ]  # fmt: skip
