# SPDX-License-Identifier: Apache-2.0
"""An RTOS interrupts the VMM in front of each instruction of its work, and nothing else differs.

`python -m gandalf.stress.boundaries --long` does the same with the long operations, by hand.
"""

from gandalf.stress.boundaries import run

from .systems import World

OPERATIONS = {
    "fill-read", "fill-write", "fill-dirty", "page-fault", "page-fault-write", "page-fault-user",
    "divide-error", "hypercall-null", "flush-page", "flush-pages", "load-tls", "mov-cr3",
    "mov-cr3-same", "invlpg", "iret", "mov-cr0", "mov-from-cr0", "clts", "mov-dr7", "lidt", "in",
    "out", "cli-sti", "interrupt", "blocked-return", "flush-all", "kernel-fill", "paging-off",
}  # fmt: skip
# Ports belong to devices, which interrupts share; the blocked return ends with a delivery.
MOSTLY_MASKED = {"in", "out", "blocked-return"}
# From the interrupt to the first instruction of the RTOS's handler, wherever the VMM was.
LATENCY = 450


def test_every_boundary_can_be_interrupted() -> None:
    operations = {operation.name: operation for operation in run("short", World.rings)}
    assert operations.keys() == OPERATIONS
    mistakes = [mistake for row in operations.values() for mistake in row.mistakes()]
    assert not mistakes, "\n".join(mistakes[:20])
    for name, row in operations.items():
        # Most of an operation's boundaries, but for where it must keep interrupts out.
        assert len(row.open) > len(row.path) / (4 if name in MOSTLY_MASKED else 2), name
        assert row.rounds > len(row.open), name
        assert 0 < row.latency < LATENCY, name
        # The VMM's clock may come a moment before it, by chance; nothing else does.
        assert row.latency_behind(1) < 2 * LATENCY, name
        assert all(hit.interrupts <= 2 for hit in row.hits if hit.is_own), name
