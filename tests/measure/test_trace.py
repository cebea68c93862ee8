# SPDX-License-Identifier: Apache-2.0
"""`gandalf trace` on whole systems: what the VMM wrote down and what the plug-in saw agree."""

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gandalf.base.paths import ROOT
from gandalf.build.build import build_vmm
from gandalf.build.symbols import apic_vector, vector_text
from gandalf.measure.ring import Event, Ring, read_layout
from gandalf.measure.trace import Names, Timeline, records

VMM, INTERRUPTS, MASKED = "entries into the VMM", "interrupts", "interrupts masked"
TIMER = vector_text(apic_vector("TIMER"))


class Shown:
    """The events of a file by track, without the names of the tracks. process: whose they are."""

    def __init__(self, path: Path, process: str = "Gandalf") -> None:
        every = json.loads(path.read_text())["traceEvents"]
        (number,) = {
            row["pid"]
            for row in every
            if row["name"] == "process_name" and row["args"]["name"] == process
        }
        every = [row for row in every if row["pid"] == number]
        self.all = [row for row in every if row["ph"] != "M"]
        self._tracks = {
            row["args"]["name"]: row["tid"] for row in every if row["name"] == "thread_name"
        }

    def of(self, track: str, phase: str = "X") -> list[dict[str, Any]]:
        number = self._tracks.get(track)
        return [row for row in self.all if row["tid"] == number and row["ph"] == phase]


def trace(
    system: str, output: Path, *arguments: str, check: bool = True
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gandalf.cli", "trace", f"systems/{system}.toml"]
    return subprocess.run(
        [*command, "--output", str(output), *arguments],
        cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=check,
    )  # fmt: skip


def latency(shown: Shown, name: str) -> set[int]:
    """Return how many ns before the events of a name a window began that they lie in."""
    return {
        round((row["ts"] - window["ts"]) * 1000)
        for row in (*shown.of(VMM, "i"), *shown.of(INTERRUPTS, "i"))
        if row["name"] == name
        for window in shown.of(MASKED)
        if window["ts"] <= row["ts"] <= window["ts"] + window["dur"]
    }


def test_the_layout_is_the_one_of_the_header() -> None:
    layout = read_layout(build_vmm())
    assert (layout.capacity, layout.event.size, layout.ring.size) == (1024, 20, 4 + 1024 * 20)
    assert layout.rings(2).size == 3 * layout.ring.size
    places = {name: (place.offset, place.size) for name, place in layout.event.members.items()}
    assert places == {
        "time": (0, 8), "type": (8, 2), "vcpu": (10, 2), "first": (12, 4), "second": (16, 4),
    }  # fmt: skip
    text = (ROOT / "abi" / "control.h").read_text().partition("GANDALF_TRACE_LIST")[2]
    assert list(layout.names["trace_type"].values()) == re.findall(r"^\tX\((\w+),", text, re.M)
    assert layout.names["decoded_operation"][14] == "HLT"
    # In the words of abi/control.h: off, could go on, halted, paused.
    assert list(layout.names["vcpu_state"].values()) == ["OFF", "RUNNING", "HALTED", "PAUSED"]
    assert all(1 << 20 <= place.offset < 4 << 20 for place in layout.variables.values())


def test_every_event_of_the_vmm_is_known() -> None:
    """An event that is new in abi/control.h has to be shown."""
    layout = read_layout(build_vmm())
    names = Names(("rtos",), frozenset(("rtos",)), layout.names, lambda *_: None)
    for kind in layout.names["trace_type"].values():
        assert records(Timeline(Ring((Event(1, kind, 0, 0, 0),), False, 1_000_000), names))


def test_an_rtos_alone(tmp_path: Path) -> None:
    """Its tick is 1 ms. Each trap lies in a window, at the same instruction of it."""
    output = tmp_path / "out.json"
    done = trace("freertos", output, "--for", "0.05", "--threshold", "1")
    assert "ms after the machine's start" in done.stderr
    shown = Shown(output)
    assert [row["ts"] for row in shown.all] == sorted(row["ts"] for row in shown.all)
    ticks = [row["ts"] for row in shown.of("rtos", "i") if row["name"] == "deliver timer"]
    assert 45 <= len(ticks) <= 55
    assert all(later - earlier == pytest.approx(1000, abs=50) for earlier, later in pairwise(ticks))
    turns = shown.of("rtos")
    # But for what is cut off.
    assert {row["args"]["left"] for row in turns[1:-1]} == {"halted"}
    assert all(any(0 <= tick - row["ts"] <= row["dur"] for row in turns) for tick in ticks)
    assert len(shown.of("idle")) >= len(ticks)
    interrupts = latency(shown, TIMER)
    assert interrupts
    assert max(interrupts) - min(interrupts) <= 2
    assert max(interrupts) < 200


def test_no_event_is_lost_in_three_seconds(tmp_path: Path) -> None:
    """The ring holds a twelfth of them."""
    output = tmp_path / "out.json"
    done = trace("freertos", output, "--for", "3")
    assert "all there were" in done.stderr
    assert json.loads(output.read_text())["otherData"]["complete"]
    shown = Shown(output)
    ticks = [row["ts"] for row in shown.of("rtos", "i") if row["name"] == "deliver timer"]
    assert 2995 <= len(ticks) <= 3005
    assert all(later - earlier == pytest.approx(1000, abs=50) for earlier, later in pairwise(ticks))


@pytest.mark.parametrize(
    ("system", "guest", "periodic", "idle"),
    [("freertos", "rtos", "periodic", "IDLE"), ("uitron", "rtos", "periodic_run", "idle_run")],
)
def test_the_tasks_of_an_rtos(
    system: str, guest: str, periodic: str, idle: str, tmp_path: Path
) -> None:
    """The 1 ms task runs behind each tick, in a turn of its guest, and the idle one between."""
    output = tmp_path / "out.json"
    trace(system, output, "--for", "0.03")
    shown = Shown(output)
    tasks, turns = shown.of(f"{guest}: tasks"), shown.of(guest)
    assert {periodic, idle} <= {row["name"] for row in tasks}
    ticks = [row["ts"] for row in shown.of(guest, "i") if row["name"] == "deliver timer"]
    runs = [row["ts"] for row in tasks if row["name"] == periodic]
    assert len(ticks) - 2 <= len(runs) <= len(ticks) + 1
    assert all(any(0 < run - tick < 5 for tick in ticks) for run in runs)
    assert all(any(0 <= run - row["ts"] <= row["dur"] for row in turns) for run in runs)
    for row, following in pairwise(tasks):
        assert row["ts"] + row["dur"] == pytest.approx(following["ts"], abs=0.002)


def test_a_command(tmp_path: Path) -> None:
    """Linux and the RTOS take turns; what is shown is the command, not the prompt."""
    output = tmp_path / "out.json"
    done = trace("default", output, "--command", "hackbench -g 1 -l 2", "--threshold", "100")
    assert "all there were" in done.stderr
    shown = Shown(output)
    assert len(shown.of(VMM, "i")) > 1024
    assert shown.of("linux")
    assert shown.of("rtos")
    assert latency(shown, TIMER)
    assert all(row["args"]["instructions"] >= 100 for row in shown.of(MASKED))
    names = {row["name"] for row in shown.of(VMM, "i")}
    assert {"hypercall flush", "emulate out"} <= names
    assert any(name.startswith("page fault 0x") for name in names)
    assert any("linux: " in row["args"].get("at", "") for row in shown.of(VMM, "i"))


def deliveries(shown: Shown, guest: str) -> list[float]:
    return [row["ts"] for row in shown.of(guest, "i") if row["name"] == "deliver timer"]


def test_an_rtos_on_each_of_two_cpus(tmp_path: Path) -> None:
    """Each CPU's tracks are of its own guest, and the rings tell of the same time."""
    output = tmp_path / "out.json"
    done = trace("cores-rtoses", output, "--for", "0.5")
    assert re.search(r"^gandalf: CPU 0: [12],\d\d\d events in ", done.stderr, re.M)
    assert re.search(r"^gandalf: CPU 1: [12],\d\d\d events in ", done.stderr, re.M)
    first, second = (Shown(output, f"CPU {cpu}") for cpu in range(2))
    assert len(deliveries(first, "first")) > 50
    assert len(deliveries(second, "second")) > 50
    assert not first.of("second")
    assert not second.of("first")
    starts, ends = ([own.all[end]["ts"] for own in (first, second)] for end in (0, -1))
    assert max(starts) < min(ends)


def test_a_command_on_one_of_two_cpus(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    trace("cores-linux", output, "--command", "hackbench -g 1 -l 2")
    first, second = (Shown(output, f"CPU {cpu}") for cpu in range(2))
    assert first.of("linux")
    assert any(row["name"].startswith("page fault 0x") for row in first.of(VMM, "i"))
    assert any("linux: " in row["args"].get("at", "") for row in first.of(VMM, "i"))
    assert not second.of("linux")
    assert deliveries(second, "rtos2")


@pytest.mark.parametrize(
    ("system", "arguments", "why"),
    [
        ("freertos", ["--command", "true", "--for", "1"], "not both"),
        ("freertos", ["--command", "true"], "needs a Linux guest"),
        ("default", ["--command", "false"], "failed in Linux"),
        ("cores-rtoses", ["--command", "true"], "needs a Linux guest"),
    ],
)
def test_mistakes_are_sentences(
    tmp_path: Path, system: str, arguments: list[str], why: str
) -> None:
    done = trace(system, tmp_path / "out.json", *arguments, check=False)
    assert done.returncode == 1
    assert why in done.stderr
    assert "Traceback" not in done.stderr
