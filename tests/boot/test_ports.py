# SPDX-License-Identifier: Apache-2.0
"""Processes use the ports that their kernel gives them by ioperm() and iopl(), and no others.

The virtual UART tells whether a port was read: its line status says that it can take a byte. The
VMM finds the kernel's own I/O permission bitmap
when the access faults, so this is also about reading that.
"""

from collections.abc import Iterator

import pytest

from .systems import DEMO, Boot, describe, linux
from .test_cores import describe_cores
from .test_smp import smp
from .workload import build_initrd_with

KERNEL = "build/linux/complete/vmlinux"
DEDICATED = "build/linux/complete-native/vmlinux"
STATUS, SCRATCH = 0x3FD, 0x3FF
READY = "00000060\n"
FAULT = "fault\n"
# From here on there are ports that nobody answers at, to the last one.
LAST = 0xFFFF


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    guest = linux(kernel=KERNEL, initrd=build_initrd_with("port"), more="control = true")
    with Boot.start(describe("ports", guest, DEMO)) as boot:
        boot.wait_for_shell()
        yield boot


def read(
    machine: Boot, port: int, size: int = 1, *, level: int = 0, first: int = 0, count: int = 0,
    taken: int = 0, before: str = "", written: int | None = None,
) -> str:  # fmt: skip
    numbers = [level, first, count, taken, port, size]
    if written is not None:
        numbers += [1, written]
    return machine.shell(f"{before}port {' '.join(f'{number:x}' for number in numbers)}")


def writes(machine: Boot) -> None:
    """Check that the UART's scratch register keeps what those write who may, and no others."""
    for byte in (0xA5, 0x00, 0xFF):
        found = read(machine, SCRATCH, first=SCRATCH, count=1, written=byte)
        assert found == f"{byte:08x}\n"
        assert read(machine, SCRATCH, first=STATUS, count=2, written=0x5A) == FAULT
        assert read(machine, SCRATCH, level=3) == found


def test_a_process_has_no_port(machine: Boot) -> None:
    for port in (0, 0x20, 0x40, 0x61, 0x71, 0x80, STATUS, LAST):
        assert read(machine, port) == FAULT
    machine.kernel_is_sane()


def test_those_that_it_asked_for_are_read(machine: Boot) -> None:
    assert read(machine, STATUS, first=STATUS, count=1) == READY
    assert read(machine, STATUS, first=0x3F8, count=8) == READY
    assert read(machine, LAST, first=LAST, count=1) == "000000ff\n"


@pytest.mark.parametrize("port", [STATUS - 1, STATUS + 1])
def test_a_neighbour_is_not_read(machine: Boot, port: int) -> None:
    assert read(machine, port, first=STATUS, count=1) == FAULT


def test_each_port_of_an_access_must_be_permitted(machine: Boot) -> None:
    """The bits of the four stand in two bytes of the bitmap."""
    first = 0x3FE
    assert read(machine, first, 4, first=first, count=4).endswith("\n")
    assert read(machine, first, 4, first=first, count=4) != FAULT
    for size, count in ((2, 1), (4, 1), (4, 2), (4, 3)):
        assert read(machine, first, size, first=first, count=count) == FAULT
    assert read(machine, first, 2, first=first, count=2) != FAULT


def test_what_was_given_back_is_not_read(machine: Boot) -> None:
    assert read(machine, STATUS, first=STATUS, count=3, taken=1) == FAULT
    assert read(machine, STATUS + 1, first=STATUS, count=3, taken=1) != FAULT


def test_those_that_it_asked_for_are_written(machine: Boot) -> None:
    writes(machine)


def test_iopl_gives_all(machine: Boot) -> None:
    assert read(machine, STATUS, level=3) == READY
    assert read(machine, LAST, level=3) == "000000ff\n"
    assert read(machine, STATUS, level=1) == FAULT


def test_others_have_none_of_it(machine: Boot) -> None:
    """Two that take turns, of which one may."""
    machine.shell(
        "port 0 3fd 1 0 3fd 1 20000 > /tmp/may & "
        "for i in 1 2 3 4 5 6 7 8 9 10; do port 0 0 0 0 3fd 1; done > /tmp/not; wait"
    )
    assert machine.shell("cat /tmp/may") == READY
    assert machine.shell("sort /tmp/not | uniq -c").split() == ["10", "fault"]


def test_nobody_but_root_may_ask(machine: Boot) -> None:
    assert read(machine, STATUS, first=STATUS, count=1, level=0x10) == "refused\n"


def test_the_accesses_are_counted(machine: Boot) -> None:
    """Each is an instruction that the VMM emulates."""

    def accesses() -> int:
        return int(machine.shell("gandalfctl stats linux | grep port_accesses").split()[1])

    before = accesses()
    assert machine.shell("port 0 3fd 1 0 3fd 1 1000") == READY
    assert accesses() - before >= 0x1000
    machine.kernel_is_sane()


@pytest.mark.long
@pytest.mark.rings
def test_a_process_of_a_linux_with_its_own_cpu_may() -> None:
    """The chips are real, and Linux's. With two levels of privilege there is no such Linux."""
    initrd = build_initrd_with("port")
    guest = linux("dedicated", DEDICATED, initrd, more="control = true")
    with Boot.start(describe("ports-dedicated", guest)) as machine:
        machine.wait_for_shell()
        assert read(machine, STATUS, first=STATUS, count=1) == READY
        assert read(machine, STATUS + 1, first=STATUS, count=1) == FAULT
        assert read(machine, STATUS) == FAULT
        assert read(machine, STATUS, level=3) == READY
        writes(machine)
        machine.kernel_is_sane()


def test_any_vcpu_may() -> None:
    """The first vCPU has the chips, and serves what the other's process has asked for."""
    guest = smp([0, 1], initrd=build_initrd_with("port"))
    guest = guest.replace("build/linux/smp/", "build/linux/complete-smp/")
    with Boot.start(describe_cores("ports-smp", 2, guest)) as machine:
        machine.wait_for_shell()
        for cpu in (0, 1):
            before = f"taskset -c {cpu} "
            assert read(machine, STATUS, first=STATUS, count=1, before=before) == READY
            assert read(machine, STATUS + 1, first=STATUS, count=1, before=before) == FAULT
            assert read(machine, STATUS, before=before) == FAULT
        machine.shell("for cpu in 0 1; do taskset -c $cpu port 0 3fd 1 0 3fd 1 1000 > /tmp/$cpu & "
                      "done; wait")  # fmt: skip
        assert machine.shell("cat /tmp/0 /tmp/1") == 2 * READY
        machine.kernel_is_sane()
