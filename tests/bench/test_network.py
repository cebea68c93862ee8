# SPDX-License-Identifier: Apache-2.0
"""Networks: what a frame of 1,500 bytes costs both guests and the VMM, on a machine of its own."""

import re

import pytest

from gandalf.base.paths import ROOT
from gandalf.bench.bench import Plan, bench
from gandalf.bench.results import Result, Results, compare, read_results
from gandalf.bench.targets import Network, targets
from gandalf.bench.workload import NETWORK

REFERENCE = read_results(ROOT / "bench" / "reference.json")
PAYLOAD = 1500
# Instructions for a byte, at most: what issues of performance ask for.
MOST = 8
# A frame is copied by words: from the process, into the ring, and out of it.
COPIES = 3 * PAYLOAD // 4


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


@pytest.fixture(scope="module")
def measured() -> Results:
    plan = Plan(operations=tuple(part.operation for part in NETWORK))
    found = bench(plan, [Network()], quiet)
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


def test_nothing_is_worse_than_the_reference(measured: Results) -> None:
    """The rest of the quick set is compared by test_systems.py."""
    worse = [change for change in compare(REFERENCE, measured) if change.verdict == "worse"]
    assert not worse


def test_a_frame_and_its_answer_take_one_doorbell_each(rows: dict[str, Result]) -> None:
    """Linux rings the RTOS, which rings back where Linux waits for a frame, and halts again."""
    for row in rows.values():
        assert row.events["entry 0x1e hypercall"] == 1 + 1 + 1


def test_the_documented_figures_are_those_of_the_reference() -> None:
    text = (ROOT / "docs" / "network.md").read_text()
    found = re.findall(r"^\| `(network_\w+)`[^|]* \| ([\d,]+) \| (\d+) \| ([\d.]+) \|$", text, re.M)
    assert [name for name, *_ in found] == [part.operation for part in NETWORK]
    for frames, (name, instructions, entries, byte) in enumerate(found, 1):
        row = REFERENCE.find("gandalf-shared", name)
        assert row is not None
        assert int(instructions.replace(",", "")) == row.instructions
        assert int(entries) == round(row.events["vmm_entries"])
        assert float(byte) == round(row.instructions / frames / PAYLOAD, 1)


def test_it_is_in_the_quick_set() -> None:
    quick = Plan(quick=True).targets(targets())
    assert any(isinstance(target, Network) for target in quick)
