# SPDX-License-Identifier: Apache-2.0
"""Runs systems in emulators, on a terminal or driven by a program."""
