# SPDX-License-Identifier: Apache-2.0
"""What is longer than it may be is reported, by name, unless the list of exceptions has it."""

from pathlib import Path

import pytest

from gandalf.base.limits import check_limits, read_exceptions, too_long


def c_function(lines: int) -> str:
    body = "\tx();\n" * (lines - 3)
    return f"static int long_one(int first,\n{{\n{body}}}\n"


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("vmm/a.c", "x\n" * 401, "file"),
        ("tests/a.c", "x\n" * 801, "file"),
        ("vmm/a.c", "\t" * 12 + "12345", "lines"),
        ("tools/a.py", "# " + "x" * 99, "lines"),
        ("vmm/a.c", c_function(41), "long_one"),
        ("tools/a.py", "def long_one() -> None:\n" + "    x()\n" * 40, "long_one"),
    ],
)
def test_what_is_too_long_is_found(path: str, text: str, what: str) -> None:
    assert list(too_long(path, text)) == [what]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vmm/a.c", "x\n" * 400),
        ("tests/a.c", "x\n" * 800),
        ("vmm/a.c", "\t" * 12 + "1234"),
        ("vmm/a.c", c_function(40)),
        ("vmm/a.c", c_function(25) + "\n" + c_function(25)),
        ("tools/a.py", "def short() -> None:\n" + "    x()\n" * 39),
    ],
)
def test_what_is_as_long_as_it_may_be_is_not(path: str, text: str) -> None:
    assert too_long(path, text) == {}


def test_an_exception_holds_up_to_its_length_and_has_to_be_used(tmp_path: Path) -> None:
    source = tmp_path / "vmm" / "a.c"
    source.parent.mkdir()
    source.write_text("x\n" * 450)
    listed = tmp_path / "limits.txt"
    listed.write_text("# why\n\nvmm/a.c file 450\n")
    assert check_limits(tmp_path, [source], read_exceptions(listed)) == []
    listed.write_text("vmm/a.c file 449\nvmm/a.c lines 1\n")
    assert check_limits(tmp_path, [source], read_exceptions(listed)) == [
        "vmm/a.c: 450 lines, at most 400",
        "vmm/a.c lines: needs no exception any more",
    ]
