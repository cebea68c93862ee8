# SPDX-License-Identifier: Apache-2.0
"""`gandalf explain`: a saved text gives a backtrace as far as it has the stack.

Whatever the text has become on its way, the outcome is an explanation or a sentence.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gandalf.base.paths import UserError
from gandalf.explain.report import Report, explain_saved, find_reports
from gandalf.explain.stack import find_stacks, stack_lines, words_of
from gandalf.explain.unwind import Unwinder

ESP = 0x3EFAC
WORDS = 16
BEHIND = ESP + 4 * WORDS
SYSTEM = """\
[machine]
memory = "32M"

[[guest]]
name = "rtos"
kind = "rtos"
image = "./program"
memory = "1M"
priority = 10
"""
REPORT = """\
[vmm] guest rtos stopped: divide error (#DE) without a handler
[vmm]   at cs:eip 0061:{eip:08x}, ss:esp 0069:0003efac, eflags 00000246, error code 0
[linux] busy
[vmm]   instruction: f7 f2 c3 e8 fc fe ff ff b8 00 01 00 00 8e e0
[vmm]   eax 00000001 ebx 00001ba0 ecx 00000000 edx 00000000
[vmm]   esi 00000000 edi 00000000 ebp 0003efc8 cr2 00000000
[vmm]   ds 0069 es 0069 fs 0069 gs 0069, interrupt flag 0
[vmm]   its last events:
[vmm]   49121 us, vCPU 0: exception 0, {eip:x}
"""
BLOCK = """\
gandalf: guest {guest} stopped: divide error (#DE) without a handler
gandalf:   at inner+0x0 (program.c:1)
{stack}"""


@pytest.fixture
def stack(starts: dict[str, int]) -> str:
    """Return the lines of a stack: outer() has called, it was called by _start(), and so on.

    At the first instruction of a function the return address is at ESP.
    """
    content = [starts["outer"] + 1, *[starts["_start"] + 1] * (WORDS - 1)]
    words = words_of(ESP, b"".join(word.to_bytes(4, "little") for word in content))
    return "".join(f"gandalf: {line}\n" for line in stack_lines(words))


@pytest.fixture
def saved(stack: str, starts: dict[str, int]) -> str:
    return REPORT.format(eip=starts["inner"]) + BLOCK.format(guest="rtos", stack=stack)


@pytest.fixture
def system(image: Path) -> Path:
    path = image.parent / "system.toml"
    path.write_text(SYSTEM)
    return path


def told(system: Path, text: str | bytes, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what `gandalf explain` says of a saved text."""
    capsys.readouterr()
    explain_saved(system, text if isinstance(text, bytes) else text.encode(), "saved.txt")
    return capsys.readouterr().out.splitlines()


def ends(address: int) -> str:
    return f"  the backtrace ends here: the word of the stack at {address:08x} is not known"


def callers(lines: list[str]) -> list[str]:
    return [line.split()[2] for line in lines if line.startswith("  called from ")]


def test_a_saved_report_has_a_backtrace_as_far_as_its_stack_goes(
    system: Path, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(system, saved, capsys)
    assert lines[1].startswith("  at inner+0x0 (")
    assert callers(lines) == ["outer+0x1", *["_start+0x1"] * (WORDS - 1)]
    assert ends(BEHIND) in lines
    assert lines[-1].startswith("  49121 us: exception 0 at inner+0x0")


def test_a_saved_report_without_a_stack_says_so(
    system: Path, starts: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(system, REPORT.format(eip=starts["inner"]), capsys)
    assert callers(lines) == []
    assert "  no backtrace: nothing of its stack is known" in lines


def test_a_report_that_was_cut_anywhere_is_explained_as_far_as_it_goes(
    system: Path, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = saved.splitlines(keepends=True)
    for count in range(len(lines)):
        text = "".join(lines[:count])
        if count < 2:
            with pytest.raises(UserError, match=r"There is no report of a stopped guest in .*txt"):
                told(system, text, capsys)
        else:
            shown = told(system, text, capsys)
            stacks = text.count("gandalf:   stack")
            assert len(callers(shown)) == 8 * stacks
            assert (ends(ESP + 32 * stacks) in shown) == (stacks > 0)


@pytest.mark.parametrize("wrong", ["0000g000", "000001", "0000000001", "\ufffd" * 8, "-0000001"])
def test_what_follows_a_garbled_word_in_its_line_is_not_known(
    system: Path, saved: str, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    head, mark, rest = saved.partition("gandalf:   stack ")
    words = rest.split(" ", 4)  # the address, and then three words
    words[3] = wrong
    lines = told(system, head + mark + " ".join(words), capsys)
    assert len(callers(lines)) == 2
    assert ends(ESP + 8) in lines


def test_a_stack_of_another_guest_or_another_report_is_not_taken(
    system: Path, saved: str, stack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report, _, own = saved.partition("gandalf: ")
    others = [
        "gandalf: " + own + report,
        report + BLOCK.format(guest="other", stack=stack),
        report
        + BLOCK.format(guest="rtos", stack=stack.replace("stack 0003efac", "stack 0003efa8")),
        report + stack,
        report + "[linux] " + "gandalf: " + own.replace("\n", "\n[linux] "),
    ]
    # The same mistake twice, of which only the later one's stack is there.
    twice = told(system, report + saved, capsys)
    assert twice.count("  no backtrace: nothing of its stack is known") == 1
    for text in others:
        assert "  no backtrace: nothing of its stack is known" in told(system, text, capsys)


def test_a_report_over_an_unfinished_line_of_the_keyboards_console_is_found(
    system: Path, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a terminal shows it, with a prompt that is taken away and drawn again."""
    erased = "\r\n~ # \r\x1b[K[vmm] "
    text = "~ # \r\x1b[K" + saved.replace("\n[vmm] ", erased).replace("\ngandalf", "\r\ngandalf")
    assert len(callers(told(system, text, capsys))) == WORDS


def test_other_consoles_lines_are_no_part_of_a_report(saved: str) -> None:
    other = "[linux]   eax 12345678\n[linux]   5 us, vCPU 0: trap 1, 2\n"
    (report,) = find_reports(saved.replace("[linux] busy\n", other))
    assert report.registers["eax"] == 1
    assert len(report.events) == 1


def test_events_that_were_asked_for_behind_a_report_are_not_its_own(saved: str) -> None:
    (report,) = find_reports(saved + "[vmm]   5 us, vCPU 0: trap 1, 2\n" * 40)
    assert len(report.events) == 12


def test_a_reason_cannot_move_the_cursor() -> None:
    text = REPORT.format(eip=16).replace("divide error", "\x1b[2J\ufffddivide error")
    (report,) = find_reports(text)
    assert report.reason == "?[2J?divide error (#DE) without a handler"


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF", b"\x7fELF\x01\x01\x01" + bytes(45)])
def test_without_an_image_that_can_be_read_addresses_stay(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM)
    if content is not None:
        (tmp_path / "program").write_bytes(content)
    assert "  at 0x10" in told(system, REPORT.format(eip=16), capsys)


def test_what_is_not_known_of_a_guest_is_said(
    system: Path, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    explain_saved(system, saved.replace("rtos", "other").encode(), "saved.txt")
    shown = capsys.readouterr()
    assert "  at 0x" in shown.out
    assert "gandalf: no image of a guest other can be read: its addresses stay" in shown.err


def test_without_a_register_the_backtrace_says_which(image: Path, starts: dict[str, int]) -> None:
    trace = Unwinder(image).trace({"eip": starts["inner"]}, lambda _: 0)
    assert (len(trace.frames), trace.unknown) == (1, "the register esp is not known")


def changed(text: bytes, changes: list[tuple[float, bytes]]) -> bytes:
    """Return a text in which bytes are others, or pieces are gone or doubled."""
    for place, piece in changes:
        at = int(place * len(text))
        text = text[:at] + piece + text[at + len(piece) % 7 :]
    return text


PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([
        b"\n", b"\r\n[vmm]   ", b"guest rtos stopped: x\n", b"ffffffff ", b"gandalf:   stack ",
        b"gandalf: guest rtos stopped: x\n", b"  at cs:eip 0061:ffffffff, ss:esp 0069:fffffffc\n",
    ]),
)  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.floats(0, 1), PIECES), min_size=1, max_size=12))
def test_whatever_a_text_has_become_it_is_explained_or_refused(
    system: Path, saved: str, capsys: pytest.CaptureFixture[str],
    changes: list[tuple[float, bytes]],
) -> None:  # fmt: skip
    text = changed(saved.encode(), changes)
    if list(find_reports(text.decode("ascii", "replace"))):
        assert told(system, text, capsys)[0].startswith("guest ")
    else:
        with pytest.raises(UserError, match="There is no report of a stopped guest"):
            told(system, text, capsys)


def test_a_hostile_stack_has_no_more_words_than_its_lines() -> None:
    line = "gandalf:   stack fffffff8: " + " ".join(["ffffffff"] * 1000) + "\n"
    text = BLOCK.format(guest="rtos", stack=line * 100)
    (stack,) = find_stacks(text)
    assert len(stack.words) == 1000
    assert len(stack_lines(stack.words)) == 4


def test_a_long_text_that_is_nearly_a_report_does_not_take_long() -> None:
    """By so much that a search which goes back to the beginning again and again would not end."""
    text = "guest rtos stopped: x\n" + "[vmm]   49121 us, vCPU 0\ngandalf:   stack 1\n" * 100_000
    reports: list[Report] = list(find_reports(text + text))
    assert reports == []
