# SPDX-License-Identifier: Apache-2.0
"""While others are muted the screen shows one console alone, and later all that they have said."""

import ctypes
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from multiplexer import NAMES, Multiplexer

from gandalf.console import mute as muting
from gandalf.console.mute import Mute


def begin(library: ctypes.CDLL) -> tuple[Multiplexer, Mute, bytes]:
    """Return consoles, and their mute that has seen Linux get the keyboard."""
    mux, mute = Multiplexer(library), Mute(NAMES)
    mux.type(b"\x01n")
    mux.write("linux", b"~ # vi")
    return mux, mute, mute.feed(mux.read())


def test_lines_of_others_come_when_they_are_heard_again(library: ctypes.CDLL) -> None:
    mux, mute, shown = begin(library)
    assert shown.endswith(b"~ # vi")
    assert mute.want(True) == b""
    mux.write("rtos", b"tick 1\r\n")
    mux.write("linux", b" x")
    mux.write("vmm", b"a log line\r\n")
    mux.write("rtos", b"tick 2\r\n")
    assert mute.feed(mux.read()) + mute.idle() == b" x"
    assert mute.want(False) == (
        b"\r\x1b[K[rtos] tick 1\r\n[vmm] a log line\r\n[rtos] tick 2\r\n~ # vi x"
    )
    mux.write("rtos", b"tick 3\r\n")
    stream = mux.read()
    assert mute.feed(stream) == stream
    assert b"[rtos] tick 3\r\n~ # vi x" in stream


def test_nothing_is_drawn_when_nobody_has_said_anything(library: ctypes.CDLL) -> None:
    mux, mute, _ = begin(library)
    mute.want(True)
    mux.write("linux", b"\x1b[2J\x1b[5;1Hhello")
    assert mute.feed(mux.read()) == b"\x1b[2J\x1b[5;1Hhello"
    assert mute.want(False) == b""


def test_a_line_that_is_half_shown_is_shown_to_its_end(library: ctypes.CDLL) -> None:
    mux, mute, _ = begin(library)
    mux.write("rtos", b"tick 1\r\n")
    stream = mux.read()
    middle = stream.index(b"tick")
    shown = mute.feed(stream[:middle])
    assert mute.want(True) == b""
    assert not mute.on
    assert shown + mute.feed(stream[middle:]) == stream
    assert mute.on


def test_hearing_again_waits_for_the_end_of_a_line(library: ctypes.CDLL) -> None:
    mux, mute, _ = begin(library)
    mute.want(True)
    mux.write("rtos", b"tick 1\r\n")
    stream = mux.read()
    assert mute.feed(stream[:9]) == b""
    assert mute.want(False) == b""
    assert mute.feed(stream[9:]) == b"\r\x1b[K[rtos] tick 1\r\n~ # vi"


def test_what_only_looks_like_the_start_of_a_line_is_shown_after_a_moment(
    library: ctypes.CDLL,
) -> None:
    mux, mute, _ = begin(library)
    mute.want(True)
    mux.write("linux", b"\r")
    assert mute.feed(mux.read()) == b""
    assert mute.waits
    assert mute.idle() == b"\r"
    assert not mute.waits


def test_the_oldest_lines_are_dropped_and_counted(library: ctypes.CDLL) -> None:
    _, mute, _ = begin(library)
    mute.want(True)
    for number in range(muting.HELD_MAXIMUM + 3):
        mute.hold(b"%d\r\n" % number)
    shown = mute.want(False)
    assert b"\r\x1b[K[3 lines of other consoles are lost]\r\n3\r\n4\r\n" in shown
    assert shown.endswith(b"10002\r\n~ # vi")


WRITES = st.tuples(
    st.sampled_from(NAMES), st.sampled_from([b"word", b"\r\n", b"\r", b"x" * 150, b"\x1b[K"])
)
_OTHERS = re.compile(rb"\[(rtos|vmm)\] ([^\r\n]*)\r\n")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(WRITES, st.booleans()), max_size=40), st.integers(1, 9))
def test_own_bytes_are_shown_at_once_and_every_line_of_others_in_the_end(
    library: ctypes.CDLL, steps: list[tuple[str, bytes] | bool], piece: int
) -> None:
    mux, mute, _ = begin(library)
    shown = sent = b""
    for step in steps:
        if isinstance(step, bool):
            shown += mute.want(step)
            continue
        name, text = step
        stream = mux.write(name, text) + mux.read()
        was_on, now = mute.on, b""
        for start in range(0, len(stream), piece):
            now += mute.feed(stream[start : start + piece])
        now += mute.idle()
        if was_on:
            assert now == (text if name == "linux" else b"")
        shown, sent = shown + now, sent + stream
    shown += mute.want(False)
    assert _OTHERS.findall(shown) == _OTHERS.findall(sent)
