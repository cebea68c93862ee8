# SPDX-License-Identifier: Apache-2.0
"""Puts mutants of one source into the unit tests that link it, and runs these.

Everything but the source is compiled once. A test program that does not end is stopped
when it has used much more CPU time than without the mutant, however busy the host is.
"""

import hashlib
import os
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import BUILD, ROOT, UserError

WORK = BUILD / "mutate"
VMM = ROOT / "vmm"
_UNIT = ROOT / "tests" / "unit"
_MEMORY_LIMIT = 8 << 30
# Times the CPU time of a test program without a mutant.
_SLOWER = 4
# Nothing but a guard: a program that sleeps for ever uses no CPU time.
_HANG_SECONDS = 1200
_HANG_CPU_SECONDS = 300


@dataclass(frozen=True)
class Program:
    """A test program of tests/unit."""

    name: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    # The folder of tests/unit that its file is in.
    folder: str = "."

    @property
    def kind(self) -> str:
        """Return a short name of its flags: objects of the same kind can be shared."""
        return hashlib.sha256(" ".join(self.flags).encode()).hexdigest()[:8]


def read_programs() -> list[Program]:
    """Return all test programs, as their Makefile describes them."""
    command = ["make", "--no-print-directory", "-s", "-C", str(_UNIT), "describe"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    programs = []
    for line in lines:
        file, sources, flags = line.split("|", 2)
        name = Path(file).stem.removeprefix("test_")
        # Debugging information tells of lines and columns: no two mutants have the same.
        kept = tuple(flag for flag in flags.split() if flag != "-g")
        folder = str(Path(file).parent)
        programs.append(Program(name, tuple(sources.split()), kept, folder))
    return programs


def flat(source: str) -> str:
    """Return a source's name for a file or folder: sources of several folders have one stem."""
    return source.removesuffix(".c").replace("/", "-")


def _compile(flags: tuple[str, ...], source: Path, target: Path) -> bool:
    """Compile a source, of which the object mentions no more than its last name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", *flags, "-c", source.name, "-o", str(target)]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, check=False)
    return done.returncode == 0


def _compile_or_fail(flags: tuple[str, ...], source: Path, target: Path) -> None:
    if not _compile(flags, source, target):
        raise UserError(f"{source} does not compile; run `make unit` first.")


def _run(program: Path, seconds: int) -> bool:
    """Return whether all tests of a program pass."""
    limits = [f"--cpu={seconds}", f"--as={_MEMORY_LIMIT}", "--core=0"]
    try:
        done = subprocess.run(
            ["prlimit", *limits, str(program)], cwd=program.parent, timeout=_HANG_SECONDS,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class Bench:
    """A source, the test programs that link it, and all else that these are made of."""

    def __init__(self, file: str, programs: list[Program]) -> None:
        self.file = file
        self.source = (VMM / file).read_bytes()
        self._folder = WORK / flat(file)
        own = Path(file).stem
        linking = [program for program in programs if file in program.sources]
        # What is most likely to notice comes first.
        self._programs = sorted(linking, key=lambda one: (not one.name.startswith(own), one.name))
        if not linking:
            raise UserError(f"no test links {file}; sources are named as in tests/unit/Makefile.")
        self._kinds = {program.kind: program.flags for program in self._programs}
        shutil.rmtree(self._folder, ignore_errors=True)
        self.original = self.compile("original", self.source)
        if self.original is None:
            raise UserError(f"{file} does not compile; run `make unit` first.")
        self._seconds = {program.name: self._prepare(program) for program in self._programs}

    def _object(self, name: str, kind: str) -> Path:
        return self._folder / name / f"{kind}.o"

    def _other_objects(self, program: Program) -> list[Path]:
        others = [source for source in program.sources if source != self.file]
        names = [f"test_{program.name}", *(flat(source) for source in others)]
        return [self._folder / program.kind / f"{name}.o" for name in names]

    def _prepare(self, program: Program) -> int:
        """Compile what no mutant changes; return the seconds of CPU time that a run may take."""
        others = [source for source in program.sources if source != self.file]
        own = _UNIT / program.folder / f"test_{program.name}.c"
        sources = [own, *(VMM / source for source in others)]
        for source, target in zip(sources, self._other_objects(program), strict=True):
            if not target.exists():
                _compile_or_fail(program.flags, source, target)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self._passes(program, "original", _HANG_CPU_SECONDS):
            raise UserError(f"the test {program.name} fails; run `make unit` first.")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return 2 + int(_SLOWER * used)

    def _passes(self, program: Program, name: str, seconds: int) -> bool:
        """Link a test program with a version of the source and run it."""
        target = self._folder / name / program.name
        objects = [*self._other_objects(program), self._object(name, program.kind)]
        link = [flag for flag in program.flags if flag == "-no-pie"]
        command = ["gcc", *link, *map(str, objects), "-o", str(target), "-lcmocka"]
        subprocess.run(command, check=True)
        good = _run(target, seconds)
        target.unlink()
        return good

    def compile(self, name: str, text: bytes) -> str | None:
        """Compile a version of the source; return what names its code, None if it has warnings."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / Path(self.file).name).write_bytes(text)
        digest = hashlib.sha256()
        for kind, flags in self._kinds.items():
            target = self._object(name, kind)
            if not _compile(flags, folder / Path(self.file).name, target):
                return None
            digest.update(target.read_bytes())
        return digest.hexdigest()

    def is_original(self, name: str) -> bool:
        """Return whether a version is the original to a compiler that tries harder."""
        for kind, flags in self._kinds.items():
            objects = []
            for version in ("original", name):
                target = self._object(version, f"{kind}-{os.getpid()}-{name}")
                harder = tuple("-O2" if flag == "-O1" else flag for flag in flags)
                source = self._folder / version / Path(self.file).name
                # Warnings may differ with the level; which there are has been asked before.
                if not _compile((*harder, "-w"), source, target):
                    return False
                objects.append(target.read_bytes())
                target.unlink()
            if objects[0] != objects[1]:
                return False
        return True

    def notices(self, name: str) -> bool:
        """Return whether a test program fails with a version of the source."""
        return not all(
            self._passes(program, name, self._seconds[program.name]) for program in self._programs
        )

    def forget(self, name: str) -> None:
        """Remove what was made of a version."""
        shutil.rmtree(self._folder / name)
