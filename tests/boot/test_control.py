# SPDX-License-Identifier: Apache-2.0
"""Linux manages the guests beside it with gandalfctl (docs/control.md).

`rtos` is the FreeRTOS demo, which must not notice what happens to `lab`, a guest of a lower
priority that is loaded, stopped and started. The images that Linux loads are in its /root.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from gandalf.base.abi import abi
from gandalf.base.paths import BUILD, ROOT
from gandalf.bench.workload import extended
from gandalf.build.build import build_itron, make
from gandalf.guests.rootfs import build_small_rootfs

from .systems import DEMO, HACKBENCH, PATIENCE, Boot, Latency, describe, linux, rtos_guest

TESTS = BUILD / "tests"
IMAGES = {
    "uitron.elf": BUILD / "itron" / "demo.elf",
    "heartbeat.elf": TESTS / "heartbeat.elf",
    "divide.elf": TESTS / "bad-divide.elf",
}
# Processes that send each other messages, a timer that drifts through the RTOS's period, and a
# console that is not silent for long. For Linux's own tick keeps its distance from the RTOS's, and
# it would be chance whether they ever meet; and who starts and stops guests makes the VMM print.
STRESS = f"""\
(while true; do nice -n 19 {HACKBENCH}; done) > /dev/null 2>&1 & hackbench=$!
cyclictest -q -p 80 -i 1009 > /dev/null 2>&1 & cyclictest=$!
(while usleep 20000; do echo the console is not silent; done) & talk=$!
sleep 1
"""
# "cycle 250 7" stops, loads and starts lab 250 times under that stress, from image 7 on;
# "look" executes as many commands at the same pace, which change nothing.
CYCLES = """\
cycle() {
	gandalfctl stop lab && gandalfctl load lab /root/$1.elf && gandalfctl start lab
}
look() {
	gandalfctl list && gandalfctl list && gandalfctl list
}
n=$3
while [ $n -lt $(($3 + $2)) ]; do
	n=$((n + 1))
	if [ $((n % 2)) = 0 ]; then image=heartbeat; else image=uitron; fi
	$1 $image > /dev/null || exit 1
	usleep 10000
done
kill $hackbench $cyclictest $talk
wait
echo cycles: done
"""
# The bound of the worst latency, and how much more it may be than without cycles. That can be
# seen in long runs only, since the worst of a few seconds under hackbench is mostly chance.
LATENCY_MAXIMUM = 2000
LATENCY_RATIO = 1.05
ROUND = 250


def root_file_system() -> str:
    """Build the root file system with the images, and return its name for a description."""
    build_itron()
    make(
        ROOT / "guest" / "tests", *(str(path) for path in IMAGES.values() if TESTS in path.parents)
    )
    cycles = BUILD / "boot" / "cycles.sh"
    cycles.parent.mkdir(parents=True, exist_ok=True)
    cycles.write_text(STRESS + CYCLES)
    added = {f"root/{name}": path for name, path in IMAGES.items()} | {"root/cycles.sh": cycles}
    output = BUILD / "boot" / "control.cpio"
    extended(build_small_rootfs(ROOT, lambda _: None), added, output)
    return str(output.relative_to(ROOT))


def start(name: str, more: str, *others: str) -> Boot:
    """Start a system whose Linux has further lines in its description, and wait for its shell."""
    machine = Boot.start(describe(name, linux(initrd=root_file_system(), more=more), *others))
    machine.wait_for_shell()
    return machine


def lab(image: str = "heartbeat") -> str:
    return rtos_guest(image, "lab", priority=5)


# The vector by which the RTOS gets its timer, as in the lines of its trace above.
TIMER = abi()["VECTOR_TIMER"]


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with start("control", "control = true", DEMO, lab()) as running:
        yield running


def parsed(machine: Boot, line: str) -> Any:
    return json.loads(machine.shell(f"gandalfctl {line} --json"))


def guests(machine: Boot) -> dict[str, dict[str, Any]]:
    """Return what `list` says of each guest. No frame of the pool may be missing."""
    found = parsed(machine, "list")
    assert found["pool"]["free"] == found["pool"]["counted"]
    return {guest["name"]: guest for guest in found["guests"]}


def refused(machine: Boot, line: str) -> str:
    """Run a command that fails; returns its sentence."""
    output = machine.shell(f"gandalfctl {line}", status=1)
    match = re.fullmatch(r"gandalfctl: (.+)\n", output)
    assert match, output
    return match[1]


@pytest.fixture
def heartbeat(machine: Boot) -> Boot:
    """The machine, with the heartbeat in lab, running."""
    if guests(machine)["lab"]["state"] not in ("off", "stopped"):
        machine.shell("gandalfctl stop lab")
    machine.shell("gandalfctl load lab /root/heartbeat.elf")
    machine.skip("lab")
    machine.shell("gandalfctl start lab")
    machine.expect("lab", r"^beats=1000 missed=0\n", PATIENCE)
    return machine


def silent(machine: Boot, name: str) -> None:
    """Check that a guest that prints each second is silent for two."""
    machine.shell("true")
    before = len(machine.text(name))
    machine.shell("sleep 2")
    assert len(machine.text(name)) == before


# What is told


def test_the_device_is_roots(machine: Boot) -> None:
    assert machine.shell("ls -l /dev/gandalf").startswith("crw-------")


def test_list_is_what_the_vmm_has(machine: Boot) -> None:
    found = guests(machine)
    assert list(found) == ["linux", "rtos", "lab"]
    assert [guest["state"] for guest in found.values()] == ["running"] * 3
    assert [guest["priority"] for guest in found.values()] == [0, 10, 5]
    assert [guest["memory_bytes"] >> 10 for guest in found.values()] == [192 << 10, 1024, 256]
    assert [guest["self"] for guest in found.values()] == [True, False, False]
    assert [guest["control"] for guest in found.values()] == [True, False, False]
    assert found["lab"]["image_room"] == (256 << 10) - 4096
    assert 0 < sum(guest["cpu_share"] for guest in found.values()) < 1
    table = machine.shell("gandalfctl list")
    assert re.search(
        r"^rtos +rtos +running +10 +1024 KiB +\d+\.\d\d% +\d+\.\d{3} s +0$", table, re.M
    )
    assert re.search(r"^pool: \d+ of \d+ frames free$", table, re.M)


def test_the_share_of_the_cpu_over_a_time(machine: Boot) -> None:
    """An idle Linux runs little; the demo runs about 700 instructions each millisecond."""
    found = json.loads(machine.shell("gandalfctl list --over 2000 --json"))["guests"]
    shares = {guest["name"]: guest["cpu_share"] for guest in found}
    assert shares["linux"] < 0.1
    assert 0.0005 < shares["rtos"] < 0.05


def test_stats_are_the_counters_of_the_vmm(machine: Boot) -> None:
    before = machine.counters("rtos")
    machine.shell("sleep 1")
    found = parsed(machine, "stats rtos")["counters"]
    after = machine.counters("rtos")
    assert set(found) >= set(after)
    for name in ("entries", "hypercalls", "halts", "timer_expiries"):
        assert before[name] + 1000 <= found[name] <= after[name], name
    assert found["page_faults"] == 0
    assert re.search(r"^halts +\d+  halts$", machine.shell("gandalfctl stats rtos"), re.M)


def test_log_is_the_vmms(machine: Boot) -> None:
    machine.vmm("help", r"^stop GUEST: .*\n")
    log = machine.shell("gandalfctl log")
    assert log.startswith("Gandalf ")
    assert "\nstop GUEST: " in log
    found = parsed(machine, "log")
    assert found["complete"]
    assert "\n".join(found["lines"]) in log


def test_log_can_be_followed(heartbeat: Boot) -> None:
    machine = heartbeat
    machine.shell("gandalfctl log -f > /tmp/log & sleep 1")
    machine.shell("gandalfctl stop lab; sleep 1; kill %1")
    assert machine.shell("tail -n 1 /tmp/log") == "guest lab stopped: by command\n"


def test_trace_shows_the_last_events(machine: Boot) -> None:
    events = parsed(machine, "trace")["events"]
    rings = len(guests(machine)) + 1
    assert 100 < len(events) <= rings * abi()["TRACE_EVENTS"]
    times = [event["time_us"] for event in events]
    assert times == sorted(times)
    assert "linux" in {event["guest"] for event in events}
    read = abi()["HYPERCALL_READ"]
    assert any(event["event"] == "hypercall" and event["first"] == read for event in events)
    own = machine.shell("gandalfctl trace rtos").splitlines()
    assert any(
        re.fullmatch(r"\d+ us, rtos: deliver: vector 0x30, EIP 0x[0-9a-f]+", line) for line in own
    )
    assert all(re.match(r"\d+ us, rtos: ", line) for line in own)


def test_an_rtos_keeps_its_last_events_whatever_linux_does(machine: Boot) -> None:
    """An activation is some ten events, so the last thousand reach back more than 50 of them. While
    they are read, the RTOS goes on; gandalfctl reads again if that leaves less than a thousand."""
    machine.shell("hackbench -g 2 -l 20 > /tmp/log & sleep 1")
    events = parsed(machine, "trace rtos")["events"]
    assert machine.shell("wait; grep -c Time /tmp/log") == "1\n"
    assert 1000 <= len(events) <= abi()["TRACE_EVENTS"]
    assert {event["guest"] for event in events} == {"rtos"}
    timer = [event for event in events if event["event"] == "deliver" and event["first"] == TIMER]
    expiries = [event["time_us"] for event in timer]
    assert len(expiries) > 50
    assert {round((late - early) / 1000) for early, late in pairwise(expiries)} == {1}


# What is done


def test_a_guest_is_stopped_and_started(machine: Boot) -> None:
    assert machine.shell("gandalfctl stop rtos") == ""
    assert guests(machine)["rtos"]["state"] == "off"
    silent(machine, "rtos")
    assert refused(machine, "stop rtos") == (
        "guest rtos is off, and only one that is running, starting or paused can be stopped"
    )
    machine.skip("rtos")
    assert parsed(machine, "start rtos") == {"guest": "rtos", "state": "running"}
    machine.expect("rtos", r"^FreeRTOS V", PATIENCE)
    assert machine.next_latency().missed == 0
    assert refused(machine, "start rtos") == (
        "guest rtos is running, and only one that is off or stopped can be started"
    )


def test_a_guest_is_restarted(heartbeat: Boot) -> None:
    machine = heartbeat
    before = guests(machine)["lab"]
    machine.skip("lab")
    with machine.rtos_undisturbed():
        machine.shell("gandalfctl restart lab")
        machine.expect("lab", r"^beats=1000 missed=0\n", PATIENCE)
    after = guests(machine)["lab"]
    assert after["restarts"] == before["restarts"] + 1
    assert after["fault_restarts"] == before["fault_restarts"]


def test_restart_starts_a_guest_that_is_off(heartbeat: Boot) -> None:
    machine = heartbeat
    machine.shell("gandalfctl stop lab")
    machine.skip("lab")
    machine.shell("gandalfctl restart lab")
    machine.expect("lab", r"^beats=1000 missed=0\n", PATIENCE)


def test_a_paused_guest_goes_on_where_it_was(heartbeat: Boot) -> None:
    """Its timer goes on: the expiries that it could not take are told as missed."""
    machine = heartbeat
    with machine.rtos_undisturbed():
        machine.shell("gandalfctl pause lab")
        assert guests(machine)["lab"]["state"] == "paused"
        silent(machine, "lab")
        assert refused(machine, "pause lab") == (
            "guest lab is paused, and only one that is running can be paused"
        )
        machine.skip("lab")
        machine.shell("gandalfctl resume lab")
        line = machine.expect("lab", r"^beats=(\d+) missed=(\d+)\n", PATIENCE)
    assert int(line[2]) >= 2000
    assert int(line[1]) >= 1000
    assert refused(machine, "resume lab") == (
        "guest lab is running, and only one that is paused can be resumed"
    )


def test_a_paused_guest_can_be_stopped(heartbeat: Boot) -> None:
    heartbeat.shell("gandalfctl pause lab; gandalfctl stop lab")
    assert guests(heartbeat)["lab"]["state"] == "off"


@pytest.mark.parametrize("action", ["start", "stop", "restart", "pause", "resume", "load"])
def test_linux_cannot_do_it_to_itself(machine: Boot, action: str) -> None:
    image = " /root/uitron.elf" if action == "load" else ""
    assert refused(machine, f"{action} linux{image}") == (
        "guest linux is the one that this command runs in"
    )


# Images


def test_another_image_is_loaded(heartbeat: Boot) -> None:
    """And stays: a restart starts it, and not the one of the description."""
    machine = heartbeat
    with machine.rtos_undisturbed():
        machine.shell("gandalfctl stop lab")
        loaded = parsed(machine, "load lab /root/uitron.elf")
        assert 0 < loaded["entry"] < loaded["bytes"] < 256 << 10
        for action in ("start", "restart"):
            machine.skip("lab")
            machine.shell(f"gandalfctl {action} lab")
            machine.expect("lab", r"^uITRON 4\.0, ", PATIENCE)
            assert machine.next_latency("lab").missed == 0


def test_an_image_is_refused_while_the_guest_runs(heartbeat: Boot) -> None:
    machine = heartbeat
    assert refused(machine, "load lab /root/uitron.elf") == "guest lab is running: stop it first"
    machine.shell("gandalfctl pause lab")
    assert refused(machine, "load lab /root/uitron.elf") == "guest lab is paused: stop it first"
    machine.shell("gandalfctl resume lab")
    machine.expect("lab", r"^beats=\d+ ", PATIENCE)


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        ("/etc/passwd", "is not an ELF file"),
        ("/dev/null", "is not an ELF file"),
        ("/none", "cannot be opened: No such file or directory"),
        ("/lib/i386-linux-gnu/libc.so.6", "is not linked to a fixed address: .*"),
        ("/sbin/gandalfctl", r"does not fit: it ends at 0x\w+, and the guest's memory .* 0x3f000"),
        ("/root/cut", "is cut short: a segment reaches behind the end of the file"),
        ("/root/wrong", "is not built for 32-bit x86: its ELF header names another machine"),
    ],
)
def test_bad_images_are_refused(heartbeat: Boot, image: str, sentence: str) -> None:
    """And leave the image that was there."""
    machine = heartbeat
    machine.shell("head -c 6000 /root/uitron.elf > /root/cut; cp /root/uitron.elf /root/wrong")
    machine.shell("printf '\\x3e' | dd of=/root/wrong bs=1 seek=18 conv=notrunc 2> /dev/null")
    machine.shell("gandalfctl stop lab")
    assert re.fullmatch(f"{image} {sentence}", refused(machine, f"load lab {image}"))
    machine.skip("lab")
    machine.shell("gandalfctl start lab")
    machine.expect("lab", r"^beats=1000 missed=0\n", PATIENCE)


def test_two_loads_do_not_mix(heartbeat: Boot) -> None:
    """The first one waits for somebody to open the other end of a pipe."""
    machine = heartbeat
    machine.shell("gandalfctl stop lab; mkfifo /root/pipe")
    machine.shell("gandalfctl load lab /root/pipe 2> /root/error & sleep 1")
    sentence = "an image is being loaded already: try again"
    assert refused(machine, "load lab /root/uitron.elf") == sentence
    machine.shell("true > /root/pipe; wait; gandalfctl load lab /root/uitron.elf")
    assert machine.shell("cat /root/error") == "gandalfctl: /root/pipe is not an ELF file\n"


def test_an_image_that_faults_is_reported(heartbeat: Boot) -> None:
    machine = heartbeat
    machine.shell("gandalfctl stop lab; gandalfctl load lab /root/divide.elf")
    machine.skip("vmm")
    sentence = refused(machine, "start lab")
    assert sentence == "guest lab was stopped at once: divide error (#DE) without a handler"
    found = parsed(machine, "report lab")
    assert found["state"] == "stopped"
    assert found["reason"] == "divide error (#DE) without a handler"
    assert machine.stop_report("lab") == found["reason"]
    assert len(found["report"].splitlines()) > 10
    assert found["report"] in machine.text("vmm")
    assert machine.shell("gandalfctl report lab") == found["report"]
    assert guests(machine)["lab"]["reason"] == found["reason"]
    assert machine.shell("gandalfctl report rtos") == "guest rtos was never stopped by the VMM\n"


# Consoles


def test_a_console_is_attached_both_ways(machine: Boot) -> None:
    """The terminal is as before when it is left, by either key."""
    for leave in ("\x1d", "\x01d"):
        before = machine.shell("stty -g")
        machine.skip("linux")
        machine.send("linux", "gandalfctl console rtos\n")
        machine.expect("linux", r"^\[console rtos: Ctrl-\] leaves\]\n", PATIENCE)
        machine.expect("linux", r"^activations=\d+ .* missed=0\n", PATIENCE)
        machine.skip("linux")
        machine.send("linux", "help\r")
        machine.expect("linux", r"^spin SECONDS: (?s:.*)^crash KIND: .*\n", PATIENCE)
        machine.send("linux", leave)
        machine.expect("linux", r"^\[left console rtos\]\n", PATIENCE)
        machine.expect("linux", "gandalf:", PATIENCE)
        assert machine.shell("stty -g") == before


def test_a_console_takes_a_pipe(machine: Boot) -> None:
    machine.skip("rtos")
    output = machine.shell("(echo nonsense; sleep 2) | gandalfctl console rtos")
    machine.expect("rtos", r"^nonsense: no such command; help lists them\n", PATIENCE)
    assert re.search(r"^nonsense: no such command; help lists them$", output, re.M)


def test_a_console_survives_its_guests_restart(heartbeat: Boot) -> None:
    machine = heartbeat
    machine.shell(
        "(sleep 6) | gandalfctl console lab > /tmp/lab & sleep 1; gandalfctl restart lab; sleep 6"
    )
    beats = re.findall(r"^beats=(\d+) missed=0$", machine.shell("cat /tmp/lab"), re.M)
    assert beats.count("1000") >= 2


def test_what_a_console_has_is_json_too(machine: Boot) -> None:
    machine.next_latency()
    text = parsed(machine, "console rtos")["text"].replace("\r", "")
    assert text.splitlines()[-2] in machine.text("rtos")


# Those who may not


def test_a_linux_without_the_field_is_refused() -> None:
    with start("uncontrolled", "", DEMO) as machine:
        sentence = "this Linux may not manage guests: its description lacks `control = true`"
        for line in ("list", "stop rtos", "log", "console rtos", "load rtos /root/uitron.elf"):
            assert refused(machine, line) == sentence
        machine.next_latency()
        assert machine.text("vmm").count("guest linux tried to manage guests: refused\n") == 1
        assert machine.counters()["refusals"] >= 5
        assert machine.shell("gandalfctl alive") == ""


# The watchdog


@pytest.fixture(scope="module")
def watched() -> Iterator[Boot]:
    """A machine with two watchdogs: of Linux and of lab, which lives until h is typed."""
    more = 'on_fault = "restart"\nwatchdog_ms'
    silent = rtos_guest("silent", "lab", priority=5, more=f"{more} = 100")
    with start("watchdog", f"control = true\n{more} = 500", DEMO, silent) as running:
        yield running


def test_an_rtos_that_falls_silent_is_restarted(watched: Boot) -> None:
    machine = watched
    machine.shell("sleep 1")
    with machine.rtos_undisturbed():
        machine.skip("lab")
        machine.shell("echo h | gandalfctl console lab")
        machine.expect("lab", r"^silent: from now on\n", PATIENCE)
        assert machine.stop_report("lab") == "no sign of life for 100 ms"
        machine.expect("vmm", r"^guest lab restarts, 1 of 3\n", PATIENCE)
        machine.expect("lab", r"^silent: alive\n", PATIENCE)
    machine.shell("sleep 1")
    found = guests(machine)["lab"]
    assert (found["state"], found["fault_restarts"], found["watchdog_ms"]) == ("running", 1, 100)


def test_a_paused_guest_is_not_to_blame(watched: Boot) -> None:
    machine = watched
    before = guests(machine)["lab"]
    machine.shell("gandalfctl pause lab; sleep 1; gandalfctl resume lab; sleep 1")
    after = guests(machine)["lab"]
    assert (after["state"], after["restarts"]) == ("running", before["restarts"])


def test_a_linux_that_falls_silent_is_restarted(watched: Boot) -> None:
    machine = watched
    with machine.rtos_undisturbed():
        machine.shell("sleep 1")
        machine.shell("gandalfctl alive --every 100 & sleep 2")
        assert guests(machine)["linux"]["watchdog_ms"] == 500
        machine.hackbench()
        assert guests(machine)["linux"]["restarts"] == 0
        machine.send("linux", "kill %1\n")
        assert machine.stop_report("linux") == "no sign of life for 500 ms"
        machine.wait_for_next_shell()
        found = guests(machine)["linux"]
        assert (found["restarts"], found["fault_restarts"]) == (1, 1)
        assert "no sign of life" in machine.shell("gandalfctl report linux")


# Many times


def free_frames(machine: Boot) -> int:
    """Return how many frames of the pool are free while Linux, whose shadows vary, is off."""
    machine.vmm("stop linux", r"^guest linux stopped: by command\n")
    free = machine.vmm("status", r"^pool: (\d+) of \d+ frames free\n")
    machine.start_linux()
    return int(free[1])


def under_stress(machine: Boot, line: str) -> Latency:
    """Return the demo's dispatch latencies while Linux does something under stress.

    Nothing is typed meanwhile: what is typed is served in the VMM with interrupts masked.
    """
    machine.shell(f"sh /root/cycles.sh {line} & true")
    machine.demo("reset", r"^reset: the figures begin anew\n")
    machine.next_latency()
    with machine.rtos_undisturbed():
        machine.expect("linux", r"^cycles: done\n", 5 * PATIENCE)
        found = machine.latencies()[-1]
    machine.shell("wait")
    return found


def told(rounds: list[Latency]) -> int:
    """Print the rounds' latencies; returns the worst."""
    worst = max(found.maximum for found in rounds)
    print(
        f"{sum(found.activations for found in rounds)} activations, worst latency {worst}, "
        f"by rounds {[found.maximum for found in rounds]}, "
        f"99.9 % at most {[found.most for found in rounds]}"
    )
    return worst


@pytest.mark.parametrize(
    "count", [10, pytest.param(1000, marks=pytest.mark.long)], ids=["10", "1000"]
)
def test_many_cycles_lose_nothing(count: int) -> None:
    """Rounds with and without cycles take turns, so that both have the same stress.

    Both are as long, and execute gandalfctl as often: what Linux does for a command, and the
    VMM for the hypercalls that only look, is no part of the difference.
    """
    size = min(count, ROUND)
    looks, cycles = [], []
    with start("cycles", "control = true", DEMO, lab()) as machine:
        free = free_frames(machine)
        for first in range(0, count, size):
            # Rounds end with each image in turn, the last with heartbeat.
            where = f"{size} {(count - first) // size - 1}"
            looks.append(under_stress(machine, f"look {where}"))
            cycles.append(under_stress(machine, f"cycle {where}"))
            print(f"without cycles: {looks[-1]}\nduring {size}: {cycles[-1]}")
            assert guests(machine)["lab"]["state"] == "running"
        print("without cycles: ", end="")
        alone = told(looks)
        print(f"during {count}: ", end="")
        worst = told(cycles)
        machine.skip("lab")
        machine.expect("lab", r"^beats=\d+ missed=\d+\n", PATIENCE)
        machine.kernel_is_sane()
        assert free_frames(machine) == free
        assert worst <= LATENCY_MAXIMUM
        if count > ROUND:
            # A longer run has a worse worst.
            lengths = [sum(found.activations for found in rounds) for rounds in (looks, cycles)]
            assert 0.9 < lengths[0] / lengths[1] < 1.1
            assert worst <= LATENCY_RATIO * alone
