# SPDX-License-Identifier: Apache-2.0
"""Machines that several boot tests share, and the option of the random ones."""

from collections.abc import Iterator

import pytest

from .systems import DEFAULT, FOUR, TWO_LEVEL, Boot, World


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=1, help="of the random steps of test_fuzz.py")
    parser.addoption("--rings", choices=[FOUR, TWO_LEVEL], default=FOUR,
                     help="of the systems that the tests describe")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    World.rings = config.getoption("--rings")


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The default system, with Linux's shell ready."""
    with Boot.start(DEFAULT) as running:
        running.wait_for_shell()
        yield running
