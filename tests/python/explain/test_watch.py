# SPDX-License-Identifier: Apache-2.0
"""What a guest prints does no harm to `gandalf run`, also where it looks like the VMM's report."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gandalf.explain import watch as watching
from gandalf.explain.watch import ReportWatch

EVENT = "[vmm]   1 us, vCPU 0: trap d, 10\r\n"
STOPPED = "[vmm] guest {} stopped: x\r\n"
PLACE = "[vmm]   at cs:eip 0061:00000010, ss:esp 0069:00000000\r\n[vmm]   ds 0069 x\r\n"
EVENTS = f"[vmm]   its last events:\r\n{EVENT * 12}"


@pytest.fixture
def watch() -> ReportWatch:
    """Watch a machine with one guest, which has the keyboard."""
    built: Any = SimpleNamespace(
        names=["linux"],
        checked=SimpleNamespace(
            system=SimpleNamespace(guests=[(0, SimpleNamespace(name="linux", kernel="none"))],
                                   resolve=Path),
            layout=SimpleNamespace(guests=[SimpleNamespace(start=0, end=4096)]),
        ),
    )  # fmt: skip
    made = ReportWatch(built, lambda _address, _size: None)
    made.feed(b"[console linux has the keyboard]\r\n")
    return made


def told(watch: ReportWatch, *texts: str) -> str:
    shown = b"".join(watch.feed(text.encode()) for text in (*texts, ""))
    return shown.decode()


def test_a_report_of_a_guest_that_is_not_there_is_none(watch: ReportWatch) -> None:
    assert told(watch, STOPPED.format("zz"), PLACE, EVENTS) == ""
    assert told(watch, "~ # \r\n") == ""


def test_a_report_without_registers_is_explained_as_far_as_it_goes(watch: ReportWatch) -> None:
    lines = told(watch, STOPPED.format("linux"), PLACE, EVENTS).splitlines()
    assert lines[:2] == ["gandalf: guest linux stopped: x", "gandalf:   at 0x10"]


def test_a_report_without_end_is_given_up(watch: ReportWatch) -> None:
    line = "[vmm]   more and more of it that is no event\r\n"
    assert told(watch, STOPPED.format("linux"), PLACE, line * 1000, EVENTS) == ""
    lines = told(watch, "[vmm] guest linux restarts\r\n", STOPPED.format("linux"), PLACE, EVENTS)
    assert lines.startswith("gandalf: guest linux stopped: x")


def test_reports_that_come_together_are_all_explained(watch: ReportWatch) -> None:
    """Also where the next one begins in the middle of what is read at once."""
    whole = STOPPED.format("linux") + PLACE + EVENTS
    text = whole + whole + STOPPED.format("zz") + PLACE + EVENTS + whole
    for cut in (len(whole), len(whole) + 12, len(whole) + 30):
        shown = told(watch, text[:cut], text[cut:], "[vmm] guest linux restarts\r\n")
        assert shown.count("gandalf: guest linux stopped: x") == 3
        assert shown.count("gandalf: guest") == 3


def test_each_report_has_its_own_guests_stack(
    watch: ReportWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two guests stop in what is read at once: the memory is read at where each stands."""
    asked = []

    def read(address: int, _size: int) -> bytes:
        asked.append(address)
        return bytes([address] * 4)

    monkeypatch.setattr(watching, "RtosGuest", SimpleNamespace)
    monkeypatch.setattr(watch, "_read", read)
    second = PLACE.replace("00000000", "00000010")
    report = STOPPED.format("linux")
    shown = told(watch, report + PLACE + EVENTS + report + second + EVENTS)
    assert asked == [0, 0x10]
    stacks = [line for line in shown.splitlines() if line.startswith("gandalf:   stack")]
    assert stacks == ["gandalf:   stack 00000000: 00000000", "gandalf:   stack 00000010: 10101010"]


def test_whatever_cannot_be_explained_ends_nothing(
    watch: ReportWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("esp")

    monkeypatch.setattr(watching, "explain", fail)
    shown = told(watch, STOPPED.format("linux"), PLACE, EVENTS)
    assert shown == "gandalf: a report that cannot be explained\r\n"


def test_what_is_explained_does_not_come_into_a_line(watch: ReportWatch) -> None:
    """The next report's line has begun when the first is explained, or a prompt has."""
    report = STOPPED.format("linux") + PLACE + EVENTS
    assert watch.feed((report + "[vmm] guest zz sto").encode()) == b""
    assert all(watch.feed(b"") == b"" for _ in range(2))
    assert watch.feed(b"pped: x\r\n").startswith(b"gandalf: guest linux stopped: x\r\n")
    assert watch.feed((report + "~ # ").encode()) == b""
    assert all(watch.feed(b"") == b"" for _ in range(2))
    assert watch.feed(b"").startswith(b"\r\ngandalf: guest linux stopped: x\r\n")
    assert watch.feed(b"") == b""
    assert watch.feed(("\r\n" + report + "~ # ").encode()) == b""
    assert watch.rest().startswith(b"\r\ngandalf: guest linux stopped: x\r\n")
    assert watch.rest() == b""
