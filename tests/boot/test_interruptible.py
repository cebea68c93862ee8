# SPDX-License-Identifier: Apache-2.0
"""The VMM's work for a Linux on a shared CPU is interrupted and preempted, and nobody notices.

An RTOS whose timer sweeps over everything runs beside a kernel that checks what the VMM does for
it, and beside a Linux whose processes check their own data. Counters tell how often it hit.
"""

import hashlib
import re
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD

from .systems import DEFAULT, DEMO, PATIENCE, WHOLE, Boot, describe, linux, rtos_guest
from .test_guests import pc

SWEEP = rtos_guest("sweep", priority=5)
# How often at least; a busy host lets Linux do less in the seconds that stress-ng takes.
LEAST = 1000
PROCESSES = 24
LINES = 3000
STRESS = (
    "stress-ng --verify --fork 2 --vm 2 --vm-bytes 8M --mmap 2 --mmap-bytes 4M --switch 2 "
    "--pipe 2 -t 2 --metrics-brief"
)


def not_interruptible(name: str, *guests: str) -> Path:
    """Write a description of a system whose VMM keeps interrupts out."""
    path = BUILD / "boot" / f"boot-{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = '[machine]\nmemory = "256M"\ninterruptible = false\n'
    path.write_text("\n".join([machine, *guests]))
    return path


def fork_loop(machine: Boot) -> None:
    """Have Linux make processes, which is most of what the VMM does for it."""
    assert machine.shell("for i in $(seq 1 60); do /bin/true; done; echo forked") == "forked\n"


def seq_sum(first: int) -> str:
    """Return the MD5 sum that `seq FIRST FIRST+LINES` must have."""
    text = "".join(f"{number}\n" for number in range(first, first + LINES + 1))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def processes_check_their_data(machine: Boot) -> None:
    """Write, copy and read files in many processes at once; all must hold what they should."""
    machine.shell(
        f"mkdir -p /tmp/d; for i in $(seq 1 {PROCESSES}); do "
        f"(seq $i $((i + {LINES})) > /tmp/d/a$i; cat /tmp/d/a$i | sort -n > /tmp/d/b$i; "
        f"cp /tmp/d/b$i /tmp/d/c$i) & done; wait"
    )
    output = machine.shell(f"cd /tmp/d; for i in $(seq 1 {PROCESSES}); do md5sum a$i b$i c$i; done")
    machine.shell("cd /; rm -r /tmp/d")
    found = {line.split()[1]: line.split()[0] for line in output.splitlines()}
    wanted = {
        f"{letter}{number}": seq_sum(number)
        for number in range(1, PROCESSES + 1)
        for letter in "abc"
    }
    assert found == wanted


def test_work_is_interrupted_and_preempted() -> None:
    with Boot.start(DEFAULT) as machine:
        machine.wait_for_shell()
        before = machine.counters()
        with machine.rtos_undisturbed():
            fork_loop(machine)
            machine.hackbench()
            machine.kernel_is_sane()
        counted = machine.counters() - before
        print(counted["vmm_interrupts"], counted["vmm_preemptions"])
        assert 0 < counted["vmm_preemptions"] <= counted["vmm_interrupts"]


def test_the_old_way_keeps_interrupts_out_of_the_vmm() -> None:
    with Boot.start(not_interruptible("not-interruptible", linux(), DEMO)) as machine:
        machine.wait_for_shell()
        with machine.rtos_undisturbed():
            fork_loop(machine)
            machine.hackbench()
            machine.kernel_is_sane()
        counters = machine.counters()
        assert counters["entries"] > LEAST
        assert counters["vmm_interrupts"] == counters["vmm_preemptions"] == 0


def test_every_emulated_instruction_survives_the_sweep() -> None:
    """A kernel that checks the VMM, several times over, each time at another phase."""
    with Boot.start(describe("sweep-pc", pc("pc"), SWEEP, memory="64M")) as machine:
        for run in range(8):
            if run:
                machine.vmm("start linux", r"start linux\n")
            machine.skip("linux")
            machine.expect("linux", r"^PASS pc\n", PATIENCE)
            machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        assert "FAIL" not in machine.text("sweep")
        counted = machine.counters()
        print(counted["vmm_interrupts"], counted["vmm_preemptions"])
        assert counted["vmm_preemptions"] > LEAST


@pytest.mark.parametrize("swept", [True, pytest.param(False, marks=pytest.mark.long)])
def test_linux_computes_the_same_under_the_sweep(swept: bool) -> None:
    guests = [linux(initrd=WHOLE), SWEEP] if swept else [linux(initrd=WHOLE)]
    with Boot.start(describe(f"sweep-linux-{swept}", *guests)) as machine:
        machine.wait_for_shell()
        processes_check_their_data(machine)
        machine.hackbench()
        output = machine.shell(STRESS, timeout=3 * PATIENCE)
        assert "successful run completed" in output
        assert not re.search(r"\bfail(ed|ure)?:? *[1-9]|stress-ng: (error|fail)", output), output
        processes_check_their_data(machine)
        machine.kernel_is_sane()
        counted = machine.counters()
        print(counted["vmm_interrupts"], counted["vmm_preemptions"])
        if swept:
            assert counted["vmm_preemptions"] > LEAST
            machine.skip("sweep")
            machine.expect("sweep", r"^rounds=\d+ expiries=\d+\n", PATIENCE)
            assert "FAIL" not in machine.text("sweep")
        else:
            assert counted["vmm_preemptions"] == 0
