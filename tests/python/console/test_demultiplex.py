# SPDX-License-Identifier: Apache-2.0
"""What the VMM's own multiplexer puts together, the demultiplexer takes apart.

The stream comes from vmm/device/console_mux.c itself, built for the host.
"""

import ctypes

from hypothesis import given, settings
from hypothesis import strategies as st
from multiplexer import NAMES, Multiplexer

from gandalf.console.demultiplex import Demultiplexer

LINE_SIZE = 200


def collect(demultiplexer: Demultiplexer, pieces: list[bytes]) -> dict[str, bytes]:
    texts = dict.fromkeys(NAMES, b"")
    for piece in pieces:
        for name, text in demultiplexer.feed(piece):
            texts[name] += text
    return texts


def test_lines_of_others_leave_the_focused_console_alone(library: ctypes.CDLL) -> None:
    mux = Multiplexer(library)
    mux.type(b"\x01n")
    mux.write("linux", b"hello\r\n~ # ec")
    stream = mux.read()
    mux.write("rtos", b"tick 1\r\ntick 2\r\n")
    mux.write("vmm", b"a log line\r\n")
    stream += mux.read()
    mux.write("linux", b"ho\r\n")
    stream += mux.read()
    assert b"\r\x1b[K[rtos] tick 1\r\n~ # ec" in stream
    demultiplexer = Demultiplexer(NAMES)
    assert collect(demultiplexer, [stream]) == {
        "vmm": b"a log line\r\n",
        "linux": b"hello\r\n~ # echo\r\n",
        "rtos": b"tick 1\r\ntick 2\r\n",
    }
    assert demultiplexer.focus == "linux"


def test_the_line_drawn_again_after_a_change_of_focus_is_not_new(library: ctypes.CDLL) -> None:
    mux, demultiplexer = Multiplexer(library), Demultiplexer(NAMES)
    mux.type(b"\x01n")
    mux.write("linux", b"~ # ")
    before = collect(demultiplexer, [mux.read()])
    assert before["linux"] == b"~ # "
    mux.type(b"\x01n")
    mux.write("rtos", b"> ")
    away = collect(demultiplexer, [mux.read()])
    assert away["rtos"] == b"> "
    assert demultiplexer.focus == "rtos"
    mux.type(b"\x01n\x01n")
    back = collect(demultiplexer, [mux.read()])
    assert demultiplexer.focus == "linux"
    assert b"~ # " not in back["linux"]
    mux.write("linux", b"ls\r\n")
    assert collect(demultiplexer, [mux.read()])["linux"] == b"ls\r\n"


def test_help_belongs_to_no_console(library: ctypes.CDLL) -> None:
    mux = Multiplexer(library)
    mux.type(b"\x01n")
    mux.write("linux", b"~ # ")
    stream = mux.read()
    mux.type(b"\x01h")
    stream += mux.read()
    mux.write("linux", b"x\r\n")
    stream += mux.read()
    assert b"consoles:" in stream
    assert collect(Demultiplexer(NAMES), [stream]) == {
        "vmm": b"", "linux": b"~ # x\r\n", "rtos": b"",
    }  # fmt: skip


def test_a_line_of_the_focused_console_that_looks_like_a_name(library: ctypes.CDLL) -> None:
    mux = Multiplexer(library)
    mux.type(b"\x01n")
    text = b"[    0.00] booting\r\n[linux] me\r\n[nobody] x\r\n[console x has the keyboard]\r\n[rt"
    mux.write("linux", text + b"!")
    assert collect(Demultiplexer(NAMES), [mux.read()])["linux"] == text + b"!"


# No guest here writes what the VMM inserts: `[rtos] ` at the start of a line, or CAN CR LF.
# What happens: a console writes a piece of text, the keyboard moves, some output is taken.
PIECES = st.one_of(
    st.sampled_from(["\r\n", "\r\n", "\r\n\r\n", "\n", " [", "[rtos", "[linux", "[console ", "\t"]),
    st.sampled_from(["\u20ac", "\xe4", "\U0001f600"]),
    st.text(st.sampled_from("abc ,("), max_size=12),
    # Beyond what can be drawn again, and beyond what is inserted as one line.
    st.integers(1, 9).map(lambda times: "0123456789," * 7 * times),
).map(str.encode)
# What another console's line does not get to the screen with, but the focused console's does.
CONTROLS = st.one_of(
    st.sampled_from([b"\x07", b"\x18.", b"\r", b"\x1b", b"\x1b[31m", b"\x1b[6n", b"\x1b[K"]),
    st.sampled_from([b"\x1b]0;title\x07", b"\x1b]0;t", b"\x1b\\", b"\x08 \x08", b"\x00", b"\xff"]),
    st.binary(max_size=5).map(lambda data: data.replace(b"[", b"").replace(b"\x18", b"")),
)
WRITES = st.tuples(st.sampled_from(NAMES), PIECES)
MOVES = st.one_of(st.just("next"), st.just("help"), st.integers(1, 60), st.integers(1, 900))


def play(
    mux: Multiplexer, events: list[str | int | tuple[str, bytes]]
) -> tuple[bytes, dict[str, bytes]]:
    """Let the events happen; returns the stream, and what each console wrote."""
    written = dict.fromkeys(NAMES, b"")
    stream = b""
    for event in events:
        if event == "next":
            mux.type(b"\x01n")
        elif event == "help":
            mux.type(b"\x01h")
        elif isinstance(event, int):
            stream += mux.read(event)
        elif isinstance(event, tuple):
            name, text = event
            stream += mux.write(name, text)
            written[name] += text
    for name in NAMES:
        stream += mux.write(name, b".\r\n")
        written[name] += b".\r\n"
    return stream + mux.read(), written


def cut(stream: bytes, piece: int) -> list[bytes]:
    return [stream[at : at + piece] for at in range(0, len(stream), piece)]


@settings(max_examples=400)
@given(st.lists(st.one_of(WRITES, MOVES), max_size=60), st.integers(1, 40))
def test_every_byte_arrives_where_it_was_written(
    library: ctypes.CDLL, events: list[str | int | tuple[str, bytes]], piece: int
) -> None:
    """Long lines, line ends, lines left unfinished: nothing is lost, moved or added.

    As other consoles' line ends are CR LF on the screen, LF alone is not told from it.
    """
    stream, written = play(Multiplexer(library), events)
    texts = collect(Demultiplexer(NAMES), cut(stream, piece))
    assert {name: with_line_feeds(text) for name, text in texts.items()} == {
        name: with_line_feeds(text) for name, text in written.items()
    }


def with_line_feeds(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n")


@settings(max_examples=400)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("linux"), st.one_of(PIECES, CONTROLS)),
            st.tuples(st.sampled_from(["vmm", "rtos"]), PIECES),
            st.integers(1, 60),
            st.just("help"),
        ),
        max_size=60,
    ),
    st.integers(1, 40),
)
def test_the_focused_console_arrives_to_the_byte(
    library: ctypes.CDLL, events: list[str | int | tuple[str, bytes]], piece: int
) -> None:
    """Whatever it writes and however often others are inserted into its lines."""
    stream, written = play(Multiplexer(library), ["next", 1000, *events])
    texts = collect(Demultiplexer(NAMES), cut(stream, piece))
    assert texts["linux"] == written["linux"]
    for name in ("vmm", "rtos"):
        assert with_line_feeds(texts[name]) == with_line_feeds(written[name])


def test_a_line_that_cannot_be_drawn_again_stays_one_line(library: ctypes.CDLL) -> None:
    """What test_lines_of_consoles_are_never_mixed saw on a busy host: a line of 1,410 bytes."""
    text = b",".join(b"%d" % number for number in range(31, 401)) + b"\r\n"
    for at in (1, LINE_SIZE, LINE_SIZE + 1, 700, len(text) - 2, len(text) - 1):
        mux = Multiplexer(library)
        mux.type(b"\x01n")
        stream = mux.read()
        mux.write("linux", text[:at])
        stream += mux.read()
        mux.write("rtos", b"tick\r\n")
        stream += mux.read()
        mux.write("linux", text[at:])
        stream += mux.read()
        assert b"\r\n[rtos] tick\r\n" in stream or b"\x1b[K[rtos] tick\r\n" in stream
        texts = collect(Demultiplexer(NAMES), [stream])
        assert texts == {"vmm": b"", "linux": text, "rtos": b"tick\r\n"}


def test_a_line_end_behind_a_change_of_focus_is_not_lost(library: ctypes.CDLL) -> None:
    mux = Multiplexer(library)
    mux.type(b"\x01n")
    mux.write("linux", b"~ # echo")
    stream = mux.read()
    mux.type(b"\x01n")
    stream += mux.read()
    mux.write("linux", b"\r\nmore\r\n")
    stream += mux.read()
    assert collect(Demultiplexer(NAMES), [stream])["linux"] == b"~ # echo\r\nmore\r\n"


@given(st.binary(max_size=300), st.integers(1, 20))
def test_any_bytes_arrive_whatever_the_pieces(data: bytes, piece: int) -> None:
    stream = b"[console linux has the keyboard]\r\n" + data + b"\r\n."
    whole = collect(Demultiplexer(NAMES), [stream])
    pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    assert collect(Demultiplexer(NAMES), pieces) == whole
