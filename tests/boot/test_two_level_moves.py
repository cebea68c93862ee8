# SPDX-License-Identifier: Apache-2.0
"""vCPUs that move where the VMM alone is privileged, under processes that attack their kernel.

tests/boot/test_migration.py and test_preemption.py run in this world, too (--rings two-level).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.build.profile import find_profile

from .changed import substitute
from .systems import FEW_INSTRUCTIONS, PATIENCE, TWO_LEVEL, Boot, rtos_guest
from .test_cores import beats, describe_cores
from .test_migration import MOVING, place
from .test_smp import smp
from .test_two_level import (
    CLOSED,
    KERNEL_TEXT,
    KILLED,
    KILLED_AT_RETURN,
    THROUGH_CODE,
    kernel_lives,
)
from .test_two_level_cores import kept_in
from .two_level import changed_vmm, take_direct_ways
from .workload import build_initrd_with

PROFILE = "two-level-smp"
MOVES = 100
# A process that tries until its vCPU has moved so often, and what it ends with if that is in vain.
AGAIN, IN_VAIN = f"taskset -c 1 escape again {KERNEL_TEXT:x}", 3


def system(name: str, machine: str = "") -> Path:
    """Describe a Linux whose second vCPU moves, and an RTOS beside the first."""
    more = "control = true\nmigrate = true\n"
    guests = (smp([0, 1], more, build_initrd_with("escape")), rtos_guest("heartbeat", "beat"))
    return describe_cores(f"two-level-moves-{name}", 2, *guests, more=machine, rings=TWO_LEVEL)


# How the views are switched, and what of them is kept, in other ways than usual.
MEASURES = {
    "usual": "",
    "detect": 'coherence = "detect"\n',
    "global": "global_pages = true\n",
    "few": "cache_entries = 2\ndirect_switch = false\nprefill = false\n",
}


@pytest.fixture(scope="module", params=MEASURES)
def machine(request: pytest.FixtureRequest) -> Iterator[Boot]:
    name = str(request.param)
    with Boot.start(system(name, MEASURES[name])) as running:
        running.wait_for_shell()
        yield running


def test_its_image(machine: Boot) -> None:
    assert machine.built.vmm == find_profile(PROFILE).image


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_process_is_kept_in_wherever_its_vcpu_is(machine: Boot, cpu: int) -> None:
    machine.shell(f"gandalfctl move linux 1 {cpu}")
    assert place(machine)[0] == cpu
    kept_in(machine, 1)
    kernel_lives(machine)


def test_a_process_attacks_while_its_vcpu_moves(machine: Boot) -> None:
    attacks = [(attack, KILLED) for attack in CLOSED]
    attacks += [(attack, KILLED_AT_RETURN) for attack in THROUGH_CODE]
    for attack, status in attacks:
        output = machine.shell(
            f"({MOVING.format(times=20)}) > /tmp/moved & while kill -0 $! 2>/dev/null; do "
            f"taskset -c 1 escape {attack}; [ $? = {status} ] || echo it got through; done; "
            "cat /tmp/moved"
        )
        assert "it got through" not in output
        assert "moved 20\n" in output
    kernel_lives(machine)
    beats(machine, "beat")


def try_again(machine: Boot, status: int) -> None:
    """Have a process try again and again while its vCPU moves; it must end with a status."""
    before = place(machine)[1]
    output = machine.shell(
        f"({MOVING.format(times=MOVES)}) > /tmp/moved & m=$!; {AGAIN} 4000; echo ended $?; "
        "gandalfctl list | grep 'vCPU 1:'; wait $m; cat /tmp/moved"
    )
    assert f"ended {status}\n" in output
    meanwhile = re.search(r"moved (\d+) times", output)
    assert meanwhile is not None
    assert int(meanwhile[1]) > before
    assert f"moved {MOVES}\n" in output


def test_what_is_interrupted_in_a_process_goes_on_in_its_view(machine: Boot) -> None:
    try_again(machine, IN_VAIN)
    kernel_lives(machine)


def takes_direct_ways_elsewhere(vmm: Path | None = None) -> None:
    """See that a vCPU takes the direct ways on the CPU that it has come to, and back at home."""
    with Boot.start(system("direct"), vmm=vmm) as running:
        running.wait_for_shell()
        for cpu in (0, 1):
            running.shell(f"gandalfctl move linux 1 {cpu}")
            take_direct_ways(running, "taskset -c 1 escape many 1000", cpu)


def test_direct_ways_are_taken_wherever_it_is() -> None:
    takes_direct_ways_elsewhere()


def goes_on_in_the_kernels_view(folder: Path) -> None:
    """Have a vCPU that has moved amid a process go on there with all that its kernel has."""
    substitute(
        folder / "vmm" / "guests" / "x86" / "smp" / "migrate.c",
        "\t\tviews_show_process(x86);",
        "\t\tx86->vcpu->view.in_process = 1, segment_set_user_code(x86->vcpu, true);",
    )


@pytest.mark.long
def test_a_vcpu_that_goes_on_in_its_kernels_view_is_found() -> None:
    vmm = changed_vmm("moves-open", goes_on_in_the_kernels_view, PROFILE)
    with Boot.start(system("open"), vmm=vmm) as running:
        running.wait_for_shell()
        try_again(running, 0)


def forgets_where_it_was(folder: Path) -> None:
    """Have each vCPU that moves arrive as if its kernel had been interrupted."""
    substitute(
        folder / "vmm" / "guests" / "x86" / "two_level" / "views.c",
        "vcpu->view.in_process = luggage->in_process;", "vcpu->view.in_process = 0;",
    )  # fmt: skip


def forgets_the_gate(folder: Path) -> None:
    """Have all returns to processes of a vCPU that has moved be served by C."""
    substitute(
        folder / "vmm" / "guests" / "x86" / "two_level" / "views.c",
        "vcpu->tables->idt[EXCEPTION_BP] = luggage->return_gate;", "",
    )  # fmt: skip


@pytest.mark.long
def test_a_gate_that_is_left_behind_is_found() -> None:
    with pytest.raises(AssertionError):
        takes_direct_ways_elsewhere(changed_vmm("moves-gate", forgets_the_gate, PROFILE))


@pytest.mark.long
def test_a_vmm_that_forgets_in_which_view_it_was_is_found() -> None:
    vmm = changed_vmm("moves-forgets", forgets_where_it_was, PROFILE)
    with Boot.start(system("behind"), vmm=vmm) as running:
        running.wait_for_shell()
        running.send("linux", f"({MOVING.format(times=MOVES)}) & {AGAIN} 4000\n")
        running.expect("vmm", r"guest linux stopped: ", PATIENCE)


@pytest.mark.long
def test_no_beat_is_missed_while_it_moves_in_bochs() -> None:
    """A TLB that keeps global pages, and CPUs that take turns."""
    path = system("bochs", MEASURES["global"])
    with Boot.start(path, emulator="bochs", ips=FEW_INSTRUCTIONS) as running:
        running.wait_for_shell()
        try_again(running, IN_VAIN)
        assert place(running)[1] >= MOVES
        kept_in(running, 1)
        kernel_lives(running)
