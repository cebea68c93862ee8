# SPDX-License-Identifier: Apache-2.0
"""Several CPUs, each with an instance of the VMM and guests of its own.

QEMU runs each CPU in a thread of the host: what is tested there is what happens, and not when.
Bochs simulates the CPUs in turn and is deterministic.
"""

import re
from collections.abc import Callable, Iterator
from ctypes import sizeof
from pathlib import Path

import pytest

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.build.build import build_vmm, make
from gandalf.build.profile import find_profile
from gandalf.description.cpus import cpus_of
from gandalf.run.machine import Machine

from .changed import substitute
from .systems import DEMO, FOUR, PATIENCE, PROMPT, Boot, World, describe, linux, rtos_guest
from .two_level import changed_vmm

LEFT = re.compile(r"^CPU (\d): \d+ KiB of its pool are left$", re.M)
# KiB that a further CPU may take beside its pool and its trace rings, which have these.
BESIDE_POOL = 108
TRACE_RING = abi()["TRACE_EVENTS"] * sizeof(abi().structures["gandalf_trace_event"]) >> 10


def on(cpu: int, guest: str) -> str:
    """Put a guest on a CPU."""
    return guest.replace("[[guest]]\n", f"[[guest]]\ncpu = {cpu}\n", 1)


def describe_cores(
    name: str, cpus: int, *guests: str, more: str = "", rings: str | None = None
) -> Path:
    """Describe a system with several CPUs. more: further lines of the machine; rings: as there."""
    path = describe(name, *guests, memory="512M", rings=rings)
    text = path.read_text().replace("[machine]\n", f"[machine]\ncpus = {cpus}\n{more}", 1)
    path.write_text(text)
    return path


def beside_pools(machine: Boot) -> list[int]:
    """Return how many KiB each further CPU takes beside its pool and its trace rings.

    It has a ring of its own, and one of each guest with a vCPU there.
    """
    found = re.findall(r"^CPU (\d) takes (\d+) KiB beside its pool$", machine.text("vmm"), re.M)
    guests = [cpus_of(guest) for _, guest in machine.built.checked.system.guests]
    rings = {cpu: 1 + sum(int(cpu) in cpus for cpus in guests) for cpu, _ in found}
    return [int(size) - rings[cpu] * TRACE_RING for cpu, size in found]


def heartbeats(name: str, cpus: int, more: str = "") -> Path:
    """Describe a system with an RTOS on each CPU, beat0 and so on."""
    guests = [on(cpu, rtos_guest("heartbeat", f"beat{cpu}")) for cpu in range(cpus)]
    return describe_cores(name, cpus, *guests, more=more)


def beats(machine: Boot, name: str) -> None:
    """See an RTOS at work from now on."""
    machine.skip(name)
    machine.expect(name, r"^beats=\d+ ", PATIENCE)


@pytest.fixture(scope="module")
def pair() -> Iterator[Boot]:
    """A Linux and an RTOS on each of two CPUs."""
    description = describe_cores(
        "cores-pair",
        2,
        on(0, linux(memory="128M", more="control = true")),
        on(0, rtos_guest("heartbeat", "beat0")),
        on(1, linux(memory="128M").replace('name = "linux"', 'name = "other"', 1)),
        on(1, rtos_guest("heartbeat", "beat1")),
    )
    with Boot.start(description) as machine:
        machine.wait_for_shell()
        machine.wait_for_prompt("other")
        yield machine


def test_the_image_is_the_one_for_several_cpus(pair: Boot) -> None:
    profile = "cores" if World.rings == FOUR else "two-level-cores"
    assert pair.built.vmm == find_profile(profile).image
    assert LEFT.findall(pair.text("vmm")) == ["1"]


def test_another_cpu_takes_little_beside_its_pool(pair: Boot) -> None:
    (size,) = beside_pools(pair)
    assert size <= BESIDE_POOL


@pytest.mark.parametrize("name", ["linux", "other"])
def test_each_linux_works(pair: Boot, name: str) -> None:
    output = pair.command(name, "hackbench && uname -m", PROMPT, PATIENCE)
    assert "400 tasks" in output
    assert output.endswith("i686")


@pytest.mark.parametrize("name", ["beat0", "beat1"])
def test_each_rtos_works(pair: Boot, name: str) -> None:
    beats(pair, name)


def test_the_console_of_the_vmm_commands_all(pair: Boot) -> None:
    pair.vmm("stop beat1", r"^CPU 1: guest beat1 stopped: by command\n")
    pair.vmm("status", r"^beat1: off, ")
    pair.vmm("start beat1", r"^start beat1\n")
    beats(pair, "beat1")
    pair.vmm("status", r"^beat1: running, ")


def test_linux_commands_a_guest_of_another_cpu(pair: Boot) -> None:
    assert re.search(r"^beat1 +rtos +running", pair.shell("gandalfctl list"), re.M)
    pair.shell("gandalfctl pause beat1")
    pair.vmm("status", r"^beat1: paused, ")
    pair.shell("gandalfctl resume beat1")
    beats(pair, "beat1")


def test_linux_reads_what_another_cpu_has(pair: Boot) -> None:
    """The state at once, the console, the log, and why a guest there was stopped."""
    pair.shell("gandalfctl restart beat1")
    assert re.search(r"^beat1 +rtos +running", pair.shell("gandalfctl list"), re.M)
    pools = r"^CPU 0: pool: \d+ of \d+ frames free\nCPU 1: pool: \d+ of \d+ frames free$"
    assert re.search(pools, pair.shell("gandalfctl list"), re.M)
    halts = [
        int(pair.shell("gandalfctl stats beat1 | awk '$1 == \"halts\" { print $2 }'"))
        for _ in range(2)
    ]
    assert 0 < halts[0] < halts[1]
    assert "beats=" in pair.shell("gandalfctl console beat1 < /dev/null")
    assert "CPU 1: " in pair.shell("gandalfctl log")
    for cpu in (0, 1):
        own = pair.shell(f"gandalfctl trace beat{cpu} | grep -c '^CPU {cpu}: '")
        assert int(own) > 10
        others = pair.shell(f"gandalfctl trace beat{1 - cpu} | grep -c '^CPU {cpu}: '", status=1)
        assert int(others) == 0


def test_the_end_of_all_guests_is_the_machines(pair: Boot) -> None:
    """The last one is that of another CPU than the first."""
    for name in ("beat0", "beat1", "linux"):
        pair.vmm(f"stop {name}", rf"guest {name} stopped: by command\n")
    assert pair.emulator.alive()
    pair.send("other", "poweroff -f\n")
    assert pair.wait_off(PATIENCE).clean
    assert re.search(r"^CPU 1: guest other is off\nall guests are off\n", pair.text("vmm"), re.M)


def test_eight_cpus() -> None:
    with Boot.start(heartbeats("cores-eight", 8)) as machine:
        for cpu in range(8):
            machine.expect(f"beat{cpu}", r"^beats=[0-9]{4} ", PATIENCE)
        assert sorted(LEFT.findall(machine.text("vmm"))) == list("1234567")
        sizes = beside_pools(machine)
        assert len(sizes) == 7
        assert max(sizes) <= BESIDE_POOL


def test_a_guest_that_fails_is_its_own_cpus(pair_of_demos: Boot) -> None:
    machine = pair_of_demos
    machine.send("second", "crash undefined\n")
    machine.expect("vmm", r"^CPU 1: guest second stopped: .*\n(?:.*\n)*?CPU 1:   eax ", PATIENCE)
    machine.skip("first")
    machine.expect("first", r"^activations=", PATIENCE)
    machine.vmm("status", r"^second: stopped, ")
    machine.vmm("restart second", r"^restart second\n")
    machine.expect("second", r"^FreeRTOS V", PATIENCE)


@pytest.fixture
def pair_of_demos() -> Iterator[Boot]:
    """The FreeRTOS demo on each of two CPUs."""
    demo = rtos_guest("demo", "first").replace("build/tests/", "build/freertos/")
    demo = demo.replace('"256K"', '"1M"')
    second = demo.replace('"first"', '"second"')
    with Boot.start(describe_cores("cores-demos", 2, on(0, demo), on(1, second))) as machine:
        machine.expect("second", r"^activations=", PATIENCE)
        yield machine


def test_a_report_of_another_cpu_is_read_by_linux() -> None:
    """A guest that was never stopped has none, and each has its own."""
    bad = rtos_guest("bad-divide", "bad")
    lab = rtos_guest("bad-hypercall", "lab")
    control = on(0, linux(memory="128M", more="control = true"))
    with Boot.start(describe_cores("cores-report", 2, control, on(1, bad), on(1, lab))) as machine:
        machine.wait_for_shell()
        report = machine.shell("gandalfctl report bad")
        assert report.startswith("guest bad stopped: divide error (#DE)")
        assert "\n  its last events:\n" in report
        assert machine.shell("gandalfctl report lab").startswith("guest lab stopped: ")
        assert re.search(
            r"^bad +rtos +stopped .* divide error", machine.shell("gandalfctl list"), re.M
        )
        assert "never stopped" in machine.shell("gandalfctl report linux")


ONE_CPU = ("-smp", "1,sockets=1,maxcpus=1")


def test_a_cpu_that_is_missing_stops_the_vmm() -> None:
    with Boot.start(heartbeats("cores-missing", 2), arguments=ONE_CPU) as machine:
        machine.expect("vmm", r"^the VMM stops: CPU 1 does not come up\n", PATIENCE)
        assert not machine.wait_off(PATIENCE).clean


def test_a_cpu_that_is_missing_may_be_done_without() -> None:
    description = heartbeats("cores-optional", 2, "cpus_required = false\n")
    with Boot.start(description, arguments=ONE_CPU) as machine:
        machine.expect("vmm", r"^CPU 1 does not come up: its guests stay off\n", PATIENCE)
        beats(machine, "beat0")
        machine.vmm("status", r"^beat1: off, ")
        machine.vmm("start beat1", r"^guest beat1 is off\n")
        machine.vmm("stop beat0", r"^guest beat0 stopped: by command\n")
        assert machine.wait_off(PATIENCE).clean


def never_started(folder: Path) -> None:
    """Leave CPU 1, which the firmware's tables have, without the interrupt that starts it."""
    start = "cpu_start(core_cpu_ids[index], LAYOUT_START);"
    substitute(folder / "vmm" / "core" / "cores.c", start, f"if (index != 1) {start}")


def comes_too_late(folder: Path) -> None:
    """Have CPU 1, which its local APIC names, begin when the next one has been waited for."""
    start = folder / "vmm" / "arch" / "ia32" / "start.S"
    directory = "\tmov\tAT(start_directory), %eax\n"
    late = (
        "\tcmpl\t$1 << 24, 0xfee00020\n\tjne\t2f\n"
        "\tmov\tAT(start_directory), %eax\n"
        "1:\tpause\n\tcmp\tAT(start_directory), %eax\n\tje\t1b\n2:\n"
    )
    substitute(start, directory, late + directory)


@pytest.mark.parametrize("mistake", [never_started, comes_too_late])
def test_a_cpu_that_is_there_and_does_not_come_up(mistake: Callable[[Path], None]) -> None:
    """The VMM waits for it, and not for ever; the next one comes up, and is that one alone."""
    description = heartbeats("cores-silent", 3, "cpus_required = false\n")
    profile = "cores" if World.rings == FOUR else "two-level-cores"
    image = changed_vmm(f"cores-silent-{mistake.__name__}", mistake, profile)
    with Boot.start(description, vmm=image) as machine:
        machine.expect("vmm", r"^CPU 1 does not come up: its guests stay off\n", PATIENCE)
        for name in ("beat0", "beat2"):
            beats(machine, name)
        machine.vmm("status", r"^beat1: off, ")


def test_an_image_for_one_cpu_says_so() -> None:
    description = heartbeats("cores-lacking", 2)
    profile = "full" if World.rings == FOUR else "two-level"
    with Boot.start(description, vmm=build_vmm(find_profile(profile))) as machine:
        machine.expect("vmm", r"^the VMM stops: this VMM lacks several CPUs\n", PATIENCE)
        assert not machine.wait_off(PATIENCE).clean


ECHOED = r"^channel: 65536 bytes\n"


def channel_pair(name: str) -> Path:
    """Describe two RTOSes on two CPUs, of which one sends back what the other one sends."""
    line = '[[channel]]\nname = "line"\nbetween = ["count", "echo"]\nsize = "8K"\n'
    return describe_cores(
        name, 2, on(0, rtos_guest("channel", "count")), on(1, rtos_guest("channel", "echo")), line
    )


def restart(machine: Boot, name: str) -> None:
    """Restart a guest.

    That may have to be said again: the VMM works for it, or another core's has not heard yet that
    it has started.
    """
    answer = ""
    while answer != "stopped: by command":
        said = rf"guest {name} (is busy|is starting|stopped: by command)"
        answer = machine.vmm(f"restart {name}", said)[1]


def test_a_channel_between_cpus_survives_restarts_of_either_side() -> None:
    """Each life counts from 0: a byte of an earlier one would end the guest that counts."""
    with Boot.start(channel_pair("cores-channel")) as machine:
        machine.expect("count", ECHOED, PATIENCE)
        for name in ("echo", "count") * 3:
            machine.skip("count")
            restart(machine, name)
            machine.expect("count", ECHOED, PATIENCE)
        for name in ("count", "echo"):
            assert not re.search("FAIL|nonsense|changed", machine.text(name))


def test_a_channel_between_cpus_in_bochs() -> None:
    with Machine(channel_pair("cores-channel-bochs"), emulator="bochs", ips=100_000_000) as machine:
        machine.expect("count", ECHOED, PATIENCE)


def test_output_without_end_of_another_cpu_in_bochs() -> None:
    """It keeps back no line of others of either CPU, and no task of the CPU that has the UART."""
    guests = (
        on(0, DEMO), on(0, rtos_guest("heartbeat", "beat0", priority=5)),
        on(1, rtos_guest("heartbeat", "beat1", priority=5)), on(1, rtos_guest("flood", priority=4)),
    )  # fmt: skip
    description = describe_cores("cores-flood", 2, *guests)
    with Machine(description, emulator="bochs", ips=100_000_000) as machine:
        found = machine.expect("rtos", r"^activations=1000 .* maximum=(\d+) missed=0\n", PATIENCE)
        assert int(found[1]) <= 2500
        for cpu in range(2):
            machine.expect(f"beat{cpu}", r"^beats=1000 missed=0\n", PATIENCE)
        assert machine.text("flood").count("abcdefgh") > 10


COM2 = 'ports = ["0x2f8-0x2ff"]\ninterrupts = [3]'


def test_a_device_interrupts_a_guest_of_another_cpu() -> None:
    """Core 0 has the line, and the guest on CPU 1 the device. A new life has interrupts, too."""
    guests = on(0, rtos_guest("heartbeat", "beat")), on(1, rtos_guest("serial", more=COM2))
    description = describe_cores("cores-device", 2, *guests)
    with Boot.start(description, arguments=("-serial", "null")) as machine:
        machine.expect("serial", r"^interrupts=300\n", PATIENCE)
        restart(machine, "serial")
        machine.expect("serial", r"^interrupts=100\n", PATIENCE)
        machine.expect("serial", r"^interrupts=300\n", PATIENCE)
        beats(machine, "beat")


FREERTOS = ROOT / "systems" / "cores-freertos.toml"
ANSWERED = r"^set point {}: 295 (-?\d+)\n"


def follows(machine: Machine, rounds: int = 1) -> None:
    """See the motor come close to two set points, of which the second is a good way from it.

    Where the host's threads are the CPUs, it may have delayed one for a part of the motor's way:
    one of so many rounds has to succeed.
    """

    def is_close(set_point: int) -> bool:
        found = machine.expect("commander", ANSWERED.format(set_point), PATIENCE)
        return abs(int(found[1]) - set_point) < 150

    for set_point in (1000, 200):
        assert any(is_close(set_point) for _ in range(rounds))


def test_two_freertos_have_a_channel() -> None:
    with Boot.start(FREERTOS) as machine:
        follows(machine, rounds=10)
        for name in ("motor", "commander"):
            restart(machine, name)
            machine.skip("commander")
            follows(machine, rounds=10)


def test_two_freertos_have_a_channel_in_bochs() -> None:
    """And neither misses a millisecond for it."""
    with Machine(FREERTOS, emulator="bochs", ips=100_000_000) as machine:
        follows(machine)
        for name in ("commander", "motor"):
            line = r"^activations=\d{4} .* maximum=(\d+) missed=(\d+)\n"
            found = machine.expect(name, line, PATIENCE)
            assert found[2] == "0"
            assert int(found[1]) <= 2500


def test_a_doorbell_of_another_cpu_rings_an_rtos_at_work_at_once() -> None:
    """The bench's pair: one rings, and the other one looks at the time until it has been rung."""
    line = '[[channel]]\nname = "line"\nbetween = ["ring", "rung"]\nsize = "8K"\n'
    first, second = (
        rtos_guest(name).replace("build/tests", "build/bench/rtos") for name in ("ring", "rung")
    )
    make(ROOT / "bench" / "rtos")
    description = describe_cores("cores-doorbell", 2, on(0, first), on(1, second), line)
    with Boot.start(description) as machine:
        machine.expect("ring", r"^message: sends=200 ", PATIENCE)
        # What another CPU's guest has counted is at most a second old. On a busy host many rings
        # come together.
        for _ in range(100):
            if machine.counters("rung")["quick_ipis"] > 0:
                break
        else:
            pytest.fail(str(machine.counters("rung")))
