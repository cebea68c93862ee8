# SPDX-License-Identifier: Apache-2.0
"""The VMM follows a NULL pointer, in the address space of nobody and in a guest's.

Its own code never does, so each machine has a copy of the image in which a function begins with
such a load. An undefined instruction is behind it: so the number of the exception in the VMM's
last words tells whether the load was let pass. The guest has a page at 0 and has used it.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from gandalf.build.build import build
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for
from tests.boot.systems import FEW_INSTRUCTIONS

from .arena import describe_attacker
from .patched import patched

# Seconds, for hangs only.
PATIENCE = 60
UNDEFINED = b"\x0f\x0b"
UD, GP, PF = 6, 13, 14
# In Bochs, as on a CPU, the VMM's segment lacks the first page.
REFUSED = {"qemu": PF, "bochs": GP}
# An attack that comes to a flush, and what is called for that.
FLUSH, FLUSH_LINE = "hypercall_flush", "stack 1 0 0 0\n"
STOPS = r"^the VMM stops: "
WORDS = STOPS + r"exception (\d+) in the VMM at [0-9a-f]+, .*CR2 ([0-9a-f]+)$"

# Where NULL points to, and the last word of the page.
AT = pytest.mark.parametrize("address", [0, 0xFFC], ids=hex)
# In Bochs a dedicated guest's half line would hide the VMM's.
PLACES = pytest.mark.parametrize(
    ("emulator", "mode"),
    [
        ("qemu", "shared"),
        pytest.param("qemu", "dedicated", marks=pytest.mark.rings),
        ("bochs", "shared"),
    ],
)
IN_QEMU = ("qemu-shared-0x0", "qemu-dedicated-0x0")


def load(address: int) -> bytes:
    """MOV EAX, [address]; UD2."""
    return b"\xa1" + struct.pack("<I", address) + UNDEFINED


@contextmanager
def machine(name: str, mode: str, emulator: str, **functions: bytes) -> Iterator[Machine]:
    """A machine with the kernel of the attacks, whose VMM has functions that begin otherwise."""
    built = build(describe_attacker(f"null-{name}", mode), lambda _: None, deterministic=True)
    built = replace(built, vmm=patched(f"null-{name}.elf", **functions))
    options = options_for(built, deterministic=True, ips=FEW_INSTRUCTIONS)
    with Machine.attach(built, emulators.start(emulator, options)) as running:
        yield running


def have_flushed(running: Machine, mode: str) -> None:
    """Have the kernel make the hypercall."""
    running.expect("linux", r"^ready$", PATIENCE)
    if mode == "dedicated":
        running.send_raw(FLUSH_LINE.encode())
    else:
        running.send("linux", FLUSH_LINE)


def expect_refused(running: Machine, emulator: str, address: int) -> None:
    """Wait for a panic. A VMM that went on would say another exception, or nothing."""
    match = running.expect("vmm", WORDS, PATIENCE)
    assert int(match[1]) == REFUSED[emulator], match[0]
    assert emulator == "bochs" or int(match[2], 16) == address, match[0]


@pytest.mark.representatives(*IN_QEMU, "bochs-shared-0x0")
@AT
@PLACES
def test_the_idle_vcpu_reads_no_guest(emulator: str, mode: str, address: int) -> None:
    """The guest has run and halts."""
    with machine("idle", mode, emulator, vm_any_alive=load(address)) as running:
        expect_refused(running, emulator, address)


@pytest.mark.representatives(*IN_QEMU, "bochs-shared-0x0")
@AT
@PLACES
def test_a_panic_reads_no_guest(emulator: str, mode: str, address: int) -> None:
    """It begins where the guest's address space is loaded, and fails itself when it has spoken."""
    functions = {FLUSH: UNDEFINED, "power_stop_machine": load(address)}
    with machine("panic", mode, emulator, **functions) as running:
        have_flushed(running, mode)
        match = running.expect("vmm", WORDS, PATIENCE)
        assert int(match[1]) == UD, match[0]
        expect_refused(running, emulator, address)


@pytest.mark.representatives(*IN_QEMU)
@AT
@PLACES
def test_work_for_a_guest_reads_it_where_segments_are_not_checked(
    emulator: str, mode: str, address: int
) -> None:
    """So there is something at 0 that the other tests could have read."""
    with machine("work", mode, emulator, **{FLUSH: load(address)}) as running:
        have_flushed(running, mode)
        match = running.expect("vmm", WORDS, PATIENCE)
        assert int(match[1]) == (UD if emulator == "qemu" else GP), match[0]
