# SPDX-License-Identifier: Apache-2.0
"""The words of a stopped guest's stack: as `gandalf run` shows them, and as a saved text has them.

The VMM's report has none. `gandalf run` reads the guest's memory and shows some behind it, so that
what its terminal showed, saved, says as well who called whom.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = 4
_PER_LINE = 8
# Enough for some calls, and no more than a few lines of a terminal.
_MOST_SHOWN = 32
_BLOCK = re.compile(
    r"^gandalf: guest (?P<guest>[a-z][a-z0-9_-]*) stopped: .*\n"
    r"(?:gandalf:   (?!stack ).*\n)*(?P<lines>(?:gandalf:   stack .*\n)+)",
    re.M,
)
_LINE = re.compile(r"^gandalf:   stack ([0-9a-f]{8}):((?: [0-9a-f]{8}(?=[ \n]))+)", re.M)

# The words that are known, by their addresses.
Words = dict[int, int]


@dataclass(frozen=True)
class ShownStack:
    """A guest's stack, as a text has it. place: where in the text. first: the lowest address."""

    guest: str
    place: int
    first: int
    words: Words


def words_of(start: int, content: bytes) -> Words:
    """Return the words of a piece of memory."""
    whole = range(0, len(content) - _WORD + 1, _WORD)
    return {start + at: int.from_bytes(content[at : at + _WORD], "little") for at in whole}


def stack_lines(words: Words) -> list[str]:
    """Return the lines in which the lowest words of a stack are shown."""
    shown = sorted(words.items())[:_MOST_SHOWN]
    lines = [shown[at : at + _PER_LINE] for at in range(0, len(shown), _PER_LINE)]
    return [
        f"  stack {line[0][0]:08x}: " + " ".join(f"{word:08x}" for _, word in line)
        for line in lines
    ]


def find_stacks(text: str) -> Iterator[ShownStack]:
    """Yield the stacks in what a terminal has shown, as far as their lines are whole."""
    for block in _BLOCK.finditer(text):
        words: Words = {}
        for address, line in _LINE.findall(block["lines"]):
            found = (int(word, 16) for word in line.split())
            words |= {int(address, 16) + _WORD * at: word for at, word in enumerate(found)}
        if words:
            yield ShownStack(block["guest"], block.start(), min(words), words)
