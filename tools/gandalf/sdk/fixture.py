# SPDX-License-Identifier: Apache-2.0
"""pytest's fixture `machine`, with which an application's tests boot its system."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gandalf.run.machine import Machine


class Plugin:
    """A plug-in of pytest for one system."""

    def __init__(self, system: Path) -> None:
        self._system = system

    @pytest.fixture
    def machine(self) -> Iterator[Machine]:
        """Boot the system for one test; its clock counts instructions, so that runs are equal."""
        with Machine(self._system) as running:
            yield running
