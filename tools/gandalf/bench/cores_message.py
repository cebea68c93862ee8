# SPDX-License-Identifier: Apache-2.0
"""What a message from core to core takes, instruction by instruction.

QEMU runs the CPUs in turn in one thread, where the machine is deterministic, and the plug-in counts
what one of them executes. So the same machine runs once for each side. `bench/rtos/ring.c` rings
and `rung.c` is rung; each gives the other its turn by PAUSE.
"""

import re
import time
from dataclasses import replace

from gandalf.base.paths import UserError
from gandalf.bench.target import PATIENCE, scratch
from gandalf.build.build import Built
from gandalf.build.symbols import Symbols, apic_vector
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Interval, read_measurement
from gandalf.run.emulator import Qemu
from gandalf.run.options import options_for

# The CPU of who sends and of who takes.
SENDS, TAKES = 0, 1
_DONE = re.compile(rb"(message: \w+=\d+ \w+=\d+\r?\n.*){2}", re.S)


def addresses(built: Built) -> dict[int, tuple[int, int]]:
    """Return from where to where is counted on each CPU.

    The sender: from the hypercall to the instruction behind it. The other: from the first
    instruction of the interrupt's entry to the first one of the RTOS's handler.
    """
    sender, taker = Symbols(built, cpu=SENDS), Symbols(built, cpu=TAKES)
    return {
        SENDS: (sender.address("first:ring_begin"), sender.address("first:ring_end")),
        TAKES: (taker.entries.address(apic_vector("DOORBELL")), taker.address("second:rung")),
    }


def count(built: Built, cpu: int) -> Interval:
    """Run the machine, and return what each message has taken on a CPU. Raises UserError."""
    begin, end = addresses(built)[cpu]
    build_plugin()
    with scratch() as folder:
        output = folder / "measurement.json"
        words = plugin_arguments(out=str(output), vcpu=cpu, from_=begin, to=end, samples=1)
        _run(Qemu(replace(options_for(built, True, None, words), in_turn=True)))
        result = read_measurement(output)
    if result.mistaken or not result.intervals[0].count:
        raise UserError(f"The plug-in has seen no message on CPU {cpu}.")
    return result.intervals[0]


def _run(machine: Qemu) -> None:
    text = b""
    try:
        while not _DONE.search(text):
            if machine.cpu_time() > PATIENCE or not machine.alive():
                raise UserError(f"No messages were sent.\n{text.decode(errors='replace')}")
            text += machine.read_soon()
            time.sleep(0.01)
    finally:
        machine.stop()


def instructions(built: Built) -> dict[str, float]:
    """Return what a message takes on each side: the most that any has taken."""
    return {
        "sends_instructions": float(count(built, SENDS).maximum),
        "takes_instructions": float(count(built, TAKES).maximum),
    }
