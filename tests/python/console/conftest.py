# SPDX-License-Identifier: Apache-2.0
"""What the tests of the terminal's other end have in common."""

import ctypes

import pytest
from multiplexer import build_library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The VMM's multiplexer as a shared library."""
    return build_library(tmp_path_factory.mktemp("console"))
