# SPDX-License-Identifier: Apache-2.0
"""The terminal's size is told to consoles that ask, and to them alone."""

import pytest

from gandalf.console.window import REQUEST, Window


def test_nobody_is_told_who_has_not_asked() -> None:
    window = Window()
    window.watch(b"\x1b]7473;other\x07", "linux")
    assert window.answer("linux", 100, 30) == b""


@pytest.mark.parametrize("piece", range(1, len(REQUEST) + 2))
def test_who_has_asked_is_told_once_and_at_each_change(piece: int) -> None:
    window, stream = Window(), b"hello" + REQUEST + b"~ # "
    for start in range(0, len(stream), piece):
        window.watch(stream[start : start + piece], "linux")
    assert window.answer("rtos", 100, 30) == b""
    assert window.answer("linux", 100, 30) == b"\xff30;100t"
    assert window.answer("linux", 100, 30) == b""
    assert window.answer("linux", 80, 24) == b"\xff24;80t"


def test_a_next_life_asks_again() -> None:
    window = Window()
    for _ in range(2):
        window.watch(REQUEST, "linux")
        assert window.answer("linux", 100, 30) == b"\xff30;100t"


def test_a_terminal_without_a_size_has_none_to_tell_and_a_large_one_has_four_digits() -> None:
    window = Window()
    window.watch(REQUEST, "linux")
    assert window.answer("linux", 0, 0) == b""
    assert window.answer("linux", 65535, 30) == b"\xff30;9999t"
