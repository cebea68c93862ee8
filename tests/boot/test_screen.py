# SPDX-License-Identifier: Apache-2.0
"""A machine without a UART: what is said is on the screen, and nobody waits for it to be drawn."""

import re
import time
from dataclasses import replace

from gandalf.build.build import build
from gandalf.masked.watch import Watch
from gandalf.run import emulator as emulators
from gandalf.run.machine import Patience

from .systems import PATIENCE, Boot, describe, linux, rtos_guest

COLUMNS, LINES = 80, 25
SCREEN = 0xB8000
NO_UART = '[console]\nuart = "none"\n'


def screen(machine: Boot) -> list[str]:
    """Return the lines of the VGA's text screen."""
    cells = machine.memory(SCREEN, 2 * COLUMNS * LINES)[::2].decode("cp437")
    return [cells[i : i + COLUMNS].rstrip() for i in range(0, len(cells), COLUMNS)]


def wait_for(machine: Boot, text: str) -> list[str]:
    """Wait until a line of the screen has a text; return the screen."""
    patience = Patience(machine.emulator, PATIENCE)
    while not patience.is_over():
        lines = screen(machine)
        if any(text in line for line in lines):
            return lines
        time.sleep(0.05)
    raise AssertionError("\n".join(screen(machine)))


def test_linux_and_an_rtos_write_to_the_screen() -> None:
    """The screen scrolls in steps: no stretch with interrupts masked is over its bound."""
    guests = (linux(), rtos_guest("heartbeat", priority=20))
    # The emulator has a UART, which this VMM is not told of.
    module = build(describe("screen-none", NO_UART, *guests), lambda _: None, True).module
    with Watch(describe("screen", *guests)) as watch:
        options = replace(watch.options, module=module)
        with Boot.attach(watch.built, emulators.start("qemu", options)) as machine:
            # Behind all that Linux says, which scrolls, there is its prompt.
            wait_for(machine, "gandalf:~#")
            lines = wait_for(machine, "[heartbeat] beats=")
            assert machine.stream == b""
        assert watch.wrong() == []
    # The last line may be half written.
    beats = [line for line in lines[:-1] if line.startswith("[heartbeat] beats=")]
    assert all(re.fullmatch(r"\[heartbeat\] beats=\d+ missed=0", line) for line in beats[:-1])


def test_the_machine_goes_off_without_a_uart() -> None:
    """What is left to say of the last guest is drawn before, though nothing interrupts for it."""
    guest = rtos_guest("bad-divide")
    module = build(describe("screen-off", NO_UART, guest), lambda _: None, True).module
    with Watch(describe("screen-on", guest)) as watch:
        options = replace(watch.options, module=module)
        with Boot.attach(watch.built, emulators.start("qemu", options)) as machine:
            assert machine.wait_off(PATIENCE).clean
            assert machine.stream == b""
