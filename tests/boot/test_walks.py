# SPDX-License-Identifier: Apache-2.0
"""The walks of the tour, found again in what the VMM executes.

QEMU writes down each instruction of the VMM while Linux starts a program, logs a line, for which it
waits for its UART byte by byte, and computes for longer than the period of an RTOS's timer.
"""

from dataclasses import replace

import pytest

from gandalf.build.symbols import Image
from gandalf.walls.walk_trace import Way, read_ways, wrong_walk
from gandalf.walls.walks import Walk, read_touched, read_walks

from .systems import DEMO, Boot, describe, linux

# The pictures show what there is with rings.
pytestmark = pytest.mark.rings

VMM = "0xfc000000+0x4000000"
WORK = "/bin/true; echo '<0>line' >/dev/kmsg; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"
WALKS = read_walks()


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> list[Way]:
    log = tmp_path_factory.mktemp("walks") / "executed"
    description = describe("walks", linux(), DEMO)
    with Boot.start(description, ("-dfilter", VMM, "-D", str(log))) as machine:
        machine.wait_for_shell()
        machine.next_latency()
        machine.hmp("singlestep on")
        machine.hmp("log exec,nochain")
        machine.shell(WORK)
        machine.hmp("log none")
        vmm = machine.built.vmm
    return read_ways(log.read_text(), vmm, Image(vmm, "vmm").addresses["return_iret"])


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)
def test_a_walk_is_as_it_is_drawn(ways: list[Way], walk: Walk) -> None:
    assert not wrong_walk(walk, ways, read_touched())


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)
def test_a_walk_in_another_order_is_found(ways: list[Way], walk: Walk) -> None:
    """The control: two steps that have changed places, and a step that is left out."""
    first, second, third, *others = walk.steps
    turned = replace(walk, steps=(first, third, second, *others))
    assert wrong_walk(turned, ways, read_touched()).endswith("in this order")
    shorter = replace(walk, steps=(first, second, *others))
    assert f"crosses {third.file}" in wrong_walk(shorter, ways, read_touched())


def test_what_is_touched_is_touched_somewhere(ways: list[Way]) -> None:
    """No file stays in that list which no walk needs there."""
    touched = read_touched()
    for file in touched:
        others = [name for name in touched if name != file]
        assert any(wrong_walk(walk, ways, others) for walk in WALKS), file
