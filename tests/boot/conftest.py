# SPDX-License-Identifier: Apache-2.0
"""Machines that several boot tests share, and the option for the long ones."""

from collections.abc import Iterator

import pytest

from .systems import DEFAULT, Boot


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what takes minutes each")
    parser.addoption("--seed", type=int, default=1, help="of the random steps of test_fuzz.py")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes minutes; runs with --long only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="takes minutes; give --long"))


@pytest.fixture(scope="module")
def machine() -> Iterator[Boot]:
    """The default system, with Linux's shell ready."""
    with Boot.start(DEFAULT) as running:
        running.wait_for_shell()
        yield running
