# SPDX-License-Identifier: Apache-2.0
"""Reads the statements of an ITRON configuration: `CRE_SEM(ID, {A, B, C});` and the like.

What a statement may hold is decided in objects.py. After a mistake reading goes on
with the next statement.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from gandalf.itron.tokens import Place, Source, Token, read_source, tokenize

# The parameters of each statement: those in front, and those in braces; None: no braces.
FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...] | None]] = {
    "INCLUDE": (("file",), None),
    "CRE_TSK": (
        ("tskid",),
        ("tskatr", "exinf", "task", "itskpri", "stksz", "stk"),
    ),
    "DEF_TEX": (("tskid",), ("texatr", "texrtn")),
    "CRE_SEM": (("semid",), ("sematr", "isemcnt", "maxsem")),
    "CRE_FLG": (("flgid",), ("flgatr", "iflgptn")),
    "CRE_DTQ": (("dtqid",), ("dtqatr", "dtqcnt", "dtq")),
    "CRE_MBX": (("mbxid",), ("mbxatr", "maxmpri", "mprihd")),
    "CRE_MPF": (("mpfid",), ("mpfatr", "blkcnt", "blksz", "mpf")),
    "CRE_CYC": (("cycid",), ("cycatr", "exinf", "cychdr", "cyctim", "cycphs")),
    "DEF_INH": (("inhno",), ("inhatr", "inthdr")),
    "DEF_EXC": (("excno",), ("excatr", "exchdr")),
    "ATT_INI": ((), ("iniatr", "exinf", "inirtn")),
}
_CLOSING = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True)
class Parameter:
    """A parameter: its tokens, at least one."""

    tokens: tuple[Token, ...]

    @property
    def place(self) -> Place:
        return self.tokens[0].place

    @property
    def text(self) -> str:
        """The parameter as C takes it."""
        return " ".join(token.text for token in self.tokens)


@dataclass(frozen=True)
class Statement:
    """A statement with all its parameters by name."""

    name: str
    place: Place
    parameters: dict[str, Parameter]


def form_of(name: str) -> str:
    """Return how a statement is written, for messages."""
    front, braces = FORMS[name]
    parts = ['"\\"header.h\\""'] if name == "INCLUDE" else list(front)
    if braces is not None:
        parts.append("{" + ", ".join(braces) + "}")
    return f"{name}({', '.join(parts)});"


class _StatementError(Exception):
    """The statement cannot be read on; the mistake has been noted."""


class _Reader:
    """Goes through the tokens of a file once."""

    def __init__(self, source: Source, tokens: Sequence[Token]) -> None:
        self._source, self._tokens, self._next = source, tokens, 0

    def statements(self) -> list[Statement]:
        found = []
        while self._peek().kind != "end":
            try:
                statement = self._statement()
            except _StatementError:
                self._recover()
                continue
            if statement is not None:
                found.append(statement)
        return found

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._peek()
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _begins_statement(self) -> bool:
        """Tell whether a known statement begins here."""
        return self._peek().text in FORMS and self._peek(1).text == "("

    def _recover(self) -> None:
        """Go to where the next statement seems to begin."""
        while self._peek().kind != "end" and not self._begins_statement():
            if self._take().text == ";":
                return

    def _fail(self, place: Place, sentence: str) -> _StatementError:
        self._source.mistake(place, sentence)
        return _StatementError()

    def _statement(self) -> Statement | None:
        head = self._take()
        if head.text == ";":
            self._source.mistake(head.place, "There is no statement in front of this semicolon.")
            return None
        if head.kind != "name":
            raise self._fail(
                head.place, f"A statement such as CRE_TSK(...) is wanted here, not {head.text}."
            )
        if head.text not in FORMS:
            raise self._fail(head.place, _unknown(head.text))
        if self._peek().text != "(":
            raise self._fail(
                head.end, f"A ( is missing behind {head.text}: write {form_of(head.text)}"
            )
        opening = self._take()
        groups = self._groups(opening, head)
        self._semicolon()
        return self._assign(head, groups)

    def _semicolon(self) -> None:
        last = self._tokens[self._next - 1]
        if self._peek().text == ";":
            self._take()
            return
        self._source.mistake(last.end, "A semicolon is missing behind this statement.")
        if self._peek().kind != "end" and self._peek().kind != "name":
            raise _StatementError

    def _groups(self, opening: Token, head: Token) -> list[list[Token]]:
        """Return the tokens up to the closing bracket, parted at the outermost commas."""
        groups: list[list[Token]] = [[]]
        open_brackets = [opening]
        while True:
            token = self._peek()
            if token.kind == "end" or token.text == ";" or self._begins_statement():
                inner = open_brackets[-1]
                raise self._fail(
                    inner.place,
                    f"This {inner.text} has no {_CLOSING[inner.text]}: write {form_of(head.text)}",
                )
            self._take()
            if token.text in _CLOSING:
                open_brackets.append(token)
            elif token.text in _CLOSING.values():
                inner = open_brackets.pop()
                if _CLOSING[inner.text] != token.text:
                    raise self._fail(
                        token.place,
                        f"This {token.text} closes the {inner.text} in line {inner.place.line}, "
                        f"column {inner.place.column}, which wants {_CLOSING[inner.text]}.",
                    )
                if not open_brackets:
                    return groups
            elif token.text == "," and len(open_brackets) == 1:
                groups.append([token])  # kept, to have a place for what is missing behind it
                continue
            groups[-1].append(token)

    def _assign(self, head: Token, groups: list[list[Token]]) -> Statement | None:
        """Give the parameters their names."""
        front, braces = FORMS[head.text]
        values = [group[1:] if group and group[0].text == "," else group for group in groups]
        wanted = len(front) + (braces is not None)
        if len(values) != wanted:
            count = 0 if values == [[]] else len(values)
            advice = form_of(head.text)
            self._source.mistake(
                head.place, f"{head.text} has {_parameters(count)} here and wants {wanted}: "
                f"write {advice}",
            )  # fmt: skip
            return None
        named = dict(zip(front, zip(groups, values, strict=True), strict=False))
        if braces is not None:
            inner = self._braces(head, values[-1] or [groups[-1][0] if groups[-1] else head])
            if inner is None:
                return None
            named |= inner
        parameters = {}
        for name, (group, value) in named.items():
            if value:
                parameters[name] = Parameter(tuple(value))
            else:
                place = group[0].end if group else head.end
                self._source.mistake(
                    place, f"The parameter {name} is missing: write {form_of(head.text)}"
                )
        if len(parameters) != len(named):
            return None
        return Statement(head.text, head.place, parameters)

    def _braces(
        self, head: Token, tokens: list[Token]
    ) -> dict[str, tuple[list[Token], list[Token]]] | None:
        """Return the parameters in braces by name, each with the comma before it and without."""
        names = FORMS[head.text][1] or ()
        if tokens[0].text != "{" or tokens[-1].text != "}":
            self._source.mistake(
                tokens[0].place,
                f"{{ and }} are missing around {', '.join(names)}: write {form_of(head.text)}",
            )
            return None
        groups: list[list[Token]] = [[tokens[0]]]
        depth = 0
        for token in tokens[1:-1]:
            depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
            if token.text == "," and depth == 0:
                groups.append([token])
            else:
                groups[-1].append(token)
        if len(groups) != len(names):
            count = 0 if groups == [[tokens[0]]] else len(groups)
            self._source.mistake(
                tokens[0].place,
                f"{head.text} has {_parameters(count)} in braces here and wants {len(names)}: "
                f"write {form_of(head.text)}",
            )
            return None
        return {name: (group, group[1:]) for name, group in zip(names, groups, strict=True)}


def _parameters(count: int) -> str:
    return f"{count} parameter" + ("" if count == 1 else "s")


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name.upper(), FORMS, n=1)
    if close:
        return f"There is no statement {name}; did you mean {close[0]}?"
    return f"There is no statement {name}; there are {', '.join(FORMS)}."


def read_statements(source: Source) -> list[Statement]:
    """Return the statements of a file, and note what is none.

    Raises UserError if the file cannot be read.
    """
    return _Reader(source, tokenize(source, read_source(source))).statements()
