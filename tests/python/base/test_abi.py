# SPDX-License-Identifier: Apache-2.0
"""Python and the C compiler read the same numbers and layouts from abi/*.h."""

import ctypes
import subprocess
from pathlib import Path

import pytest

from gandalf.base.abi import HEADERS, abi, read_headers
from gandalf.base.paths import ROOT, UserError


def _assertions() -> list[str]:
    lines = [f"_Static_assert(({name}) == ({value}), \"{name}\");"
             for name, value in abi().constants.items()]  # fmt: skip
    for name, structure in abi().structures.items():
        size = ctypes.sizeof(structure)
        lines.append(f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");')
        for field, _ in structure._fields_:
            place, length = getattr(structure, field).offset, getattr(structure, field).size
            lines.append(
                f"_Static_assert(__builtin_offsetof(struct {name}, {field}) == {place} && "
                f'sizeof(((struct {name} *)0)->{field}) == {length}, "{name}.{field}");'
            )
    return lines


def _compile(tmp_path: Path, lines: list[str]) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "agree.c"
    includes = [f'#include "{name}"' for name in HEADERS]
    source.write_text("\n".join([*includes, *lines]) + "\n")
    command = ["gcc", "-m32", "-ffreestanding", "-fsyntax-only", f"-I{ROOT / 'abi'}", str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_compiler_agrees_with_every_number_and_layout(tmp_path: Path) -> None:
    lines = _assertions()
    assert len(lines) > 90
    done = _compile(tmp_path, lines)
    assert done.returncode == 0, done.stderr


def test_the_comparison_notices_a_difference(tmp_path: Path) -> None:
    done = _compile(tmp_path, [*_assertions(), '_Static_assert(GANDALF_ABI_VERSION == 99, "x");'])
    assert done.returncode != 0


def test_every_define_with_a_value_is_known() -> None:
    text = "".join((ROOT / "abi" / name).read_text() for name in HEADERS)
    defined = {line.split()[1] for line in text.splitlines()
               if line.startswith("#define") and len(line.split()) > 2
               and "(" not in line.split()[1]}  # fmt: skip
    assert defined == set(abi().constants)


def test_64_bit_fields_are_aligned_as_on_i386(tmp_path: Path) -> None:
    (tmp_path / "gandalf.h").write_text(
        "#include <stdint.h>\nstruct gandalf_probe { uint32_t a; uint64_t b; uint8_t c[3]; };\n"
    )
    (tmp_path / "apic.h").write_text("")
    (tmp_path / "table.h").write_text("")
    (tmp_path / "control.h").write_text("")
    (tmp_path / "channel.h").write_text("")
    (tmp_path / "network.h").write_text("")
    probe = read_headers(tmp_path).structures["gandalf_probe"]
    assert probe.b.offset == 4
    assert ctypes.sizeof(probe) == 16


def test_a_broken_header_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "gandalf.h").write_text('#error "broken"\n')
    (tmp_path / "apic.h").write_text("")
    (tmp_path / "table.h").write_text("")
    (tmp_path / "control.h").write_text("")
    (tmp_path / "channel.h").write_text("")
    (tmp_path / "network.h").write_text("")
    with pytest.raises(UserError, match="do not compile"):
        read_headers(tmp_path)
