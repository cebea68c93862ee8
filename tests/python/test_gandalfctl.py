# SPDX-License-Identifier: Apache-2.0
"""gandalfctl on the host, with a machine behind it that tests/python/fake_device.c makes up."""

import json
import os
import random
import re
import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.description.images import ImageError, read_rtos

SOURCES = ROOT / "guest" / "linux" / "control"
SANITIZERS = "-g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
MEMORY = 0x40000
PAGE = 0x1000


@pytest.fixture(scope="module")
def program() -> Path:
    """Build the command for the host; returns it."""
    folder = BUILD / "tests" / "control"
    device = Path(__file__).with_name("fake_device.c")
    command = [
        "make", "--no-print-directory", "-C", str(SOURCES), f"BUILD={folder}",
        f"DEVICE={device}", "LINK=", f"FLAGS_MORE={SANITIZERS}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "gandalfctl"


@dataclass(frozen=True)
class Result:
    """What the command did."""

    status: int
    output: str
    error: str

    def refused(self) -> str:
        """Check that it failed with one sentence, and return that."""
        assert self.status == 1, self
        match = re.fullmatch(r"gandalfctl: (.+)\n", self.error)
        assert match, self
        return match[1]


Control = Callable[..., Result]


@pytest.fixture
def control(program: Path) -> Control:
    """Run the command with words; machine: of FAKE, files: of other variables."""

    def run(*words: str | Path, machine: str = "", typed: bytes = b"", **files: Path) -> Result:
        names = {name: str(path) for name, path in files.items()}
        done = subprocess.run(
            [program, *words],
            input=typed,
            capture_output=True,
            env=os.environ | {"FAKE": machine} | names,
            check=False,
            timeout=3600,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def parsed(result: Result) -> Any:
    assert result.status == 0, result
    return json.loads(result.output)


# The command line


def test_help_is_complete(control: Control) -> None:
    result = control("--help")
    assert result.status == 0
    for word in (
        "list", "start NAME", "stop NAME", "pause NAME", "resume NAME", "restart NAME",
        "load NAME IMAGE", "console NAME", "stats NAME", "log", r"trace \[NAME\]", "report NAME",
        "alive",
    ):  # fmt: skip
        assert re.search(rf"^  {word} +\w", result.output, re.M), word
    for option in ("--json", "--follow", "--every=MS", "--over=MS", "exit status"):
        assert option in result.output
    assert all(len(line) < 80 for line in result.output.splitlines())


def keys(value: Any) -> set[str]:
    """Return the names of all members in parsed JSON."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set()


def test_the_documentation_is_complete(control: Control) -> None:
    """Every command, and every member of what is printed with --json, but not each counter."""
    text = (ROOT / "docs" / "control.md").read_text()
    commands = re.findall(r"^  ([a-z]+(?: [A-Z[\]]+)*)  ", control("--help").output, re.M)
    assert len(commands) == 16
    for command in commands:
        assert f"| `gandalfctl {command}` |" in text
    for line in ("list", "log", "trace", "report dead", "console rtos", "stop rtos"):
        for name in keys(parsed(control(*line.split(), "--json"))):
            assert re.search(rf'[`"]{name}[`"]', text), name


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give a command"),
        (["dance"], "dance: there is no such command"),
        (["start"], "say: start NAME"),
        (["start", "rtos", "linux"], "say: start NAME"),
        (["load", "rtos"], "say: load NAME IMAGE"),
        (["load", "rtos", "a", "b"], "b: that is one operand too many"),
        (["list", "rtos"], "say: list"),
        (["move", "linux", "1"], "say: move NAME VCPU CPU"),
        (["move", "linux", "1", "8"], "8: give the number of a vCPU or CPU, 0 to 7"),
        (["move", "linux", "first", "0"], "first: give the number of a vCPU or CPU, 0 to 7"),
        (["gather"], "say: gather CPUS"),
        (["gather", "0"], "0: give how many CPUs, 1 to 8"),
        (["gather", "9"], "9: give how many CPUs, 1 to 8"),
        (["gather", "all"], "all: give how many CPUs, 1 to 8"),
        (["gather", "1", "2"], "say: gather CPUS"),
        (["list", "--follow"], "list does not take --follow"),
        (["list", "--every", "5"], "list does not take --every"),
        (["log", "--over", "5"], "log does not take --over"),
        (["alive", "--json"], "alive does not take --json"),
        (["alive", "--every", "0"], "0: give milliseconds, 1 to 3600000"),
        (["alive", "--every", "5s"], "5s: give milliseconds"),
        (["alive", "--every", "-5"], "-5: give milliseconds"),
        (["alive", "--every", "99999999999999999999"], "give milliseconds"),
        (["--nonsense"], "unrecognized option"),
    ],
)
def test_wrong_command_lines_are_refused(control: Control, words: list[str], sentence: str) -> None:
    result = control(*words)
    assert result.status == 2
    assert result.output == ""
    assert sentence in result.error


def test_the_real_device_is_missing_here(tmp_path: Path) -> None:
    make = ["make", "--no-print-directory", "-C", str(SOURCES), f"BUILD={tmp_path}"]
    subprocess.run(make, capture_output=True, check=True)
    done = subprocess.run([tmp_path / "gandalfctl", "list"], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"gandalfctl: there is no /dev/gandalf: ")


@pytest.mark.parametrize(
    "line", ["list", "start rtos", "log", "trace", "stats rtos", "console rtos"]
)
def test_a_guest_that_may_not_is_told(control: Control, line: str) -> None:
    sentence = control(*line.split(), machine="denied=1").refused()
    assert sentence == "this Linux may not manage guests: its description lacks `control = true`"


def test_another_version_of_the_interface_is_refused(control: Control) -> None:
    sentence = control("list", machine="version=7").refused()
    assert sentence == "the VMM's interface has version 7, and this command's 1"


@pytest.mark.parametrize(
    "command",
    ["start", "stop", "restart", "pause", "resume", "console", "stats", "report", "trace"],
)
def test_an_unknown_guest_is_refused(control: Control, command: str) -> None:
    sentence = control(command, "nobody").refused()
    assert sentence == "there is no guest nobody; `gandalfctl list` names them"


# vCPUs that move


@pytest.mark.parametrize("busy", [0, 3])
def test_a_vcpu_moves(control: Control, busy: int) -> None:
    machine = f"migrates=1 busy={busy}"
    assert control("move", "linux", "1", "0", machine=machine) == Result(0, "", "")
    found = parsed(control("move", "linux", "1", "0", "--json", machine=machine))
    assert found == {"guest": "linux", "vcpu": 1, "cpu": 0}


@pytest.mark.parametrize("words", [("linux", "0", "1"), ("linux", "1", "2"), ("rtos", "0", "0")])
def test_what_cannot_move_is_refused(control: Control, words: tuple[str, ...]) -> None:
    sentence = control("move", *words, machine="migrates=1").refused()
    assert sentence.startswith(f"vCPU {words[1]} of guest {words[0]} does not move to CPU")


def test_vcpus_are_gathered(control: Control) -> None:
    machine = "migrates=1 cpus=2"
    for cpus, cpu in ((2, 1), (1, 0)):
        told = control("gather", str(cpus), machine=machine)
        assert told == Result(0, f"guest linux: vCPU 1 is on CPU {cpu}\n", "")
    found = parsed(control("gather", "1", "--json", machine=machine))
    assert found == [{"guest": "linux", "vcpu": 1, "cpu": 0}]
    told = control("gather", "1", machine="migrates=1 cpus=2 first=1")
    assert told.output == "guest linux: vCPU 1 is on CPU 1\n"


@pytest.mark.parametrize(
    ("cpus", "machine", "sentence"),
    [
        ("3", "migrates=1 cpus=2", "the machine has 2 CPUs"),
        ("1", "cpus=2", "no guest has vCPUs that move: no description has `migrate = true`"),
        ("1", "migrates=1 cpus=2 other=1",
         "first vCPUs do not move, and are on 2 CPUs: gather 2 is the least"),
        ("1", "migrates=1 cpus=2 only=1",
         "vCPU 1 of guest linux may be on none of the CPUs that are to have any"),
    ],
)  # fmt: skip
def test_what_cannot_be_gathered_is_a_sentence(
    control: Control, cpus: str, machine: str, sentence: str
) -> None:
    assert control("gather", cpus, machine=machine).refused() == sentence


def test_list_says_where_vcpus_are(control: Control) -> None:
    lines = control("list", machine="migrates=1").output.splitlines()
    line = "  vCPU 1: CPU 1, moved 0 times, waited 1004 ms for RTOSes, spun for long 1003 times"
    assert line in lines
    found = parsed(control("list", "--json", machine="migrates=1"))["guests"]
    assert found[0]["vcpus"] == [
        {"cpu": cpu, "moves": 0, "leave_ticks": 1000 * cpu, "arrive_ticks": 1000 * cpu + 1,
         "settle_ticks": 1000 * cpu + 2, "spins": 1000 * cpu + 3, "waited_ms": 1000 * cpu + 4}
        for cpu in range(2)
    ]  # fmt: skip


def test_a_policy_is_set_and_told(control: Control) -> None:
    machine = "migrates=1"
    assert control("policy", "linux", machine=machine) == Result(0, "none\n", "")
    assert control("policy", "linux", "on-demand", machine=machine) == Result(0, "", "")
    found = parsed(control("policy", "linux", "on-demand", "--json", machine=machine))
    assert found == {"guest": "linux", "policy": "on-demand"}


def test_a_policy_that_cannot_be_is_refused(control: Control) -> None:
    sentence = control("policy", "linux", "never", machine="migrates=1").refused()
    assert sentence == "there is no policy never; there are none, on-demand, pull, delayed and trap"
    sentence = control("policy", "linux", "trap", machine="migrates=1,policies=3").refused()
    assert sentence == "this image of the VMM has no policy trap"
    sentence = control("policy", "linux", "none").refused()
    assert sentence == "guest linux has no policy: its description has no `migrate = true`"


# What is printed


def test_list_is_a_table(control: Control) -> None:
    lines = control("list").output.splitlines()
    assert [" ".join(line.split()) for line in lines[:4]] == [
        "NAME KIND STATE PRIORITY MEMORY CPU UPTIME RESTARTS",
        "linux linux running 0 196608 KiB 30.00% 4.000 s 0",
        "rtos rtos running 10 256 KiB 5.00% 4.000 s 3",
        "fixed rtos off 20 256 KiB 0.00% - 0",
    ]
    assert lines[4].endswith(" 0  divide error (#DE) without a handler")
    assert lines[5:] == ["pool: 1000 of 2048 frames free"]
    assert len({line.index("KiB") for line in lines[1:5]}) == 1


def test_list_tells_of_a_lost_frame(control: Control) -> None:
    output = control("list", machine="counted=999").output
    assert output.endswith("pool: its list has 999 free frames: a frame is lost\n")


def test_list_has_each_cpu(control: Control) -> None:
    lines = control("list", machine="cpus=2").output.splitlines()
    assert lines[5:] == [
        "CPU 0: pool: 1000 of 2048 frames free",
        "CPU 1: the VMM is stopped: its reason",
    ]
    found = parsed(control("list", "--json", machine="cpus=2"))
    assert [cpu["state"] for cpu in found["cpus"]] == ["runs", "stopped"]
    assert [cpu["reason"] for cpu in found["cpus"]] == ["", "its reason"]
    assert [cpu["pool"]["free"] for cpu in found["cpus"]] == [1000, 1001]


def test_list_in_json(control: Control) -> None:
    found = parsed(control("list", "--json"))
    assert found["uptime_ms"] == 5000
    pool = {"frames": 2048, "free": 1000, "counted": 1000}
    assert found["pool"] == pool
    assert found["cpus"] == [{"state": "runs", "reason": "", "pool": pool}]
    assert [guest["name"] for guest in found["guests"]] == ["linux", "rtos", "fixed", "dead"]
    assert found["guests"][1] == {
        "name": "rtos", "kind": "rtos", "state": "running", "priority": 10, "memory_bytes": MEMORY,
        "cpu_share": 0.05, "ran_ms": 250, "uptime_ms": 4000, "restarts": 3, "fault_restarts": 0,
        "image_room": 0x10000, "watchdog_ms": 0, "control": False, "self": False, "reason": "",
        "vcpus": [],
    }  # fmt: skip
    assert [guest["self"] for guest in found["guests"]] == [True, False, False, False]
    assert found["guests"][0]["control"]


def test_the_share_of_the_cpu_can_be_measured(control: Control) -> None:
    """The machine's time stands still here: no share is a fraction of nothing."""
    shares = [guest["cpu_share"] for guest in parsed(control("list", "-j", "-o", "1"))["guests"]]
    assert shares == [0, 0, 0, 0]


def test_stats_show_every_counter(control: Control) -> None:
    header = (ROOT / "abi" / "control.h").read_text()
    begin = header.index("#define GANDALF_COUNTER_LIST")
    counters = header[begin : header.index("events of a trace")]
    names = re.findall(r"X\((\w+), ", counters)
    assert len(names) > 30
    wanted = {name: len(name) + 1 for name in names}
    found = parsed(control("stats", "rtos", "--json"))
    assert found == {"guest": "rtos", "counters": wanted}
    lines = [line.split() for line in control("stats", "rtos").output.splitlines()]
    assert {line[0]: int(line[1]) for line in lines} == wanted
    assert all(len(line) > 2 for line in lines)


def log_line(number: int) -> str:
    return f'line {number} says "\\ \x1b \xe9'


def test_log_shows_whole_lines(program: Path) -> None:
    done = subprocess.run(
        [program, "log"], capture_output=True, env=os.environ | {"FAKE": "log=128"}, check=True
    )
    lines = done.stdout.decode("latin-1").split("\n")
    assert [line.rstrip(" ") for line in lines] == [log_line(0), log_line(1), ""]


def test_log_in_json_escapes_everything(control: Control) -> None:
    found = parsed(control("log", "--json", machine="log=128"))
    assert found["complete"] is True
    assert [line.rstrip(" ") for line in found["lines"]] == [log_line(0), log_line(1)]


def test_log_begins_with_a_whole_line(control: Control) -> None:
    """The ring has 4096 bytes, 64 lines; what is left of line 9 is not shown."""
    found = parsed(control("log", "--json", machine=f"log={74 * 64 + 10}"))
    assert found["complete"] is False
    assert found["lines"][0].startswith("line 11 says")
    assert found["lines"][-2].startswith("line 73 says")
    assert found["lines"][-1] == "line 74 sa"


def test_trace_is_text(control: Control) -> None:
    assert control("trace").output.splitlines() == [
        "0 us, linux: trap: vector 0, EIP 0",
        "1000 us, rtos: interrupt: vector 0x1, EIP 0x2",
        "2000 us, idle: exception: vector 0x2, EIP 0x4",
    ]
    assert control("trace", "rtos").output.count("\n") == 1


def test_trace_has_the_events_of_all_cpus_in_the_order_of_time(control: Control) -> None:
    lines = control("trace", machine="cpus=2").output.splitlines()
    assert [line.partition(" us,")[0] for line in lines] == [
        "CPU 0: 0", "CPU 1: 100", "CPU 0: 1000", "CPU 1: 1100", "CPU 0: 2000", "CPU 1: 2100",
        "CPU 1: 3100",
    ]  # fmt: skip
    found = parsed(control("trace", "--json", machine="cpus=2 events=1500"))["events"]
    for cpu, count in ((0, 1500), (1, 1501)):
        own = [event["first"] for event in found if event["cpu"] == cpu]
        assert own == list(range(count))


def test_trace_has_the_last_events_of_each_guest(control: Control) -> None:
    found = parsed(control("trace", "--json", machine="events=6000"))["events"]
    for place, guest in enumerate(("linux", "rtos", None)):
        own = [event["first"] for event in found if event["guest"] == guest]
        assert own == list(range(place, 6000, 3))[-1024:]
    alone = parsed(control("trace", "rtos", "--json", machine="events=6000"))["events"]
    assert alone == [event for event in found if event["guest"] == "rtos"]


def test_trace_in_json(control: Control) -> None:
    found = parsed(control("trace", "--json"))["events"]
    assert found[1] == {
        "time_us": 1000, "cpu": 0, "guest": "rtos", "event": "interrupt", "first": 1, "second": 2,
    }  # fmt: skip
    assert found[2]["guest"] is None
    assert parsed(control("trace", "fixed", "--json")) == {"events": []}


@pytest.mark.parametrize(("own", "race"), [(1024, 0), (1500, 0), (1500, 24)])
def test_trace_leaves_out_what_was_overwritten(control: Control, own: int, race: int) -> None:
    """Linux has each third event, and its alone are those that reading makes."""
    machine = f"events={3 * own} race={race}"
    found = parsed(control("trace", "linux", "--json", machine=machine))["events"]
    first = max(0, own + race - 1024)
    assert [event["first"] for event in found] == list(range(3 * first, 3 * own, 3))
    others = parsed(control("trace", "rtos", "--json", machine=machine))["events"]
    assert len(others) == 1024


@pytest.mark.parametrize(
    ("race", "races", "first", "end"),
    [
        (25, 1, 1500 + 25 - 1024, 1500 + 25),
        (2000, 7, 1500 + 7 * 2000 - 1024, 1500 + 7 * 2000),
        (100, 9, 1500 + 8 * 100 - 1024, 1500 + 7 * 100),
        (2000, 9, 0, 0),
    ],
)
def test_trace_reads_again_what_was_overwritten(
    control: Control, race: int, races: int, first: int, end: int
) -> None:
    """Eight times at most. What the last reading has left is shown."""
    machine = f"events=4500 race={race} races={races}"
    found = parsed(control("trace", "linux", "--json", machine=machine))["events"]
    assert [event["first"] for event in found] == list(range(3 * first, 3 * end, 3))


def test_trace_is_in_the_order_of_time(control: Control) -> None:
    """An interrupt between an event's place in the ring and its time leaves an earlier one."""
    found = parsed(control("trace", "--json", machine="events=1500 late=700"))["events"]
    times = [event["time_us"] for event in found]
    assert times == sorted(times)
    order = [event["first"] for event in found]
    assert order[700:702] == [701, 700]
    assert sorted(order) == list(range(1500))


def test_report_of_a_guest_that_was_stopped(control: Control) -> None:
    text = "guest dead stopped: divide error (#DE) without a handler\n  at cs:eip 0061:00001193\n"
    assert control("report", "dead").output == text
    assert parsed(control("report", "dead", "--json")) == {
        "guest": "dead", "state": "stopped", "reason": "divide error (#DE) without a handler",
        "report": text,
    }  # fmt: skip
    assert control("report", "rtos").output == "guest rtos was never stopped by the VMM\n"
    assert parsed(control("report", "rtos", "--json"))["report"] == ""


# What is done


def test_actions_are_silent(control: Control) -> None:
    for words in (["stop", "rtos"], ["start", "fixed"], ["restart", "dead"], ["pause", "rtos"]):
        assert control(*words) == Result(0, "", "")


@pytest.mark.parametrize(
    ("command", "guest", "state"),
    [
        ("start", "dead", "running"), ("stop", "rtos", "off"), ("restart", "rtos", "running"),
        ("pause", "rtos", "paused"), ("stop", "dead", None), ("resume", "rtos", None),
    ],
)  # fmt: skip
def test_actions_tell_the_state_in_json(
    control: Control, command: str, guest: str, state: str | None
) -> None:
    result = control(command, guest, "--json")
    if state:
        assert parsed(result) == {"guest": guest, "state": state}
    else:
        result.refused()


@pytest.mark.parametrize(
    ("command", "guest", "sentence"),
    [
        ("start", "rtos", "rtos is running, and only one that is off or stopped can be started"),
        ("stop", "fixed", "fixed is off, and only one that is running, starting or paused can be "),
        ("pause", "dead", "dead is stopped, and only one that is running can be paused"),
        ("resume", "rtos", "rtos is running, and only one that is paused can be resumed"),
        ("stop", "linux", "linux is the one that this command runs in"),
        ("console", "linux", "linux is the one that this command runs in"),
    ],
)
def test_refused_actions_say_why(control: Control, command: str, guest: str, sentence: str) -> None:
    assert control(command, guest).refused().startswith(f"guest {sentence}")


@pytest.mark.parametrize("what", ["busy", "kept"])
def test_a_busy_vmm_is_asked_again(control: Control, what: str) -> None:
    assert control("stop", "rtos", machine=f"{what}=20") == Result(0, "", "")


@pytest.mark.parametrize("what", ["busy", "kept"])
def test_a_vmm_that_stays_busy_is_told(control: Control, what: str) -> None:
    """Also if it is another command that waits for it."""
    sentence = control("stop", "rtos", machine=f"{what}=1000000").refused()
    assert sentence == "the VMM still works for guest rtos: an RTOS keeps the CPU"


@pytest.mark.parametrize("what", ["busy", "kept"])
def test_a_load_waits_for_as_long(load: Callable[..., Result], what: str) -> None:
    assert load(Elf().content(), machine=f"running=1 {what}=20") == Result(0, "", "")
    sentence = load(Elf().content(), machine=f"running=1 {what}=1000000").refused()
    assert sentence == "the VMM still works for guest rtos: an RTOS keeps the CPU"


def test_a_start_that_fails_is_told(control: Control) -> None:
    sentence = control("start", "fixed", machine="fail=1").refused()
    assert sentence == "guest fixed was stopped at once: it failed"


def test_signs_of_life(control: Control) -> None:
    assert control("alive", machine="alive=0") == Result(0, "", "")


def test_signs_of_life_go_on_until_they_are_refused(control: Control) -> None:
    sentence = control("alive", "--every", "1", machine="alive=-1").refused()
    assert sentence.startswith("this Linux may not manage guests: ")


# Consoles


def test_console_shows_and_types(control: Control, tmp_path: Path) -> None:
    typed = tmp_path / "typed"
    keys = b"twelve bytes and\x01a more" * 20
    result = control("console", "rtos", typed=keys, TYPED=typed)
    assert result == Result(0, "abcdefghij", "")
    assert typed.read_bytes() == keys.replace(b"\x01a", b"\x01")


@pytest.mark.parametrize("leave", [b"\x1d", b"\x01d"])
def test_console_is_left_by_a_key(control: Control, tmp_path: Path, leave: bytes) -> None:
    typed = tmp_path / "typed"
    result = control("console", "rtos", typed=b"this" + leave + b"not this", TYPED=typed)
    assert result.status == 0
    assert not typed.exists() or typed.read_bytes() == b"this"


def test_other_keys_behind_ctrl_a_are_kept(control: Control, tmp_path: Path) -> None:
    typed = tmp_path / "typed"
    control("console", "rtos", typed=b"\x01x\x01\x01y", TYPED=typed)
    assert typed.read_bytes() == b"\x01x\x01\x01y"


def test_console_in_json_is_what_the_ring_has(control: Control) -> None:
    found = parsed(control("console", "rtos", "--json", machine="console=10"))
    assert found == {"guest": "rtos", "complete": True, "text": "abcdefghij"}
    found = parsed(control("console", "rtos", "--json", machine="console=5000"))
    whole = "".join(chr(ord("a") + n % 26) for n in range(5000))
    assert found == {"guest": "rtos", "complete": False, "text": whole[-4096:]}


def test_a_console_that_is_too_fast_loses_and_says_so(control: Control, tmp_path: Path) -> None:
    """Each look finds 5000 bytes more, of which the ring has 4096."""
    result = control(
        "console",
        "rtos",
        machine="console=0 output=5000",
        typed=b"x" * 50,
        TYPED=tmp_path / "typed",
    )
    assert result.status == 0
    assert re.search(r"^\[\d{4,} bytes were lost\]$", result.output, re.M)


# Images


@dataclass(frozen=True)
class Part:
    """A program header, and what it loads. file_size: instead of the content's."""

    address: int
    content: bytes
    memory_size: int
    kind: int = 1
    file_size: int | None = None


@dataclass(frozen=True)
class Elf:
    """An ELF file to be written; every field can be wrong."""

    parts: tuple[Part, ...] = (Part(0x1000, b"code", 4),)
    entry: int = 0x1000
    ident: bytes = b"\x7fELF\x01\x01\x01"
    machine: int = 3
    kind: int = 2
    header_size: int = 32
    cut: int = 0
    more: dict[str, int] = field(default_factory=dict)

    def content(self) -> bytes:
        """Return the file."""
        count = self.more.get("count", len(self.parts))
        offset = 52 + 32 * len(self.parts)
        header = self.ident.ljust(16, b"\0") + struct.pack(
            "<HHIIIIIHHHHHH", self.kind, self.machine, 1, self.entry, self.more.get("headers", 52),
            0, 0, 52, self.header_size, count, 0, 0, 0,
        )  # fmt: skip
        bodies = b""
        for part in self.parts:
            size = len(part.content) if part.file_size is None else part.file_size
            place = offset + len(bodies)
            header += struct.pack(
                "<IIIIIIII", part.kind, place, part.address, 0, size, part.memory_size, 7, 4
            )
            bodies += part.content
        whole = header + bodies
        return whole[: len(whole) - self.cut]


def of(*parts: Part) -> Elf:
    """Return a file with these parts, whose entry point is right unless they are not."""
    return Elf(parts)


@pytest.fixture
def load(control: Control, tmp_path: Path) -> Callable[..., Result]:
    """Load bytes as an image into the guest rtos, which is off."""

    def run(content: bytes, *words: str, machine: str = "running=1") -> Result:
        path = tmp_path / "image.elf"
        path.write_bytes(content)
        return control("load", "rtos", path, *words, machine=machine, IMAGE=tmp_path / "loaded")

    return run


def test_an_image_is_flattened(load: Callable[..., Result], tmp_path: Path) -> None:
    parts = (
        Part(0x2000, b"data" * 2000, 0x5000),
        Part(0, b"vectors", 7),
        Part(0x1000, b"code", 4),
        Part(0x9000, b"", 0x1000),
        Part(0xFFFFFFF0, b"no segment to load", 0xFFFF, kind=2),
        Part(0xFFFFFFFF, b"", 0),
    )
    elf = Elf(parts, entry=0x1002)
    result = load(elf.content(), "--json")
    image = b"vectors".ljust(0x1000, b"\0") + b"code".ljust(0x1000, b"\0") + b"data" * 2000
    assert parsed(result) == {"guest": "rtos", "bytes": len(image), "entry": 0x1002}
    loaded = struct.pack("<II", 0x1002, zlib.crc32(image)) + image
    assert (tmp_path / "loaded").read_bytes() == loaded
    assert load(elf.content()) == Result(0, "", "")


def test_a_real_image_is_flattened_as_the_host_tool_loads_it(
    load: Callable[..., Result], tmp_path: Path
) -> None:
    subprocess.run(
        ["make", "--no-print-directory", "-C", str(ROOT / "guest" / "tests"),
         str(BUILD / "tests" / "heartbeat.elf")],
        capture_output=True, check=True,
    )  # fmt: skip
    path = BUILD / "tests" / "heartbeat.elf"
    image = read_rtos(path)
    wanted = bytearray(max(part.address + len(part.content) for part in image.segments))
    for part in image.segments:
        wanted[part.address : part.address + len(part.content)] = part.content
    assert load(path.read_bytes()).status == 0
    loaded = struct.pack("<II", image.entry, zlib.crc32(wanted)) + wanted
    assert (tmp_path / "loaded").read_bytes() == loaded


BAD: list[tuple[Elf, str]] = [
    (Elf(ident=b"\x7fELK\x01\x01\x01"), "is not an ELF file"),
    (Elf(ident=b"\x7fELF\x02\x01\x01"), "is not built for 32-bit x86: "),
    (Elf(ident=b"\x7fELF\x01\x02\x01"), "is not built for 32-bit x86: "),
    (Elf(machine=62), "is not built for 32-bit x86: its ELF header names another machine"),
    (Elf(kind=3), "is not linked to a fixed address: link it without -shared and -pie"),
    (Elf(kind=1), "is not linked to a fixed address: "),
    (Elf(header_size=31), "is a damaged ELF file: its headers make no sense"),
    (Elf(parts=()), "has nothing to load: no segment of type LOAD"),
    (of(Part(0x1000, b"", 4)), "has nothing to load: its segments have no bytes"),
    (of(Part(0x1000, b"code", 3)), "is a damaged ELF file: a segment has more bytes than"),
    (Elf(cut=1), "is cut short: a segment reaches behind the end of the file"),
    (of(Part(0x1000, b"code", 0x900, file_size=0x800)), "is cut short: a segment reaches"),
    (Elf(cut=5), "is cut short: it ends in its program headers"),
    (Elf(more={"headers": 0xFFFFFFF0}), "is cut short: it ends in its program headers"),
    (Elf(more={"count": 0xFFFF}), "is cut short: "),
    (Elf(cut=60), "is cut short: it ends in its ELF header"),
    (of(*[Part(0x1000, b"code", 4)] * 65), "has more than 64 segments"),
    (Elf(entry=0x1004), "has its entry point 0x1004 where it has no bytes"),
    (Elf(entry=0xFFF), "has its entry point 0xfff where it has no bytes"),
    (
        of(Part(0x1000, b"", 8), Part(0, b"x", 1)),
        "has its entry point 0x1000 where it has no bytes",
    ),
    (of(Part(0x1000, b"code", 8), Part(0x1007, b"more", 4)), "has segments that overlap at 0x1007"),
    (of(Part(0x1004, b"code", 4), Part(0x1000, b"x", 9)), "has segments that overlap at 0x1004"),
    (of(Part(0x1000, b"code", 0x3E001)), "does not fit: it ends at 0x3f001, and the guest's"),
    (of(Part(0xFFFFFFFC, b"code", 0x10)), "does not fit: it ends at 0x10000000c, and the"),
    (of(Part(0x1000, b"code", 0xFFFFFFFF)), "does not fit: it ends at 0x100000fff, and the"),
    (of(Part(0x1000, bytes(0xF001), 0xF001)), "is too large: it has 65537 bytes, and the guest's"),
]


@pytest.mark.parametrize(("elf", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_images_are_refused(
    load: Callable[..., Result], tmp_path: Path, elf: Elf, sentence: str
) -> None:
    refusal = load(elf.content()).refused()
    assert refusal.startswith(f"{tmp_path}/image.elf {sentence}")
    assert not (tmp_path / "loaded").exists()


def test_what_just_fits_is_taken(load: Callable[..., Result]) -> None:
    whole = Elf((Part(0x1000, bytes(0xF000), MEMORY - 2 * PAGE),), entry=0x1000)
    assert load(whole.content()).status == 0


@pytest.mark.parametrize("content", [b"", b"\x7fEL", b"\x7fELF", b"#!/bin/sh\n"])
def test_what_is_no_elf_file_is_refused(load: Callable[..., Result], content: bytes) -> None:
    assert "ELF" in load(content).refused()


def test_files_that_cannot_be_read(control: Control, tmp_path: Path) -> None:
    sentence = control("load", "rtos", tmp_path / "none", machine="running=1").refused()
    assert sentence == f"{tmp_path}/none cannot be opened: No such file or directory"
    assert control("load", "rtos", tmp_path, machine="running=1").refused().startswith(
        f"{tmp_path} is not an ELF file"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("guest", "sentence"),
    [
        ("rtos", "guest rtos is running: stop it first"),
        ("fixed", "guest fixed takes no image: its description has no `image_room`"),
        ("linux", "guest linux is the one that this command runs in"),
        ("nobody", "there is no guest nobody; `gandalfctl list` names them"),
    ],
)
def test_guests_that_take_no_image(control: Control, guest: str, sentence: str) -> None:
    assert control("load", guest, "/dev/null").refused() == sentence


def test_one_image_is_loaded_at_a_time(load: Callable[..., Result]) -> None:
    sentence = load(Elf().content(), machine="running=1 locked=1").refused()
    assert sentence == "an image is being loaded already: try again"


def test_damaged_images_are_never_taken_wrongly(
    load: Callable[..., Result], tmp_path: Path
) -> None:
    """What the sanitizers let pass is taken only if the host tool would take it too."""
    parts = (Part(0x1000, b"code" * 8, 0x40), Part(0x2000, b"data", 0x100))
    good = Elf(parts, entry=0x1000).content()
    sequence = random.Random(1)  # noqa: S311
    verdicts = {True: 0, False: 0}
    for _ in range(150):
        damaged = bytearray(good)
        for _ in range(sequence.randint(1, 3)):
            damaged[sequence.randrange(len(good))] = sequence.choice([0, 1, 0x7F, 0x80, 0xFF])
        result = load(bytes(damaged))
        assert result.status in (0, 1), result
        verdicts[result.status == 0] += 1
        if result.status == 0:
            try:
                read_rtos(tmp_path / "image.elf")
            except ImageError as error:
                raise AssertionError(f"the host tool says that it {error}") from error
    assert min(verdicts.values()) > 10
