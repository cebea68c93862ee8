# SPDX-License-Identifier: Apache-2.0
"""Random images, commands, requests and contents of channels, thrown at the VMM from Linux.

The program is fuzz/fuzz.c: it loads spoilt images into `lab`, manages guests in any way that makes
sense and many that make none, and uses a channel that `noise` (guest/tests/noise.c) fills with
garbage. `rtos`, the FreeRTOS demo, must not notice. In Bochs, since QEMU checks no segment limits:
there an RTOS that went wrong might write into whatever lies beside it.

    --seed N    another sequence; the seed is printed
    --long      also thirty times as many steps
"""

import re
from itertools import pairwise

import pytest

from .fuzz import build_initrd
from .systems import DEMO, PATIENCE, Boot, describe, linux, rtos_guest
from .test_control import LATENCY_MAXIMUM, guests

STEPS = 100
# Of the demo, which are to be there at least: each tells of a second.
LINES = 3
CHANNELS = """\
[[channel]]
name = "line"
between = ["linux", "noise"]
size = "8K"

[[channel]]
name = "lab"
between = ["linux", "lab"]
size = "4K"
"""


def start() -> Boot:
    """Start the system; its guests are at the places that fuzz.c knows."""
    parts = (
        linux(initrd=build_initrd(), memory="64M", more="control = true"),
        DEMO,
        rtos_guest("heartbeat", "lab", priority=5, more="watchdog_ms = 20"),
        rtos_guest("noise", priority=4),
        CHANNELS,
    )
    return Boot.start(describe("fuzz", *parts, memory="128M"), emulator="bochs")


def free_frames(machine: Boot) -> int:
    """Stop Linux, whose shadows vary, and return how many frames of the pool are free."""
    machine.vmm("stop linux", r"^guest linux stopped: by command\n")
    return int(machine.vmm("status", r"^pool: (\d+) of \d+ frames free\n")[1])


def check_demo(machine: Boot) -> None:
    """No activation is missed or late, and no line of the demo's is lost or broken."""
    lines = machine.latencies()
    assert machine.text("rtos").count("FreeRTOS V") == 1
    for line, following in pairwise(lines):
        assert following.activations == line.activations + 1000
    assert lines[-1].missed == 0
    print(f"the demo's worst latency: {lines[-1].maximum}")
    assert lines[-1].maximum <= LATENCY_MAXIMUM


def check_guests_work(machine: Boot) -> None:
    """Good images work in the guests that were abused, and so does their channel."""
    for name, image in (("lab", "heartbeat"), ("noise", "echo")):
        machine.shell(f"gandalfctl stop {name} 2> /dev/null; true")
        machine.shell(f"gandalfctl load {name} /root/{image}.elf")
        machine.skip(name)
        machine.shell(f"gandalfctl start {name}")
    machine.expect("lab", r"^beats=1000 missed=0\n", PATIENCE)
    machine.expect("noise", r"^channel: line, side 1, ", PATIENCE)
    # A read and a write each tell of the new epoch, if nothing has before.
    machine.shell("timeout 1 cat /dev/gandalf-line; echo 2> /dev/null > /dev/gandalf-line; true")
    line = "(head -c 7 < /dev/gandalf-line) & echo hello1 > /dev/gandalf-line; wait"
    assert "hello1" in machine.shell(line).replace(line, "")


@pytest.mark.parametrize(
    "steps", [STEPS, pytest.param(30 * STEPS, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_nothing_random_harms_others(steps: int, request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed")
    with start() as machine:
        free = free_frames(machine)
        machine.start_linux()
        command = f"fuzz {seed} {steps}"
        print(command)
        output = machine.shell(command, timeout=PATIENCE * steps / STEPS)
        print(output.splitlines()[-1])
        assert "FAIL" not in output
        machine.kernel_is_sane()
        found = guests(machine)
        assert [found[name]["restarts"] for name in ("linux", "rtos")] == [0, 0]
        check_guests_work(machine)
        while len(machine.latencies()) <= LINES:
            machine.next_latency()
        check_demo(machine)
        stopped = re.findall(r"^guest (\w+) stopped: (?!by command)", machine.text("vmm"), re.M)
        assert set(stopped) == {"lab"}
        done = re.search(r"^done: (\d+) steps, (\d+) loads, (\d+) starts", output, re.M)
        assert done
        assert int(done[1]) == steps
        assert min(int(done[2]), int(done[3])) > steps // 10
        # Whether a random step has restarted it while it ran is chance.
        machine.shell("gandalfctl restart lab")
        assert machine.counters("lab")["restarts"] > 0
        assert free_frames(machine) == free
