# SPDX-License-Identifier: Apache-2.0
"""The plug-in in qemu-system-x86_64 against image64.S, whose instructions are known by number.

What is the same in both machines (the socket, wrong options) is in test_plugin.py.
"""

from collections.abc import Callable

import pytest

from gandalf.measure.measurement import Handler
from gandalf.run.emulator import Qemu

from .conftest import Program, Run
from .test_plugin import CALL_INSTRUCTIONS, TIMER_INSTRUCTIONS, windows

Measure = Callable[..., Run]

HIGH_VMM = 0xFFFF_82D0_4000_0000
HIGH_GUEST = 0xFFFF_FFFF_8000_0000
# SWAPGS twice, 15 NOPs, a jump and SYSRET.
SYSCALL_INSTRUCTIONS = 19
# From INT in ring 3 to the end of the window that it begins, in ring 0.
BACK = CALL_INSTRUCTIONS + 2


def handler_at(run: Run, linear: int) -> Handler:
    (handler,) = (handler for handler in run.result.handlers if handler.linear == linear)
    return handler


def test_window_from_cli_to_the_shadow_of_sti(measure64: Measure, program64: Program) -> None:
    """CLI in the middle of a block is outside; the instruction behind STI is inside."""
    at, result = program64.at, measure64("window").result
    assert windows(result) == [(42, at["window_masked"], at["window_open"])]
    assert result.instructions == 51
    assert result.executed(0, masked=True) == 42


def test_window_that_popf_ends(measure64: Measure, program64: Program) -> None:
    at, result = program64.at, measure64("popf").result
    assert windows(result) == [(8, at["popf_begin"] + 2, at["popf_open"])]
    assert result.instructions == 11


def test_a_shadow_alone_is_no_window(measure64: Measure) -> None:
    """A load of SS, and STI with interrupts enabled."""
    result = measure64("stack").result
    assert windows(result) == []
    assert result.instructions == result.executed(0, masked=False) == 6


def test_a_fault_in_the_middle_of_a_block(measure64: Measure, program64: Program) -> None:
    at, run = program64.at, measure64("fault")
    length = 10 + 1 + 2 + 20 + 2
    assert windows(run.result) == [(length, at["fault_begin"] + 1, at["fault_open"])]
    assert run.result.instructions == length + 2
    handler = handler_at(run, at["divide_error"])
    assert (handler.exceptions, handler.hardware, handler.stays) == (1, 0, 0)


def test_the_count_is_the_guests_time(measure64: Measure) -> None:
    """Nothing faults: the time stamp counter says the same, repetitions and devices included."""
    run = measure64("clock")
    assert run.result.instructions + 1 == int.from_bytes(run.sent, "little")
    assert run.result.instructions == 6 + 1 + 50 + 1


def test_guests_cannot_notice(measure64: Measure, program64: Program) -> None:
    """The image's clock says the same without the plug-in."""
    qemu = Qemu(program64.options())
    try:
        assert qemu.outcome().clean
        assert qemu.read() == measure64("clock").sent
    finally:
        qemu.stop()


def test_rings_by_iret_and_int(measure64: Measure, program64: Program) -> None:
    at, run = program64.at, measure64("rings")
    assert run.result.executed(3) == run.result.executed(3, masked=False) == 101
    assert run.result.instructions == 114
    assert run.result.crossings[0][3] == run.result.crossings[3][0] == 1
    assert windows(run.result) == [
        (3, at["rings_user"] - len(b"\x6a\x2b\x68....\x48\xcf"), at["rings_user"]),
        (BACK, at["call_entry"], at["rings_back"] + 2),
    ]
    handler = handler_at(run, at["call_entry"])
    assert handler.from_rings == (0, 0, 0, 1)
    assert (handler.exceptions, handler.hardware, handler.ring) == (1, 0, 0)


def test_system_calls(measure64: Measure, program64: Program) -> None:
    """SYSCALL begins a window and a stay at its entry without a delivery; SYSRET ends both."""
    at, run = program64.at, measure64("syscall")
    assert windows(run.result) == [
        (2, at["syscall_begin"] + 1, at["syscall_user"]),
        (SYSCALL_INSTRUCTIONS, at["syscall_entry"], at["syscall_next"]),
        (BACK, at["call_entry"], at["syscall_back"] + 2),
    ]
    assert run.result.executed(3) == run.result.executed(3, masked=False) == 31 + 11
    assert run.result.instructions == 3 + 31 + SYSCALL_INSTRUCTIONS + 11 + CALL_INSTRUCTIONS + 3
    assert run.result.crossings[0][3] == run.result.crossings[3][0] == 2
    handler = handler_at(run, at["syscall_entry"])
    assert (handler.exceptions, handler.hardware, handler.stays) == (0, 0, 1)
    assert handler.instructions == handler.masked == handler.longest == SYSCALL_INSTRUCTIONS
    events = {name: counts for name, counts in run.result.events.items() if any(counts)}
    assert events == {
        "cli": (1, 0, 0, 0), "sti": (1, 0, 0, 0), "int": (0, 0, 0, 1), "swapgs": (2, 0, 0, 0),
        "syscall": (0, 0, 0, 1), "sysret": (2, 0, 0, 0),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "length"), [("pending", 5), ("iret", 6)])
def test_an_interrupt_that_waits_divides_two_windows(
    measure64: Measure, program64: Program, name: str, length: int
) -> None:
    """It is taken where SYSRET or IRET ends a window; no instruction is executed in between."""
    at, run = program64.at, measure64(name)
    user = at[f"{name}_user"]
    assert windows(run.result) == [
        (length, at[f"{name}_begin"], user),
        (TIMER_INSTRUCTIONS, at["timer_entry"], user),
        (BACK, at["call_entry"], at[f"{name}_back"] + 2),
    ]
    assert run.result.executed(3) == 10
    timer = handler_at(run, at["timer_entry"])
    assert (timer.hardware, timer.exceptions, timer.stays) == (1, 0, 1)
    assert timer.from_rings == (0, 0, 0, 1)
    assert timer.instructions == timer.masked == timer.longest == TIMER_INSTRUCTIONS


def test_hlt_ends_a_window(measure64: Measure, program64: Program) -> None:
    at, run = program64.at, measure64("hlt")
    back = at["hlt_end"] - 1
    assert windows(run.result) == [
        (10, at["hlt_masked"], back),
        (TIMER_INSTRUCTIONS, at["timer_entry"], back),
    ]
    assert handler_at(run, at["timer_entry"]).stays == 0  # it began in ring 0


def test_addresses_have_64_bits(measure64: Measure, program64: Program) -> None:
    """Marks, windows and intervals at the VMM's addresses."""
    masked, end = (HIGH_VMM + program64.at[name] for name in ("high_masked", "high_open"))
    result = measure64("high", offset=HIGH_VMM, from_=masked, to=end).result
    assert windows(result) == [(22, masked, end)]
    assert result.instructions == 28
    assert [interval.maximum for interval in result.intervals] == [22]


@pytest.mark.parametrize(
    ("base", "inside"), [(HIGH_VMM, 28), (HIGH_VMM & 0xFFFF_FFFF, 0), (HIGH_VMM + (1 << 32), 0)]
)
def test_the_vmm_is_where_the_option_says(measure64: Measure, base: int, inside: int) -> None:
    """Addresses of which the low half is the same are others."""
    limits = f"{base:#x}-{base + (1 << 30):#x}"
    result = measure64("high", offset=HIGH_VMM, vmm=limits).result
    assert result.executed(0, vmm=True) == inside
    assert result.executed(0) == 28
    assert result.vmm_windows.count == result.windows.count * bool(inside)
    assert sum(block.instructions for block in result.profile) == inside


def test_a_guests_kernel_in_ring_3(measure64: Measure, program64: Program) -> None:
    """Its system call and that of its process enter ring 0 at the same place."""
    at = program64.at
    limits = f"{HIGH_GUEST:#x}-{HIGH_GUEST + (1 << 30):#x}"
    run = measure64("guest", guest=limits)
    guest = sum(state.instructions for state in run.result.states if state.guest)
    assert guest == 12 + 1 + 2
    assert run.result.executed(3) == guest + 25 + 1 + 1
    assert run.result.crossings[3][0] == run.result.entries == 3
    handler = handler_at(run, at["syscall_entry"])
    assert (handler.stays, handler.from_guest) == (2, 1)
    handler = handler_at(run, at["call_entry"])
    assert (handler.exceptions, handler.from_guest) == (1, 0)


def test_ring_0_is_no_guests_kernel(measure64: Measure) -> None:
    limits = f"{HIGH_VMM:#x}-{HIGH_VMM + (1 << 30):#x}"
    result = measure64("high", offset=HIGH_VMM, guest=limits).result
    assert result.executed(0) == 28
    assert not any(state.instructions for state in result.states if state.guest)


def test_without_the_option_nothing_is_a_guests_kernel(measure64: Measure) -> None:
    result = measure64("guest").result
    assert not any(state.instructions for state in result.states if state.guest)
    assert not any(handler.from_guest for handler in result.handlers)


def test_instructions_of_32_bits_in_a_process(measure64: Measure) -> None:
    """POP ES and LES, which are something else in 64-bit code."""
    result = measure64("compatible").result
    assert result.executed(3) == 4
    assert result.events["segment_load"] == (1, 0, 0, 2)
    assert result.events["int"] == (0, 0, 0, 1)


def test_events(measure64: Measure) -> None:
    """REX prefixes; loads of CR8 and a VEX prefix are none."""
    events = measure64("events").result.events
    expected = {
        "cr0_load": 1, "cr3_load": 2, "cr4_load": 1, "invlpg": 3, "segment_load": 1,
        "far_transfer": 1, "table_load": 1, "port": 1, "swapgs": 2,
    }  # fmt: skip
    assert {name: counts[0] for name, counts in events.items() if any(counts)} == expected


def test_two_runs_are_the_same(measure64: Measure) -> None:
    assert measure64("pending").result == measure64("pending").result
