# SPDX-License-Identifier: Apache-2.0
"""The consoles on a PC's screen and keyboard: beside the UART, or where there is none."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from gandalf.build.build import build
from gandalf.build.profile import find_profile
from gandalf.masked.watch import Watch
from gandalf.run import emulator as emulators

from .systems import (
    FOUR,
    PATIENCE,
    PROMPT,
    TWO_LEVEL,
    Boot,
    World,
    describe,
    linux,
    rtos_guest,
)
from .terminal import LINES, pictures, press, type_in, wait_for, wait_for_cursor

# Of a German keyboard, what the tests press.
KEYS = '[console.keys]\ny = "zZ"\nz = "yY"\n"[" = "üÜ"\nq = "qQ@"\n'
BOTH = f"[console]\nscreen = true\n{KEYS}"


@pytest.fixture(scope="module")
def desk() -> Iterator[Boot]:
    """A Linux and an RTOS, at whose screen somebody sits. No masked section is over its bound.

    The RTOS is paused, since time flies while nothing happens, and the screen is small.
    """
    guests = (linux(), rtos_guest("heartbeat", priority=20))
    with Watch(describe("screen-both", BOTH, *guests)) as watch:
        with Boot.attach(watch.built, emulators.start("qemu", watch.options)) as machine:
            machine.wait_for_shell()
            machine.shell("stty rows 25 columns 80")
            wait_for(machine, "[heartbeat] beats=")
            machine.vmm("pause heartbeat", r"pause heartbeat\n")
            machine.select("linux")
            yield machine
        assert watch.wrong() == []


def test_the_screen_shows_what_the_serial_line_does(desk: Boot) -> None:
    desk.shell("seq 1000 1100; printf 'a\\tb\\033[31mred\\033[m \\303\\244\\n'")
    shown = wait_for(desk, "bred", above="1100")
    line, _ = shown.place("red")
    assert shown.lines[line] == "a       bred ä"
    assert shown.lines[line - 1] == "1100"
    assert shown.colours_of("red") == {0x04}
    assert shown.colours_of("1100") == {0x07}


def test_the_keyboard_types_by_its_layout(desk: Boot) -> None:
    desk.select("linux")
    desk.skip("linux")
    type_in(desk, "echo YZ$((6*7)) ")
    press(desk, "bracket_left", "alt_r-q")
    type_in(desk, "1")
    press(desk, "backspace", "ret")
    desk.expect("linux", r"^ZY42 ü@\n", PATIENCE)
    wait_for(desk, "ZY42 ü@")
    # What has been typed before comes back, and the cursor goes into it.
    desk.skip("linux")
    press(desk, "up", "left", "left", "left", "home")
    type_in(desk, "#")
    press(desk, "ret")
    desk.expect("linux", r"#echo ZY\$", PATIENCE)
    desk.expect("linux", PROMPT, PATIENCE)


def test_ctrl_a_is_that_of_the_serial_line(desk: Boot) -> None:
    desk.select("linux")
    press(desk, "ctrl-a", "n")
    wait_for(desk, "[console vmm has the keyboard]")
    desk.skip("vmm")
    type_in(desk, "statusx")
    press(desk, "backspace", "ret")
    desk.expect("vmm", r"^heartbeat: paused, ", PATIENCE)
    assert desk.focus == "vmm"
    wait_for(desk, "heartbeat: paused, ")
    press(desk, "ctrl-a", "h")
    wait_for(desk, "[Ctrl-A m: mute the others]")


def test_a_photograph_has_the_characters(desk: Boot) -> None:
    """Each character looks the same wherever it stands, and different from all others."""
    desk.shell("echo The quick brown fox jumps over 1234567890 lazy dogs.")
    wait_for(desk, "lazy dogs.")
    found = pictures(desk)
    assert len(found) > 40
    assert all(len(looks) == 1 for looks in found.values()), found
    assert len({look for (look,) in found.values()}) == len(found)
    (blank,) = found[" "]
    assert not any(blank)


def beats(machine: Boot) -> list[int]:
    """Return the numbers that the RTOS has printed so far."""
    return [int(number) for number in re.findall(r"^beats=(\d+) ", machine.text("heartbeat"), re.M)]


def test_an_editor_has_the_screen_while_others_are_muted(desk: Boot) -> None:
    """What they print meanwhile comes afterwards, from the first line on."""
    desk.shell("seq 10 69 > text")
    desk.vmm("resume heartbeat", r"resume heartbeat\n")
    desk.select("linux")
    press(desk, "ctrl-a", "m")
    type_in(desk, "vi text\n")
    shown = wait_for(desk, "- text 1/60 1%")
    assert shown.lines[: LINES - 1] == [f"{number}" for number in range(10, 9 + LINES)]
    muted = beats(desk)
    press(desk, "down", "down", "right")
    wait_for_cursor(desk, 2, 1)
    type_in(desk, "ddGo")
    wait_for(desk, "I text [Modified] 60/60 100%")
    type_in(desk, "end")
    press(desk, "esc")
    wait_for(desk, "- text [Modified] 60/60 100%")
    type_in(desk, ":wq\n")
    wait_for(desk, "gandalf:~#")
    assert beats(desk) == muted
    press(desk, "ctrl-a", "m")
    wait_for(desk, "[heartbeat] beats=")
    desk.vmm("pause heartbeat", r"pause heartbeat\n")
    # It prints one for each 1,000, some of which it missed while it was paused.
    assert beats(desk)[len(muted)] - muted[-1] <= 1000
    desk.select("linux")
    assert desk.shell("sed -n '3p;$p' text").split() == ["13", "end"]


@contextmanager
def silent(
    name: str, console: str, *guests: str, arguments: tuple[str, ...] = ()
) -> Iterator[Boot]:
    """Run a system without a UART, though the emulator has one.

    No masked section is over its bound, and nothing comes to the serial line.
    """
    none = describe(f"{name}-none", f'[console]\nuart = "none"\n{console}', *guests)
    module = build(none, lambda _: None, deterministic=True).module
    with Watch(describe(name, f"[console]\n{console}", *guests)) as watch:
        options = replace(watch.options, module=module)
        options = replace(options, arguments=(*options.arguments, *arguments))
        with Boot.attach(watch.built, emulators.start("qemu", options)) as machine:
            machine.built = watch.built
            yield machine
            assert machine.stream == b""
        assert watch.wrong() == []


# Without a keyboard, and with one.
IMAGES = {FOUR: ("rtos", "screen"), TWO_LEVEL: ("two-level", "two-level-screen")}
BEATS = [rtos_guest("heartbeat", name, priority=20) for name in ("one", "two")]


def test_what_is_said_without_a_uart_is_on_the_screen() -> None:
    """An image without a keyboard has a simpler screen, which scrolls in steps."""
    with silent("screen-plain", "", *BEATS) as machine:
        assert machine.built.vmm == find_profile(IMAGES[World.rings][0]).image
        lines = wait_for(machine, "[two] beats=14000 ").lines
    # The screen may be half scrolled, and the last line half written.
    beats = [line for line in lines[:-2] if line.startswith("[two] beats=")]
    assert len(beats) >= LINES // 2 - 2
    assert all(re.fullmatch(r"\[two\] beats=\d+ missed=0", line) for line in beats)


def test_a_machine_without_a_uart_is_used_by_its_keyboard() -> None:
    """Its keys work while an RTOS holds the CPU for ever, too."""
    guests = (rtos_guest("silent", priority=2), rtos_guest("deaf", priority=1))
    with silent("screen-alone", 'focus = "silent"\nscreen = true\n', *guests) as machine:
        assert machine.built.vmm == find_profile(IMAGES[World.rings][1]).image
        wait_for(machine, "[deaf] deaf: halts")
        type_in(machine, "l")
        wait_for(machine, "silent: from now on")
        press(machine, "ctrl-a", "n", "ctrl-a", "n")
        wait_for(machine, "[console vmm has the keyboard]")
        type_in(machine, "status\n\n")
        wait_for(machine, "silent: running, priority 2")
        type_in(machine, "stop silent\n\nstatus\n")
        wait_for(machine, "silent: off, priority 2")


@pytest.mark.parametrize("console", ["", "screen = true\n"])
def test_the_machine_goes_off_without_a_uart(console: str) -> None:
    """What is left to say of the last guest is drawn before, though nothing interrupts for it."""
    with silent(f"screen-off{len(console)}", console, rtos_guest("bad-divide")) as machine:
        assert machine.wait_off(PATIENCE).clean


def test_a_pc_without_a_keyboard_controller_says_so() -> None:
    no_controller = ("-machine", "pc,i8042=off")
    console = "screen = true\n"
    with silent("screen-mute", console, BEATS[0], arguments=no_controller) as machine:
        wait_for(machine, "no keyboard controller")
        wait_for(machine, "beats=1000 ")
