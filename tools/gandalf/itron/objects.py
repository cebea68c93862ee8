# SPDX-License-Identifier: Apache-2.0
"""The objects of an ITRON configuration and the rules that they have to obey.

A rule that the tool cannot decide, since a header of the user's has a part in it, becomes an
assertion for the C compiler.
"""

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
_ID_MAXIMUM = 1000
_COUNT_MAXIMUM = 0xFFFFFF
_ANY = 0xFFFFFFFF
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
            self.mistake(parameter.place, f"{name} {error}: {_short(parameter.text)}")
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
                f"{name} must be NULL, not {_short(parameter.text)}: the configurator provides "
                f"{what}.",
            )

    def function(self, name: str, parameter: Parameter) -> None:
        """Check that a parameter is the name of a function."""
        if len(parameter.tokens) != 1 or not _is_identifier(parameter.tokens[0]):
            self.mistake(
                parameter.place,
                f"{name} must be the name of a C function, not {_short(parameter.text)}.",
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


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


def _is_identifier(token: Token) -> bool:
    return token.kind == "name" and token.text not in _KEYWORDS


# --- Rules ---

_LANGUAGE = ("TA_HLNG", "TA_ASM")
_QUEUE = ("TA_TFIFO", "TA_TPRI")
_ATTRIBUTES = {
    "tskatr": (*_LANGUAGE, "TA_ACT", "TA_FPU"),
    "texatr": _LANGUAGE,
    "sematr": _QUEUE,
    "flgatr": (*_QUEUE, "TA_WSGL", "TA_WMUL", "TA_CLR"),
    "dtqatr": _QUEUE,
    "mbxatr": (*_QUEUE, "TA_MFIFO", "TA_MPRI"),
    "mpfatr": _QUEUE,
    "cycatr": (*_LANGUAGE, "TA_STA", "TA_PHS"),
    "inhatr": _LANGUAGE,
    "excatr": _LANGUAGE,
    "iniatr": _LANGUAGE,
}
_FUNCTIONS = ("task", "texrtn", "cychdr", "inthdr", "exchdr", "inirtn")
_ADDRESSES = {
    "stk": "the stack",
    "dtq": "the queue's memory",
    "mprihd": "what the mailbox needs",
    "mpf": "the pool's memory",
}
# The smallest and the largest value: a number or a constant of the kernel's headers.
_NUMBERS: dict[str, tuple[int | str, int | str]] = {
    "itskpri": ("TMIN_TPRI", "TMAX_TPRI"),
    "stksz": ("TMIN_STKSZ", _COUNT_MAXIMUM),
    "isemcnt": (0, "TMAX_MAXSEM"),
    "maxsem": (1, "TMAX_MAXSEM"),
    "iflgptn": (0, _ANY),
    "dtqcnt": (0, _COUNT_MAXIMUM),
    "maxmpri": ("TMIN_MPRI", "TMAX_MPRI"),
    "blkcnt": (1, _COUNT_MAXIMUM),
    "blksz": (1, _COUNT_MAXIMUM),
    "cyctim": (1, "TMAX_RELTIM"),
    "cycphs": (0, "TMAX_RELTIM"),
    "inhno": ("TMIN_INHNO", "TMAX_INHNO"),
    "excno": (0, "TMAX_EXCNO"),
}


def _limit(limit: int | str) -> int:
    return limit if isinstance(limit, int) else constant(limit)


def _check_parameters(checker: Checker, statement: Statement) -> None:
    for name, parameter in statement.parameters.items():
        if name in _ATTRIBUTES:
            checker.attribute(name, parameter, _ATTRIBUTES[name])
        elif name in _FUNCTIONS:
            checker.function(name, parameter)
        elif name in _ADDRESSES:
            checker.address(name, parameter, _ADDRESSES[name])
        elif name in _NUMBERS:
            least, most = _NUMBERS[name]
            checker.number(name, parameter, _limit(least), _limit(most))
        elif name == "exinf":
            checker.expression(name, parameter)


def _check_semaphore(checker: Checker, statement: Statement) -> None:
    first, most = statement.parameters["isemcnt"], statement.parameters["maxsem"]
    value, limit = checker.value(first), checker.value(most)
    wanted = "isemcnt must not be greater than maxsem"
    if value is None or limit is None:
        checker.assert_c(first, f"(D)({first.text}) <= (D)({most.text})", f"{wanted}.")
    elif value > limit:
        checker.mistake(first.place, f"{wanted}: {value} is greater than {limit}.")


def _check_stack(checker: Checker, statement: Statement) -> None:
    """A task with TA_FPU needs a larger stack."""
    size, attribute = statement.parameters["stksz"], statement.parameters["tskatr"]
    value, bits = checker.value(size), checker.value(attribute)
    least = constant("TMIN_STKSZ") + constant("TSZ_FPU")
    wanted = f"stksz of a task with TA_FPU must be at least {least}"
    if value is None or bits is None:
        condition = f"!(({attribute.text}) & TA_FPU) || (D)({size.text}) >= {least}"
        checker.assert_c(size, condition, f"{wanted}.")
    elif bits & constant("TA_FPU") and constant("TMIN_STKSZ") <= value < least:
        checker.mistake(size.place, f"{wanted}, not {value}.")


_SPECIAL = {"CRE_SEM": _check_semaphore, "CRE_TSK": _check_stack}


class _Objects:
    """Gives out IDs."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._names: dict[str, Place] = {}
        self._numbers: dict[str, dict[int, Place]] = {kind: {} for kind in KINDS}

    def number(self, statement: Statement) -> int | None:
        """Return the ID if the statement gives it as a number; None: it gives a name, or none."""
        parameter = next(iter(statement.parameters.values()))
        if _is_identifier(parameter.tokens[0]) and len(parameter.tokens) == 1:
            self._take_name(parameter)
            return None
        value = self._checker.value(parameter)
        if value is None or not 1 <= value <= _ID_MAXIMUM:
            self._checker.mistake(
                parameter.place,
                f"A {KINDS[statement.name]} has a name or a number from 1 to {_ID_MAXIMUM} as ID, "
                f"not {_short(parameter.text)}.",
            )
            return None
        taken = self._numbers[statement.name]
        if value in taken:
            self._checker.mistake(
                parameter.place,
                f"There is a {KINDS[statement.name]} {value} already, in line {taken[value].line}.",
            )
            return None
        taken[value] = parameter.place
        return value

    def _take_name(self, parameter: Parameter) -> None:
        name = parameter.text
        if name in standard_constants() or name == "NULL":
            self._checker.mistake(
                parameter.place, f"{name} has a meaning in the kernel's headers; take another name."
            )
        elif name in self._names:
            self._checker.mistake(
                parameter.place,
                f"The name {name} is taken already, in line {self._names[name].line}.",
            )
        self._names.setdefault(name, parameter.place)


def _create_objects(
    checker: Checker, configuration: Configuration, statements: Sequence[Statement]
) -> None:
    """Numbers are kept; names get the lowest IDs that are free, in the order of the file."""
    identifiers = _Objects(checker)
    created = [statement for statement in statements if statement.name in KINDS]
    numbers = [identifiers.number(statement) for statement in created]
    for kind in KINDS:
        taken = {
            number
            for number, statement in zip(numbers, created, strict=True)
            if number is not None and statement.name == kind
        }
        objects = configuration.objects[kind] = []
        for number, statement in zip(numbers, created, strict=True):
            if statement.name != kind:
                continue
            name = None
            if number is None:
                number = next(i for i in range(1, len(created) + len(taken) + 2) if i not in taken)
                name = next(iter(statement.parameters.values())).text
                taken.add(number)
            objects.append(Object(number, name, statement))
        objects.sort(key=lambda item: item.number)


def _define_exceptions(
    checker: Checker, configuration: Configuration, statements: Sequence[Statement]
) -> None:
    tasks = configuration.objects["CRE_TSK"]
    by_name = {task.name: task.number for task in tasks}
    numbers = {task.number for task in tasks}
    for statement in statements:
        if statement.name != "DEF_TEX":
            continue
        parameter = statement.parameters["tskid"]
        number = by_name.get(parameter.text)
        if number is None:
            value = checker.value(parameter)
            number = value if value in numbers else None
        if number is None:
            checker.mistake(
                parameter.place,
                f"There is no task {_short(parameter.text)}: write the tskid of a CRE_TSK.",
            )
        elif number in configuration.exceptions:
            line = configuration.exceptions[number].place.line
            checker.mistake(
                parameter.place,
                f"The task {parameter.text} has a task exception routine already, in line {line}.",
            )
        else:
            configuration.exceptions[number] = statement


def _define_handlers(
    checker: Checker, handlers: list[Statement], statements: Sequence[Statement], name: str,
    number: str, what: str,
) -> None:  # fmt: skip
    """Take DEF_INH or DEF_EXC statements; each number may be given once."""
    seen: dict[int, Statement] = {}
    unknown: list[Statement] = []
    for statement in statements:
        if statement.name != name:
            continue
        parameter = statement.parameters[number]
        value = checker.value(parameter)
        if value is None:
            for other in handlers:
                text = other.parameters[number].text
                checker.assert_c(
                    parameter, f"({parameter.text}) != ({text})",
                    f"The {what} {_short(text)} has a handler already, in line "
                    f"{other.place.line}.",
                )  # fmt: skip
            unknown.append(statement)
        elif value in seen:
            checker.mistake(
                parameter.place,
                f"The {what} {_short(parameter.text)} has a handler already, in line "
                f"{seen[value].place.line}.",
            )
        else:
            for other in unknown:
                text = other.parameters[number].text
                checker.assert_c(
                    parameter, f"({parameter.text}) != ({text})",
                    f"The {what} {_short(text)} has a handler already, in line "
                    f"{other.place.line}.",
                )  # fmt: skip
            seen[value] = statement
        handlers.append(statement)


def _include(checker: Checker, configuration: Configuration, parameter: Parameter) -> None:
    text = parameter.text
    name = re.sub(r"\\(.)", r"\1", text[1:-1])
    inner = name[1:-1] if name[:1] + name[-1:] in ('""', "<>") and len(name) > 2 else None
    if parameter.tokens[0].kind != "string" or len(parameter.tokens) != 1:
        checker.mistake(
            parameter.place, f'INCLUDE wants a header\'s name in quotation marks, not '
            f"{_short(text)}.",
        )  # fmt: skip
    elif not re.fullmatch(r"[^\"<>\\\n]+", inner or name):
        checker.mistake(parameter.place, f"{_short(text)} is not the name of a header.")
    else:
        line = f"#include {name}" if inner else f'#include "{name}"'
        if line not in configuration.includes:
            configuration.includes.append(line)


def check_statements(source: Source, statements: Sequence[Statement]) -> Configuration:
    """Return the configuration that statements describe; notes every mistake in it."""
    configuration = Configuration()
    checker = Checker(source, configuration)
    for statement in statements:
        _check_parameters(checker, statement)
        if statement.name in _SPECIAL:
            _SPECIAL[statement.name](checker, statement)
        if statement.name == "INCLUDE":
            _include(checker, configuration, statement.parameters["file"])
        if statement.name == "ATT_INI":
            configuration.initialisers.append(statement)
    _create_objects(checker, configuration, statements)
    _define_exceptions(checker, configuration, statements)
    _define_handlers(
        checker, configuration.interrupt_handlers, statements, "DEF_INH", "inhno", "interrupt"
    )
    _define_handlers(
        checker, configuration.exception_handlers, statements, "DEF_EXC", "excno", "exception"
    )
    return configuration
