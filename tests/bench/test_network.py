# SPDX-License-Identifier: Apache-2.0
"""Networks: what frames, pings and TCP cost both guests and the VMM, on machines of their own."""

import re
from typing import ClassVar

import pytest

from gandalf.base.paths import ROOT
from gandalf.bench import workload as bench_workload
from gandalf.bench.bench import Plan, bench
from gandalf.bench.results import Result, Results, compare, read_results
from gandalf.bench.target import Log, Run, Target
from gandalf.bench.targets import Gandalf, Internet, Network, targets
from gandalf.bench.workload import INTERNET, NETWORK, Output, Work

REFERENCE = read_results(ROOT / "bench" / "reference.json")
PAYLOAD = 1500
# Instructions for a byte, at most: what issues of performance ask for.
MOST = 8
# A frame is copied by words: from the process, into the ring, and out of it.
COPIES = 3 * PAYLOAD // 4
# Of TCP a frame has so many bytes; instructions for one of those, and for a ping and a message that
# come back, at most.
SEGMENT = 1460
MOST_OF_TCP = {"network_tcp_send": 16, "network_tcp_receive": 11}
MOST_OF_ALL = {"network_ping": 17_000, "network_tcp_round_trip": 23_000}
# A hypercall is a doorbell or a halt, and both guests are rung for each message and its answer. Of
# a stream several segments go at once.
HYPERCALLS = {
    "network_ping": 3.0,
    "network_tcp_send": 1.5,
    "network_tcp_receive": 0.75,
    "network_tcp_round_trip": 3.0,
}
# Succeeds once a connection to the port of the stream to the RTOS, 5009, is there.
CONNECTED = "grep -q ' [0-9A-F]*:1391 01 ' /proc/net/tcp"


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


def measure(target: Target) -> Results:
    return bench(Plan(operations=target.operations), [target], quiet)


@pytest.fixture(scope="module")
def measured() -> Results:
    found = measure(Network())
    assert not found.absent
    return found


@pytest.fixture(scope="module")
def internet() -> Results:
    """Ping and TCP. A figure is only there if both sides have seen the same bytes."""
    found = measure(Internet())
    assert not found.absent
    return found


@pytest.fixture(scope="module")
def rows(measured: Results) -> dict[str, Result]:
    return {row.operation: row for row in measured.results}


def test_a_byte_costs_few_instructions(rows: dict[str, Result]) -> None:
    assert list(rows) == ["network_send", "network_round_trip"]
    for frames, row in enumerate(rows.values(), 1):
        assert row.samples == NETWORK[0].samples
        assert frames * COPIES < row.instructions < frames * PAYLOAD * MOST
        assert row.minimum <= row.instructions <= row.maximum


def test_ping_and_tcp_cost_few_instructions(internet: Results) -> None:
    assert [row.operation for row in internet.results] == [part.operation for part in INTERNET]
    for row, part in zip(internet.results, INTERNET, strict=True):
        most = MOST_OF_ALL.get(row.operation) or SEGMENT * MOST_OF_TCP[row.operation]
        assert row.samples == part.samples
        assert SEGMENT < row.instructions < most, row.operation
        assert row.minimum <= row.instructions <= row.maximum
        # Nobody has slept, which would be time without an instruction.
        assert row.mean < row.instructions * 1.02


def test_nothing_is_worse_than_the_reference(measured: Results, internet: Results) -> None:
    """The rest of the quick set is compared by test_systems.py."""
    changes = [*compare(REFERENCE, measured), *compare(REFERENCE, internet)]
    assert not [change for change in changes if change.verdict == "worse"]


def test_a_frame_and_its_answer_take_one_doorbell_each(rows: dict[str, Result]) -> None:
    """Linux rings the RTOS, which rings back where Linux waits for a frame, and halts again."""
    for row in rows.values():
        assert row.events["entry 0x1e hypercall"] == 1 + 1 + 1


def test_few_doorbells_are_rung_for_ping_and_tcp(internet: Results) -> None:
    found = {row.operation: row.events["entry 0x1e hypercall"] for row in internet.results}
    assert found == pytest.approx(HYPERCALLS, abs=0.1)


class Cut(Internet):
    """A machine whose Linux has the network down once there is a connection to the RTOS."""

    first: ClassVar[tuple[str, ...]] = (
        *Internet.first,
        f"(until {CONNECTED}; do :; done; ip link set bench down) &",
    )

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        ping, *streams = INTERNET
        return Gandalf.run(self, (*streams, ping), log)


def test_a_network_that_breaks_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def parse(text: str) -> Output:
        said.append(text)
        return original(text)

    original = bench_workload.parse
    monkeypatch.setattr(bench_workload, "parse", parse)
    found = measure(Cut())
    assert not found.results
    reasons = {absent.operation: absent.reason for absent in found.absent}
    assert set(reasons) == {part.operation for part in INTERNET}
    assert set(reasons.values()) == {"The workload says: no way leads to the RTOS."}
    first = re.search(r"^bench: (.*?)\r*$", said[0], re.M)
    assert first is not None
    assert first[1] == "network_tcp_send: the RTOS takes nothing any more"


def test_the_documented_figures_are_those_of_the_reference() -> None:
    text = (ROOT / "docs" / "network.md").read_text().partition("### Ping and TCP")[0]
    found = re.findall(r"^\| `(network_\w+)`[^|]* \| ([\d,]+) \| (\d+) \| ([\d.]+) \|$", text, re.M)
    assert [name for name, *_ in found] == [part.operation for part in NETWORK]
    for frames, (name, instructions, entries, byte) in enumerate(found, 1):
        row = REFERENCE.find("gandalf-shared", name)
        assert row is not None
        assert int(instructions.replace(",", "")) == row.instructions
        assert int(entries) == round(row.events["vmm_entries"])
        assert float(byte) == round(row.instructions / frames / PAYLOAD, 1)


def test_the_documented_figures_of_ping_and_tcp_are_those_of_the_reference() -> None:
    text = (ROOT / "docs" / "network.md").read_text()
    line = r"^\| `(network_\w+)`, ([^|]*) \| ([\d,]+) \| ([\d.]+) \| ([\d.]+|-) \|$"
    found = re.findall(line, text[text.index("### Ping and TCP") :], re.M)
    assert [name for name, *_ in found] == [part.operation for part in INTERNET]
    for name, _, instructions, entries, byte in found:
        row = REFERENCE.find("gandalf-shared", name)
        assert row is not None
        assert int(instructions.replace(",", "")) == row.instructions
        assert float(entries) == round(row.events["vmm_entries"], 1)
        of_a_byte = f"{row.instructions / SEGMENT:.1f}" if name in MOST_OF_TCP else "-"
        assert byte == of_a_byte


def test_both_machines_are_in_the_quick_set() -> None:
    quick = Plan(quick=True).targets(targets())
    assert {Network, Internet} <= {type(target) for target in quick}
