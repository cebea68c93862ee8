# SPDX-License-Identifier: Apache-2.0
"""Channels: what a round trip and a KiB consist of, on the machine that the bench has for them."""

import re

import pytest

from gandalf.base.paths import ROOT
from gandalf.bench.bench import Plan, bench
from gandalf.bench.results import Result, read_results
from gandalf.bench.targets import Channel, targets
from gandalf.bench.workload import CHANNEL

KIB = 1024


def quiet(_: str) -> None:
    """Swallow what the bench has to say."""


@pytest.fixture(scope="module")
def rows() -> dict[str, Result]:
    plan = Plan(operations=tuple(part.operation for part in CHANNEL))
    found = bench(plan, [Channel()], quiet)
    assert not found.absent
    return {row.operation: row for row in found.results}


def test_every_operation_has_a_result(rows: dict[str, Result]) -> None:
    assert list(rows) == ["channel_round_trip", "channel_throughput", "channel_throughput_back"]
    for part in CHANNEL:
        row = rows[part.operation]
        assert row.samples == part.samples
        assert 0 < row.minimum <= row.instructions <= row.maximum


def test_the_hypercalls_are_those_of_the_protocol(rows: dict[str, Result]) -> None:
    """Each ring of Linux's has a halt of the RTOS's behind it; the RTOS rings if it moved bytes."""
    found = {name: row.events["entry 0x1e hypercall"] for name, row in rows.items()}
    # Linux rings for its message and for the room of the answer, whereupon nothing is moved.
    assert found["channel_round_trip"] == (2 + 2) + 1
    for name in ("channel_throughput", "channel_throughput_back"):
        assert found[name] == 1 + 1 + 1


def test_a_kib_costs_less_than_a_round_trip_and_its_copies(rows: dict[str, Result]) -> None:
    """It moves at once, and so has a ring less; and a byte is copied three or four times."""
    round_trip = rows["channel_round_trip"]
    for name in ("channel_throughput", "channel_throughput_back"):
        row = rows[name]
        assert row.events["vmm_entries"] < round_trip.events["vmm_entries"]
        assert 3 * KIB // 4 < row.instructions < round_trip.instructions + 4 * KIB // 4
        assert row.instructions <= 10 * KIB


def test_the_documented_figures_are_those_of_the_reference() -> None:
    text = (ROOT / "docs" / "channels.md").read_text()
    found = re.findall(r"^\| `(channel_\w+)`[^|]* \| ([\d,]+) \| (\d+) \|$", text, re.M)
    reference = read_results(ROOT / "bench" / "reference.json")
    assert [name for name, _, _ in found] == [part.operation for part in CHANNEL]
    for name, instructions, entries in found:
        row = reference.find("gandalf-shared", name)
        assert row is not None
        assert int(instructions.replace(",", "")) == row.instructions
        assert int(entries) == round(row.events["vmm_entries"])


def test_it_is_in_the_quick_set() -> None:
    quick = Plan(quick=True).targets(targets())
    assert any(isinstance(target, Channel) for target in quick)
