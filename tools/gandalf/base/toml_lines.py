# SPDX-License-Identifier: Apache-2.0
"""Reads a TOML file and remembers on which line each key and value stands.

tomllib decides what the file says; tree-sitter's syntax tree supplies the
lines, which tomllib does not keep. Locations are tuples as Pydantic's errors
have them: ("guest", 0, "memory").
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

Location = tuple[str | int, ...]


class TomlError(Exception):
    """The file is not TOML. Carries the line, if it is known, and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


@dataclass
class Document:
    """The content of a TOML file and the line of every location in it."""

    data: dict[str, Any]
    lines: dict[Location, int] = field(default_factory=dict)

    def line(self, location: Location) -> int:
        """Return the line of a location, or of the nearest thing that encloses it."""
        for length in range(len(location), 0, -1):
            if location[:length] in self.lines:
                return self.lines[location[:length]]
        return 1


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _key(node: Node) -> Location:
    """Return the parts of a bare, quoted or dotted key."""
    if node.type == "dotted_key":
        return tuple(part for child in node.named_children for part in _key(child))
    text = (node.text or b"").decode()
    if node.type == "quoted_key":
        return (str(next(iter(tomllib.loads(f"{text} = 0")))),)
    return (text,)


class _Walker:
    """Walks the syntax tree once and notes the line of each location."""

    def __init__(self) -> None:
        self.lines: dict[Location, int] = {}
        self._counts: dict[Location, int] = {}

    def _note(self, base: Location, parts: Location, line: int) -> Location:
        for length in range(1, len(parts) + 1):
            self.lines.setdefault(base + parts[:length], line)
        return base + parts

    def _resolve(self, parts: Location) -> Location:
        """Return where a table header leads: into the last element of arrays of tables."""
        where: Location = ()
        for part in parts:
            where += (part,)
            if where in self._counts:
                where += (self._counts[where] - 1,)
        return where

    def document(self, root: Node) -> None:
        for node in root.named_children:
            if node.type == "pair":
                self._pair(node, ())
            elif node.type in ("table", "table_array_element"):
                self._table(node)

    def _table(self, node: Node) -> None:
        head = node.named_children[0]
        parts = _key(head)
        base = self._resolve(parts[:-1])
        where = self._note(base, parts[-1:], _line(head))
        if node.type == "table_array_element":
            index = self._counts.get(where, 0)
            self._counts[where] = index + 1
            where = self._note(where, (index,), _line(head))
        for pair in node.named_children[1:]:
            if pair.type == "pair":
                self._pair(pair, where)

    def _pair(self, node: Node, base: Location) -> None:
        key, value = (child for child in node.named_children if child.type != "comment")
        self._value(value, self._note(base, _key(key), _line(key)))

    def _value(self, node: Node, where: Location) -> None:
        children = [child for child in node.named_children if child.type != "comment"]
        if node.type == "array":
            for index, child in enumerate(children):
                self._value(child, self._note(where, (index,), _line(child)))
        elif node.type == "inline_table":
            for child in children:
                self._pair(child, where)


def read_toml(path: Path) -> Document:
    """Read a TOML file. Raises TomlError if it is not one, OSError if it cannot be read."""
    content = path.read_bytes()
    try:
        data = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TomlError(line, "this is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        last = content.rstrip().count(b"\n") + 1
        line = int(place[1]) if place and place[1] else last
        raise TomlError(line, str(error)[: place.start() if place else None]) from error
    walker = _Walker()
    walker.document(Parser(Language(tree_sitter_toml.language())).parse(content).root_node)
    return Document(data, walker.lines)
