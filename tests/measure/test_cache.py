# SPDX-License-Identifier: Apache-2.0
"""The model of caches and TLBs against cache.S, whose misses are known by number."""

from collections.abc import Callable

import pytest

from gandalf.build.symbols import Image
from gandalf.measure.measure import build_plugin

from .conftest import FOLDER, Program, Run, link, measure_with

LINE = 32


@pytest.fixture(scope="session")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Program:
    build_plugin()
    output = link(FOLDER / "cache.S", tmp_path_factory.mktemp("cache"), "-m32")
    return Program(output, Image(output, "image").addresses)


@pytest.fixture
def misses(
    cached: Program, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, int]]:
    """Return a function that returns the misses of a stretch that begins with nothing cached."""
    measure: Callable[..., Run] = measure_with(cached, tmp_path_factory.mktemp("cache"))

    def run(name: str) -> dict[str, int]:
        found = measure(name, cache=1).result.events
        return {key: sum(found[key]) for key in found if key.endswith(("_miss", "_walk"))}

    return run


def lines(program: Program, name: str) -> int:
    return (program.at[f"{name}_end"] - program.at[f"{name}_begin"]) // LINE


@pytest.mark.parametrize(
    ("name", "l1d", "itlb", "dtlb"),
    [
        ("pages", 8, 1, 8),
        # INVLPG drops a page, global or not, by any form of its operand.
        ("dropped", 8, 1, 8 + 2),
        # A CR3 load leaves the four global ones.
        ("emptied", 8, 2, 8 + 4),
        # Global pages that are no longer so go as well.
        ("globals", 8, 2, 8 + 8),
        ("large", 3, 1, 1),
        ("ways", 15, 1, 5),
    ],
)
def test_misses_are_those_of_the_program(
    misses: Callable[[str], dict[str, int]],
    cached: Program,
    name: str,
    l1d: int,
    itlb: int,
    dtlb: int,
) -> None:
    assert misses(name) == {
        "l1i_miss": lines(cached, name), "l1d_miss": l1d, "itlb_miss": itlb, "dtlb_miss": dtlb,
        "page_walk": itlb + dtlb,
    }  # fmt: skip


def test_a_model_that_is_not_asked_for_counts_nothing(
    cached: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = measure_with(cached, tmp_path_factory.mktemp("cache"))("pages").result.events
    assert found["l1d_miss"] == (0, 0, 0, 0)
