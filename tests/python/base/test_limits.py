# SPDX-License-Identifier: Apache-2.0
"""What is longer than it may be is reported, with its place."""

from pathlib import Path

import pytest

from gandalf.base.limits import check_limits, conditions_in, sources, too_long


def c_function(lines: int) -> str:
    body = "\tx();\n" * (lines - 3)
    return f"static int long_one(int first,\n{{\n{body}}}\n"


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("vmm/a.c", "x\n" * 401, "vmm/a.c: 401 lines, at most 400"),
        ("tests/a.c", "x\n" * 801, "tests/a.c: 801 lines, at most 800"),
        ("vmm/a.c", "\t" * 12 + "12345", "vmm/a.c:1: over 100 columns: 1"),
        ("vmm/a.S", "x\n" * 401, "vmm/a.S: 401 lines, at most 400"),
        ("vmm/a.S", "\n" + "\t" * 12 + "12345", "vmm/a.S:2: over 100 columns: 2"),
        ("tools/a.py", "# " + "x" * 99, "tools/a.py:1: over 100 columns: 1"),
        ("Makefile", "# " + "x" * 99, "Makefile:1: over 100 columns: 1"),
        ("vmm/a.lds", "x\n\n" + "x" * 101, "vmm/a.lds:3: over 100 columns: 3"),
        ("vmm/a.c", c_function(41), "vmm/a.c:1: long_one() has 41 lines, at most 40"),
        (
            "tools/a.py",
            "def long_one() -> None:\n" + "    x()\n" * 40,
            "tools/a.py:1: long_one() has 41 lines, at most 40",
        ),
        (
            "tools/a",
            "#!/bin/sh\nlong_one() {\n" + "\tx\n" * 39 + "}\n",
            "tools/a:2: long_one() has 41 lines, at most 40",
        ),
    ],
)
def test_what_is_too_long_is_found(path: str, text: str, what: str) -> None:
    assert too_long(path, text) == [what]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vmm/a.c", "x\n" * 400),
        ("tests/a.c", "x\n" * 800),
        ("vmm/a.c", "\t" * 12 + "1234"),
        ("vmm/a.S", "\t" * 12 + "1234"),
        ("vmm/a.c", c_function(40)),
        ("vmm/a.c", c_function(25) + "\n" + c_function(25)),
        ("tools/a.py", "def short() -> None:\n" + "    x()\n" * 39),
        ("tests/a.pml", c_function(41) + "x\n" * 800),
        ("tests/run", "x\n" * 801),
        ("tests/a.sh", "short() {\n" + "\tx\n" * 38 + "}\nother() {\n" + "\tx\n" * 38 + "}\n"),
    ],
)
def test_what_is_as_long_as_it_may_be_is_not(path: str, text: str) -> None:
    assert too_long(path, text) == []


def test_a_condition_in_a_function_is_found() -> None:
    text = "#ifdef A\nint a(void)\n{\n# if B\n\tb();\n\t#else\n\tc();\n#endif\n}\n#endif\n"
    assert conditions_in("vmm/a.c", text) == [
        "vmm/a.c:4: a condition of the preprocessor in a()",
        "vmm/a.c:6: a condition of the preprocessor in a()",
    ]
    assert conditions_in("docs/a.md", text) == []


def test_all_of_a_tree_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "vmm"
    folder.mkdir()
    for name in ("a.c", "b.h", "c.S", "d.txt"):
        (folder / name).write_text("x\n" * 450)
    (folder / "e.py").write_text("x = 1\n" * 450)
    makefiles = ("Makefile", "vmm/Makefile", "vmm/f.mk", "vmm/g.ld", "vmm/h.lds", "vmm/i.pml")
    for name in makefiles:
        (tmp_path / name).write_text("#" * 101 + "\n" * 450)
    for name, first in (("vmm/s", "#!/bin/sh"), ("vmm/t", "#!/usr/bin/env bash"), ("vmm/u", "x")):
        (tmp_path / name).write_text(f"{first}\n" + "#" * 101)
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_text("#!/bin/bash\n" + "#" * 101)
    assert check_limits(tmp_path, sources(tmp_path)) == [
        ".ci/run:2: over 100 columns: 2",
        "Makefile:1: over 100 columns: 1",
        "vmm/Makefile:1: over 100 columns: 1",
        *(f"vmm/{name}: 450 lines, at most 400" for name in ("a.c", "b.h", "c.S", "e.py")),
        *(f"{name}:1: over 100 columns: 1" for name in makefiles[2:]),
        "vmm/s:2: over 100 columns: 2",
        "vmm/t:2: over 100 columns: 2",
    ]
