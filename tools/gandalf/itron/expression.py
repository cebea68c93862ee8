# SPDX-License-Identifier: Apache-2.0
"""Tells what the tool can know about a C expression in an ITRON configuration.

A value that depends on a header is not known here; the generated file has the C compiler
check it.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from gandalf.itron.tokens import Token

# Deeper parentheses than anybody writes would be too deep for the parser.
_NESTING_MAXIMUM = 40
_TOKENS_MAXIMUM = 1000
# Beyond this the type of C's constants decides, and C is asked.
_LARGEST = 0xFFFFFFFF
_DIGITS_MAXIMUM = 40
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)([uU]?[lL]?|[lL][uU])")
_TYPES = (
    "ID", "ATR", "PRI", "SIZE", "UINT", "INT", "VP", "VP_INT", "FP", "FLGPTN", "RELTIM", "TMO",
    "UW", "UH", "UB", "W", "H", "B", "INHNO", "EXCNO",
)  # fmt: skip


class ExpressionError(Exception):
    """The tokens are no C expression."""


class _UnknownError(Exception):
    """The value cannot be told here."""


def parse(tokens: Sequence[Token]) -> c_ast.Node:
    """Return the syntax tree of an expression. Raises ExpressionError if it is none."""
    text = " ".join(token.text for token in tokens)
    depth = deepest = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        deepest = max(deepest, depth)
    unary = sum(token.text in ("-", "+", "~", "!", "*", "&") for token in tokens)
    if deepest > _NESTING_MAXIMUM or len(tokens) > _TOKENS_MAXIMUM or unary > _NESTING_MAXIMUM:
        raise ExpressionError("is too long")
    # A name alone in parentheses may be a type of the user's.
    casts = {
        tokens[i + 1].text
        for i in range(len(tokens) - 2)
        if tokens[i].text == "(" and tokens[i + 1].kind == "name" and tokens[i + 2].text in ")*"
    }
    for types in (set(_TYPES), set(_TYPES) | casts):
        names = " ".join(f"typedef int {name};" for name in sorted(types))
        try:
            tree = CParser().parse(f"{names} enum {{ value = {text} }};")
            return tree.ext[-1].type.values.enumerators[0].value
        except (ParseError, AttributeError, AssertionError, RecursionError):
            continue
    raise ExpressionError("is no C expression")


def _constant(text: str) -> int:
    match = _INTEGER.fullmatch(text)
    if match is None or len(text) > _DIGITS_MAXIMUM:
        raise _UnknownError
    digits = match[1]
    octal = digits.startswith("0") and digits.isdigit()
    return int(digits, 8) if octal else int(digits, 0)


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise _UnknownError
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _shift(left: int, right: int) -> int:
    if not 0 <= right <= 31 or left < 0:
        raise _UnknownError
    return left << right


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<<": _shift,
    ">>": lambda a, b: _shift(a, 0) >> min(max(b, 0), 31),
    "|": lambda a, b: a | b,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "+": lambda a: a,
    "-": lambda a: -a,
    "~": lambda a: ~a,
    "!": lambda a: int(not a),
}


def _evaluate(node: c_ast.Node, known: Mapping[str, int]) -> int:
    match node:
        case c_ast.Constant():
            return _constant(node.value)
        case c_ast.ID() if node.name in known:
            return known[node.name]
        case c_ast.UnaryOp() if node.op in _UNARY:
            value = _UNARY[node.op](_evaluate(node.expr, known))
        case c_ast.BinaryOp() if node.op in _BINARY:
            left = _evaluate(node.left, known)
            value = _BINARY[node.op](left, _evaluate(node.right, known))
        case c_ast.TernaryOp():
            chosen = node.iftrue if _evaluate(node.cond, known) else node.iffalse
            value = _evaluate(chosen, known)
        case _:
            raise _UnknownError
    if abs(value) > _LARGEST:
        raise _UnknownError
    return int(value)


def value_of(tokens: Sequence[Token], known: Mapping[str, int]) -> int | None:
    """Return the value of an expression, or None if only C can tell it.

    known: constants with a name. Raises ExpressionError if it is no expression.
    """
    tree = parse(tokens)
    if any(token.kind == "number" and re.search("[uU]", token.text) for token in tokens) and any(
        token.text in ("-", "~") for token in tokens
    ):
        return None  # C wraps around
    try:
        return _evaluate(tree, known)
    except (_UnknownError, RecursionError):
        return None


def parts_of(tokens: Sequence[Token]) -> list[Sequence[Token]] | None:
    """Return what an expression of the form A | B | C combines; None if it has another form."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == "|":
            parts.append([])
        else:
            parts[-1].append(token)
    return list(parts) if all(len(part) == 1 for part in parts) else None
