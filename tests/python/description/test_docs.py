# SPDX-License-Identifier: Apache-2.0
"""docs/system-description.md explains every field, with the default that the tool has."""

import re
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from gandalf.base.paths import ROOT
from gandalf.description.check import check
from gandalf.description.description import (
    Channel,
    Console,
    LinuxGuest,
    Machine,
    Network,
    RtosGuest,
    Uart,
)
from gandalf.description.quantities import size_text
from gandalf.guests.places import Variant

TEXT = (ROOT / "docs" / "system-description.md").read_text()


def rows(heading: str) -> dict[str, list[str]]:
    """Return the rows of the table in a section: field name and cells."""
    section = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    body = next(part for part in section if part.splitlines()[0].strip("`") == heading)
    found = {}
    for line in body.splitlines():
        match = re.match(r"\| `(\w+)` \|(.*)\|$", line)
        if match:
            found[match[1]] = [cell.strip() for cell in match[2].split("|")]
    return found


def documented(heading: str) -> dict[str, list[str]]:
    if heading.startswith("kind"):
        return rows("[[guest]]") | rows(heading)
    return rows(heading)


def test_the_kernels_that_are_built_are_those_that_there_are() -> None:
    listed = re.split(r"^VARIANT is one of these:$", TEXT, flags=re.MULTILINE)[1]
    listed = listed.strip().split("\n\n")[0]
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(get_args(Variant))


CASES = [
    (Machine, "[machine]"), (Console, "[console]"), (Uart, "uart"),
    (LinuxGuest, 'kind = "linux"'), (RtosGuest, 'kind = "rtos"'),
    (Channel, "[[channel]]"), (Network, "[[network]]"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "heading"), CASES)
def test_every_field_is_documented(model: type[BaseModel], heading: str) -> None:
    assert set(documented(heading)) == set(model.model_fields)


def default_text(name: str, value: Any) -> str:
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() if name in ("memory", "shadow_pool", "size"):
            return f'`"{size_text(value)}"`'
        case str():
            return f'`"{value}"`'
        case int() | list():
            return f"`{value}`"
        case Uart():
            return '`"com1"`'
    return ""


@pytest.mark.parametrize(("model", "heading"), CASES)
def test_every_row_has_type_default_and_meaning(model: type[BaseModel], heading: str) -> None:
    table = documented(heading)
    for name, field in model.model_fields.items():
        cells = table[name]
        assert len(cells) == 4, name
        assert all(cells), name
        if field.is_required():
            assert cells[2] == "required", name
        elif field.default is not None:
            assert default_text(name, field.default) in cells[2], name


def test_the_example_is_right(tmp_path_factory: pytest.TempPathFactory) -> None:
    example = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert example is not None
    path = tmp_path_factory.mktemp("docs") / "example.toml"
    path.write_text(example[1])
    assert check(path).system.messages() == []
