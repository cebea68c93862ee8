# SPDX-License-Identifier: Apache-2.0
"""What the guests and the VMMs of other CPUs do delays no task of an RTOS on core 0.

In Bochs, where the CPUs execute in turn and time is what they execute.
"""

from pathlib import Path

import pytest

from gandalf.measure.masked import TWO_LEVEL_MORE

from .changed import substitute
from .systems import (
    DEMO,
    FEW_INSTRUCTIONS,
    PATIENCE,
    TWO_LEVEL,
    Boot,
    Latency,
    World,
    rtos_guest,
)
from .test_cores import describe_cores, on
from .two_level import AGAIN, changed_vmm

CPUS = 4
# Ticks, of the 1 ms task: what is allowed, and how much more than where nothing goes wrong.
MEAN, MAXIMUM = 600, 2500
MEAN_MORE = 100
ACTIVATIONS = r"^activations=2000 .*\n"
DEAD = r"^CPU 3: the VMM stops: a mistake\n"
TROUBLE = (
    on(1, rtos_guest("bad-divide", more=AGAIN)), on(2, rtos_guest("hog")),
    on(3, rtos_guest("silent")),
)  # fmt: skip
QUIET = tuple(on(cpu, rtos_guest("heartbeat", f"beat{cpu}")) for cpu in range(1, CPUS))
BESIDE = (on(0, rtos_guest("heartbeat", "beat", priority=5)), on(1, rtos_guest("bells")))
REPORTS = (on(2, rtos_guest("bad-divide", more=AGAIN)),)


def line_to(guest: str) -> str:
    """Return the channel by which the bells ring a guest of core 0."""
    return f'[[channel]]\nname = "line"\nbetween = ["{guest}", "bells"]\nsize = "8K"\n'


# In any 50 us an RTOS takes two messages (core/message.c), each in less than 250 ticks. They are
# beside what printing may mask, which MAXIMUM is for. As a task begins in 5 us, one activation in
# ten meets them. If they are its own doorbells, its handler of them, which gives two semaphores to
# tasks, comes before its task, too, and their sender repeats each when it has been taken, which
# interrupts once more and is too many, in 200 ticks.
FLOOD_MORE, OWN_DOORBELLS = 2 * 250, 2 * (250 + 200)
FLOOD_MEAN_MORE = 2 * 250 // 10
# What others print and how they end is told on core 0's consoles. So a section with interrupts
# masked may be in the way that would not have been there, no more than one (masked_sections.h), and
# the messages that tell of it.
MAXIMUM_MORE = 1000 + FLOOD_MORE
# Without end: doorbells of a guest beside the one with the task, or of that one; and reports.
FLOODS = {
    "another": (*BESIDE, line_to("beat")),
    "another-reports": (*BESIDE, *REPORTS, line_to("beat")),
    "itself": (BESIDE[1], line_to("rtos")),
    "itself-reports": (BESIDE[1], *REPORTS, line_to("rtos")),
}


def core_3_dies(folder: Path) -> None:
    """Have the VMM of CPU 3 panic at its guest's 500th sign of life, of which one comes each ms."""
    path = folder / "vmm" / "core" / "hypercall.c"
    function = "static u32 hypercall_alive(struct vcpu *vcpu)\n"
    count = (
        "OF_CORE static u32 signs;\n\nstatic void life_counted(void)\n{\n"
        '\tif (core.index == 3 && ++signs == 500)\n\t\tpanic("a mistake");\n}\n\n'
    )
    substitute(path, function, count + function)
    substitute(path, "\twork_mask(alive);\n", "\twork_mask(alive);\n\tlife_counted();\n")


def core_0_waits(folder: Path) -> None:
    """Have core 0, where its timer interrupts, wait for CPU 1's report, for 50 us at most."""
    core_3_dies(folder)
    core = folder / "vmm" / "core"
    substitute(core / "message.h", "\tu32 started; ", "\tu32 reports;\n\tu32 started; ")
    substitute(core / "report.c", "\tlog_copy(vm->report,", "\toutbox_own()->reports = 1;\n"
               "\tlog_copy(vm->report,")  # fmt: skip
    substitute(core / "report.c", "\tlog_copy(NULL, 0);\n", "\tlog_copy(NULL, 0);\n"
               "\toutbox_own()->reports = 0;\n")  # fmt: skip
    for name in ("report.c", "time.c"):
        own = f'#include "core/{name.replace(".c", ".h")}"\n'
        substitute(core / name, own, f'{own}\n#include "core/message.h"\n')
    wait = (
        "static void report_wait(void)\n{\n\tu64 end = rdtsc() + time_tsc_khz / 20;\n\n"
        "\twhile (core.index == 0 && outbox_of(1)->reports != 0 && rdtsc() < end)\n\t\t;\n}\n\n"
    )
    begin = "void time_interrupt(void)\n{\n\ts32 high;\n\tu32 low;\n\n"
    substitute(core / "time.c", begin, f"{wait}{begin}\treport_wait();\n")


# Instructions of a second of the machine's clock. How what others send meets the task's timer
# depends on it: each is another phase.
PHASES = tuple(FEW_INSTRUCTIONS + more * 100_000 for more in (0, 1, 2, 4, 5, 7))


def latency(
    name: str, vmm: Path | None, cpus: int, others: tuple[str, ...], ips: int = PHASES[0]
) -> tuple[Latency, str]:
    """Return the latency of the 1 ms task's first 2,000 activations, and the VMM's log."""
    description = describe_cores(f"cores-latency-{name}", cpus, on(0, DEMO), *others)
    with Boot.start(description, emulator="bochs", vmm=vmm, ips=ips) as machine:
        machine.expect("rtos", ACTIVATIONS, PATIENCE)
        found = machine.latencies()[1]
        print(name, found)
        if others is TROUBLE:
            machine.expect("vmm", DEAD, PATIENCE)
        return found, machine.text("vmm")


def delays(found: Latency, mean_more: int = 0, more: int = 0) -> bool:
    """Whether an activation was missed, or they were later than is allowed, in the mean or at most.

    Both have so many ticks more. With two levels of privilege what lies in the way may take a fifth
    longer, as masked sections may there.
    """
    longer = TWO_LEVEL_MORE if World.rings == TWO_LEVEL else 1
    return (
        found.missed > 0
        or found.mean > MEAN * longer + mean_more
        or found.maximum > MAXIMUM * longer + more
    )


@pytest.mark.long
def test_what_dies_on_other_cpus_delays_no_task_in_bochs() -> None:
    """A guest that is stopped with a report and restarted without end, and one that loops with
    interrupts disabled; and amid these the VMM of a third CPU stops."""
    vmm = changed_vmm("latency", core_3_dies, "cores")
    found, log = latency("trouble", vmm, CPUS, TROUBLE)
    assert "guest bad-divide stopped: divide error" in log
    assert not delays(found)
    quiet, _ = latency("quiet", vmm, CPUS, QUIET)
    assert found.mean <= quiet.mean + MEAN_MORE
    assert found.maximum <= quiet.maximum + MAXIMUM_MORE


@pytest.mark.parametrize(
    ("flood", "ips"),
    [*(("another", ips) for ips in PHASES[:2]), ("itself", PHASES[0]),
     *(pytest.param("another", ips, marks=pytest.mark.long) for ips in PHASES[2:]),
     *(pytest.param("itself", ips, marks=pytest.mark.long) for ips in PHASES[1:]),
     *(pytest.param(name, ips, marks=pytest.mark.long)
       for name in ("itself-reports", "another-reports") for ips in PHASES)],
)  # fmt: skip
def test_messages_without_end_delay_a_task_by_two_at_most_in_bochs(flood: str, ips: int) -> None:
    """Another CPU's guest rings one of core 0 as fast as it can, and prints without end.

    A third CPU's guest is stopped with a report and restarted without end.
    """
    found, _ = latency(f"flood-{flood}", None, 3, FLOODS[flood], ips)
    more = FLOOD_MORE + OWN_DOORBELLS * flood.startswith("itself")
    assert not delays(found, FLOOD_MEAN_MORE, more)


@pytest.mark.long
def test_a_core_that_waits_for_another_one_is_found() -> None:
    found, _ = latency("waits", changed_vmm("latency-waits", core_0_waits, "cores"), CPUS, TROUBLE)
    assert delays(found)
