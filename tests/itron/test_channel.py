# SPDX-License-Identifier: Apache-2.0
"""Channels with the uITRON kernel: tests/itron/channel beside a guest that sends bytes back."""

import re
import sys

from gandalf.base.paths import ROOT
from gandalf.build.build import make
from tests.boot.systems import PATIENCE, Boot, describe, rtos_guest

SOURCES = ROOT / "tests" / "itron" / "channel"
RTOS = """\
[[guest]]
name = "rtos"
kind = "rtos"
image = "build/itron/channel.elf"
memory = "256K"
priority = 10
"""
CHANNEL = '[[channel]]\nname = "line"\nbetween = ["rtos", "echo"]\nsize = "4K"\n'


def test_calls() -> None:
    make(SOURCES, f"CONFIGURATOR={sys.executable} -m gandalf.itron.configurator")
    echo = rtos_guest("channel", "echo", priority=12)
    with Boot.start(describe("uitron-channel", RTOS, echo, CHANNEL, memory="32M")) as machine:
        for line in ("# restart it", "# restart it once more"):
            machine.expect("rtos", rf"^{line}\n", PATIENCE)
            machine.vmm("restart echo", r"^guest echo stopped: by command\n")
        machine.expect("rtos", r"^(PASS|FAIL) channel.*\n", PATIENCE)
        text = machine.text("rtos")
    assert not re.findall(r"^(?:# .*:\d+: .*\n)*not ok .*\n", text, re.M), text
    plan = re.match(r"1\.\.(\d+)\n", text)
    assert plan is not None
    assert len(re.findall(r"^ok \d+ ", text, re.M)) == int(plan[1]) >= 14
    assert text.endswith("PASS channel\n")
