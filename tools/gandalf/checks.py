# SPDX-License-Identifier: Apache-2.0
"""What `make check` looks at: builds of the VMM, its walls and masked sections, style, budgets."""

import sys
from collections.abc import Callable

from gandalf.base.limits import check_limits, sources
from gandalf.base.paths import BUILD, ROOT, shown
from gandalf.build.size import source_files
from gandalf.masked.check import check_images
from gandalf.mutate.workbench import read_programs
from gandalf.walls.locks import check_locks
from gandalf.walls.unit_tests import check_mirror, check_stand_ins
from gandalf.walls.walks import check_walks
from gandalf.walls.walls import check_walls


def _files(folders: list[str]) -> list[str]:
    present = [ROOT / folder for folder in folders if (ROOT / folder).is_dir()]
    return [str(path.relative_to(ROOT)) for path in source_files(present) if path.suffix == ".c"]


# Profiles that have all files of the VMM together, by the folders that `make check` has them in:
# those that are looked at in every way, and those that have stand-ins for what others have.
_PROFILES = {"first": "cores", "several": "smp-screen", "two-level": "two-level-smp"}
_LEAN = {"lean": "rtos", "lean-two-level": "two-level", "lean-dedicated": "dedicated"}
_BUILDS = _PROFILES | _LEAN


def _vmm_build(folder: str, *arguments: str, profile: str = "cores") -> list[str]:
    """Build an image of a profile."""
    output = BUILD / "check" / folder
    words = ["make", "--no-print-directory", "-C", "vmm", "-j2"]
    return [*words, f"PROFILE={profile}", f"BUILD={output}", *arguments]


def _identical() -> str:
    """Compare two builds of the VMM that were made in different folders."""
    images = [BUILD / "check" / folder / "gandalf.elf" for folder in ("first", "second")]
    if not all(image.exists() for image in images):
        return "the VMM was not built"
    first, second = (image.read_bytes() for image in images)
    return "" if first == second else "the two builds differ: something depends on the folder"


def _masked() -> str:
    """Compare what masks interrupts in the VMM with the table of masked sections."""
    images = [BUILD / "check" / folder / "gandalf.elf" for folder in _BUILDS]
    if not all(image.exists() for image in images):
        return "the VMM was not built"
    return "\n".join(check_images(images))


def _walls() -> str:
    """Compare what the VMM's files use of each other with the table of walls."""
    folders = [BUILD / "check" / folder for folder in _BUILDS]
    return "\n".join(check_walls(ROOT / "vmm", *folders))


def _complete() -> str:
    """Look for sources that none of these builds has, so that nothing above is seen of them."""
    vmm, builds = ROOT / "vmm", (*_BUILDS, *(f"debug-{name}" for name in _PROFILES.values()))
    sources = [path for pattern in ("*.c", "*.S") for path in sorted(vmm.rglob(pattern))]
    return "\n".join(
        f"{shown(source)}: no profile that is checked has it"
        for source in sources
        if not any(
            (BUILD / "check" / folder / source.relative_to(vmm)).with_suffix(".o").exists()
            for folder in builds
        )
    )


def _locks() -> str:
    """Look for instructions for which another core would wait."""
    folders = [BUILD / "check" / folder for folder in _BUILDS]
    return "\n".join(check_locks(ROOT / "vmm", *folders))


def _debug_walls() -> str:
    """Do the same for the debug builds, of which some variables and calls are all there are."""
    folders = [BUILD / "check" / folder for folder in _BUILDS]
    debug = [BUILD / "check" / f"debug-{name}" for name in _PROFILES.values()]
    return "\n".join(check_walls(ROOT / "vmm", *folders, debug=debug))


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


_C_FOLDERS = [
    "vmm", "guest/rtos", "guest/demo", "guest/freertos", "guest/itron", "guest/switch",
    "guest/selftest", "guest/tests", "measure", "bench", "guest/linux/control", "tests/itron",
    "guest/application/bare",
]  # fmt: skip


def _build_steps() -> list[tuple[str, list[str] | Callable[[], str]]]:
    """Return the steps of `make check` that build the VMM."""
    looks = f"-fanalyzer -Wno-attributes -include {ROOT / 'tools/checked_bool.h'}"
    return [
        *((f"the VMM of {name} builds without a warning", _vmm_build(folder, profile=name))
          for folder, name in _BUILDS.items()),
        ("it builds a second time, elsewhere", _vmm_build("second")),
        ("the two builds are the same to the byte", _identical),
        *((f"the debug build of {name} builds without a warning",
           _vmm_build(f"debug-{name}", "DEBUG=1", profile=name)) for name in _PROFILES.values()),
        *((f"gcc -fanalyzer, and every bool that a function of {name} returns is looked at",
           _vmm_build(f"analyzer-{name}", f"EXTRA_CFLAGS={looks}", profile=name))
          for name in _PROFILES.values()),
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
        ("the unit tests are in the folders of what they test", _mirror),
        ("a function of the VMM has one stand-in", _stand_ins),
        ("cppcheck", [*cppcheck, *_files(_C_FOLDERS)]),
        ("ruff check", [*ruff, "check", *config, *python]),
        ("ruff format", [*ruff, "format", "--check", *config, *python]),
        ("mypy", [*mypy, *python]),
        ("licence lines", _licences),
        ("lines, functions and files are short", _limits),
        ("budgets", [sys.executable, "-m", "gandalf.cli", "size"]),
        *((f"gandalf check {name}", [sys.executable, "-m", "gandalf.cli", "check", name])
          for name in _systems()),
    ]  # fmt: skip
