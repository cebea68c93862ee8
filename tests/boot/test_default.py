# SPDX-License-Identifier: Apache-2.0
"""The default system: Linux and FreeRTOS side by side, each with its console and its work.

During each test here the RTOS must miss no activation.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gandalf.console.console import CTRL_A

from .systems import PATIENCE, PROMPT, Boot, describe, linux

STRESSORS = ("fork", "vm", "pipe", "switch", "mmap")
STRESS = "stress-ng --fork 4 --vm 2 --vm-bytes 16M --pipe 2 --switch 2 --mmap 2 --metrics-brief"


@pytest.fixture(autouse=True)
def _no_activation_is_missed(machine: Boot) -> Iterator[None]:
    with machine.rtos_undisturbed():
        yield


def test_all_three_consoles_speak(machine: Boot) -> None:
    assert re.match(r"Gandalf \d+\.\d+: 2 guests\n", machine.text("vmm"))
    assert machine.text("rtos").startswith("FreeRTOS V11.2.0 on Gandalf")
    assert "Linux version 6.1" in machine.text("linux")


def test_linux_is_the_real_one(machine: Boot) -> None:
    assert re.search(r"^Linux gandalf 6\.1\.\d+-gandalf .* i686", machine.shell("uname -a"), re.M)
    about = machine.shell("cat /proc/cpuinfo")
    assert "Pentium III" in about
    flags = re.search(r"^flags\s*: (.*)$", about, re.M)
    assert flags
    assert not {"sep", "smap", "smep", "umip", "vmx", "svm"} & set(flags[1].split())


def test_focus_cycles_through_the_consoles(machine: Boot) -> None:
    machine.select("linux")
    seen = [machine.next_console() for _ in range(6)]
    assert set(seen[:3]) == {"linux", "rtos", "vmm"}
    assert seen[2] == "linux"
    assert seen[3:] == seen[:3]


def test_keys_reach_the_focused_console_only(machine: Boot) -> None:
    machine.demo("help", r"^spin SECONDS: ")
    machine.vmm("help", r"^stop GUEST: ")
    assert "spin SECONDS" not in machine.text("linux") + machine.text("vmm")
    assert "stop GUEST" not in machine.text("linux") + machine.text("rtos")
    assert machine.shell("echo only $((6 * 7))") == "only 42\n"
    assert "only 42" not in machine.text("vmm") + machine.text("rtos")


def test_interrupts_of_linux_cost_no_access_to_its_8259s(machine: Boot) -> None:
    """Of the two ports each, by which Linux sets its timer anew, nothing is left but those."""
    assert re.search(r"^ *0: +\d+ +Gandalf +timer$", machine.shell("cat /proc/interrupts"), re.M)
    before = machine.counters()
    machine.shell("i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done", timeout=PATIENCE)
    moved = machine.counters() - before
    assert moved["timer_expiries"] > 50
    assert moved["port_accesses"] < 4 * moved["deliveries"]


def test_the_help_key_lists_keys_and_consoles(machine: Boot) -> None:
    machine.select("linux")
    machine.send_raw(CTRL_A + b"h")
    machine.shell("true")
    assert b"[Ctrl-A n: " in machine.stream
    consoles = re.search(rb"\[consoles: (.*)\]", machine.stream)
    assert consoles
    assert set(consoles[1].split()) == {b"vmm", b"rtos", b"linux", b"(keyboard)"}


def test_a_literal_ctrl_a_reaches_linux(machine: Boot) -> None:
    machine.skip("linux")
    machine.send("linux", "cat -v\n")
    machine.expect("linux", r"cat -v\n")
    machine.send("linux", "x\x01y\n")
    machine.expect("linux", r"^x\^Ay\n", PATIENCE)
    machine.send("linux", "\x04")
    machine.expect("linux", PROMPT, PATIENCE)


def test_lines_of_consoles_are_never_mixed(machine: Boot) -> None:
    """Linux prints for seconds, in pieces of lines, while the RTOS prints its own."""
    first = len(machine.latencies())
    start = len(machine.text("rtos"))
    output = machine.shell(
        "for i in $(seq 1 40); do printf 'start of %s, ' $i; usleep 60000; echo \"end of $i\"; "
        "seq -s , $i 400; done"
    )
    wanted = [
        line
        for i in range(1, 41)
        for line in (f"start of {i}, end of {i}", ",".join(map(str, range(i, 401))))
    ]
    assert output.splitlines() == wanted
    assert len(machine.latencies()) >= first + 2
    for line in machine.text("rtos")[start:].splitlines():
        assert re.fullmatch(r"activations=\d+ .* missed=0", line), line


def test_a_line_that_others_break_is_one_line(machine: Boot) -> None:
    """It takes seconds, so that the RTOS's lines come in its middle, whenever it is typed."""
    start = len(machine.stream)
    halves = [",".join(map(str, range(first, first + 10_000))) for first in (1, 10_001)]
    line = "seq -s , 1 10000 | tr -d '\\n'; sleep 2; seq -s , 10001 20000"
    assert machine.shell(line) == "".join(halves) + "\n"
    assert b"\x18\r\n[rtos] activations=" in machine.stream[start:]


def test_hackbench_runs(machine: Boot) -> None:
    machine.hackbench()
    machine.kernel_is_sane()


def test_cyclictest_runs(machine: Boot) -> None:
    output = machine.shell("cyclictest -q -p 80 -l 500")
    found = re.search(r"^T: 0 .* C: +(\d+) Min: +\d+ Act: +\d+ Avg: +\d+ Max: +\d+", output, re.M)
    assert found
    assert int(found[1]) == 500


def _stress(machine: Boot, seconds: int, timeout: float) -> None:
    output = machine.shell(f"{STRESS} -t {seconds}", timeout=timeout)
    assert "successful run completed" in output
    for stressor in STRESSORS:
        done = re.search(rf"metrc: \[\d+\] {stressor} +(\d+) ", output)
        assert done, f"{stressor} tells nothing"
        assert int(done[1]) > 0, f"{stressor} completed nothing"
    machine.kernel_is_sane()
    machine.hackbench()


def test_stress_ng_runs(machine: Boot) -> None:
    _stress(machine, 1, 600)


@pytest.mark.long
def test_stress_ng_runs_for_a_minute(machine: Boot) -> None:
    _stress(machine, 60, 1800)


def test_ctrl_c_interrupts_a_program(machine: Boot) -> None:
    machine.skip("linux")
    machine.send("linux", "sleep 100000; echo status=$?\n")
    machine.expect("linux", r"status=\$\?\n")
    machine.next_latency()
    machine.send("linux", "\x03")
    machine.expect("linux", rf"\^C\n(?:[^\n]*\n)*?[^\n]*{PROMPT}", PATIENCE)
    assert machine.shell("ps | grep -c '[s]leep 100000'", status=1) == "0\n"


def test_jobs_can_be_stopped_and_continued(machine: Boot) -> None:
    machine.skip("linux")
    machine.send("linux", "sleep 100000\n")
    machine.expect("linux", r"sleep 100000\n")
    machine.next_latency()
    machine.send("linux", "\x1a")
    machine.expect("linux", rf"Stopped[^\n]*\n[^\n]*{PROMPT}", PATIENCE)
    assert re.search(r"Stopped +sleep 100000", machine.shell("jobs"))
    machine.shell("bg")
    assert re.search(r"Running +sleep 100000", machine.shell("jobs"))
    machine.send("linux", "fg\n")
    machine.expect("linux", r"^sleep 100000\n", PATIENCE)
    machine.next_latency()
    machine.send("linux", "\x03")
    machine.expect("linux", PROMPT, PATIENCE)
    assert machine.shell("jobs") == ""


def test_the_clocks_go(machine: Boot) -> None:
    def read() -> tuple[float, float, float]:
        wall, uptime, clock = machine.shell("date +%s; cat /proc/uptime; hwclock -r").splitlines()
        rtc = datetime.strptime(" ".join(clock.split()[:5]), "%a %b %d %H:%M:%S %Y")
        return (
            float(wall),
            float(uptime.split()[0]),
            rtc.replace(tzinfo=UTC).timestamp(),
        )

    before = read()
    machine.shell("sleep 3")
    after = read()
    passed = after[1] - before[1]
    assert passed >= 3
    assert abs(after[0] - before[0] - passed) <= 1
    assert abs(after[2] - before[2] - passed) <= 1
    assert abs(after[2] - after[0]) <= 1
    assert machine.shell("date +%Y-%m-%d") == "2024-01-01\n"


def test_linux_has_idled(machine: Boot) -> None:
    """An idle Linux halts, and the machine's time goes on without instructions."""
    before = machine.counters()["halts"]
    machine.shell("sleep 2")
    assert machine.counters()["halts"] > before


@pytest.mark.parametrize(
    ("words", "shown"), [("", ["4"]), (" quiet", []), (" loglevel=7", ["6", "4"])]
)
def test_the_kernel_leaves_the_console_to_the_shell(words: str, shown: list[str]) -> None:
    """But for warnings. What it says of its clock some seconds later would be behind the prompt."""
    guest = linux(command_line=f"console=ttyS0{words}")
    with Boot.start(describe(f"quiet{len(words)}", guest)) as machine:
        machine.wait_for_prompt("linux")
        said = machine.shell('for n in 6 4; do echo "<$n>is level $n" > /dev/kmsg; done; sleep 1')
        assert re.findall(r"is level (\d)", said) == shown
        assert re.findall(r"is level (\d)", machine.shell("dmesg")) == ["6", "4"]
