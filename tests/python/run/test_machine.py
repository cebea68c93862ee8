# SPDX-License-Identifier: Apache-2.0
"""The test driver and `gandalf run` with real emulators, and a stand-in for the VMM."""

import fcntl
import os
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pexpect
import pytest

from gandalf.base.paths import UserError
from gandalf.build.build import Built, build
from gandalf.build.iso import make_iso
from gandalf.description.check import check
from gandalf.run import emulator as emulators
from gandalf.run.emulator import Emulator, Options, qemu_command
from gandalf.run.machine import Machine, MachineError, Patience
from gandalf.run.options import options_for

MARK = b"an older VMM"
# Seconds of the host, for hangs only.
LONG = 3600
SYSTEM = """\
[machine]
memory = "32M"
[[guest]]
name = "alpha"
kind = "rtos"
image = "./rtos.elf"
memory = "64K"
priority = 1
[[guest]]
name = "beta"
kind = "rtos"
image = "./rtos.elf"
memory = "64K"
priority = 2
"""

# Runs the command with the stand-in for the VMM.
RUN = """\
import sys
from pathlib import Path
from gandalf import cli
from gandalf.build import build, iso
from gandalf.base import paths
build.build_vmm = lambda *_: Path({vmm!r})
for module in (paths, build): module.BUILD = Path({folder!r})
build.system_folder = lambda path: Path({folder!r})
iso.system_folder = build.system_folder
cli.main()
"""


@pytest.fixture
def system(
    describe: Callable[[str], Path], folder: Path, dummy_vmm: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A description whose VMM is the stand-in; everything built lands in a scratch folder."""
    monkeypatch.setattr("gandalf.build.build.build_vmm", lambda *_: dummy_vmm)
    monkeypatch.setattr("gandalf.build.build.system_folder", lambda _: folder)
    monkeypatch.setattr("gandalf.build.iso.system_folder", lambda _: folder)
    return describe(SYSTEM)


@pytest.fixture(params=["qemu", "bochs"])
def machine(system: Path, request: pytest.FixtureRequest) -> Iterator[Machine]:
    """The stand-in in each emulator."""
    with Machine(system, emulator=request.param, ips=50_000_000) as running:
        running.expect("vmm", r"dummy ready\n", 120)
        yield running


def test_both_consoles_can_be_driven(machine: Machine) -> None:
    machine.send("alpha", "a")
    machine.expect("alpha", r"alpha got a\n")
    machine.expect("beta", r"^saw it\n")
    assert machine.focus == "alpha"
    machine.send("beta", "b")
    machine.expect("beta", r"beta got b\n")
    machine.expect("vmm", r"saw it")
    machine.send("alpha", "c")
    match = machine.expect("alpha", r"got (\w)\n")
    assert match[1] == "c"
    assert machine.text("beta").count("got") == 1
    machine.send("vmm", "q")
    assert machine.wait_off().clean
    assert machine.text("vmm").endswith("all guests are off\n$ ")


def test_an_error_of_the_vmm_is_not_a_clean_end(machine: Machine) -> None:
    machine.send("alpha", "e")
    machine.expect("vmm", r"the VMM stops: a test\n")
    outcome = machine.wait_off()
    assert not outcome.clean
    assert "last line says why" in outcome.sentence


def test_waiting_in_vain_shows_the_consoles(system: Path) -> None:
    with Machine(system) as machine:
        machine.expect("vmm", "dummy ready")
        with pytest.raises(MachineError, match=r"(?s)went by.*--- vmm, last lines:.*dummy ready"):
            machine.expect("alpha", "never", timeout=1)
        machine.send("alpha", "q")
        with pytest.raises(MachineError, match="machine ended before"):
            machine.expect("alpha", "never", timeout=LONG)


class Asleep:
    """In place of an emulator: its process computes, or sleeps."""

    def __init__(self) -> None:
        self.computed = self.waited = 0.0

    def cpu_time(self) -> float:
        return self.computed

    def waiting_time(self) -> float:
        return self.waited


@pytest.mark.parametrize(
    ("computes", "waits", "seconds"), [(1, 0, 11), (0, 0, 11), (0.5, 0.5, 21), (0, 1, 201)]
)
def test_how_long_it_is_waited(
    monkeypatch: pytest.MonkeyPatch, computes: float, waits: float, seconds: int
) -> None:
    """An emulator that sleeps has no more time than one that computes; one without a CPU has."""
    clock, emulator = [0.0], Asleep()
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    patience = Patience(cast(Emulator, emulator), 10)
    while not patience.is_over():
        clock[0] += 1
        emulator.computed += computes
        emulator.waited += waits
    assert clock[0] == seconds


def test_a_host_that_stood_still_used_no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    patience = Patience(cast(Emulator, Asleep()), 10)
    clock[0] = 100
    assert not patience.is_over()


def test_a_reset_is_not_a_clean_end(system: Path) -> None:
    with Machine(system) as machine:
        machine.send("alpha", "r")
        assert "was reset" in machine.wait_off().sentence


@pytest.mark.long
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_either_boots_from_the_image(system: Path, emulator: str) -> None:
    with Machine(system, emulator=emulator, from_iso=True, ips=50_000_000) as machine:
        machine.send("alpha", "q")
        assert machine.wait_off().clean


def test_the_monitor_and_memory(system: Path) -> None:
    with Machine(system) as machine:
        machine.expect("vmm", "ready")
        assert "EIP=" in machine.hmp("info registers")
        assert machine.memory(0x100000, 4) == (0x1BADB002).to_bytes(4, "little")
        assert len(machine.memory(0x100000, 100)) == 100


def test_the_module_is_passed_on(system: Path, folder: Path) -> None:
    with Machine(system) as machine:
        machine.expect("vmm", "ready")
        content = (folder / "system-deterministic.bin").read_bytes()
        assert content.startswith(b"GDFT")


def run(folder: Path, dummy_vmm: Path, *arguments: str) -> tuple[str, list[str]]:
    script = folder / "run.py"
    script.write_text(RUN.format(vmm=str(dummy_vmm), folder=str(folder)))
    return sys.executable, [str(script), *arguments]


def test_run_on_a_terminal(system: Path, folder: Path, dummy_vmm: Path) -> None:
    program, arguments = run(folder, dummy_vmm, "run", str(system))
    child: pexpect.spawn[str] = pexpect.spawn(program, arguments, encoding="utf-8", timeout=LONG)
    child.expect(r"Ctrl-A x: leave")
    child.expect(r"dummy ready")
    child.send("a")
    child.expect(r"alpha got a")
    child.expect(r"\[beta\].*saw it")
    child.send("\x01n")
    child.expect(r"\[console beta has the keyboard\]")
    child.send("\x01x")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


@pytest.mark.parametrize(("key", "status"), [("q", 0), ("e", 1), ("r", 1)])
def test_run_ends_with_the_machine(
    system: Path, folder: Path, dummy_vmm: Path, key: str, status: int
) -> None:
    program, arguments = run(folder, dummy_vmm, "run", str(system))
    child: pexpect.spawn[str] = pexpect.spawn(program, arguments, encoding="utf-8", timeout=LONG)
    child.expect(r"dummy ready")
    child.send(key)
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == status


def test_run_without_a_terminal(system: Path, folder: Path, dummy_vmm: Path) -> None:
    """However long that takes the host."""
    program, arguments = run(folder, dummy_vmm, "run", str(system), "--for", str(LONG))
    running = subprocess.Popen(
        [program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert running.stdout
    try:
        assert running.stdout.readline() == b"dummy ready\r\n"
    finally:
        running.terminate()
        running.wait()


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_the_emulator_ends_with_who_runs_it(
    system: Path, folder: Path, dummy_vmm: Path, emulator: str
) -> None:
    """Even if that is killed; Bochs goes on after SIGTERM."""
    program, arguments = run(folder, dummy_vmm, "run", str(system), "--emulator", emulator)
    running = subprocess.Popen(
        [program, *arguments, "--for", str(LONG)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert running.stdout
    assert running.stdout.readline() == b"dummy ready\r\n"
    threads = Path(f"/proc/{running.pid}/task").glob("*/children")
    children = " ".join(thread.read_text() for thread in threads).split()
    assert len(children) == 1
    running.kill()
    running.wait()
    while Path(f"/proc/{children[0]}").exists():
        time.sleep(0.01)


def test_run_for_a_time(system: Path, folder: Path, dummy_vmm: Path) -> None:
    program, arguments = run(folder, dummy_vmm, "run", str(system), "--for", "0.1")
    done = subprocess.run(
        [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"the time is over" in done.stderr


def test_an_image_for_a_real_machine(system: Path, folder: Path, dummy_vmm: Path) -> None:
    program, arguments = run(folder, dummy_vmm, "image", str(system))
    subprocess.run([program, *arguments], check=True, capture_output=True, timeout=LONG)
    image = folder / "gandalf-pc.iso"
    assert image.read_bytes()[0x8001:0x8006] == b"CD001"
    made = image.stat().st_mtime_ns
    subprocess.run([program, *arguments], check=True, capture_output=True, timeout=LONG)
    assert image.stat().st_mtime_ns == made


def test_an_image_is_of_the_vmm_that_it_is_made_for(system: Path, tmp_path: Path) -> None:
    """Even if that is older than the image."""
    built = build(system, lambda _: None)
    image = make_iso(built)
    older = tmp_path / "older.elf"
    older.write_bytes(built.vmm.read_bytes() + MARK)
    os.utime(older, (0, 0))
    assert make_iso(replace(built, vmm=older)) == image
    assert MARK in image.read_bytes()
    make_iso(built)
    assert MARK not in image.read_bytes()


# As many as the stand-in prints: more than a terminal or a socket has room for.
NUMBERS = "".join(f"{number}\n" for number in range(6000))


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_a_late_reader_misses_nothing(system: Path, emulator: str) -> None:
    """The stand-in prints while nobody reads, until it has done so or waits."""
    with Machine(system, emulator=emulator, ips=50_000_000) as machine:
        machine.expect("vmm", r"dummy ready\n")
        read, gate = machine.emulator.read, threading.Event()

        def read_late() -> bytes:
            gate.wait()
            return read()

        machine.emulator.read = read_late  # type: ignore[method-assign]
        machine.resume()
        machine.send_raw(b"m")
        open_when_still(machine.emulator.line, gate)
        assert machine.expect("alpha", r"numbers:\n((?:\d+\n)*)end\n")[1] == NUMBERS


def open_when_still(line: int, gate: threading.Event) -> None:
    """Wait until no more bytes come than wait to be read already."""
    before, now = -1, 0
    while now < len(NUMBERS) and (now == 0 or before != now):
        time.sleep(2)
        answer = fcntl.ioctl(line, termios.FIONREAD, bytes(4))
        before, now = now, int.from_bytes(answer, sys.byteorder)
    gate.set()


def test_the_emulators_have_no_other_serial_ports(describe: Callable[[str], Path]) -> None:
    text = SYSTEM + "[console]\nuart = {port = 0x3e8, interrupt = 5}\n"
    built = Built(check(describe(text)), Path("vmm"), Path("module"))
    with pytest.raises(UserError, match='"com1" and "com2"'):
        options_for(built, deterministic=False)


def test_command_line_of_qemu() -> None:
    options = Options(memory=64, kernel=Path("k"), module=Path("m"), uart="com2", gdb="unix:g")
    command = " ".join(qemu_command(options, Path("uart"), 4))
    assert "-m 64 -kernel k -initrd m" in command
    assert "-serial null -serial chardev:uart" in command
    assert "-icount shift=0,sleep=on" in command
    assert "-gdb unix:g -S" in command
    fixed = " ".join(qemu_command(Options(64, Path("k"), deterministic=True), Path("uart"), 4))
    assert "-icount shift=0,sleep=off -rtc base=2024-01-01T00:00:00,clock=vm -seed 1" in fixed


def test_several_cpus_of_qemu_run_in_threads_or_in_turn() -> None:
    several = Options(64, Path("k"), deterministic=True, cpus=2)
    threads = " ".join(qemu_command(several, Path("uart"), 4))
    assert "-accel tcg,thread=multi -smp 2,sockets=2" in threads
    assert "-icount" not in threads
    turns = " ".join(qemu_command(replace(several, in_turn=True), Path("uart"), 4))
    assert "-icount shift=0,sleep=off -accel tcg,thread=single -smp 2,sockets=2" in turns


def test_a_missing_emulator_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PATH", "/nowhere")
    with pytest.raises(UserError, match=r"There is no qemu-system-i386; run `tools/setup"):
        qemu_command(Options(64, Path("k")), Path("uart"), 4)


def test_qemu_may_end_while_it_greets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library of its monitor asserts that the connection outlives the greeting."""

    class Ended:
        def __init__(self, address: object) -> None:
            pass

        def connect(self) -> None:
            raise AssertionError

    monkeypatch.setattr(emulators, "QEMUMonitorProtocol", Ended)
    ended = object.__new__(emulators.Qemu)
    ended._monitor, ended._monitor_socket = None, socket.socket()
    for _ in range(2):
        with pytest.raises(ConnectionResetError):
            _ = ended.monitor
    assert ended.memory(0, 4) is None
