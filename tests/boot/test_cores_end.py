# SPDX-License-Identifier: Apache-2.0
"""What dies on one CPU harms no other: a guest, one that never ends a loop, and the VMM itself."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD

from .mistake import debugger_arguments, vmm_fails
from .systems import DEMO, PATIENCE, Boot, linux, rtos_guest
from .test_cores import beats, describe_cores, on
from .test_gather import AWAKE, LOOKS, halted
from .test_smp import describe_smp, online, smp

FAILS = r"^CPU 1: the VMM stops: exception 14 in the VMM at dead0000, .*\n"


def interface(name: str) -> Path:
    return BUILD / "boot" / f"{name}.gdb"


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """A Linux that manages others, and an RTOS that measures itself, both on CPU 0."""
    guests = (
        on(0, linux(memory="128M", more="control = true")), on(0, DEMO),
        on(1, rtos_guest("heartbeat", "beat", priority=5)),
        on(1, rtos_guest("silent", "shy", priority=4)),
        on(1, rtos_guest("doorbell", "bell", priority=3)),
        on(1, rtos_guest("bad-divide", "bad", priority=6)),
    )  # fmt: skip
    arguments = debugger_arguments(interface("cores-end"))
    with Boot.start(describe_cores("cores-end", 2, *guests), arguments=arguments) as started:
        started.wait_for_shell()
        started.expect("shy", r"^silent: alive\n", PATIENCE)
        yield started


def others_go_on(machine: Boot) -> None:
    """See Linux and the RTOS of CPU 0 at work."""
    before = machine.latencies()[-1]
    assert machine.next_latency().activations > before.activations
    machine.hackbench()


def listed(machine: Boot, name: str) -> str:
    (line,) = re.findall(rf"^{name} .*", machine.shell("gandalfctl list"), re.M)
    return str(line)


def test_a_guest_that_is_stopped_with_a_report(machine: Boot) -> None:
    for _ in range(3):
        machine.skip("vmm")
        machine.shell("gandalfctl start bad 2>&1 || true")  # it fails sooner or later
        machine.expect("vmm", r"^CPU 1: guest bad stopped: divide error", PATIENCE)
        assert "stopped" in listed(machine, "bad")
    others_go_on(machine)
    beats(machine, "beat")


def test_a_guest_that_loops_with_interrupts_disabled(machine: Boot) -> None:
    """It has its CPU, but for the one that is more urgent, and ends when that is wanted."""
    machine.shell("(printf l; sleep 1) | gandalfctl console shy")
    machine.expect("shy", r"^silent: from now on\n", PATIENCE)
    others_go_on(machine)
    beats(machine, "beat")
    assert "running" in listed(machine, "shy")
    machine.shell("gandalfctl stop bell && gandalfctl start bell")
    assert machine.shell("gandalfctl stop shy") == ""
    assert "off" in listed(machine, "shy")
    machine.expect("bell", r"^ready\n", PATIENCE)


def test_the_vmm_of_another_cpu(machine: Boot) -> None:
    """Its guests are gone with it, and whoever wants something of them is told so at once."""
    machine.skip("vmm")
    vmm_fails(machine, interface("cores-end"), 1)
    machine.expect("vmm", FAILS, PATIENCE)
    others_go_on(machine)
    for name in ("beat", "bell"):
        assert re.search(r"stopped .*exception 14 in the VMM", listed(machine, name))
        for action in ("start", "stop", "restart", "pause", "resume"):
            refused = machine.shell(f"gandalfctl {action} {name} 2>&1", status=1)
            assert "the VMM of that guest's CPU does not run" in refused
    others_go_on(machine)


def test_the_machine_ends_without_it(machine: Boot) -> None:
    machine.vmm("status", r"^beat: stopped, ")
    machine.vmm("stop rtos", r"^guest rtos stopped: by command\n")
    machine.send("linux", "poweroff -f\n")
    assert machine.wait_off(PATIENCE).clean


def test_a_linux_whose_second_cpu_is_gone_begins_anew_with_the_first() -> None:
    """It switches itself off then, too: nobody waits for the vCPU that has no VMM."""
    path = interface("cores-end-smp")
    description = describe_smp("cores-end-smp", 2)
    with Boot.start(description, arguments=debugger_arguments(path)) as machine:
        machine.wait_for_shell()
        vmm_fails(machine, path, 1)
        machine.expect("vmm", FAILS, PATIENCE)
        beats(machine, "beat")
        machine.vmm("stop linux", r"^guest linux stopped: by command\n")
        machine.start_linux()
        assert online(machine) == "0"
        machine.skip("vmm")
        machine.send("linux", "poweroff -f\n")
        machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
        beats(machine, "beat")


def test_a_linux_whose_first_cpu_is_gone_is_gone_on_the_others_too() -> None:
    """Nobody could stop it there any more, and it has memory and ports."""
    path = interface("cores-end-apart")
    guests = on(0, rtos_guest("heartbeat", "beat")), smp([1, 2])
    description = describe_cores("cores-end-apart", 3, *guests)
    with Boot.start(description, arguments=debugger_arguments(path)) as machine:
        machine.wait_for_shell()
        machine.shell("taskset -c 1 sh -c 'while :; do :; done' & sleep 1")
        assert halted(machine)[2] <= AWAKE
        vmm_fails(machine, path, 1)
        machine.expect("vmm", FAILS, PATIENCE)
        beats(machine, "beat")
        found = halted(machine)
        assert min(found[1], found[2]) >= LOOKS - AWAKE, found
