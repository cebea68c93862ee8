# SPDX-License-Identifier: Apache-2.0
"""The machines that the isolation tests share: booting Linux in Bochs takes longest."""

from collections.abc import Iterator

import pytest

from .attackers import HostileLinux


@pytest.fixture(scope="session")
def bochs_linux() -> Iterator[HostileLinux]:
    """A hostile Linux in Bochs, which enforces segment limits."""
    with HostileLinux("bochs") as hostile:
        yield hostile


@pytest.fixture(scope="session")
def qemu_linux() -> Iterator[HostileLinux]:
    """A hostile Linux in QEMU, where only pages, rings and gates protect."""
    with HostileLinux("qemu") as hostile:
        yield hostile
