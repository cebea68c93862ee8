# SPDX-License-Identifier: Apache-2.0
"""The machines that the isolation tests share: starting Linux in Bochs takes longest.

A test that needs one emulator names it with the mark IN_BOCHS or IN_QEMU. Only one
machine runs at a time, because Bochs uses a whole CPU of the host even when idle.
"""

from collections.abc import Iterator

import pytest

from .attackers import HostileLinux, HostileSmall


@pytest.fixture(scope="module", params=["qemu", "bochs"])
def linux(request: pytest.FixtureRequest) -> Iterator[HostileLinux]:
    """Linux with the attack driver beside an RTOS."""
    with HostileLinux(request.param) as hostile:
        yield hostile


@pytest.fixture(scope="module", params=["qemu", "bochs"])
def small(request: pytest.FixtureRequest) -> Iterator[HostileSmall]:
    """A hostile ring-1 kernel and a hostile RTOS beside an RTOS."""
    with HostileSmall(request.param) as hostile:
        yield hostile
