# SPDX-License-Identifier: Apache-2.0
"""The packages of the host tool use each other in one direction, as the table here says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from gandalf.base.paths import ROOT

TOOL = ROOT / "tools" / "gandalf"
TESTS = Path(__file__).parent

# What each package may import from, besides itself. A package stands behind all that it may use,
# so that no circle can stand in the table. Files beside the packages may use everything.
MAY_USE = {
    "base": (),
    "console": (),
    "guests": ("base",),
    "description": ("base", "console", "guests"),
    "build": ("base", "description", "guests"),
    "explain": ("base", "build", "console", "description"),
    "run": ("base", "build", "console", "description", "explain"),
    "sdk": ("base", "build", "guests", "run"),
    "debug": ("base", "build", "description", "run"),
    "measure": ("base", "build", "description", "run"),
    "masked": ("base", "build", "measure", "run"),
    "stress": ("base", "build", "description", "measure", "run"),
    "bench": ("base", "build", "console", "description", "guests", "measure", "run"),
    "itron": ("base", "build"),
    "mutate": ("base",),
    "walls": ("base", "bench", "measure"),
}

# Tests stand in the folder of the package that they are of. These packages need built guests and
# an emulator for most of what they do, and are tested where those are.
TESTED_ELSEWHERE = {"bench": "tests/bench", "debug": "tests/newcomer/test_gdb.py"}


def modules_imported(source: Path) -> Iterator[tuple[int, str]]:
    """Yield line and module of each import from the tool, wherever in the file it stands."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "gandalf":
            yield from ((node.lineno, f"gandalf.{name.name}") for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}:{node.lineno}: an import names its package in full"
            yield node.lineno, str(node.module)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)


def forbidden(tool: Path) -> list[str]:
    """Return each import in a package of what the table does not let it use."""
    wrong = []
    for source in sorted(tool.glob("*/*.py")):
        package = source.parent.name
        for line, module in modules_imported(source):
            used = module.split(".")
            if used[0] != "gandalf" or used[1:2] in ([], ["__version__"], [package]):
                continue
            if used[1] not in MAY_USE.get(package, ()):
                place = source.relative_to(tool)
                wrong.append(f"{place}:{line}: {package} may not use {used[1]}")
    return wrong


def test_packages_use_only_what_the_table_allows() -> None:
    assert forbidden(TOOL) == []


def test_the_table_has_each_package_and_no_circle() -> None:
    packages = {source.parent.name for source in TOOL.glob("*/*.py")}
    assert set(MAY_USE) == packages
    before: set[str] = set()
    for package, used in MAY_USE.items():
        assert set(used) <= before, f"{package} uses what stands behind it"
        before.add(package)


def test_the_tour_has_each_package_and_each_file_beside_them() -> None:
    tour = (ROOT / "docs" / "tour.md").read_text()
    table = tour[tour.index("| part | what it does |") :].partition("\n\n")[0]
    found = [cell for line in table.splitlines() for cell in re.findall(r"`(\S+)`", line[:60])]
    files = {path.name for path in TOOL.glob("*.py")} - {"__init__.py"}
    missing = (set(MAY_USE) | files) - {cell.strip("/") for cell in found}
    assert missing == set()


def test_the_verbs_are_only_declared_in_cli() -> None:
    """Each function of cli.py is the program itself, or an option of it."""
    tree = ast.parse((TOOL / "cli.py").read_text())
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert names == ["_version", "_root", "main"]


def test_the_table_allows_nothing_that_is_not_used() -> None:
    for package, allowed in MAY_USE.items():
        modules = [
            module.split(".")
            for source in (TOOL / package).glob("*.py")
            for _, module in modules_imported(source)
        ]
        used = {words[1] for words in modules if words[0] == "gandalf" and len(words) > 1}
        assert set(allowed) <= used, f"{package} uses only {sorted(used)}"


def test_files_of_a_package_form_no_circle() -> None:
    for package in MAY_USE:
        uses = {
            f"gandalf.{package}.{source.stem}": siblings(source, package)
            for source in (TOOL / package).glob("*.py")
        }
        while free := [name for name, used in uses.items() if not used & set(uses)]:
            for name in free:
                del uses[name]
        assert uses == {}, f"a circle among {sorted(uses)}"


def siblings(source: Path, package: str) -> set[str]:
    """Return the modules of its own package that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == f"gandalf.{package}":
            found |= {f"gandalf.{package}.{name.name}" for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def strangers(tests: Path) -> list[str]:
    """Return each file of tests that does not use the package after which its folder is named."""
    return [
        str(source.relative_to(tests))
        for source in sorted(tests.glob("*/**/test_*.py"))
        if source.relative_to(tests).parts[0]
        not in {
            module.split(".")[1]
            for _, module in modules_imported(source)
            if module.startswith("gandalf.")
        }
    ]


def test_the_tests_mirror_the_packages() -> None:
    folders = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert folders | set(TESTED_ELSEWHERE) == set(MAY_USE)
    assert not folders & set(TESTED_ELSEWHERE)
    assert all((ROOT / path).exists() for path in TESTED_ELSEWHERE.values())
    assert strangers(TESTS) == []


def test_a_test_in_the_wrong_folder_is_reported(tmp_path: Path) -> None:
    for name, line in (
        ("run/test_fine.py", "from gandalf.base.paths import ROOT\nfrom gandalf.run import verbs"),
        ("run/test_wrong.py", "from gandalf.base.paths import ROOT"),
        ("misc/test_none.py", "from gandalf.run import verbs\nimport re"),
        ("test_beside.py", "from gandalf import suite"),
    ):
        source = tmp_path / name
        source.parent.mkdir(exist_ok=True)
        source.write_text(line + "\n")
    assert strangers(tmp_path) == ["misc/test_none.py", "run/test_wrong.py"]


def test_a_planted_violation_is_reported(tmp_path: Path) -> None:
    for name, line in (
        ("base/one.py", "from gandalf.run import machine"),
        ("build/two.py", "def late() -> None:\n    from gandalf import bench"),
        ("run/three.py", "import gandalf.measure.ring"),
        (
            "run/fine.py",
            "from gandalf import __version__\nfrom gandalf.run.busy import x\nimport re",
        ),
        ("added/four.py", "from gandalf.base.paths import ROOT"),
    ):
        source = tmp_path / name
        source.parent.mkdir(exist_ok=True)
        source.write_text(line + "\n")
    assert forbidden(tmp_path) == [
        "added/four.py:1: added may not use base",
        "base/one.py:1: base may not use run",
        "build/two.py:2: build may not use bench",
        "run/three.py:1: run may not use measure",
    ]
