# SPDX-License-Identifier: Apache-2.0
"""What is read does not depend on the pieces in which it comes: a busy host decides on those."""

import re
from unittest.mock import Mock

from hypothesis import given
from hypothesis import strategies as st

from gandalf.run.machine import _Console
from gandalf.run.terminal import Terminal

BYTES = st.lists(
    st.sampled_from(
        [b"\r", b"\n", b"\r\n", b"\x1b", b"\x1b[6n", b"\x1b[", b"6", b"n", b"a", b"\xe2\x82\xac",
         "\U0001f600".encode(), b"\xe4", b"\x80", b"\xff"]
    )
).map(b"".join)  # fmt: skip


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(BYTES, st.integers(1, 7))
def test_a_console_has_the_same_text_whatever_the_pieces(data: bytes, size: int) -> None:
    data += b"."
    whole, cutted = _Console(), _Console()
    whole.add(data)
    for piece in cut(data, size):
        cutted.add(piece)
    assert cutted.text == whole.text == re.sub(r"\r+\n", "\n", data.decode("utf-8", "replace"))


@given(BYTES, st.integers(1, 7))
def test_a_terminal_has_the_same_text_whatever_the_pieces(data: bytes, size: int) -> None:
    data += b".."
    terminal = Terminal(Mock(), "# ")
    pieces = "".join(terminal._decode(piece) for piece in cut(data, size))
    assert pieces == Terminal(Mock(), "# ")._decode(data)
