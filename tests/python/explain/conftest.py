# SPDX-License-Identifier: Apache-2.0
"""A program whose stack tests unwind."""

import subprocess
from pathlib import Path

import pytest

SOURCE = """\
int inner(int a) { volatile int room[4] = { a }; return room[0] / (a - a); }
int outer(int a) { volatile int more = a; return inner(more) + 1; }
void _start(void) { outer(3); __builtin_trap(); }
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program without frame pointers."""
    path = tmp_path_factory.mktemp("explain") / "program"
    source = path.with_suffix(".c")
    source.write_text(SOURCE)
    options = "-m32 -g -O1 -fno-inline -fno-pie -fomit-frame-pointer -ffreestanding -nostdlib"
    link = "-static -no-pie -fno-asynchronous-unwind-tables -fno-stack-protector -w"
    subprocess.run(["gcc", *options.split(), *link.split(), "-o", path, source], check=True)
    return path


@pytest.fixture(scope="module")
def starts(image: Path) -> dict[str, int]:
    """Return where the program's functions begin."""
    done = subprocess.run(["nm", image], capture_output=True, text=True, check=True)
    return {name: int(address, 16) for address, _, name in map(str.split, done.stdout.splitlines())}
