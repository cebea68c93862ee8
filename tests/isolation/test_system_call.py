# SPDX-License-Identifier: Apache-2.0
"""System calls whose kernel has a wrong stack in its TSS, where the VMM alone is privileged.

The direct way writes to that stack, and the way through C does where the direct one does not
(docs/two-level.md). Each is tried by a process that steps, too. Such a kernel is stopped, or goes
on with a stack that it may have; the VMM's code is what it was, and the RTOS beside misses nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.boot.changed import substitute
from tests.boot.two_level import changed_vmm

from .arena import DIED, Arena
from .outside import layout

pytestmark = pytest.mark.two_level

NO_STACK = "triple fault: its stack cannot take an interrupt"
NO_SEGMENT = "its CS, SS or EIP cannot be loaded"
KERNEL_DATA, USER_DATA = 0x68, 0x7B
RESERVED, TRAP, ALIGNMENT = 0x2, 0x100, 0x40000
STACK = 0xC0050000  # that of nobody, in pages that this kernel may write
SAME = 0  # the TSS is where it was
FRAME_BYTES = 20
# The kernel has had its frame, and its process ends; it dies as it wants to.
SERVED = "behind: trap 128"
FLAGS = pytest.mark.parametrize(
    "flags", [RESERVED, RESERVED | TRAP, RESERVED | TRAP | ALIGNMENT], ids=["plain", "steps", "ac"]
)


@contextmanager
def attacked(vmm: Path | None = None) -> Iterator[Arena]:
    arena = Arena("shared", vmm=vmm)
    try:
        yield arena
    finally:
        arena.stop()


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with attacked() as started:
        yield started


@pytest.mark.representatives(
    "0x0-plain", "0x70000000-steps", "0xffffffff-ac",
    *(f"{layout()[name] + FRAME_BYTES:#x}-steps" for name in ("LAYOUT_VCPU", "LAYOUT_IMAGE")),
)  # fmt: skip
@FLAGS
@pytest.mark.parametrize(
    "esp",
    [
        0, 8, FRAME_BYTES - 4, 0x70000000, 0xE0000000, 0xFFFFFFFF, *(
            layout()[name] + above
            for name in ("LAYOUT_VCPU", "LAYOUT_IMAGE", "LAYOUT_POOL", "LAYOUT_STACK_TOP")
            for above in (4, FRAME_BYTES, 0x1000)
        ),
    ],
    ids=hex,
)  # fmt: skip
def test_no_stack_is_where_the_kernel_may_not_write(arena: Arena, esp: int, flags: int) -> None:
    outcome = arena.attack("system-call", esp, KERNEL_DATA, flags, SAME)
    assert outcome.reason == NO_STACK
    assert SERVED not in outcome.output


@pytest.mark.representatives("0x60-steps", "0x100-plain", "0xffff-ac")
@FLAGS
@pytest.mark.parametrize("ss", [0, 0x60, 0x80, 0x98, 0x100, 0x108, 0xFFFF], ids=hex)
def test_no_stack_is_in_a_segment_that_is_none(arena: Arena, ss: int, flags: int) -> None:
    """Among them code, a TSS, an absent one, the VMM's own two, and one behind the table."""
    outcome = arena.attack("system-call", STACK, ss, flags, SAME)
    assert outcome.reason == NO_SEGMENT
    assert SERVED not in outcome.output


@pytest.mark.representatives("0x68-plain", "0x7b-steps")
@FLAGS
@pytest.mark.parametrize("ss", [KERNEL_DATA, USER_DATA, 0x12340000 | KERNEL_DATA], ids=hex)
def test_a_kernel_may_have_another_stack(arena: Arena, ss: int, flags: int) -> None:
    outcome = arena.attack("system-call", STACK, ss, flags, SAME)
    assert outcome.reason == DIED
    assert SERVED in outcome.output


# What its TSS would say if it were read where it is.
TASKS = (0xFBFFEFFC, 0xFBFFFFFC, 0x70000000, 0xFFFFFFF8)


@pytest.mark.representatives("LAYOUT_IMAGE", "0xfbfffffc")
@pytest.mark.parametrize("name", ["LAYOUT_IMAGE", "LAYOUT_POOL", "LAYOUT_STACK", *map(hex, TASKS)])
def test_no_task_is_where_the_kernel_may_not_read(arena: Arena, name: str) -> None:
    """The VMM reads none there, and the kernel keeps the stack that it had."""
    task = layout()[name] if name in layout() else int(name, 16)
    outcome = arena.attack("system-call", 0x70000000, KERNEL_DATA, RESERVED, task)
    assert outcome.reason == DIED
    assert SERVED in outcome.output


def any_stack(folder: Path) -> None:
    """Have the direct way write its frame wherever the stack is."""
    ways = folder / "vmm" / "guests" / "x86" / "two_level" / "view_ways.S"
    substitute(
        ways, "cmp\t$GANDALF_BASE - FRAME_BYTES, %edx\n\tja\tcall_by_c\n\tmov\t%edx, %ebx",
        "mov\t%edx, %ebx",
    )  # fmt: skip
    substitute(ways, "test\t$4095, %ecx\n\tjnz\tcall_by_c\n", "")
    substitute(ways, "testb\t$PTE_W, %ss:(%ecx, %ebx, 4)\n\tjz\tcall_by_c", "nop")


def any_task(folder: Path) -> None:
    """Have the VMM read a TSS that is in its own memory."""
    emulate = folder / "vmm" / "guests" / "x86" / "emulate_table.c"
    substitute(emulate, "if (x86->tss_base >= GANDALF_BASE - PAGE_SIZE)", "if (false)")


def test_a_frame_in_the_vmm_is_found() -> None:
    """If the direct way checks nothing, it is in the VMM's code: in what has run at the start."""
    with attacked(changed_vmm("any-stack", any_stack)) as arena:
        arena.start()
        esp = arena.vmm.image.symbols["memory_init"] + FRAME_BYTES
        with pytest.raises(AssertionError, match=r"^0x"):
            arena.attack("system-call", esp, KERNEL_DATA, RESERVED, SAME)


def test_a_task_in_the_vmm_is_found() -> None:
    with attacked(changed_vmm("any-task", any_task)) as arena:
        task = layout()["LAYOUT_IMAGE"]
        outcome = arena.attack("system-call", STACK, KERNEL_DATA, RESERVED, task)
        assert outcome.reason != DIED
