# SPDX-License-Identifier: Apache-2.0
"""What guests write to lies nowhere else, whatever the machine's memory, or that is a mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD

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
