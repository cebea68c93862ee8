# SPDX-License-Identifier: Apache-2.0
"""The option for tests that take minutes, and for the variants that are like others."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what takes minutes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes minutes; runs with --long only")
    config.addinivalue_line(
        "markers", "representatives(*ids): the variants that run without --long"
    )


def _is_long(item: pytest.Item) -> bool:
    representatives = item.get_closest_marker("representatives")
    if representatives is None:
        return item.get_closest_marker("long") is not None
    assert isinstance(item, pytest.Function)
    return item.callspec.id not in representatives.args


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if _is_long(item):
                item.add_marker(pytest.mark.skip(reason="takes minutes; give --long"))
