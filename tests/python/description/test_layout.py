# SPDX-License-Identifier: Apache-2.0
"""What guests write to lies nowhere else, whatever the machine's memory, or that is a mistake."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.description.check import check
from gandalf.description.layout import check_layout, place

CHANNEL = """
[[guest]]
name = "other"
kind = "rtos"
image = "./rtos.elf"
priority = 5
memory = "{memory}K"

[[channel]]
name = "line"
between = ["rtos", "other"]
size = "1M"
"""
MODULE = 3 << 20


@pytest.mark.parametrize("memory", range(1024, 17 * 1024, 512))
def test_no_image_lies_where_a_channel_is(describe: Callable[[str], Path], memory: int) -> None:
    """The end of memory comes nearer by a bit each time; at last it does not fit."""
    system = check(
        describe(GOOD.replace('"128M"', '"96M"', 1) + CHANNEL.format(memory=memory))
    ).system
    assert system.messages() == []
    layout = place(system, MODULE)
    check_layout(system, layout)
    beside = (layout.pool, *layout.guests, *layout.channels)
    fits = not any(region.overlaps(layout.module) for region in beside)
    assert fits == (system.messages() == [])


def test_the_vmm_has_the_room_for_rtoses_that_the_tool_knows_of() -> None:
    header = (ROOT / "vmm" / "arch" / "ia32" / "layout.h").read_text()
    places = {name: int(value, 16) for name, value in re.findall(r"(LAYOUT_\w+) (0x\w+)", header)}
    assert places["LAYOUT_POOL"] - places["LAYOUT_RTOS"] == abi()["RTOS_MEMORY_MAXIMUM"]
