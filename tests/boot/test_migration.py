# SPDX-License-Identifier: Apache-2.0
"""vCPUs of a Linux that move between its CPUs, beside an RTOS on the first.

In QEMU two CPUs are two threads of the host: what is tested there is what happens, and not when.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .changed import SMP, profile_here, substitute
from .systems import PATIENCE, WHOLE, Boot, rtos_guest
from .test_cores import beats, describe_cores, on
from .test_smp import LOAD, ends, online, smp
from .two_level import changed_vmm
from .workload import build_initrd_with


def describe_moving(name: str, cpus: list[int], more: str = "") -> Path:
    """Describe a Linux whose vCPUs move, and an RTOS beside its first vCPU."""
    moving = smp(cpus, f"control = true\nmigrate = true\n{more}", WHOLE)
    guests = (moving, rtos_guest("heartbeat", "beat"))
    return describe_cores(name, max(cpus) + 1, *guests)


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    with Boot.start(describe_moving("moving", [0, 1], 'on_fault = "restart"')) as started:
        started.wait_for_shell()
        yield started


def place(machine: Boot, vcpu: int = 1) -> tuple[int, int]:
    """Return the CPU of a vCPU, and how often it has moved."""
    listed = json.loads(machine.shell("gandalfctl list --json"))
    found = next(guest for guest in listed["guests"] if guest["name"] == "linux")["vcpus"][vcpu]
    return found["cpu"], found["moves"]


def test_it_moves_and_comes_back(machine: Boot) -> None:
    assert online(machine) == "0-1"
    assert place(machine) == (1, 0)
    for moves, cpu in enumerate((0, 1, 0, 1), 1):
        machine.shell(f"gandalfctl move linux 1 {cpu}")
        assert place(machine) == (cpu, moves)
        assert machine.shell("taskset -c 1 cut -d' ' -f39 /proc/self/stat").strip() == "1"
    machine.kernel_is_sane()
    beats(machine, "beat")


# Moves the second vCPU there and back so often.
MOVING = (
    "i=0; while [ $i -lt {times} ]; do gandalfctl move linux 1 0 && gandalfctl move linux 1 1 || "
    "break; i=$((i + 1)); done; echo moved $i"
)


@pytest.mark.parametrize("load", ["hackbench -l 5", LOAD], ids=["hackbench", "stress-ng"])
def test_nothing_is_lost_under_load(machine: Boot, load: str) -> None:
    """What is computed with floating point while it moves is right, too."""
    before = place(machine)[1]
    output = machine.shell(
        f"(while [ ! -e /tmp/end ]; do {load} > /tmp/load 2>&1 || echo load failed; done) & "
        f"{MOVING.format(times=50)}; touch /tmp/end; wait; rm /tmp/end",
    )
    assert "moved 50\n" in output
    assert "load failed" not in output
    assert place(machine) == (1, before + 100)
    machine.kernel_is_sane()
    beats(machine, "beat")


def float_mistakes(cpu: str, image: Path | None = None) -> list[str]:
    """Have a vCPU that computes move beside RTOSes that do, and return who was wrong.

    These have numbers in the registers while they halt.
    """
    names = ("fpu0", "fpu1")
    rtoses = [on(at, rtos_guest("fpu", name)) for at, name in enumerate(names)]
    moving = smp([0, 1], "control = true\nmigrate = true", build_initrd_with("float"))
    description = describe_cores("moving-float", 2, moving, *rtoses)
    with Boot.start(description, cpu=cpu, vmm=image) as machine:
        machine.wait_for_shell()
        again = "gandalfctl restart fpu0 && gandalfctl restart fpu1 || exit"
        moved = machine.shell(
            "taskset 2 float /tmp/end > /tmp/float & n=0; while [ $n -lt 5 ]; do n=$((n + 1)); "
            f"{again}; {MOVING.format(times=4)}; done; touch /tmp/end; wait; cat /tmp/float"
        )
        assert moved.count("moved 4\n") == 5
        for name in names:
            machine.expect(name, r"^(PASS|FAIL) fpu\n", PATIENCE)
        wrong = [name for name in names if "does not hold" in machine.text(name)]
        return wrong if "float: right\n" in moved else [*wrong, "linux"]


@pytest.mark.parametrize("cpu", ["pentium3", "pentium2,-fxsr"], ids=["fxsave", "fnsave"])
def test_floating_point_registers_move_beside_those_of_an_rtos(cpu: str) -> None:
    """On each CPU to which it comes an RTOS has its own registers in the FPU."""
    assert float_mistakes(cpu) == []


def forgets_the_owner(folder: Path) -> None:
    """Have an arriving vCPU take the FPU from an RTOS whose registers are not saved."""
    fpu = folder / "vmm" / "arch" / "ia32" / "fpu.c"
    substitute(fpu, "fpu_change(core.fpu_owner, vcpu, image);", "fpu_change(NULL, vcpu, image);")


def forgets_the_registers(folder: Path) -> None:
    """Have it find those in the FPU that it had when it was last on that CPU."""
    fpu = folder / "vmm" / "arch" / "ia32" / "fpu.c"
    change = "fpu_change(core.fpu_owner, vcpu, "
    substitute(fpu, f"{change}image);", f"{change}vcpu->tables->fpu);\n\t(void)image;")


def forgets_to_save(folder: Path) -> None:
    """Have it leave without the registers that it has in the FPU."""
    fpu = folder / "vmm" / "arch" / "ia32" / "fpu.c"
    save = "\timage_save(vcpu->tables->fpu);\n"
    substitute(fpu, f"{save}\tcore.fpu_owner = NULL;", "\tcore.fpu_owner = NULL;")


@pytest.mark.long
@pytest.mark.parametrize(
    ("mistake", "wrong"),
    [(forgets_to_save, "linux"), (forgets_the_owner, "fpu"), (forgets_the_registers, "linux")],
)
def test_registers_that_do_not_move_are_found(mistake: Callable[[Path], None], wrong: str) -> None:
    image = changed_vmm(f"float-{mistake.__name__}", mistake, profile_here(SMP))
    assert any(name.startswith(wrong) for name in float_mistakes("pentium3", image))


def test_clocks_agree(machine: Boot) -> None:
    """Time that is read while the vCPU moves does not go back."""
    line = (
        "p=0; for i in $(seq 100); do gandalfctl move linux 1 $((i / 2 % 2)); "
        "n=$(taskset -c $((i % 2)) cut -d' ' -f1 /proc/uptime | tr -d .); "
        "[ $n -ge $p ] || echo back; p=$n; done"
    )
    assert machine.shell(line) == ""


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("linux 0 1", "does not move to CPU 1"),
        ("linux 2 0", "does not move to CPU 0"),
        ("linux 1 2", "does not move to CPU 2"),
        ("beat 0 1", "does not move to CPU 1"),
    ],
)
def test_what_cannot_move_is_refused(machine: Boot, what: str, why: str) -> None:
    assert why in machine.shell(f"gandalfctl move {what} 2>&1", status=1)


def test_it_is_taken_away_and_comes_back_elsewhere(machine: Boot) -> None:
    for cpu in (0, 1):
        machine.shell(f"gandalfctl move linux 1 {cpu}")
        machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
        assert online(machine) == "0"
        machine.shell("echo 1 > /sys/devices/system/cpu/cpu1/online")
        assert online(machine) == "0-1"
        assert place(machine)[0] == cpu
        assert "400 tasks" in machine.shell("taskset -c 1 hackbench -l 2")
    machine.kernel_is_sane()


def test_all_of_it_is_paused(machine: Boot) -> None:
    machine.shell("gandalfctl move linux 1 0")
    machine.pause_linux()
    beats(machine, "beat")
    machine.vmm("resume linux", r"resume linux\n")
    for vcpu in range(2):
        assert machine.shell(f"taskset -c {vcpu} echo works") == "works\n"


# Each of them while the vCPU moves, and with whichever of its shadows.
ENDS = ["taskset -c 0 reboot -f", "taskset -c 1 reboot -f",
        "taskset -c 0 sh -c 'echo c > /proc/sysrq-trigger'",
        "taskset -c 1 sh -c 'echo c > /proc/sysrq-trigger'"]  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_it_ends_while_it_moves(machine: Boot, end: str) -> None:
    ends(machine, f"({MOVING.format(times=100_000)}) & sleep 2; {end}")
    cpu, moves = place(machine)
    machine.shell(f"gandalfctl move linux 1 {1 - cpu}")
    assert place(machine) == (1 - cpu, moves + 1)
    assert "400 tasks" in machine.shell("taskset -c 1 hackbench -l 2")
    beats(machine, "beat")


def test_the_console_of_the_vmm_restarts_it_while_it_moves(machine: Boot) -> None:
    machine.send("linux", f"({MOVING.format(times=100_000)}) &\n")
    machine.vmm("restart linux", r"^guest linux stopped: by command\n")
    machine.select("linux")
    machine.wait_for_next_shell()
    assert online(machine) == "0-1"


def test_what_a_vcpu_has_left_is_taken_when_the_pool_is_empty() -> None:
    """A process fills 3 MiB of the 4 that CPU 0 has; its vCPU leaves, and another process comes."""
    moving = smp([0, 1], "control = true\nmigrate = true", build_initrd_with("spread"))
    guests = (moving, rtos_guest("heartbeat", "beat"))
    with Boot.start(describe_cores("moving-pool", 2, *guests, more='shadow_pool = "4M"\n')) as one:
        one.wait_for_shell()
        one.shell("taskset -p 1 $$; gandalfctl move linux 1 0")
        one.shell("taskset -c 1 spread 2 stay > /tmp/out & echo $! > /tmp/stays")
        one.shell("until grep spread: /tmp/out; do sleep 1; done")
        one.shell("gandalfctl move linux 1 1")
        assert "spread: " in one.shell("taskset -c 0 spread 2")
        one.shell("kill $(cat /tmp/stays)")
        one.kernel_is_sane()
        beats(one, "beat")
