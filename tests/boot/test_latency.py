# SPDX-License-Identifier: Apache-2.0
"""An unmodified Linux does not keep an RTOS from the CPU by the way in which it ends.

An instruction takes eight time stamps here, so that the RTOS's timer interrupts eight times as
often among the VMM's instructions. The hostile kernel of tests/measure does worse things.
"""

from dataclasses import replace

from gandalf.base.paths import BUILD
from gandalf.build.build import build
from gandalf.build.symbols import Symbols
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import read_measurement
from gandalf.run import emulator as emulators
from gandalf.run.options import options_for
from gandalf.stress.hostile import DISPATCH_LIMIT, MASKED_LIMIT

from .systems import DEMO, PATIENCE, PROMPT, Boot, describe, linux

SHIFT = 3
PROCESSES = 96


def test_a_reset_with_many_processes_keeps_nobody_waiting() -> None:
    built = build(describe("latency", linux(), DEMO), lambda _: None, deterministic=True)
    build_plugin()
    output = BUILD / "boot" / "latency.json"
    begin = Symbols(built).address("linux:__ia32_sys_reboot")
    plugin = plugin_arguments(out=str(output), begin=begin)
    options = replace(options_for(built, True, None, plugin), shift=SHIFT)
    with Boot.attach(built, emulators.start("qemu", options)) as machine:
        machine.built = built
        machine.wait_for_shell()
        machine.shell(f"for i in $(seq {PROCESSES}); do sleep 1000 & done")
        machine.demo("reset", r"^reset: the figures begin anew\n")
        machine.skip("linux")
        machine.send("linux", "reboot -f\n")
        machine.expect("linux", PROMPT, PATIENCE)
        latency = machine.next_latency()
    longest = read_measurement(output).vmm_windows.longest[0]
    dispatch = -(-latency.maximum >> SHIFT)
    print(f"masked {longest.instructions:,}, dispatch {dispatch:,}")
    assert longest.instructions <= MASKED_LIMIT
    assert dispatch <= DISPATCH_LIMIT
    assert latency.missed == 0
