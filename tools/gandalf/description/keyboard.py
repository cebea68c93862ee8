# SPDX-License-Identifier: Apache-2.0
"""The keyboard's layout: what each key types, as a table that the VMM looks into.

The VMM knows no layout. The US one is here, and a description changes it key by key: each is named
by the character that it has on a US keyboard, and has a text of up to three characters, which it
types alone, with Shift, and with AltGr.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from gandalf.base.abi import abi

# One key: its three values, and the locks that exchange the first two.
Key = tuple[tuple[int, int, int], int]

# The rows of a US keyboard, by the code (set 1) of the first key; alone, and with Shift.
_ROWS = (
    (0x02, "1234567890-=", "!@#$%^&*()_+"),
    (0x10, "qwertyuiop[]", "QWERTYUIOP{}"),
    (0x1E, "asdfghjkl;'`", 'ASDFGHJKL:"~'),
    (0x2B, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
)
# The key between Shift and Z that a US keyboard does not have.
EXTRA = "extra"
_EXTRA_CODE, _EXTRA_VALUES = 0x56, "<>|"
# Keys that type the same however they are pressed.
_ALWAYS = {0x01: 0x1B, 0x0E: 0x7F, 0x0F: 0x09, 0x1C: 0x0D, 0x37: ord("*"), 0x39: ord(" ")}
# F1 to F12, by what is between ESC [ and the tilde.
_FUNCTIONS = dict(
    zip(
        (*range(0x3B, 0x45), 0x57, 0x58),
        (11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24),
        strict=True,
    )
)
# The number pad from its 7 to its point: what ends the sequence of the key beside it that has the
# same code and a prefix (a capital or a number), and what it types with Num Lock.
_PAD_ENDS: tuple[str | int, ...] = ("H", "A", 5, 0, "D", 0, "C", 0, "F", "B", 6, 2, 3)
_PAD = dict(zip(range(0x47, 0x54), zip(_PAD_ENDS, "789-456+1230.", strict=True), strict=True))
# Keys with which others are held: without the prefix, and with it; second: it is there twice, and
# this is the second.
_HELD = (
    {0x2A: ("SHIFT", False), 0x36: ("SHIFT", True), 0x1D: ("CONTROL", False), 0x38: ("ALT", False)},
    {0x1D: ("CONTROL", True), 0x38: ("ALT_GRAPH", False)},
)
_LOCKS = {0x3A: "LOCK_CAPITALS", 0x45: "LOCK_NUMBERS"}
_ENTER, _DIVIDE = 0x1C, 0x35
# What the table has room for.
_LARGEST = 0xF6FF


def us_keys() -> dict[str, int]:
    """Return the code of each key that a description may change, by its name."""
    keys = {name: first + place for first, row, _ in _ROWS for place, name in enumerate(row)}
    return keys | {EXTRA: _EXTRA_CODE}


def _mistake_of(keys: Mapping[object, object]) -> str | None:
    """Return what is wrong with the keys of a description, or None."""
    known = us_keys()
    for name, text in keys.items():
        if name not in known:
            return f'names the key "{name}"; keys are {"".join(list(known)[:-1])} and "{EXTRA}"'
        if not isinstance(text, str) or not 1 <= len(text) <= 3 or not text.isprintable():
            return (
                f'must have one to three characters for "{name}": alone, with Shift, and with AltGr'
            )
        if max(map(ord, text)) > _LARGEST:
            return f'has a character for "{name}" that is beyond the first 63,232 of Unicode'
    return None


def _check_keys(value: object) -> object:
    if isinstance(value, dict) and (mistake := _mistake_of(value)):
        raise ValueError(mistake)
    return value


Keys = Annotated[dict[str, str], BeforeValidator(_check_keys)]


def _letter(values: str) -> int:
    """Return the locks of a key: Caps Lock gives it its capital, if it has one."""
    alone, shifted = values[0], values[1:2]
    return abi()["LOCK_CAPITALS"] if alone != shifted and alone.upper() == shifted else 0


def _character_key(values: str) -> Key:
    numbers = [ord(character) for character in values] + [0, 0]
    return (numbers[0], numbers[1], numbers[2]), _letter(values)


def _same(value: int, locks: int = 0) -> Key:
    return (value, value, value), locks


def _sequence(end: str | int) -> int:
    """Return the value of a key that sends ESC [, and a capital or a number and a tilde."""
    code = ord(end) if isinstance(end, str) else end // 10 * 16 + end % 10
    return abi()["KEY_SEQUENCE"] + code if code else 0


def _held(name: str, second: bool) -> Key:
    bits = abi()[f"HELD_{name}"]
    first = bits & -bits
    return _same(abi()["KEY_HELD"] + (bits - first if second else first))


def _pad_key(end: str | int, typed: str) -> Key:
    alone = ord(typed) if typed in "-+" else _sequence(end)
    return (alone, ord(typed), alone), abi()["LOCK_NUMBERS"]


def _plain_keys(changed: Mapping[str, str]) -> dict[int, Key]:
    """Return the keys without a prefix."""
    keys = {code: _same(value) for code, value in _ALWAYS.items()}
    for first, row, shifted in _ROWS:
        for place, pair in enumerate(zip(row, shifted, strict=True)):
            keys[first + place] = _character_key("".join(pair))
    keys[_EXTRA_CODE] = _character_key(_EXTRA_VALUES)
    keys |= {code: _same(_sequence(number)) for code, number in _FUNCTIONS.items()}
    keys |= {code: _pad_key(*pair) for code, pair in _PAD.items()}
    keys |= {code: _held(*which) for code, which in _HELD[0].items()}
    keys |= {code: _same(abi()["KEY_LOCK"] + abi()[name]) for code, name in _LOCKS.items()}
    return keys | {us_keys()[name]: _character_key(text) for name, text in changed.items()}


def _prefixed_keys() -> dict[int, Key]:
    """Return the keys with one."""
    keys = {code: _same(_sequence(end)) for code, (end, _) in _PAD.items()}
    keys |= {code: _held(*which) for code, which in _HELD[1].items()}
    return keys | {_ENTER: _same(_ALWAYS[_ENTER]), _DIVIDE: _same(ord("/"))}


def layout(changed: Mapping[str, str]) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
    """Return all keys by their codes: those without the prefix, and those with it."""
    nothing = _same(0)
    halves = (_plain_keys(changed), _prefixed_keys())
    plain, prefixed = (
        tuple(keys.get(code, nothing) for code in range(abi()["KEYS"])) for keys in halves
    )
    return plain, prefixed
