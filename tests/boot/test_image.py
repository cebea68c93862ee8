# SPDX-License-Identifier: Apache-2.0
"""The ISO image that `gandalf image` makes boots through GRUB, in QEMU and in Bochs."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.build.build import build
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

from .systems import DEMO, FEW_INSTRUCTIONS, PATIENCE, PROMPT, describe, linux
from .terminal import press, type_in, wait_for

# Keys of GRUB's menu on a serial line: Ctrl-N, as in an editor, and the carriage return.
DOWN, ENTER = b"\x0e", b"\r"
# With 4 ns for an instruction, 2 to the power of this, GRUB's waits cost the host a quarter.
QUICK_WAITS = 2


def make_image(description: Path) -> Path:
    """Run the command as a user would; returns the image that it names."""
    done = subprocess.run(
        [sys.executable, "-m", "gandalf.cli", "image", str(description)],
        cwd=ROOT, text=True, capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(r"\S+\.iso", done.stdout + done.stderr)
    assert found, done.stdout
    return ROOT / found[0]


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_an_image_boots_to_a_shell_beside_the_rtos(emulator: str) -> None:
    description = describe("image", linux(command_line="console=ttyS0 quiet"), DEMO)
    image = make_image(description)
    built = build(description, lambda _: None)
    options = options_for(built, emulator == "qemu", None, (), image, FEW_INSTRUCTIONS)
    options = replace(options, shift=QUICK_WAITS)
    with Machine.attach(built, emulators.start(emulator, options)) as machine:
        machine.expect("vmm", "executed automatically", PATIENCE)
        machine.send_raw(ENTER)
        machine.expect("linux", PROMPT, PATIENCE)
        machine.send("linux", "echo $((6 * 7))\n")
        machine.expect("linux", r"^42\n", PATIENCE)
        machine.expect("rtos", r"^activations=\d+ .* missed=0\n", PATIENCE)
        machine.send("linux", "poweroff\n")
        machine.expect("vmm", r"^guest linux is off\n", PATIENCE)


def test_the_menu_has_a_self_test_and_the_memory_map() -> None:
    """It is on the serial line as well, and takes the keys of a terminal there.

    Screen and keyboard are those of the system, as the menu has left them.
    """
    description = describe("menu", "[console]\nscreen = true\n", DEMO, memory="64M")
    image = make_image(description)
    options = options_for(build(description, lambda _: None), True, None, (), image)
    options = replace(options, shift=QUICK_WAITS)
    # The consoles will be those of the self-test.
    with Machine.on(["selftest", VMM_CONSOLE], emulators.start("qemu", options)) as machine:
        machine.expect("vmm", "executed automatically in 5s", PATIENCE)
        machine.send_raw(2 * DOWN + ENTER)
        machine.expect("vmm", "available RAM", PATIENCE)
        machine.expect("vmm", "Any key goes back", PATIENCE)
        machine.send_raw(ENTER)
        # Nothing is counted down any more: the menu has been used.
        machine.expect("vmm", "Self-test of this PC", PATIENCE)
        machine.skip("vmm")
        machine.send_raw(DOWN + ENTER)
        machine.expect("vmm", "available RAM", PATIENCE)
        machine.expect("selftest", r"^self-test: polled_ms=100 stolen=0 ", PATIENCE)
        press(machine, "ctrl-a", "n")
        type_in(machine, "status\n")
        machine.expect("vmm", r"^selftest: running, ", PATIENCE)
        wait_for(machine, "selftest: running, ")


def test_an_image_for_a_pc_needs_no_cable() -> None:
    """The system that `make image` makes one of, with a kernel that boots sooner: GRUB's menu,
    Linux and the consoles' keys are on screen and keyboard alone.
    """
    text = (ROOT / "systems" / "pc.toml").read_text(encoding="utf-8")
    assert text.count("screen = true") == text.count("/complete/vmlinux") == 1
    text = text.replace("/complete/", "/patched/").replace("initramfs.cpio", "small.cpio")
    description = describe("image-pc")
    description.write_text(text)
    options = options_for(
        build(description, lambda _: None), True, None, (), make_image(description)
    )
    options = replace(options, shift=QUICK_WAITS)
    with Machine.on(["linux", "rtos", VMM_CONSOLE], emulators.start("qemu", options)) as machine:
        wait_for(machine, "executed automatically")
        press(machine, "ret")
        wait_for(machine, "gandalf:~#")
        # Time flies while nothing happens, and the screen is small.
        press(machine, "ctrl-a", "m")
        type_in(machine, "clear; echo x$((6 * 7))y\n")
        shown = wait_for(machine, "x42y")
        assert not any("activations=" in line for line in shown.lines)
        press(machine, "ctrl-a", "n")
        wait_for(machine, "activations=")


def test_make_image_is_of_the_system_with_a_screen() -> None:
    """A word on the command line, or in the environment, is another one."""

    def command(*words: str, **more: str) -> str:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name != "SYSTEM" and not name.startswith(("MAKE", "MFLAGS"))
        }
        done = subprocess.run(["make", "--dry-run", "--no-print-directory", "image", *words],
                              cwd=ROOT, text=True, capture_output=True, check=True,
                              env=environment | more)  # fmt: skip
        return done.stdout.splitlines()[-1]

    assert command().endswith(" image systems/pc.toml")
    assert command("SYSTEM=systems/web.toml").endswith(" image systems/web.toml")
    assert command(SYSTEM="systems/web.toml").endswith(" image systems/web.toml")
