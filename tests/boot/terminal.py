# SPDX-License-Identifier: Apache-2.0
"""Screen and keyboard of a machine in QEMU: what somebody who sits at it sees and presses."""

import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from gandalf.run.machine import Machine, Patience

from .systems import PATIENCE

COLUMNS, LINES = 80, 25
_SCREEN = 0xB8000
# The CRT controller's registers with the place of the cursor.
_CRTC, _CURSOR_HIGH, _CURSOR_LOW = 0x3D4, 0x0E, 0x0F
# A character's picture on QEMU's screen.
_WIDTH, _HEIGHT = 9, 16
# QEMU's names of keys on a US keyboard that are not their characters; with Shift in front.
_KEYS = {
    " ": "spc", "\n": "ret", "\t": "tab", "-": "minus", "=": "equal", "[": "bracket_left",
    "]": "bracket_right", ";": "semicolon", "'": "apostrophe", "\\": "backslash", ",": "comma",
    ".": "dot", "/": "slash", "`": "grave_accent",
}  # fmt: skip
_SHIFTED = dict(zip('!@#$%^&*()_+{}:"|<>?~', "1234567890-=[];'\\,./`", strict=True))


def key_of(character: str) -> str:
    """Return QEMU's words for the key of a character on a US keyboard."""
    if character.isupper() or character in _SHIFTED:
        return f"shift-{key_of(_SHIFTED.get(character, character.lower()))}"
    return _KEYS.get(character, character)


def press(machine: Machine, *keys: str) -> None:
    """Press keys one after the other, by QEMU's names of them."""
    machine.resume()  # a machine that stands still does not see them
    for key in keys:
        machine.hmp(f"sendkey {key} 1")


def type_in(machine: Machine, text: str) -> None:
    """Press the keys that type a text on a US keyboard."""
    press(machine, *map(key_of, text))


@dataclass(frozen=True)
class Screen:
    """The VGA's cells: characters by lines, without spaces at the end, and all colours."""

    lines: list[str]
    colours: bytes

    def place(self, text: str) -> tuple[int, int]:
        """Return line and column of a text's last occurrence."""
        line = max(number for number, shown in enumerate(self.lines) if text in shown)
        return line, self.lines[line].index(text)

    def colours_of(self, text: str) -> set[int]:
        """Return the colours of a text where it stands last."""
        line, column = self.place(text)
        start = line * COLUMNS + column
        return set(self.colours[start : start + len(text)])


def screen(machine: Machine) -> Screen:
    """Return what the screen shows."""
    cells = machine.memory(_SCREEN, 2 * COLUMNS * LINES)
    text = cells[::2].decode("cp437")
    lines = [text[i : i + COLUMNS].rstrip(" ") for i in range(0, len(text), COLUMNS)]
    return Screen(lines, cells[1::2])


def wait_for(machine: Machine, text: str, above: str = "") -> Screen:
    """Wait until a line of the screen has a text; return the screen, and have the machine stand.

    above: what the line above has then. Lines are drawn one by one, so one may be old.
    """
    patience = Patience(machine.emulator, PATIENCE)
    machine.resume()
    while not patience.is_over():
        shown = screen(machine)
        if any(above in one and text in two for one, two in pairwise(["", *shown.lines])):
            machine.pause()
            return shown
        time.sleep(0.05)
    raise AssertionError("\n".join(screen(machine).lines))


def wait_for_cursor(machine: Machine, line: int, column: int) -> None:
    """Wait until the cursor is somewhere, and have the machine stand."""
    patience = Patience(machine.emulator, PATIENCE)
    machine.resume()
    while cursor(machine) != (line, column):
        assert not patience.is_over(), cursor(machine)
        time.sleep(0.05)
    machine.pause()


def cursor(machine: Machine) -> tuple[int, int]:
    """Return line and column of the cursor that the VGA shows."""
    place = 0
    for register in (_CURSOR_HIGH, _CURSOR_LOW):
        machine.hmp(f"o /b {_CRTC:#x} {register:#x}")
        place = place << 8 | int(machine.hmp(f"i /b {_CRTC + 1:#x}").split("=")[1], 16)
    return divmod(place, COLUMNS)


def pictures(machine: Machine) -> dict[str, set[bytes]]:
    """Take a photograph of the screen; return the pictures that each character has on it.

    A picture is which of its dots are not black. The cell with the cursor is left out.
    """
    with tempfile.TemporaryDirectory(prefix="gandalf-screen-") as folder:
        path = Path(folder) / "screen.ppm"
        machine.hmp(f"screendump {path}")
        header, size, _, dots = path.read_bytes().split(b"\n", 3)
    assert (header, size) == (b"P6", b"%d %d" % (_WIDTH * COLUMNS, _HEIGHT * LINES))
    shown, hidden = screen(machine), cursor(machine)
    found: dict[str, set[bytes]] = {}
    for line, text in enumerate(shown.lines):
        for column, character in enumerate(text.ljust(COLUMNS)):
            if (line, column) != hidden:
                found.setdefault(character, set()).add(_picture(dots, line, column))
    return found


def _picture(dots: bytes, line: int, column: int) -> bytes:
    rows = []
    for row in range(line * _HEIGHT, (line + 1) * _HEIGHT):
        start = 3 * (row * _WIDTH * COLUMNS + column * _WIDTH)
        rows += [any(dots[at : at + 3]) for at in range(start, start + 3 * _WIDTH, 3)]
    return bytes(rows)
