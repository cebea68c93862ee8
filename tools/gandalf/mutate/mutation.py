# SPDX-License-Identifier: Apache-2.0
"""The single changes that could be made to a C source by mistake: its mutants.

tree-sitter's syntax tree says where operators, constants, conditions and statements
are. A mutant is one replacement of text; nothing else in the file moves.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Tree

_OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("/",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "<<": (">>",),
    ">>": ("<<",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "%=": ("/=",),
    "&=": ("|=",),
    "|=": ("&=",),
    "^=": ("|=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "++": ("--",),
    "--": ("++",),
    "!": ("",),
    "~": ("",),
}
_WITH_OPERATOR = ("binary_expression", "assignment_expression", "unary_expression",
                  "update_expression")  # fmt: skip
_WITH_CONDITION = ("if_statement", "while_statement", "do_statement", "for_statement",
                   "conditional_expression")  # fmt: skip
_REMOVABLE = ("expression_statement", "return_statement", "break_statement", "continue_statement")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)")
_ATTRIBUTE = re.compile(rb"#define (\w+) __attribute__")
_MACRO = "preproc_def"


@dataclass(frozen=True)
class Mutant:
    """Bytes of a source, what is there instead, and the words for it that survive moved lines."""

    start: int
    end: int
    replacement: str
    line: int
    function: str  # or macro, or nothing
    before: str  # whole lines, white space made single
    after: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_c.language()))


def attribute_macros(header: bytes) -> list[str]:
    """Return the macros that a header defines as attributes, which are no C to a parser."""
    return [name.decode() for name in _ATTRIBUTE.findall(header)]


def _parse(source: bytes, attributes: list[str]) -> Tree:
    """Parse a source with attributes as spaces, so that every place stays where it is."""
    names = "|".join([*attributes, "_Noreturn"])
    pattern = rf"\b(?:{names})\b|\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)"
    return _parser().parse(re.sub(pattern.encode(), lambda found: b" " * len(found[0]), source))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode() if node else ""


def _next_numbers(text: str) -> Iterator[str]:
    """Yield a constant that is one more, and one that is one less."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return
    value, base = int(found[1], 0), found[1][:2].lower()
    for other in (value + 1, value - 1):
        if other >= 0:
            yield (hex(other) if base == "0x" else str(other)) + found[2]


def _changes(node: Node) -> Iterator[tuple[Node, str]]:
    """Yield the nodes of one construct that may be replaced, and by what."""
    if node.type in _WITH_OPERATOR:
        operator = node.child_by_field_name("operator")
        for other in _OPERATORS.get(_text(operator), ()) if operator else ():
            if not (node.type == "unary_expression" and other):
                yield operator, other  # type: ignore[misc]
    if node.type in _WITH_CONDITION:
        condition = node.child_by_field_name("condition")
        if condition:
            yield condition, f"(!({_text(condition)}))"
    if node.type in _REMOVABLE:
        yield node, ";"
    elif node.type == "number_literal":
        for other in _next_numbers(_text(node)):
            yield node, other
    elif node.type in ("true", "false"):
        yield node, "false" if node.type == "true" else "true"


def _name(node: Node) -> str:
    """Return the name that a function definition declares."""
    inner: Node | None = node
    while inner and inner.type != "identifier":
        inner = inner.child_by_field_name("declarator")
    return _text(inner)


def _walk(node: Node, function: str) -> Iterator[tuple[Node, str, str]]:
    if node.type in ("comment", "string_literal", "attribute_specifier", "preproc_include"):
        return
    if node.type == "function_definition":
        function = _name(node.child_by_field_name("declarator") or node)
    for place, other in _changes(node):
        yield place, other, function
    for child in node.children:
        yield from _walk(child, function)


def _macro_body(node: Node) -> tuple[str, int, bytes]:
    """Return a macro's name, where its value begins, and the value."""
    value = node.child_by_field_name("value")
    name = _text(node.child_by_field_name("name"))
    return (name, value.start_byte, value.text or b"") if value else (name, 0, b"")


def _describe(source: bytes, start: int, end: int, other: str) -> tuple[str, str]:
    """Return the whole lines around a place as they are and as they become."""
    first = source.rfind(b"\n", 0, start) + 1
    last = source.find(b"\n", end)
    head, tail = source[first:start].decode(), source[end : last if last >= 0 else None].decode()
    before = head + source[start:end].decode() + tail
    return " ".join(before.split()), " ".join((head + other + tail).split())


def mutants_of(source: bytes, attributes: list[str]) -> list[Mutant]:
    """Return all mutants of a C source, in its order."""
    found: dict[tuple[int, int, str], Mutant] = {}

    def add(start: int, end: int, other: str, function: str) -> None:
        before, after = _describe(source, start, end, other)
        line = source.count(b"\n", 0, start) + 1
        found.setdefault(
            (start, end, other), Mutant(start, end, other, line, function, before, after)
        )

    root = _parse(source, attributes).root_node
    for node, other, function in _walk(root, ""):
        add(node.start_byte, node.end_byte, other, function)
    for macro in (child for child in root.children if child.type == _MACRO):
        # The parser leaves a macro's value as text; as an expression it has a tree.
        name, begin, value = _macro_body(macro)
        before = b"int x = "
        if not value:
            continue
        for node, other, _ in _walk(_parse(before + value + b";", attributes).root_node, name):
            offset = begin - len(before)
            add(node.start_byte + offset, node.end_byte + offset, other, name)
    return sorted(found.values(), key=lambda mutant: (mutant.start, mutant.end))
