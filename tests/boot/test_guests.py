# SPDX-License-Identifier: Apache-2.0
"""Guests that check the VMM themselves, and kernels in ring 1 that do what they must not.

Beside each bad kernel runs a heartbeat of a higher priority, which must not miss a beat. Bad
RTOSes are in test_bad_rtos.py.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .systems import FEW_INSTRUCTIONS, PATIENCE, Boot, describe, linux, rtos_guest

CHECKERS = ("hypercalls", "interrupts", "exceptions", "selectors", "fpu", "hostile")
NO_GATE = "triple fault: its IDT has no gate for"
BAD_KERNELS = {
    "triple-fault": f"{NO_GATE} breakpoint (#BP)",
    "sysenter": "sysenter is not an instruction for a guest",
    "string-port": "ins is not an instruction for a guest",
    "bad-hypercall": "unknown hypercall 30583",
    "rtos-hypercall": "unknown hypercall 5",
    "bad-pointer": "hypercall 17 with bad address 70000000",
    "pointer-to-vmm": "hypercall 17 with bad address fc400000",
    "jump-vmm": f"{NO_GATE} page fault (#PF)",
    "far-jump-vmm": f"{NO_GATE} general protection (#GP)",
    "write-vmm": f"{NO_GATE} page fault (#PF)",
    "bad-stack": "triple fault: its stack cannot take invalid opcode (#UD)",
    "stack-in-vmm": "triple fault: its stack cannot take invalid opcode (#UD)",
    "bad-gdt": "its GDT at 70000000 cannot be read",
    "directory-outside": f"{NO_GATE} page fault (#PF)",
    "write-outside": "it writes physical memory that it lacks",
    "replace-gdt": f"{NO_GATE} breakpoint (#BP)",
}
# With two levels of privilege no kernel has a CPU to itself.
MODES = ["shared", pytest.param("dedicated", marks=pytest.mark.rings)]
BEATS = r"^beats=\d+ missed=0\n"


def test_self_checking_guests_are_in_the_world_of_the_option(
    request: pytest.FixtureRequest,
) -> None:
    """A module that is imported twice has another World than the one that the option sets."""
    rings = request.config.getoption("--rings")
    assert f'rings = "{rings}"' in describe("world", rtos_guest("fpu")).read_text()


@pytest.mark.parametrize("image", CHECKERS)
def test_a_self_checking_rtos_passes(image: str) -> None:
    with Boot.start(describe(image, rtos_guest(image), memory="64M")) as machine:
        machine.expect(image, rf"^PASS {image}\n", PATIENCE)
        assert "not ok" not in machine.text(image)


def test_a_key_that_nobody_reads_wakes_nobody() -> None:
    """An RTOS without a handler for its console halts on, whatever goes over the serial line."""
    description = describe("deaf", rtos_guest("deaf"), rtos_guest("heartbeat", priority=5))
    with Boot.start(description) as machine:
        machine.expect("deaf", r"^deaf: halts\n", PATIENCE)
        before = machine.counters("deaf")
        machine.send("deaf", "x")
        for _ in range(3):
            machine.expect("heartbeat", BEATS, PATIENCE)
        assert machine.counters("deaf") == before


def pc(image: str, mode: str = "shared") -> str:
    """Return the description of a test kernel that takes Linux's place."""
    text = linux(mode=mode, kernel=f"build/tests/{image}.elf", command_line="", memory="16M")
    return "\n".join(line for line in text.splitlines() if not line.startswith("initrd"))


@pytest.mark.parametrize("mode", MODES)
def test_every_emulated_instruction_does_what_a_pc_does(mode: str) -> None:
    with Boot.start(describe(f"pc-{mode}", pc("pc", mode), memory="64M")) as machine:
        machine.expect("linux", r"^PASS pc\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        assert machine.wait_off(PATIENCE).clean


@pytest.mark.rings
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_a_kernel_with_direct_gates_interrupts_the_vmm(emulator: str) -> None:
    """And returns as it should, or forges it, or never does, dies, and ends with work suspended."""
    guest = pc("pc-upcalls", "dedicated") + '\non_fault = "restart"\n'
    description = describe("pc-upcalls", guest, memory="64M")
    with Boot.start(description, emulator=emulator, ips=FEW_INSTRUCTIONS) as machine:
        machine.expect("linux", r"^PASS pc-upcalls\n", PATIENCE)
        machine.expect("vmm", f"guest linux stopped: {NO_GATE} breakpoint", PATIENCE)
        machine.expect("linux", r"^PASS pc-upcalls\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        assert machine.wait_off(PATIENCE).clean


@pytest.mark.rings
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_a_kernel_with_direct_gates_has_the_local_apic(emulator: str) -> None:
    """Beside the 8259s or alone, also while the VMM works; and does no harm with it."""
    guest = pc("pc-apic", "dedicated") + '\non_fault = "restart"\n'
    description = describe("pc-apic", guest, memory="64M")
    with Boot.start(description, emulator=emulator, ips=FEW_INSTRUCTIONS) as machine:
        machine.expect("linux", r"^PASS pc-apic\n", PATIENCE)
        machine.expect("vmm", f"guest linux stopped: {NO_GATE} breakpoint", PATIENCE)
        machine.expect("linux", r"^PASS pc-apic\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        assert machine.wait_off(PATIENCE).clean


@pytest.mark.rings
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_a_dedicated_kernel_said_last_is_heard(emulator: str) -> None:
    """It dies while its UART, which is slow in Bochs, still sends; the VMM takes the line over."""
    guest = pc("pc-triple-fault", "dedicated")
    with Boot.start(describe("last", guest, memory="64M"), emulator=emulator) as machine:
        assert machine.stop_report("linux") == BAD_KERNELS["triple-fault"]
        assert machine.text("linux").endswith("pc-triple-fault: an exception without an IDT\n")


@contextmanager
def beside_a_heartbeat(image: str) -> Iterator[Boot]:
    """A kernel in Linux's place and an RTOS, which must not miss a beat whatever it does."""
    heartbeat = rtos_guest("heartbeat", priority=20)
    with Boot.start(describe(image, pc(image), heartbeat, memory="64M")) as machine:
        yield machine
        machine.skip("heartbeat")
        machine.expect("heartbeat", BEATS, PATIENCE)
        machine.expect("heartbeat", BEATS, PATIENCE)
        assert not re.search(r"missed=[1-9]", machine.text("heartbeat"))


@pytest.mark.parametrize("kind", BAD_KERNELS)
def test_a_bad_kernel_is_stopped_and_its_neighbour_misses_nothing(kind: str) -> None:
    with beside_a_heartbeat(f"pc-{kind}") as machine:
        assert machine.stop_report("linux") == BAD_KERNELS[kind]


def test_a_kernel_that_resets_the_machine_restarts_alone() -> None:
    with beside_a_heartbeat("pc-reset") as machine:
        for _ in range(3):
            machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
        # It would do so for ever, and an emulator is slow while a machine has something to do.
        machine.vmm("stop linux", r"^guest linux stopped: by command\n")


@pytest.mark.parametrize(
    ("kind", "last"),
    [
        ("power-off", r"^pc-power-off: halts with interrupts disabled\n"),
        # RDPMC is refused as by a PC whose CR4.PCE is 0: the kernel may handle that.
        ("unknown-instruction", r"^# trap 13, error 0x0, .*\n"),
    ],
)
def test_a_kernel_that_ends_itself_is_off(kind: str, last: str) -> None:
    with beside_a_heartbeat(f"pc-{kind}") as machine:
        machine.expect("linux", last, PATIENCE)
        machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
