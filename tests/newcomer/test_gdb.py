# SPDX-License-Identifier: Apache-2.0
"""`gandalf gdb` through gdb's machine interface: a guest alone is seen, where its source says."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pygdbmi.gdbcontroller import GdbController

from gandalf.base.paths import BUILD, ROOT

# Seconds of the host's clock for one answer; for hangs only.
_PATIENCE = 300
_RING_3_AND_1 = {1, 3}
# As /proc/net/tcp has them: 127.0.0.1, and the state of a socket that waits for connections.
_LOCALHOST, _LISTENS = "0100007F", "0A"


class Session:
    """gdb, with a guest that stands at its first instruction."""

    def __init__(self, gdb: GdbController) -> None:
        self._gdb = gdb
        self._held: list[dict[str, Any]] = gdb.get_gdb_response(_PATIENCE)
        self._until("notify", "stopped")

    def _until(self, kind: str, *messages: str) -> dict[str, Any]:
        """Wait for a record, and forget it and what came before it."""
        end = time.monotonic() + _PATIENCE
        while True:
            for number, record in enumerate(self._held):
                if record["type"] == kind and record["message"] in messages:
                    del self._held[: number + 1]
                    return record
            assert time.monotonic() < end, f"gdb does not say {messages}: {self._held}"
            self._held += self._gdb.get_gdb_response(5, raise_error_on_timeout=False)

    def do(self, command: str) -> dict[str, Any]:
        """Give a command, and return what it results in."""
        self._gdb.write(command, read_response=False)
        record = self._until("result", "done", "running", "error")
        assert record["message"] != "error", record
        return dict(record["payload"] or {})

    def run(self, command: str = "-exec-continue") -> dict[str, Any]:
        """Let the guest run until it stops, and return where."""
        self.do(command)
        return dict(self._until("notify", "stopped")["payload"])

    def value(self, expression: str) -> str:
        return str(self.do(f'-data-evaluate-expression "{expression}"')["value"])

    def frames(self) -> list[str]:
        stack = self.do("-stack-list-frames")["stack"]
        return [frame.get("func", "?") for frame in stack]


COMMAND = (sys.executable, "-m", "gandalf.cli")


@contextmanager
def debugging(system: Path, guest: str, command: Sequence[str] = COMMAND) -> Iterator[Session]:
    """Debug a guest of a system. Leaving ends gdb, and the machine with it."""
    words = [*command, "gdb", str(system), guest, "--deterministic"]
    gdb = GdbController([*words, "--", "--interpreter=mi3", "-nx"])
    try:
        yield Session(gdb)
    finally:
        gdb.write("-gdb-exit", read_response=False)
        process = gdb.gdb_process
        assert process is not None
        try:
            process.wait(_PATIENCE)
        finally:
            gdb.exit()


# Where a FreeRTOS has the only CPU, and where two have one each, with the tasks of the demo.
TASKS = {"periodic", "IDLE", "float", "console", "measurement"}
FREERTOS = [
    ("freertos", "rtos", TASKS),
    ("cores-freertos", "commander", TASKS | {"control"}),
    ("cores-freertos", "motor", TASKS | {"control"}),
    ("two-level", "rtos", TASKS),
]


@pytest.mark.parametrize(
    ("name", "guest", "tasks"), FREERTOS, ids=["one", "first_of_two", "second_of_two", "two_levels"]
)
def test_a_freertos_guest_and_its_tasks(name: str, guest: str, tasks: set[str]) -> None:
    with debugging(ROOT / "systems" / f"{name}.toml", guest) as session:
        assert session.frames() == ["guest_start"]
        session.do("-break-insert main")
        assert session.run()["frame"]["func"] == "main"
        assert session.run("-exec-next")["frame"]["func"] == "main"
        session.do("-break-insert xTaskDelayUntil")
        for _ in range(3):
            stop = session.run()
            assert stop["frame"]["func"] == "xTaskDelayUntil"
            assert {"name": "xTimeIncrement", "value": "1"} in stop["frame"]["args"]
        assert session.frames() == ["xTaskDelayUntil", "periodic_run", "port_task_end"]
        assert "periodic" in session.value("pxCurrentTCB->pcTaskName")
        # The VMM serves the hypercall by which the guest halts, and is not to be seen.
        threads = session.do("-thread-info")["threads"]
        assert {thread["name"] for thread in threads} == tasks
        console = next(thread for thread in threads if thread["name"] == "console")
        session.do(f"-thread-select {console['id']}")
        assert session.frames()[-2:] == ["console_run", "port_task_end"]
        session.do("-break-delete")
        session.do("-break-insert vApplicationIdleHook")
        assert session.run()["frame"]["func"] == "vApplicationIdleHook"
        session.do("-break-delete")
        for _ in range(12):
            session.run("-exec-step-instruction")
            assert int(session.value("$cs")) & 3 in _RING_3_AND_1


def describe_bare(folder: Path, name: str, cpu: int = 0) -> Path:
    """Describe a machine with one bare guest of guest/tests, called "bare"."""
    system = folder / "bare.toml"
    system.write_text(
        f'[machine]\nmemory = "64M"\ncpus = {cpu + 1}\n\n[[guest]]\nname = "bare"\n'
        f'kind = "rtos"\ncpu = {cpu}\nimage = "{BUILD}/tests/{name}.elf"\n'
        'memory = "256K"\npriority = 10\n'
    )
    return system


def test_a_bare_guest(tmp_path: Path) -> None:
    """It counts the interrupts of its timer, and prints how many there were: 1000 at first."""
    with debugging(describe_bare(tmp_path, "heartbeat"), "bare") as session:
        assert session.frames() == ["guest_start"]
        session.do("-break-insert main")
        stop = session.run()
        assert stop["frame"]["func"] == "main"
        assert stop["frame"]["file"].endswith("heartbeat.c")
        for _ in range(12):
            before = session.value("$pc")
            session.run("-exec-step-instruction")
            assert session.value("$pc") != before
            assert int(session.value("$cs")) & 3 in _RING_3_AND_1
        assert session.value("interrupt_count[0x30]") == "0"
        session.do("-break-insert print")
        for beats in (1000, 2000):
            stop = session.run()
            assert stop["frame"]["func"] == "print"
            assert "beats=%u missed=%u" in str(stop["frame"]["args"])
            assert session.frames() == ["print", "main"]
            assert session.value("interrupt_count[0x30]") == str(beats)


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_guest_that_the_vmm_stops_is_at_its_mistake(tmp_path: Path, cpu: int) -> None:
    system = describe_bare(tmp_path, "bad-divide", cpu)
    with debugging(system, "bare") as session:
        stop = session.run()
        assert stop["signal-name"] == "SIGABRT"
        assert session.frames() == ["commit_divide", "main"]


def test_a_uitron_guest_hits_breakpoints_where_its_source_says() -> None:
    with debugging(ROOT / "systems" / "uitron.toml", "rtos") as session:
        session.do("-break-insert slp_tsk")
        stop = session.run()
        assert stop["frame"]["func"] == "slp_tsk"
        assert stop["frame"]["file"].endswith(".c")
        assert session.frames() == ["slp_tsk", "periodic_run", "context_task_end"]
        assert session.value("running->priority").startswith("2")
        before = int(session.value("(unsigned int)$pc"))
        session.run("-exec-next-instruction")
        assert int(session.value("(unsigned int)$pc")) != before


@pytest.mark.parametrize(
    ("name", "guest"), [("default", "linux"), ("cores-linux", "linux2")], ids=["one", "second"]
)
def test_a_linux_kernel(name: str, guest: str) -> None:
    """By its debug information, which stands in a file of its own: lines, frames and types."""
    with debugging(ROOT / "systems" / f"{name}.toml", guest) as session:
        session.do("-break-insert start_kernel")
        frame = session.run()["frame"]
        assert frame["func"] == "start_kernel"
        assert frame["file"].endswith("init/main.c")
        assert "Linux version 6.1" in session.value("linux_banner")
        assert "swapper" in session.value("init_task.comm")
        for _ in range(10):
            session.run("-exec-next-instruction")
            assert int(session.value("$cs")) & 3 == 1
        session.do("-break-delete")
        session.do("-break-insert vfs_read")
        session.run()
        assert session.frames()[:2] == ["vfs_read", "ksys_read"]
        assert "do_int80_syscall_32" in session.frames()
        assert int(session.value("count")) > 0
        assert session.run("-exec-finish")["frame"]["func"] == "ksys_read"
        assert session.run("-exec-next")["frame"]["func"] == "ksys_read"


def family(process: int) -> Iterator[int]:
    """Yield a process and all those that it has started, and those these have."""
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        children = ""
        with contextlib.suppress(OSError):  # it has ended meanwhile
            children = task.read_text()
        for child in children.split():
            yield from family(int(child))


def sockets_of(process: int) -> set[str]:
    """Return the inodes of a process' sockets."""
    found = set()
    for link in Path(f"/proc/{process}/fd").glob("*"):
        with contextlib.suppress(OSError):  # it has been closed meanwhile
            found.add(str(link.readlink()))
    return {name[len("socket:[") : -1] for name in found if name.startswith("socket:[")}


def listening(process: int) -> set[tuple[str, int]]:
    """Return the addresses and ports at which a process and its family accept TCP connections."""
    inodes = set().union(*map(sockets_of, family(process)))
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text().splitlines()[1:] if table.exists() else []:
            _, local, _, state, *rest = line.split()
            if state == _LISTENS and rest[5] in inodes:
                address, _, port = local.partition(":")
                found.add((address, int(port, 16)))
    return found


@pytest.mark.parametrize(
    "words", [["run", "--gdb"], ["gdb", "rtos", "--port"]], ids=["vmm", "guest"]
)
def test_nobody_but_users_of_this_machine_reaches_a_debuggers_port(words: list[str]) -> None:
    verb, *options = words
    port = 1234
    if verb == "gdb":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options.append(str(port))
    command = [*COMMAND, verb, str(ROOT / "systems" / "freertos.toml"), *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        try:
            assert running.stderr is not None
            assert any(line.startswith(b"gandalf: waiting: gdb ") for line in running.stderr)
            end, found = time.monotonic() + _PATIENCE, set[tuple[str, int]]()
            while not found and time.monotonic() < end:
                found = listening(running.pid)
                time.sleep(0.1)
            assert found == {(_LOCALHOST, port)}
        finally:
            running.terminate()


def test_a_guest_with_several_vcpus_is_refused() -> None:
    words = [*COMMAND, "gdb", str(ROOT / "systems" / "cores-smp.toml"), "linux"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "linux has several vCPUs, and gandalf gdb debugs guests with one." in done.stderr
