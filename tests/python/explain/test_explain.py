# SPDX-License-Identifier: Apache-2.0
"""`gandalf explain`: reports are found in whatever a terminal showed, and stacks are unwound."""

from pathlib import Path

import pytest

from gandalf.explain.report import Places, explain, find_reports
from gandalf.explain.unwind import Trace, Unwinder

LINES = """\
guest rtos stopped: divide error (#DE) without a handler
  at cs:eip 0061:{eip:08x}, ss:esp 0069:0003efac, eflags 00000246, error code 0
  instruction: f7 f2 c3 e8 fc fe ff ff b8 00 01 00 00 8e e0
  eax 00000001 ebx 00001ba0 ecx 00000000 edx 00000000
  esi 00000000 edi 00000000 ebp 0003efc8 cr2 00000000
  ds 0069 es 0069 fs 0069 gs 0069, interrupt flag 0
  its last events:
  49120 us, vCPU 0: trap 1e, 10c9
  49121 us, vCPU 0: exception 0, {eip:x}
"""


def report(eip: int = 0x118E) -> str:
    return LINES.format(eip=eip)


@pytest.mark.parametrize("head", ["", "[vmm] ", "\x1b[36m[vmm]\x1b[0m "])
def test_a_report_is_found_in_a_log_or_on_a_terminal(head: str) -> None:
    shown = "".join(f"{head}{line}\r\n" for line in report().splitlines())
    (found,) = find_reports(f"[linux] hello\r\n{shown}[linux] more\r\n")
    assert (found.guest, found.reason) == ("rtos", "divide error (#DE) without a handler")
    assert found.registers["eip"] == 0x118E
    assert found.registers["esp"] == 0x3EFAC
    assert found.registers["ebp"] == 0x3EFC8
    assert found.code[:2] == b"\xf7\xf2"
    assert found.events[0] == ("49120", "trap", "1e", "10c9")


def test_lines_of_other_consoles_stand_between_those_of_a_report() -> None:
    lines = [f"[vmm] {line}\n[linux] busy\n" for line in report().splitlines()]
    (found,) = find_reports("".join(lines))
    assert found.registers["eax"] == 1
    assert len(found.events) == 2


def test_what_is_no_report_is_none() -> None:
    assert list(find_reports("guest rtos stopped: by command\nguest rtos restarts\n")) == []


def test_functions_lines_and_the_instruction_are_named(image: Path, starts: dict[str, int]) -> None:
    places = Places(image, "rtos")
    start = starts["inner"]
    (found,) = find_reports(report(start + 2))
    lines = explain(found, places)
    assert lines[1].startswith("  at inner+0x2 (")
    assert "program.c:1" in lines[1]
    assert lines[2] == "  instruction: div %edx"
    assert lines[-1].startswith("  49121 us: exception 0 at inner+0x2")


def test_without_an_image_addresses_stay() -> None:
    (found,) = find_reports(report())
    assert explain(found, None)[1] == "  at 0x118e"


def test_a_stack_without_frame_pointers_is_unwound(image: Path, starts: dict[str, int]) -> None:
    """The frames are made by hand, as the rules of `inner` and `outer` say."""
    unwinder = Unwinder(image)
    # At the first instruction of a function the return address is at ESP.
    back = starts["outer"] + 1
    memory = {0x1000: back, **dict.fromkeys(range(0x1004, 0x1100, 4), starts["_start"] + 1)}
    registers = dict.fromkeys(("eax", "ecx", "edx", "ebx", "ebp", "esi", "edi"), 0)
    registers |= {"esp": 0x1000, "eip": starts["inner"]}
    frames = unwinder.trace(registers, memory.get).frames
    assert frames[:2] == [starts["inner"], back]
    assert frames[2] == starts["_start"] + 1
    trace = unwinder.trace(registers, lambda _: None)
    assert trace == Trace([starts["inner"]], "the word of the stack at 00001000 is not known")
