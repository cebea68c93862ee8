# SPDX-License-Identifier: Apache-2.0
"""The host side of Gandalf: checks, builds, runs and tests systems of guests."""

__version__ = "0.1.0"
