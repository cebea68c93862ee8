# SPDX-License-Identifier: Apache-2.0
"""How long lines, functions and files of C and Python may be, and which are longer still."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

LINE, FUNCTION, FILE, TEST_FILE = 100, 40, 400, 800
TAB = 8
FOLDERS = ("abi", "vmm", "guest", "measure", "bench", "tools", "tests")

# What is over a limit and has to become shorter: a line for each has the path, what of it ("file",
# "lines", or a function), and how many lines that may still be.
EXCEPTIONS = Path(__file__).parents[2] / "limits.txt"
Exceptions = dict[tuple[str, str], int]


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


def too_long(path: str, text: str) -> dict[str, tuple[int, str]]:
    """Return what of a file is over a limit: how many lines it has, and a sentence that says so."""
    lines = text.splitlines()
    found = {}
    most = TEST_FILE if path.startswith("tests/") else FILE
    if len(lines) > most:
        found["file"] = (len(lines), f"{path}: {len(lines)} lines, at most {most}")
    wide = [number for number, line in enumerate(lines, 1) if len(line.expandtabs(TAB)) > LINE]
    if wide:
        places = ", ".join(map(str, wide))
        found["lines"] = (len(wide), f"{path}:{wide[0]}: over {LINE} columns: {places}")
    functions = functions_of_python(text) if path.endswith(".py") else functions_of_c(lines)
    for number, length, name in functions:
        if length > FUNCTION:
            sentence = f"{path}:{number}: {name}() has {length} lines, at most {FUNCTION}"
            found[name] = (length, sentence)
    return found


def read_exceptions(path: Path = EXCEPTIONS) -> Exceptions:
    """Return the exceptions of a file; an empty line, or one with a #, says nothing."""
    rows = (line.split() for line in path.read_text().splitlines() if not line.startswith("#"))
    return {(row[0], row[1]): int(row[2]) for row in rows if row}


def check_limits(root: Path, files: Iterable[Path], exceptions: Exceptions) -> list[str]:
    """Return a sentence for all that is over a limit, and for each exception without a use."""
    wrong, idle = [], dict(exceptions)
    for file in files:
        path = str(file.relative_to(root))
        for what, (length, sentence) in too_long(path, file.read_text()).items():
            idle.pop((path, what), None)
            if length > exceptions.get((path, what), 0):
                wrong.append(sentence)
    wrong += [f"{path} {what}: needs no exception any more" for path, what in sorted(idle)]
    return wrong


def sources(root: Path) -> list[Path]:
    """Return the files of C and Python in the tree that people write."""
    return sorted(
        path
        for folder in FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in (".c", ".h", ".py") and path.is_file()
    )
