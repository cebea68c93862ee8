# SPDX-License-Identifier: Apache-2.0
"""Every key and value of a TOML file has its line."""

from pathlib import Path

import pytest

from gandalf.base.toml_lines import TomlError, read_toml

TEXT = """\
# a comment
[machine]
memory = "1M"

[console]
uart = { port = 1, interrupt = 2 }
[[guest]]
name = "a"   # another
ports = [
  "1",
  # between
  "2",
]
"quoted key" = 1
dotted.key = 2
[[guest]]
name = "b"
[guest.inner]
x = 1
"""


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(TEXT)
    document = read_toml(path)
    expected = {
        ("machine",): 2,
        ("machine", "memory"): 3,
        ("console", "uart", "interrupt"): 6,
        ("guest",): 7,
        ("guest", 0): 7,
        ("guest", 0, "name"): 8,
        ("guest", 0, "ports", 0): 10,
        ("guest", 0, "ports", 1): 12,
        ("guest", 0, "quoted key"): 14,
        ("guest", 0, "dotted", "key"): 15,
        ("guest", 1): 16,
        ("guest", 1, "name"): 17,
        ("guest", 1, "inner", "x"): 19,
    }
    assert {location: document.line(location) for location in expected} == expected


def test_every_location_of_the_data_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(TEXT)
    document = read_toml(path)

    def walk(value: object, where: tuple[str | int, ...]) -> None:
        if where:
            assert where in document.lines
        items = value.items() if isinstance(value, dict) else ()
        if isinstance(value, list):
            items = enumerate(value)  # type: ignore[assignment]
        for key, inner in items:
            walk(inner, (*where, key))

    walk(document.data, ())


def test_what_is_missing_has_the_line_of_what_encloses_it(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(TEXT)
    document = read_toml(path)
    assert document.line(("guest", 1, "memory")) == 16
    assert document.line(("nothing",)) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b'[machine]\nmemory = "1M\n', 2),
        (b"[machine]\nmemory =\n[console]\n", 2),
        (b"a = 1\na = 2\n", 2),
        (b"a = 1\nb = [1,\n\n", 2),
        (b"a = 1\n\xff\xfe\n", 2),
    ],
)
def test_what_is_not_toml_has_a_line(tmp_path: Path, text: bytes, line: int) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(text)
    with pytest.raises(TomlError) as failure:
        read_toml(path)
    assert failure.value.line == line
