# SPDX-License-Identifier: Apache-2.0
"""Cuts the text of an ITRON configuration file into C's tokens, and collects its mistakes.

A mistake is noted where it stands and reading goes on, so that one run reports them all.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from gandalf.base.paths import UserError, shown

_PATTERN = re.compile(
    r"""
    (?P<space>[ \t\r\f\v\n]+|\\\r?\n|//[^\n]*|/\*.*?\*/)
    |(?P<comment>/\*.*)
    |(?P<directive>\#[^\n]*)
    |(?P<string>"(?:\\[^\n]|[^"\\\n])*")
    |(?P<character>'(?:\\[^\n]|[^'\\\n])+')
    |(?P<open>["'][^\n]*)
    |(?P<number>[0-9][0-9A-Za-z_.]*)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<operator><<|>>|<=|>=|==|!=|&&|\|\||->|[-+*/%&|^~!<>=?:.(){}\[\],;])
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, order=True)
class Place:
    """Where something stands; both numbers count from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class Token:
    """A token. kind: "name", "number", "string", "character", "operator" or, at last, "end"."""

    kind: str
    text: str
    place: Place

    @property
    def end(self) -> Place:
        """The place behind it; no token goes over the end of a line."""
        return Place(self.place.line, self.place.column + len(self.text))


@dataclass
class Source:
    """A configuration file that is being read, with its mistakes so far."""

    path: Path
    mistakes: list[tuple[Place, str]] = field(default_factory=list)

    def mistake(self, place: Place, sentence: str) -> None:
        self.mistakes.append((place, sentence))

    def check(self) -> None:
        """Raise UserError with all mistakes in the order of their places, if there are any."""
        name = shown(self.path)
        lines = [
            f"{name}:{place.line}:{place.column}: {sentence}"
            for place, sentence in sorted(set(self.mistakes))
        ]
        if lines:
            raise UserError("\n".join(lines))


def read_source(source: Source) -> str:
    """Return the text of a file. Raises UserError if it cannot be read or is not UTF-8."""
    name = shown(source.path)
    try:
        content = source.path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"There is no file {name}.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{name} cannot be read: {reason}.") from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        source.mistake(
            place, f"The byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8."
        )
        source.check()
        raise AssertionError("a mistake was noted") from error


def _complain(source: Source, kind: str, text: str, place: Place) -> None:
    """Note the mistake that a piece of text is."""
    match kind:
        case "comment":
            sentence = "This comment has no end; close it with */."
        case "open":
            what = "string" if text[0] == '"' else "character constant"
            sentence = f"This {what} has no end; close it with {text[0]} on the same line."
        case "directive":
            sentence = (
                "Preprocessor lines are not read here; put them into a header and name it with "
                'INCLUDE("\\"header.h\\"");.'
            )
        case _:
            shown_text = text if text.isprintable() else f"U+{ord(text):04X}"
            sentence = f"The character {shown_text} has no meaning here."
    source.mistake(place, sentence)


def tokenize(source: Source, text: str) -> list[Token]:
    """Return the tokens of a text with an "end" behind them, and note what is none."""
    tokens = []
    line, start = 1, 0  # the current line and where it begins
    for match in _PATTERN.finditer(text):
        kind, piece = match.lastgroup or "other", match[0]
        place = Place(line, match.start() - start + 1)
        if kind in ("comment", "directive", "open", "other"):
            _complain(source, kind, piece, place)
        elif kind != "space":
            tokens.append(Token(kind, piece, place))
        if "\n" in piece:
            line += piece.count("\n")
            start = match.start() + piece.rfind("\n") + 1
    tokens.append(Token("end", "", Place(line, len(text) - start + 1)))
    return tokens
