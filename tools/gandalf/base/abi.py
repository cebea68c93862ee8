# SPDX-License-Identifier: Apache-2.0
"""Reads the interfaces in abi/*.h: their numbers and the layout of their structures.

The headers are the only place where these numbers are written down. The C
preprocessor and pycparser read them; a test compares the result with what the
compiler makes of the same headers.
"""

import ctypes
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_parser

from gandalf.base.paths import ROOT, UserError

HEADERS = ("channel.h", "network.h", "gandalf.h", "apic.h", "table.h", "control.h")

_TYPES: dict[str, Any] = {
    "char": ctypes.c_char,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "int32_t": ctypes.c_int32,
    "uint64_t": ctypes.c_uint64,
}

_OPERATIONS: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "|": lambda a, b: a | b,
    "&": lambda a, b: a & b,
}


@dataclass(frozen=True)
class Abi:
    """The numbers (GANDALF_...) and structures (as ctypes classes) of the headers."""

    constants: dict[str, int]
    structures: dict[str, Any]

    def __getitem__(self, name: str) -> int:
        """Return the number GANDALF_<name>."""
        return self.constants["GANDALF_" + name]


def _evaluate(node: Any) -> int:
    """Return the value of a constant expression, by its syntax tree."""
    match node:
        case c_ast.Constant():
            return int(node.value.rstrip("uUlL"), 0)
        case c_ast.UnaryOp(op="-"):
            return -_evaluate(node.expr)
        case c_ast.UnaryOp(op="~"):
            return ~_evaluate(node.expr)
        case c_ast.BinaryOp():
            value: int = _OPERATIONS[node.op](_evaluate(node.left), _evaluate(node.right))
            return value
    raise ValueError(f"{node.coord}: not a constant expression that this reader knows")


def _field_type(node: Any, structures: dict[str, Any]) -> Any:
    """Return the ctypes type of a field: fixed-width, a known structure, or an array of them."""
    match node:
        case c_ast.ArrayDecl():
            return _field_type(node.type, structures) * _evaluate(node.dim)
        case c_ast.TypeDecl(type=c_ast.Struct() as inner):
            return structures[inner.name]
        case c_ast.TypeDecl(type=c_ast.IdentifierType() as inner):
            return _TYPES[" ".join(inner.names)]
    raise ValueError(f"{node.coord}: a field of an unknown type")


def _structure(node: Any, structures: dict[str, Any]) -> Any:
    """Return a ctypes class laid out as the i386 compiler does: nothing aligned beyond 4."""
    fields = [(field.name, _field_type(field.type, structures)) for field in node.decls]
    body = {"_pack_": 4, "_layout_": "ms", "_fields_": fields}
    return type(node.name, (ctypes.LittleEndianStructure,), body)


def _preprocess(source: str) -> str:
    command = ["gcc", "-E", "-P", "-x", "c", "-"]
    try:
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise UserError("There is no gcc; run tools/setup to install what is needed.") from error
    except subprocess.CalledProcessError as error:
        raise UserError(f"The headers in abi/ do not compile: {error.stderr.strip()}") from error
    return done.stdout


def read_headers(folder: Path) -> Abi:
    """Read abi/*.h in a folder. Raises UserError if the preprocessor rejects them."""
    text = "".join((folder / name).read_text() for name in HEADERS)
    text = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
    names = re.findall(r"^#define (GANDALF_\w+)[ \t]+\S", text, re.MULTILINE)
    typedefs = "".join(f"typedef int {name};\n" for name in _TYPES if name != "char")
    values = "".join(f"int value_{name} = {name};\n" for name in names)
    tree = c_parser.CParser().parse(_preprocess(typedefs + text + values))
    constants: dict[str, int] = {}
    structures: dict[str, Any] = {}
    for item in tree.ext:
        if isinstance(item, c_ast.Decl) and isinstance(item.type, c_ast.Struct):
            if not item.type.name.startswith("gandalf_"):
                continue  # a side's own
            structures[item.type.name] = _structure(item.type, structures)
        elif isinstance(item, c_ast.Decl) and item.init is not None:
            constants[item.name.removeprefix("value_")] = _evaluate(item.init)
    return Abi(constants, structures)


@cache
def abi() -> Abi:
    """Return the interfaces of this tree."""
    return read_headers(ROOT / "abi")
