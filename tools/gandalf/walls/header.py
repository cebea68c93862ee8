# SPDX-License-Identifier: Apache-2.0
"""Compares what a folder uses of another with the one header that it is to see of that.

This header includes others, whose names it does not offer unless its opening comment has them.
Members of structures are looked at where a header of the name state.h defines them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_WORD = re.compile(r"\w+")
_FUNCTION = re.compile(
    r"^(?![#\s*/}])(?!typedef\b|_Static_assert\b)[^;{}()#]*?\b(\w+)\(", re.MULTILINE
)
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
# A macro that defines functions, by what it adds to the name that it is given.
_MAKER = re.compile(r"^#define (\w+)\((\w+)\b(?:[^\n]*\\\n)+[^\n]*", re.MULTILINE)
_MEMBER = re.compile(r"(?:\(\*)?\b(\w+)(?:\)|\[\w*\])*(?=\s*[;,])")
_NO_MEMBER = re.compile(r"(?<=\))\([^)]*\)|^struct \w+;", re.MULTILINE)


def _made(text: str) -> Iterator[str]:
    """Yield the functions that a header's macros define, such as cr0_read() of a name cr0."""
    for maker in _MAKER.finditer(text):
        suffixes = set(re.findall(rf"\b{maker[2]}##(\w+)\(", maker[0]))
        if re.search(rf"\b{maker[2]}\(void\)", maker[0]):
            suffixes.add("")
        for name in re.findall(rf"\b{maker[1]}\((\w+)", text):
            yield from (name + suffix for suffix in suffixes if name != maker[2])


@dataclass(frozen=True)
class Names:
    """What headers define."""

    functions: set[str]
    macros: set[str]
    members: set[str]

    def without(self, said: set[str]) -> "Names":
        return Names(self.functions - said, self.macros - said, self.members - said)

    def used_by(self, text: str) -> list[str]:
        """Return what the text of a source uses of these."""
        code = _STRING.sub('""', _COMMENT.sub("", text))
        return sorted(
            self.functions & set(re.findall(r"\b(\w+)\s*\(", code))
            | self.macros & set(_WORD.findall(code))
            | self.members & set(re.findall(r"(?:->|\.)(\w+)", code))
        )


def _defined(paths: Iterable[Path]) -> Names:
    names = Names(set(), set(), set())
    for path in paths:
        text = _COMMENT.sub("", path.read_text())
        names.functions.update(_FUNCTION.findall(text), _made(text))
        names.macros.update(_MACRO.findall(text))
        if path.name == "state.h":
            names.members.update(_MEMBER.findall(_NO_MEMBER.sub("", text)))
    return names


def _offered(header: Path) -> set[str]:
    """Return what a header defines itself, and the words of its opening comment."""
    own = _defined([header])
    opening, _, _ = header.read_text().partition("#pragma once")
    return own.functions | own.macros | set(_WORD.findall(opening))


def wrong_names(vmm: Path, folder: str, other: str, header: str) -> list[str]:
    """Return each name of another folder that a folder uses, and that the header does not offer."""
    hidden = _defined(sorted((vmm / other).glob("*.h"))).without(_offered(vmm / header))
    return [
        f"{path.relative_to(vmm)}: {header} does not offer {name}"
        for path in sorted((vmm / folder).glob("*.[ch]"))
        for name in hidden.used_by(path.read_text())
    ]
