# SPDX-License-Identifier: Apache-2.0
"""Machines that several boot tests share, and the option of the random ones."""

from collections.abc import Iterator

import pytest

from .systems import DEFAULT, Boot


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=1, help="of the random steps of test_fuzz.py")


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The default system, with Linux's shell ready."""
    with Boot.start(DEFAULT) as running:
        running.wait_for_shell()
        yield running
