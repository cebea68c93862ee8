# SPDX-License-Identifier: Apache-2.0
"""The objects of an ITRON configuration and the rules that they have to obey.

A rule that the tool cannot decide, since a header of the user's has a part in it, becomes an
assertion for the C compiler.
"""

import re
from collections.abc import Sequence

from gandalf.itron.checker import (
    ANY,
    COUNT_MAXIMUM,
    ID_MAXIMUM,
    KINDS,
    Checker,
    Configuration,
    Object,
    constant,
    is_identifier,
    shortened,
    standard_constants,
)
from gandalf.itron.statements import Parameter, Statement
from gandalf.itron.tokens import Place, Source

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
    "stksz": ("TMIN_STKSZ", COUNT_MAXIMUM),
    "isemcnt": (0, "TMAX_MAXSEM"),
    "maxsem": (1, "TMAX_MAXSEM"),
    "iflgptn": (0, ANY),
    "dtqcnt": (0, COUNT_MAXIMUM),
    "maxmpri": ("TMIN_MPRI", "TMAX_MPRI"),
    "blkcnt": (1, COUNT_MAXIMUM),
    "blksz": (1, COUNT_MAXIMUM),
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
        if is_identifier(parameter.tokens[0]) and len(parameter.tokens) == 1:
            self._take_name(parameter)
            return None
        value = self._checker.value(parameter)
        if value is None or not 1 <= value <= ID_MAXIMUM:
            self._checker.mistake(
                parameter.place,
                f"A {KINDS[statement.name]} has a name or a number from 1 to {ID_MAXIMUM} as ID, "
                f"not {shortened(parameter.text)}.",
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
                f"There is no task {shortened(parameter.text)}: write the tskid of a CRE_TSK.",
            )
        elif number in configuration.exceptions:
            line = configuration.exceptions[number].place.line
            checker.mistake(
                parameter.place,
                f"The task {parameter.text} has a task exception routine already, in line {line}.",
            )
        else:
            configuration.exceptions[number] = statement


def _taken(what: str, text: str, other: Statement) -> str:
    return f"The {what} {shortened(text)} has a handler already, in line {other.place.line}."


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
        # What the compiler alone knows is compared with all others by it.
        for other in handlers if value is None else unknown:
            text = other.parameters[number].text
            checker.assert_c(
                parameter, f"({parameter.text}) != ({text})", _taken(what, text, other)
            )  # fmt: skip
        if value is None:
            unknown.append(statement)
        elif value in seen:
            checker.mistake(parameter.place, _taken(what, parameter.text, seen[value]))
        else:
            seen[value] = statement
        handlers.append(statement)


def _include(checker: Checker, configuration: Configuration, parameter: Parameter) -> None:
    text = parameter.text
    name = re.sub(r"\\(.)", r"\1", text[1:-1])
    inner = name[1:-1] if name[:1] + name[-1:] in ('""', "<>") and len(name) > 2 else None
    if parameter.tokens[0].kind != "string" or len(parameter.tokens) != 1:
        checker.mistake(
            parameter.place, f'INCLUDE wants a header\'s name in quotation marks, not '
            f"{shortened(text)}.",
        )  # fmt: skip
    elif not re.fullmatch(r"[^\"<>\\\n]+", inner or name):
        checker.mistake(parameter.place, f"{shortened(text)} is not the name of a header.")
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
