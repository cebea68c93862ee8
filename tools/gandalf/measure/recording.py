# SPDX-License-Identifier: Apache-2.0
"""Runs a system for a time line: with one CPU as it is measured, with several without plug-in."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gandalf.build.build import Built, build
from gandalf.measure.core_trace import trace_cores
from gandalf.measure.measure import Session, Task, measure_built
from gandalf.measure.ring import read_history, read_layout
from gandalf.measure.trace import Timeline, names_of


def trace(description: Path, task: Task, log: Callable[[str], None]) -> list[Timeline]:
    """Build a system, run the task, and return the events of each CPU: several keep the last."""
    built = build(description, log, deterministic=True)
    if built.checked.system.machine.cpus == 1:
        return [_trace_one(built, task, log)]
    rings, symbols = trace_cores(built, task, log)
    names = names_of(built, symbols, read_layout(built.vmm))
    return [Timeline(ring, names, cpu=cpu) for cpu, ring in rings.items()]


def _trace_one(built: Built, task: Task, log: Callable[[str], None]) -> Timeline:
    found: list[Timeline] = []

    def look(session: Session) -> None:
        layout = read_layout(session.built.vmm)
        read = session.machine.memory
        ring = read_history(layout, read, session.history)
        names = names_of(session.built, session.symbols, layout)
        tasks = {row.guest: row.read(read) for row in session.tasks}
        found.append(Timeline(ring, names, tasks=tasks))

    result, _ = measure_built(built, task, log, look)
    ring = replace(found[0].ring, lost=result.history_lost > 0)
    windows, since = result.recorded, result.recorded_since
    return replace(found[0], ring=ring, windows=windows, since=since)
