# SPDX-License-Identifier: 0BSD
"""Boots the application: `make test`. `machine` is a machine of its own for each test."""

from gandalf.run.machine import Machine


def test_it_beats_each_second(machine: Machine) -> None:
    for second in (1, 2, 3):
        machine.expect("@NAME@", f"beat {second}\n")
