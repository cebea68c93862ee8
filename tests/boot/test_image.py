# SPDX-License-Identifier: Apache-2.0
"""The ISO image that `gandalf image` makes boots through GRUB, in QEMU and in Bochs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.build.build import build
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

from .systems import DEMO, FEW_INSTRUCTIONS, PATIENCE, PROMPT, describe, linux


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
    with Machine.attach(built, emulators.start(emulator, options)) as machine:
        machine.expect("linux", PROMPT, PATIENCE)
        machine.send("linux", "echo $((6 * 7))\n")
        machine.expect("linux", r"^42\n", PATIENCE)
        machine.expect("rtos", r"^activations=\d+ .* missed=0\n", PATIENCE)
        machine.send("linux", "poweroff\n")
        machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
