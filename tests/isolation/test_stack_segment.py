# SPDX-License-Identifier: Apache-2.0
"""An unprivileged process of a real Linux whose stack segment ceases to be one, under strict_tls.

The VMM's own IRET to the process would fault then. That is the process's end, by a signal; its
Linux and the RTOS beside it go on.
"""

from collections.abc import Iterator

import pytest

from gandalf.run.machine import MachineError
from tests.boot.systems import PATIENCE, Boot, describe, linux, rtos_guest
from tests.boot.workload import build_initrd_with

from .outside import Vmm, vmm_image
from .test_vm86 import KILLED, heartbeat_misses_nothing, kernel_is_sane

pytestmark = pytest.mark.rings

MEGABYTES = 256
# The first descriptor for thread-local storage, as ring 3 names it.
SELECTOR = 6 * 8 + 3
# By SIGILL, which Linux gives for an IRET of its own that faults.
KILLED_BY_LINUX = 128 + 4
TIMES = 4
# At most so often the segment is taken away from one process.
ATTEMPTS = 10


@pytest.fixture(scope="module")
def strict() -> Iterator[Boot]:
    """Linux under strict_tls beside an RTOS that counts."""
    guest = linux(initrd=build_initrd_with("tls"), more="strict_tls = true")
    heartbeat = rtos_guest("heartbeat", priority=20)
    description = describe("stack-segment", guest, heartbeat, memory=f"{MEGABYTES}M")
    with Boot.start(description) as machine:
        machine.wait_for_shell()
        yield machine


def all_go_on(machine: Boot) -> None:
    assert machine.shell("echo $((6 * 7))") == "42\n"
    kernel_is_sane(machine)
    heartbeat_misses_nothing(machine)
    assert "stopped" not in machine.text("vmm")


def test_a_segment_whose_other_half_is_none(strict: Boot) -> None:
    """The VMM turns to the other half as it should, but for the last time."""
    before = strict.counters()["tls_flips"]
    # It begins with the half that was shown last.
    for turns in (1, 2):
        strict.shell(f"tls flip {turns}", status=KILLED)
    assert strict.counters()["tls_flips"] - before == 1 + 2
    all_go_on(strict)


def taken_away(machine: Boot, vmm: Vmm) -> int:
    """Take the segment of a process at work away, and return the status with which it ends.

    Linux brings the segment back when it has had another task in between; then it is taken again.
    """
    descriptor = vmm.vm(0).descriptor_address(SELECTOR)
    machine.skip("linux")
    machine.send("linux", 'tls fill; echo "status:$?"\n')
    machine.expect("linux", r"^fills\n", PATIENCE)
    for attempt in reversed(range(ATTEMPTS)):
        machine.pause()
        vmm.memory.write(descriptor, bytes(8))
        try:
            return int(machine.expect("linux", r"^status:(\d+)\n", PATIENCE / ATTEMPTS)[1])
        except MachineError:
            if attempt == 0:
                raise
    raise AssertionError("It was not taken away once.")


def test_a_segment_that_is_taken_away(strict: Boot) -> None:
    """From outside, in the place of whatever else could do it.

    Mostly the next return is the VMM's. Should it be Linux's, that ends the process in its own way.
    """
    vmm = Vmm(strict.emulator, MEGABYTES, vmm_image(strict.built.vmm))
    ends = [taken_away(strict, vmm) for _ in range(TIMES)]
    assert set(ends) <= {KILLED, KILLED_BY_LINUX}
    assert KILLED in ends
    # Error code 0, as the VMM gives it: a load of the selector would have named it.
    assert strict.shell("dmesg | grep -c 'tls.* general protection .* error:0 '") != "0\n"
    all_go_on(strict)
