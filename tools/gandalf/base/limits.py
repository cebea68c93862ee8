# SPDX-License-Identifier: Apache-2.0
"""How long lines and files of C, assembler and Python may be, and functions of C, Python and shell.

And that no function of C has a condition of the preprocessor: alternatives are files. Of Makefiles,
linker scripts, models, tables and shell scripts the lines are looked at.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

LINE, FUNCTION, FILE, TEST_FILE = 100, 40, 400, 800
TAB = 8
SUFFIXES = (".c", ".h", ".S", ".py")
# Files of which only lines have a limit.
LINES_ALONE = ("Makefile", ".mk", ".lds", ".ld", ".pml", ".sh", ".toml")
FOLDERS = (".ci", "abi", "vmm", "guest", "measure", "bench", "systems", "tools", "tests")
# Its bytes are in Linux's RAM disk, with which figures were measured: a line is not worth that.
MEASURED = "guest/linux/rootfs/etc/init.d/rcS"


def functions_of_c(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, length and name of each function: its braces stand in the first column."""
    start, name = 0, ""
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
            # The declaration stands before, behind the last line that ends something.
            while start > 1 and not re.match(r"$|[}#]|.*(\*/|;|\\)$", lines[start - 2]):
                start -= 1
            found = re.search(r"(\w+)\(", " ".join(lines[start - 1 : number]))
            name = found[1] if found else "?"
        elif line.startswith("}") and start:
            yield start, number - start + 1, name
            start = 0


def functions_of_python(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield first line, length and name of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1, node.name


def functions_of_shell(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield first line, length and name of each function: its last brace stands in a line alone."""
    for found in re.finditer(r"^(\w+)\(\) *\{.*?^\}", text, re.M | re.S):
        yield text.count("\n", 0, found.start()) + 1, found[0].count("\n") + 1, found[1]


def functions_of(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield first line, length and name of each function of Python, C or a shell."""
    if path.endswith(".py"):
        return functions_of_python(text)
    if path.endswith((".c", ".h")):
        return functions_of_c(text.splitlines())
    if path.endswith(".sh") or text.startswith("#!"):
        return functions_of_shell(text)
    return iter(())


def conditions_in(path: str, text: str) -> list[str]:
    """Return a sentence for each condition of the preprocessor in a function of C."""
    if not path.endswith((".c", ".h")):
        return []
    lines = text.splitlines()
    return [
        f"{path}:{number}: a condition of the preprocessor in {name}()"
        for start, length, name in functions_of_c(lines)
        for number in range(start, start + length)
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else)\b", lines[number - 1])
    ]


def is_shell(path: Path) -> bool:
    """Return whether a file without a suffix is a script for a shell, as its first line says."""
    if path.suffix or not path.is_file():
        return False
    with path.open("rb") as file:
        return re.match(rb"#!\S*/(env )?(ba)?sh\b", file.readline(80)) is not None


def too_long(path: str, text: str) -> list[str]:
    """Return a sentence for all of a file that is over a limit."""
    lines = text.splitlines()
    found = []
    most = TEST_FILE if path.startswith("tests/") else FILE
    if len(lines) > most and path.endswith(SUFFIXES):
        found.append(f"{path}: {len(lines)} lines, at most {most}")
    wide = [number for number, line in enumerate(lines, 1) if len(line.expandtabs(TAB)) > LINE]
    if wide:
        found.append(f"{path}:{wide[0]}: over {LINE} columns: {', '.join(map(str, wide))}")
    found += [
        f"{path}:{number}: {name}() has {length} lines, at most {FUNCTION}"
        for number, length, name in functions_of(path, text)
        if length > FUNCTION
    ]
    return found


def check_limits(root: Path, files: Iterable[Path]) -> list[str]:
    """Return a sentence for all that is over a limit in some files, or has a condition."""
    texts = [(str(file.relative_to(root)), file.read_text()) for file in files]
    return [
        sentence
        for path, text in texts
        for sentence in (*too_long(path, text), *conditions_in(path, text))
    ]


def sources(root: Path) -> list[Path]:
    """Return the files in the tree that people write and that have limits."""
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*")]
    return sorted(
        path
        for path in (*paths, root / "Makefile")
        if path.is_file()
        and (path.name.endswith((*SUFFIXES, *LINES_ALONE)) or is_shell(path))
        and path != root / MEASURED
    )
