# SPDX-License-Identifier: Apache-2.0
"""What the plug-in counts of a system is what the VMM has counted itself."""

import re
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD
from gandalf.build.build import build
from gandalf.build.symbols import Symbols
from gandalf.measure.measure import SHELL_PROMPT, Control, build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run import emulator
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

PATIENCE = 300.0
DESCRIPTION = """\
[machine]
memory = "256M"

[[guest]]
name = "linux"
kind = "linux"
mode = "shared"
kernel = "build/linux/patched/vmlinux"
initrd = "build/rootfs/initramfs.cpio"
command_line = "console=ttyS0"
memory = "192M"
control = true
"""
STATS = "gandalfctl stats linux"
FORKS = "i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i+1)); done"
# The VMM is asked before and behind what the plug-in counts, which begins with umask() and ends
# with times(). Nothing is printed between, and all is one line of the shell's, since the host
# decides when another is typed. What is in between is gandalfctl's; so much of what the forks take
# it is at most.
SHARE = 0.005
HYPERCALL, PAGE_FAULT = 0x1E, 0x0E


def counters(text: str) -> Counter[str]:
    """Return what gandalfctl shows."""
    found = re.findall(r"^(\w+) +(\d+) ", text, re.M)
    return Counter({name: int(number) for name, number in found})


def quiet(_: str) -> None:
    """Swallow what the build has to say."""


class Both:
    """The same stretch as the VMM and as the plug-in counted it."""

    def __init__(self, folder: Path) -> None:
        path = BUILD / "bench" / "counters.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DESCRIPTION)
        built = build(path, quiet, deterministic=True)
        build_plugin()
        self.symbols = Symbols(built)
        words = plugin_arguments(
            out=str(folder / "out"),
            control=str(folder / "control"),
            begin=self.symbols.address("linux:__ia32_sys_umask"),
            end=self.symbols.address("linux:__ia32_sys_times"),
        )
        options = options_for(built, True, None, words)
        with Machine.attach(built, emulator.start("qemu", options)) as machine:
            machine.expect("linux", SHELL_PROMPT, PATIENCE)
            self.counted = self._count(machine, folder)
        self.seen: Measurement = read_measurement(folder / "out")

    def _count(self, machine: Machine, folder: Path) -> Counter[str]:
        line = (
            f"{STATS} > /tmp/1; umask 22; {FORKS}; times > /dev/null; {STATS} > /tmp/2; "
            "cat /tmp/1; echo between; cat /tmp/2"
        )
        machine.command("linux", "stty columns 500", SHELL_PROMPT, PATIENCE)
        machine.pause()
        with closing(Control(folder / "control")) as control:
            control.command("begin")
            before, _, after = machine.command("linux", line, SHELL_PROMPT, PATIENCE).partition(
                "\nbetween\n"
            )
            control.command("end")
        return counters(after) - counters(before)

    def entered(self, vector: int) -> int:
        """Return how often ring 0 was entered by a vector."""
        return sum(
            sum(handler.from_rings[1:])
            for handler in self.seen.handlers
            if self.symbols.entries.vector(handler.linear) == vector
        )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("counters"))


def test_entries_are_those_of_the_vmm(both: Both) -> None:
    assert both.counted["entries"] > 4000
    print(both.seen.entries, both.counted)
    assert both.seen.entries == pytest.approx(both.counted["entries"], rel=SHARE)


@pytest.mark.parametrize(
    ("name", "vector"), [("hypercalls", HYPERCALL), ("page_faults", PAGE_FAULT)]
)
def test_causes_are_those_of_the_vmm(both: Both, name: str, vector: int) -> None:
    assert both.counted[name] > 400
    assert both.entered(vector) == pytest.approx(both.counted[name], rel=SHARE)
