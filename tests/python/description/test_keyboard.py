# SPDX-License-Identifier: Apache-2.0
"""The keyboard's layout: the table that the VMM gets, and what a description changes in it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.build.profile import profile_for
from gandalf.description.check import check
from gandalf.description.compose import compose
from gandalf.description.keyboard import EXTRA, Key, layout, us_keys
from gandalf.description.owners import interrupt_owners, vmm_ports
from gandalf.description.table import unpack

Describe = Callable[[str], Path]
SCREEN = "[console]\nscreen = true\n"
ALONE, SHIFT = 0, 1


def typed(keys: tuple[Key, ...], code: int, level: int = ALONE) -> int:
    return keys[code][0][level]


def test_a_us_keyboard_types_what_is_on_it() -> None:
    plain, _ = layout({})
    for name, code in us_keys().items():
        if name != EXTRA:
            assert typed(plain, code) == ord(name)
    shifted = "".join(chr(typed(plain, code, SHIFT)) for code in us_keys().values())
    assert shifted == '!@#$%^&*()_+QWERTYUIOP{}ASDFGHJKL:"~|ZXCVBNM<>?>'
    # Each printable character of ASCII is there, the space among them.
    both = {typed(plain, code, level) for code in range(abi()["KEYS"]) for level in (0, 1)}
    assert set(range(0x20, 0x7F)) <= both


def test_letters_alone_mind_caps_lock_and_the_number_pad_num_lock() -> None:
    plain, prefixed = layout({})
    letters = [name for name, code in us_keys().items() if plain[code][1]]
    assert "".join(sorted(letters)) == "abcdefghijklmnopqrstuvwxyz"
    numbers = [code for code, key in enumerate(plain) if key[1] == abi()["LOCK_NUMBERS"]]
    assert "".join(chr(typed(plain, code, SHIFT)) for code in numbers) == "789-456+1230."
    assert not any(locks for _, locks in prefixed)


def test_keys_beside_the_number_pad_are_its_own_without_num_lock() -> None:
    plain, prefixed = layout({})
    sequence = abi()["KEY_SEQUENCE"]
    arrow_up, delete = 0x48, 0x53
    assert typed(plain, arrow_up) == typed(prefixed, arrow_up) == sequence + ord("A")
    assert typed(plain, delete) == typed(prefixed, delete) == sequence + 3
    f12 = 0x58
    assert typed(plain, f12) == sequence + 0x24


def test_keys_that_are_held_have_bits_of_their_own() -> None:
    halves = layout({})
    held = [value for keys in halves for (value, _, _), _ in keys
            if value >> 8 == abi()["KEY_HELD"] >> 8]  # fmt: skip
    bits = [value & 0xFF for value in held]
    assert sorted(bits) == [1, 2, 4, 8, 16, 32]
    assert all(typed(keys, 0x1D) for keys in halves)


def test_a_description_changes_keys(describe: Describe) -> None:
    german = '[console.keys]\ny = "zZ"\n2 = "2\\"²"\ne = "eE€"\n"[" = "üÜ"\nextra = "<>|"\n'
    table = unpack(compose(check(describe(GOOD + SCREEN + german))))
    assert table.flags & abi()["TABLE_SCREEN"]
    plain, prefixed = table.keys
    assert prefixed == layout({})[1]
    codes = us_keys()
    assert plain[codes["y"]] == ((ord("z"), ord("Z"), 0), abi()["LOCK_CAPITALS"])
    assert plain[codes["2"]] == ((ord("2"), ord('"'), ord("²")), 0)
    assert plain[codes["e"]][0][2] == ord("€")
    assert plain[codes["["]] == ((ord("ü"), ord("Ü"), 0), abi()["LOCK_CAPITALS"])
    assert plain[codes["q"]] == layout({})[0][codes["q"]]


def test_without_a_screen_there_is_no_layout(describe: Describe) -> None:
    table = unpack(compose(check(describe(GOOD))))
    assert table.keys == ()
    assert not table.flags & abi()["TABLE_SCREEN"]


def test_screen_and_keyboard_are_the_vmms(describe: Describe) -> None:
    system = check(describe(GOOD + SCREEN)).system
    assert system.messages() == []
    assert interrupt_owners(system)[1] == ("IRQ 1", "keyboard of the consoles", "VMM")
    assert "screen of the consoles" in [what for _, what in vmm_ports(system)]
    assert profile_for(system).name == "screen"


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("screen = true", "screen = 1", "`screen` must be true or false"),
        ("screen = true", 'keys = {y = "z"}', "`keys` is for `screen = true` only"),
        ("screen = true", 'screen = true\nkeys = "de"', "`keys` must be a table"),
        (
            "screen = true",
            'screen = true\nkeys = {"ü" = "z"}',
            'names the key "ü"; keys are 1234',
        ),
        ("screen = true", 'screen = true\nkeys = {y = ""}', "one to three characters"),
        (
            "screen = true",
            'screen = true\nkeys = {y = "abcd"}',
            "one to three characters",
        ),
        (
            "screen = true",
            'screen = true\nkeys = {y = "\\n"}',
            "one to three characters",
        ),
        ("screen = true", "screen = true\nkeys = {y = 1}", "one to three characters"),
        (
            "screen = true",
            'screen = true\nkeys = {y = "\\U0001F600"}',
            "beyond the first 63,232",
        ),
        (
            "screen = true",
            "screen = true\nuart = {port = 1000, interrupt = 1}",
            "the keyboard's",
        ),
        (
            'kind = "linux"',
            'kind = "linux"\ninterrupts = [1]',
            "IRQ 1, the keyboard of the cons",
        ),
        (
            'kind = "linux"',
            'kind = "linux"\nports = ["0x3d4-0x3d5"]',
            "is the screen of the con",
        ),
    ],
)
def test_mistakes(describe: Describe, old: str, new: str, part: str) -> None:
    text = GOOD + SCREEN
    messages = check(describe(text.replace(old, new, 1))).system.messages()
    assert [part in message for message in messages] == [True], messages


def test_a_linux_with_the_machine_to_itself_has_the_screen(describe: Describe) -> None:
    alone = re.sub(r"\[\[guest\]\]\nname = \"rtos\".*", "", GOOD, flags=re.S)
    alone = alone.replace('kind = "linux"', 'kind = "linux"\nmode = "dedicated"')
    messages = check(describe(alone + SCREEN)).system.messages()
    assert [m.partition(": ")[2] for m in messages] == [
        "Remove `screen`: linux has the machine for itself."
    ]


def test_the_layout_in_the_documentation_is_right(describe: Describe) -> None:
    text = (ROOT / "docs" / "consoles.md").read_text()
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert example is not None
    assert check(describe(GOOD + example[1])).system.messages() == []
