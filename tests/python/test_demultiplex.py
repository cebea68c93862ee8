# SPDX-License-Identifier: Apache-2.0
"""What the VMM's own multiplexer puts together, the demultiplexer takes apart.

The stream comes from vmm/device/console.c itself, built for the host.
"""

import ctypes
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gandalf.demultiplex import Demultiplexer
from gandalf.paths import ROOT

NAMES = ["vmm", "linux", "rtos"]
LINE_SIZE = 200


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The VMM's multiplexer as a shared library."""
    output = tmp_path_factory.mktemp("console") / "console.so"
    names = ("device/console.c", "lib/format.c", "lib/math.c")
    sources = [ROOT / "vmm" / name for name in names]
    includes = [f"-I{ROOT / 'vmm'}", f"-I{ROOT}"]
    command = ["gcc", "-O1", "-shared", "-fPIC", *includes, *map(str, sources), "-o", str(output)]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(output))
    loaded.console_add.restype = ctypes.c_void_p
    return loaded


class Multiplexer:
    """The VMM's multiplexer with a few consoles."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._mux = ctypes.create_string_buffer(1 << 17)
        library.console_mux_init(self._mux)
        self._consoles = {
            name: ctypes.c_void_p(library.console_add(self._mux, name.encode())) for name in NAMES
        }

    def write(self, name: str, text: bytes) -> None:
        for byte in text:
            assert self._library.console_put(self._mux, self._consoles[name], byte)

    def type(self, keys: bytes) -> None:
        for key in keys:
            self._library.console_input(self._mux, key)

    def read(self, limit: int = 1 << 20) -> bytes:
        output = bytearray()
        while len(output) < limit:
            byte = self._library.console_output(self._mux)
            if byte < 0:
                break
            output.append(byte)
        return bytes(output)


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


# What happens: a console writes a piece of text, the keyboard moves, some output is taken.
WRITES = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from([b"", b"\r\n", b"\r\n", b"\x07", b"\x1b[31m", b"\r\n\r\n", b" [", b"[rtos"]),
    st.integers(0, 30),
)
EVENTS = st.one_of(WRITES, st.just("next"), st.just("help"), st.integers(1, 60))


def without_ends(text: bytes) -> bytes:
    return text.replace(b"\r", b"").replace(b"\n", b"")


def without_controls(text: bytes) -> bytes:
    """Return what is left of a text that was partly shown as lines of another console."""
    return without_ends(text).replace(b"\x07", b"").replace(b"\x1b[31m", b"")


@given(st.lists(EVENTS, max_size=60), st.integers(1, 40))
def test_everything_arrives_where_it_was_written(
    library: ctypes.CDLL, events: list[str | int | tuple[str, bytes, int]], piece: int
) -> None:
    mux = Multiplexer(library)
    written = dict.fromkeys(NAMES, b"")
    stream = b""
    for number, event in enumerate(events):
        if event == "next":
            mux.type(b"\x01n")
        elif event == "help":
            mux.type(b"\x01h")
        elif isinstance(event, int):
            stream += mux.read(event)
        elif isinstance(event, tuple):
            name, end, length = event
            # Numbered, so that no two lines are the same.
            text = b"%d:" % number + b"x" * length + end
            mux.write(name, text)
            written[name] += text
    for name in NAMES:
        mux.write(name, b"\r\n")
    stream += mux.read()
    pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    texts = collect(Demultiplexer(NAMES), pieces)
    assert {name: without_controls(text) for name, text in texts.items()} == {
        name: without_controls(text) for name, text in written.items()
    }


@given(st.binary(max_size=300), st.integers(1, 20))
def test_any_bytes_arrive_whatever_the_pieces(data: bytes, piece: int) -> None:
    stream = b"[console linux has the keyboard]\r\n" + data + b"\r\n."
    whole = collect(Demultiplexer(NAMES), [stream])
    pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    assert collect(Demultiplexer(NAMES), pieces) == whole


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=10))
def test_a_console_alone_arrives_to_the_byte(library: ctypes.CDLL, lines: list[bytes]) -> None:
    mux = Multiplexer(library)
    mux.type(b"\x01n")
    text = b"".join(
        b"|" + line.replace(b"\x18", b"").replace(b"\n", b"") + b"\r\n" for line in lines
    )
    if len(text) > LINE_SIZE or b"\x1b[K" in text:
        return
    mux.write("linux", text)
    assert collect(Demultiplexer(NAMES), [mux.read()])["linux"] == text
