# SPDX-License-Identifier: Apache-2.0
"""`make check` compiles the VMM with a bool that whoever calls for it must look at."""

import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT

HEADER = ROOT / "tools" / "checked_bool.h"


def compiles(folder: Path, body: str) -> bool:
    source = folder / "source.c"
    source.write_text(
        '#include "lib/types.h"\nbool can_fail(void);\nint calls(void);\n'
        f"int calls(void)\n{{\n{body}\n}}\n"
    )
    command = [
        "gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Wno-attributes", "-include",
        str(HEADER), f"-I{ROOT / 'vmm'}", "-S", "-o", "/dev/null",
        str(source),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        ("return can_fail();", True),
        ("bool could = can_fail();\nreturn could ? 1 : 0;", True),
        ("can_fail();\nreturn 0;", False),
        ("(void)can_fail();\nreturn 0;", False),
    ],
)
def test_a_result_that_nobody_looks_at_does_not_compile(
    tmp_path: Path, body: str, accepted: bool
) -> None:
    assert compiles(tmp_path, body) == accepted
