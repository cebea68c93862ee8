# SPDX-License-Identifier: Apache-2.0
"""The operations of ping and TCP on the host: what a peer that is not as it should be comes to.

The peers speak as bench/lwip/services.c does, or wrongly. Nothing here looks at how long it takes.
"""

import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gandalf.bench import workload as bench_workload
from gandalf.bench.workload import INTERNET, INTERNET_PROGRAM, parse

PING, SEND, RECEIVE, ROUND_TRIP = (part.operation for part in INTERNET)
PORTS = {ROUND_TRIP: 5007, SEND: 5009, RECEIVE: 5019}
# An address of this process alone, so that tests that run at once do not meet.
HOST = f"127.{100 + os.getpid() % 100}.{os.getpid() // 100 % 250}.1"
PATTERN = bytes(range(256)) * 16
# Ends a connection by a reset.
AT_ONCE = struct.pack("ii", 1, 0)

Peer = Callable[[socket.socket], None]
program_ended = threading.Event()


def built(bits: int) -> Path:
    return bench_workload.build_programs(bits)["bin/bench"].with_name(INTERNET_PROGRAM)


@pytest.fixture(scope="module", params=[32, 64])
def program(request: pytest.FixtureRequest) -> Path:
    return built(request.param)


def bench(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


# --- Peers ---


def echo(connection: socket.socket) -> None:
    while data := connection.recv(4096):
        connection.sendall(data)


def echo_other(connection: socket.socket) -> None:
    while data := connection.recv(4096):
        connection.sendall(data[:-1] + b"!")


def sink(connection: socket.socket, less: int = 0, wrong: int = 0) -> None:
    count = 0
    while data := connection.recv(4096):
        begin = count % 256
        wrong += data != (PATTERN * 2)[begin : begin + len(data)]
        count += len(data)
    connection.sendall(struct.pack("<II", count - less, wrong))


def sink_less(connection: socket.socket) -> None:
    sink(connection, less=1)


def sink_wrong(connection: socket.socket) -> None:
    sink(connection, wrong=1)


def sink_mute(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def source(connection: socket.socket) -> None:
    while True:
        connection.sendall(PATTERN)


def source_other(connection: socket.socket) -> None:
    connection.sendall(PATTERN + PATTERN[1:])
    source(connection)


def end(connection: socket.socket) -> None:
    connection.recv(1)
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


def reset(connection: socket.socket) -> None:
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)


def silence(_: socket.socket) -> None:
    program_ended.wait()


def end_at_once(_: socket.socket) -> None:
    """End the connection, which is closed behind this."""


@contextmanager
def serving(port: int, peer: Peer) -> Iterator[None]:
    """Have a peer serve each connection to a port, one after the other."""
    listener = socket.create_server((HOST, port))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                peer(connection)

    program_ended.clear()
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        program_ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


# --- Tests ---


def test_it_knows_the_operations_of_the_tool(program: Path) -> None:
    assert bench(program, "list").stdout.split() == [part.operation for part in INTERNET]
    assert {part.program for part in INTERNET} == {program.name}


def check_operation(program: Path, operation: str, parts: int) -> None:
    """Do an operation with a peer that is as it should be."""
    done = bench(program, "sample", operation, "20", HOST)
    assert (done.returncode, done.stderr) == (0, "")
    (sample,) = parse(done.stdout).samples
    assert (sample.operation, sample.samples) == (operation, 20)
    assert 0 < sample.minimum <= sample.median <= sample.maximum
    (bracket,) = parse(bench(program, "count", operation, "5", HOST).stdout).brackets
    assert (bracket.operation, bracket.operations) == (operation, 5 * parts)


@pytest.mark.parametrize(
    ("operation", "peer", "parts"), [(ROUND_TRIP, echo, 1), (SEND, sink, 16), (RECEIVE, source, 16)]
)
def test_an_operation_does_what_it_says(
    program: Path, operation: str, peer: Peer, parts: int
) -> None:
    with serving(PORTS[operation], peer):
        check_operation(program, operation, parts)


def test_a_ping_is_answered(program: Path) -> None:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    except PermissionError:
        pytest.skip("raw sockets are root's, where a container leaves them to it")
    check_operation(program, PING, 1)


def complaint(program: Path, operation: str) -> str:
    """Return why there is no figure."""
    done = bench(program, "sample", operation, "1000", HOST)
    assert (done.returncode, done.stdout) == (1, "")
    return parse(done.stderr).complaints[operation]


@pytest.mark.parametrize("operation", PORTS)
def test_a_peer_that_refuses_is_no_result(program: Path, operation: str) -> None:
    assert complaint(program, operation) == "the RTOS refuses the connection"


@pytest.mark.parametrize(
    ("operation", "peer", "why"),
    [
        (ROUND_TRIP, echo_other, "something else comes back"),
        (ROUND_TRIP, end, "the RTOS has ended the connection"),
        (ROUND_TRIP, reset, "the connection is lost"),
        (SEND, sink_less, "not all bytes have come"),
        (SEND, sink_wrong, "other bytes have come"),
        (SEND, sink_mute, "the RTOS does not say what has come"),
        (SEND, end_at_once, "the connection is lost"),
        (RECEIVE, source_other, "other bytes come"),
        (RECEIVE, end_at_once, "the RTOS has ended the connection"),
    ],
)
def test_a_peer_that_does_wrong_is_no_result(
    program: Path, operation: str, peer: Peer, why: str
) -> None:
    with serving(PORTS[operation], peer):
        assert complaint(program, operation) == why


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (ROUND_TRIP, "nothing comes from the RTOS any more"),
        (SEND, "the RTOS takes nothing any more"),
        (RECEIVE, "nothing comes from the RTOS any more"),
    ],
)
def test_a_peer_that_falls_silent_is_no_result(operation: str, why: str) -> None:
    """It is waited for, so one program has to do."""
    with serving(PORTS[operation], silence):
        assert complaint(built(32), operation) == why


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "it needs the RTOS's address"),
        (("10.0.0",), "the RTOS's address is no address"),
        (("10.0.0.2.4",), "the RTOS's address is no address"),
    ],
)
def test_mistakes_are_sentences(program: Path, arguments: tuple[str, ...], why: str) -> None:
    done = bench(program, "sample", ROUND_TRIP, "1", *arguments)
    assert done.returncode == 1
    assert why in done.stderr
