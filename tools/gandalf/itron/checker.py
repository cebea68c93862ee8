# SPDX-License-Identifier: Apache-2.0
"""What a configuration holds, and how a single parameter of it is checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from gandalf.base.paths import ROOT, UserError, shown
from gandalf.itron.expression import ExpressionError, parts_of, value_of
from gandalf.itron.statements import Parameter, Statement
from gandalf.itron.tokens import Place, Source, Token, tokenize

HEADERS = ROOT / "guest" / "itron" / "include"
# What the statements that create something create, in the order of the generated file.
KINDS = {
    "CRE_TSK": "task",
    "CRE_SEM": "semaphore",
    "CRE_FLG": "event flag",
    "CRE_DTQ": "data queue",
    "CRE_MBX": "mailbox",
    "CRE_MPF": "memory pool",
    "CRE_CYC": "cyclic handler",
}
# The highest ID that a number may give: one table holds all objects of a kind, gaps included.
ID_MAXIMUM = 1000
COUNT_MAXIMUM = 0xFFFFFF
ANY = 0xFFFFFFFF
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "auto break case char const continue default do double else enum extern float for goto if "
        "inline int long register restrict return short signed sizeof static struct switch "
        "typedef union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex "
        "_Generic _Imaginary _Noreturn _Static_assert _Thread_local asm typeof",
    )
)


@dataclass(frozen=True)
class Assertion:
    """What the C compiler has to check, at a place in the configuration."""

    place: Place
    condition: str
    sentence: str


@dataclass(frozen=True)
class Object:
    """An object: its ID, and a name for it if it has one."""

    number: int
    name: str | None
    statement: Statement

    def __getitem__(self, parameter: str) -> str:
        return self.statement.parameters[parameter].text


@dataclass
class Configuration:
    """A configuration that obeys the rules."""

    includes: list[str] = field(default_factory=list)
    objects: dict[str, list[Object]] = field(default_factory=dict)
    exceptions: dict[int, Statement] = field(default_factory=dict)  # by the task's ID
    interrupt_handlers: list[Statement] = field(default_factory=list)
    exception_handlers: list[Statement] = field(default_factory=list)
    initialisers: list[Statement] = field(default_factory=list)
    assertions: list[Assertion] = field(default_factory=list)


@cache
def standard_constants() -> Mapping[str, int | None]:
    """Return the constants of the kernel's headers by name; None: only C can tell the value."""
    known: dict[str, int] = {}
    names: dict[str, int | None] = {}
    for path in sorted(HEADERS.glob("*.h")):
        text = path.read_text().replace("\\\n", " ")
        for name, rest in re.findall(r"^#define[ \t]+(\w+)[ \t]+(\S.*)$", text, re.MULTILINE):
            tokens = tokenize(Source(path), rest.replace("#", " "))[:-1]
            try:
                names[name] = value_of(tokens, known)
            except ExpressionError:
                names[name] = None
            value = names[name]
            if value is not None:
                known[name] = value
    return names


def known_constants() -> dict[str, int]:
    """Return the constants of the kernel's headers whose value the tool knows."""
    return {name: value for name, value in standard_constants().items() if value is not None}


def constant(name: str) -> int:
    """Return a constant of the kernel's headers that the tool itself needs."""
    value = standard_constants().get(name)
    if value is None:
        raise UserError(f"The headers in {shown(HEADERS)} do not say what {name} is.")
    return value


class Checker:
    """Looks at single parameters; notes a mistake where one is wrong."""

    def __init__(self, source: Source, configuration: Configuration) -> None:
        self._source, self._configuration = source, configuration

    def mistake(self, place: Place, sentence: str) -> None:
        self._source.mistake(place, sentence)

    def value(self, parameter: Parameter) -> int | None:
        """Return the value of a parameter; None if it is unknown or wrong."""
        try:
            return value_of(parameter.tokens, known_constants())
        except ExpressionError:
            return None

    def expression(self, name: str, parameter: Parameter) -> bool:
        """Check that a parameter is an expression."""
        try:
            value_of(parameter.tokens, known_constants())
        except ExpressionError as error:
            self.mistake(parameter.place, f"{name} {error}: {shortened(parameter.text)}")
            return False
        return True

    def number(self, name: str, parameter: Parameter, least: int, most: int) -> None:
        """Check that a parameter is a number from least to most."""
        if not self.expression(name, parameter):
            return
        wanted = f"{name} must be a number from {least} to {most}"
        value = self.value(parameter)
        if value is None:
            text = parameter.text
            condition = f"(D)({text}) >= {least} && (D)({text}) <= {most}"
            self.assert_c(parameter, condition, f"{wanted}.")
        elif not least <= value <= most:
            self.mistake(parameter.place, f"{wanted}, not {value}.")

    def assert_c(self, parameter: Parameter, condition: str, sentence: str) -> None:
        """Have the C compiler check a condition."""
        self._configuration.assertions.append(Assertion(parameter.place, condition, sentence))

    def address(self, name: str, parameter: Parameter, what: str) -> None:
        """Check that the kernel is to provide the memory of something."""
        if self.expression(name, parameter) and parameter.text not in ("NULL", "0"):
            self.mistake(
                parameter.place,
                f"{name} must be NULL, not {shortened(parameter.text)}: the configurator provides "
                f"{what}.",
            )

    def function(self, name: str, parameter: Parameter) -> None:
        """Check that a parameter is the name of a function."""
        if len(parameter.tokens) != 1 or not is_identifier(parameter.tokens[0]):
            self.mistake(
                parameter.place,
                f"{name} must be the name of a C function, not {shortened(parameter.text)}.",
            )

    def attribute(self, name: str, parameter: Parameter, allowed: Sequence[str]) -> None:
        """Check an attribute, which is made of the names that are allowed."""
        if not self.expression(name, parameter):
            return
        wanted = f"{name} is made of {', '.join(allowed)}, joined by |"
        for token in parameter.tokens:
            if token.text.startswith("TA_") and token.text not in (*allowed, "TA_NULL"):
                self.mistake(token.place, f"{token.text} has no meaning here: {wanted}.")
                return
        parts = parts_of(parameter.tokens)
        names = [part[0].text for part in parts] if parts else []
        for one, other in _EXCLUSIVE:
            if one in names and other in names:
                self.mistake(
                    parameter.place, f"{one} and {other} exclude each other: write one of them."
                )
        mask = 0
        for one in allowed:
            mask |= constant(one)
        value = self.value(parameter)
        if value is None:
            self.assert_c(parameter, f"(({parameter.text}) & ~{mask:#x}) == 0", f"{wanted}.")
        elif value & ~mask:
            self.mistake(parameter.place, f"{wanted}, which does not give {value:#x}.")


_EXCLUSIVE = (
    ("TA_HLNG", "TA_ASM"),
    ("TA_TFIFO", "TA_TPRI"),
    ("TA_MFIFO", "TA_MPRI"),
    ("TA_WSGL", "TA_WMUL"),
)


def shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


def is_identifier(token: Token) -> bool:
    return token.kind == "name" and token.text not in _KEYWORDS
