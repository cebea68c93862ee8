# SPDX-License-Identifier: Apache-2.0
"""A machine in which kernels attack that do not live on, as often as the tests want.

guest/tests/pc/attack.c is started again whatever it has been stopped for, reads its next attack
from its console, and says first whether its machine works. A machine that an attack has harmed is
thrown away.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.boot.systems import FEW_INSTRUCTIONS, Boot, describe, linux, rtos_guest

from .outside import PAGE, Vmm, vmm_image

# Seconds, for hangs only.
PATIENCE = 60
# What the kernel is stopped for when its attack has come to nothing.
DIED = "triple fault: its IDT has no gate for breakpoint (#BP)"
_MEGABYTES = 64
_RESTARTS = 'on_fault = "restart"\nrestart_limit = 1000'
_ATTACKER = "build/tests/pc-attack.elf"


def describe_attacker(name: str, mode: str, *beside: str) -> Path:
    """Return the description of a system with the kernel. beside: other guests' parts."""
    kernel = linux(mode, kernel=_ATTACKER, command_line="", memory="16M", more=_RESTARTS)
    kernel = "\n".join(line for line in kernel.splitlines() if not line.startswith("initrd"))
    return describe(f"{name}-{mode}", kernel, *beside, memory=f"{_MEGABYTES}M")


def _description(mode: str) -> Path:
    """Return the description of the system; on a shared CPU an RTOS is beside the kernel."""
    beside = [] if mode == "dedicated" else [rtos_guest("heartbeat", priority=20)]
    return describe_attacker("attack", mode, *beside)


@dataclass(frozen=True)
class Outcome:
    """What came of an attack. reason: of the kernel's stop; output: what it had to say itself."""

    reason: str
    output: str


class Arena:
    """The attacking kernel on a dedicated or a shared CPU. mode: as in descriptions.

    vmm: the image of a VMM that is wrong on purpose.
    """

    def __init__(self, mode: str, emulator: str = "qemu", vmm: Path | None = None) -> None:
        self.mode, self.emulator, self._image = mode, emulator, vmm
        self._machine: Boot | None = None
        self._vmm: Vmm | None = None

    @property
    def machine(self) -> Boot:
        assert self._machine is not None
        return self._machine

    @property
    def vmm(self) -> Vmm:
        """The VMM, from outside."""
        assert self._vmm is not None
        return self._vmm

    def target(self) -> int:
        """Return where the kernel's payload writes: the VMM's first code, which never runs again.

        In QEMU it then ends the machine, too.
        """
        self.start()
        return self.vmm.image.symbols["boot_high"]

    def start(self) -> None:
        """Start the machine if there is none."""
        if self._machine is None:
            self._machine = Boot.start(
                _description(self.mode), vmm=self._image, emulator=self.emulator,
                ips=FEW_INSTRUCTIONS,
            )  # fmt: skip
            self._machine.__enter__()
            self.machine.expect("linux", r"^ready$", PATIENCE)
            image = vmm_image(self.machine.built.vmm)
            self._vmm = Vmm(self.machine.emulator, _MEGABYTES, image)

    def attack(self, name: str, *arguments: int) -> Outcome:
        """Have the kernel attack.

        Afterwards it must be ready again, the VMM's code be what it was, and the RTOS have missed
        nothing.
        """
        self.start()
        start = len(self.machine.text("linux"))
        line = " ".join([name, *(f"{argument:x}" for argument in arguments)]) + "\n"
        try:
            if self.mode == "dedicated":
                self.machine.send_raw(line.encode())
            else:
                self.machine.send("linux", line)
            reason = self.machine.stop_report("linux", PATIENCE)
            self.machine.expect("linux", r"^ready$", PATIENCE)
            self._vmm_is_whole()
            if self.mode == "shared":
                self._rtos_misses_nothing()
        except BaseException:
            self.stop()
            raise
        return Outcome(reason, self.machine.text("linux")[start:])

    def _vmm_is_whole(self) -> None:
        address, text = self.vmm.image.text
        at = 0
        while at < len(text):
            size = min(len(text) - at, PAGE - (address + at) % PAGE)
            assert self.vmm.memory.read(address + at, size) == text[at : at + size], hex(at)
            at += size

    def _rtos_misses_nothing(self) -> None:
        self.machine.skip("heartbeat")
        self.machine.expect("heartbeat", r"^beats=\d+ missed=0$", PATIENCE)
        assert not re.search(r"missed=[1-9]", self.machine.text("heartbeat"))

    def stop(self) -> None:
        """End the machine; the next attack is made in a new one."""
        if self._machine is not None:
            self._machine.stop()
        self._machine = self._vmm = None
