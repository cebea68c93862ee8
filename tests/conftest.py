# SPDX-License-Identifier: Apache-2.0
"""The option for tests that take minutes, and for the variants that are like others.

Beside it that of the world in which guests run, and the mark of the tests that are about one.
"""

import pytest

from tests.boot.systems import FOUR, TWO_LEVEL, World


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what takes minutes")
    parser.addoption("--rings", choices=[FOUR, TWO_LEVEL], default=FOUR,
                     help="of the systems that the tests describe")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    World.rings = config.getoption("--rings")
    config.addinivalue_line("markers", "rings: is about rings 1 and 2; not with two levels")
    config.addinivalue_line("markers", "two_level: is about two levels; not with rings")
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


def _is_elsewhere(item: pytest.Item) -> bool:
    """Tell whether a test has no meaning in this world.

    With two levels nothing rests on a segment's limit: QEMU shows all of the isolation, so Bochs is
    not needed.
    """
    if World.rings != TWO_LEVEL:
        return item.get_closest_marker("two_level") is not None
    if item.get_closest_marker("rings") is not None:
        return True
    return isinstance(item, pytest.Function) and "bochs" in _values(item)


def _values(item: pytest.Function) -> list[object]:
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    elsewhere = [item for item in items if _is_elsewhere(item)]
    config.hook.pytest_deselected(items=elsewhere)
    items[:] = [item for item in items if item not in elsewhere]
    if not config.getoption("--long"):
        for item in items:
            if _is_long(item):
                item.add_marker(pytest.mark.skip(reason="takes minutes; give --long"))
