# SPDX-License-Identifier: Apache-2.0
"""What the boot tests share: a machine that knows the shell, the demo and the VMM's console.

Everything runs in QEMU's virtual time with its deterministic options. But the moment at which
something that is typed arrives, or at which the machine stands still behind what a test waited
for, is the host's: on a busy one seconds of virtual time go by meanwhile. So what must lie close
together is one line of Linux's shell, and what is counted is counted in it. GANDALF_BUSY_HOST=1
in the environment (tools/gandalf/run/busy.py) makes any test show whether it depends on that.
Timeouts are there for hangs only.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Self

from gandalf.base.paths import BUILD, ROOT
from gandalf.build.build import Built, build
from gandalf.build.symbols import variable_address
from gandalf.console.console import CTRL_A
from gandalf.description.description import RtosGuest
from gandalf.measure.measure import SHELL_PROMPT
from gandalf.run import emulator as emulators
from gandalf.run.bochs import PENTIUM_III
from gandalf.run.machine import Machine, MachineError
from gandalf.run.options import options_for

PROMPT = SHELL_PROMPT
# Instructions in a second of Bochs' clock, where one need not be a nanosecond. Until a loader has
# the machine, its firmware waits for a second of that clock, which at the usual rate costs ten of
# the host's.
FEW_INSTRUCTIONS = 100_000_000
# For a whole boot or a heavy workload while the other CPU compiles something.
PATIENCE = 200
# How often a command may find the VMM at work for its guest.
_REFUSALS = 50
# A root file system without stress-ng loads faster than the whole one.
SMALL, WHOLE = "build/rootfs/small.cpio", "build/rootfs/initramfs.cpio"
HACKBENCH = "hackbench -g 2 -l 5"
DEFAULT = ROOT / "systems" / "default.toml"
FOUR, TWO_LEVEL = "four", "two-level"


class World:
    """What keeps kernels from processes in the systems that are described here (--rings)."""

    rings = FOUR


DEMO = """\
[[guest]]
name = "rtos"
kind = "rtos"
image = "build/freertos/demo.elf"
memory = "1M"
priority = 10
"""


# Where something is typed the demo clears that line first, and shows it again behind this one.
_LINE = re.compile(
    r"(?:^|\x1b\[K)"
    + " ".join(
        rf"{re.escape(name)}=(\d+)"
        for name in ("activations", "minimum", "mean", "p99.9", "maximum", "missed")
    )
    + "\n",
    re.M,
)
# Offsets in struct gandalf_shared.
_TSC_KHZ, _TIMER_EXPIRY = 20, 24


def linux(
    mode: str = "shared",
    kernel: str = "build/linux/patched/vmlinux",
    initrd: str = SMALL,
    command_line: str = "console=ttyS0",
    memory: str = "192M",
    more: str = "",
) -> str:
    """Return a Linux guest's part of a description. more: further lines."""
    return f"""\
[[guest]]
name = "linux"
kind = "linux"
mode = "{mode}"
kernel = "{kernel}"
initrd = "{initrd}"
command_line = "{command_line}"
memory = "{memory}"
{more}
"""


def rtos_guest(image: str, name: str | None = None, priority: int = 10, more: str = "") -> str:
    """Return the part of a description for an RTOS guest of guest/tests."""
    return f"""\
[[guest]]
name = "{name or image[:15]}"
kind = "rtos"
image = "build/tests/{image}.elf"
memory = "256K"
priority = {priority}
{more}
"""


def describe(name: str, *guests: str, memory: str = "256M", rings: str | None = None) -> Path:
    """Write a description under build/ and return its path.

    rings: as descriptions have it; without it, what the option --rings says.
    """
    rings = rings or World.rings
    folder = "boot" if rings == FOUR else f"boot-{rings}"
    path = BUILD / folder / f"boot-{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = f'[machine]\nmemory = "{memory}"\nrings = "{rings}"\n'
    path.write_text("\n".join([machine, *guests]))
    return path


@dataclass(frozen=True)
class Latency:
    """A line of the demo: from the timer's expiry to the task's first instruction, in cycles."""

    activations: int
    minimum: int
    mean: int
    most: int
    maximum: int
    missed: int


@dataclass(frozen=True)
class Clock:
    """A FreeRTOS guest's tick count, and the expiry (time stamp) of its last timer interrupt."""

    ticks: int
    expiry: int
    tsc_khz: int


class Boot(Machine):
    """A machine whose Linux has a BusyBox shell and whose RTOS is the FreeRTOS demo."""

    built: Built

    @classmethod
    def start(
        cls,
        description: Path,
        arguments: tuple[str, ...] = (),
        module: Path | None = None,
        emulator: str = "qemu",
        vmm: Path | None = None,
        ips: int = 1_000_000_000,
        cpu: str = PENTIUM_III,
    ) -> Self:
        """Build and start a system.

        module, vmm: instead of the one that was built. ips: Bochs'. cpu: as the emulator names it.
        """
        built = build(description, lambda _: None, deterministic=True)
        built = Built(built.checked, vmm or built.vmm, module or built.module)
        options = replace(options_for(built, True, None, arguments, None, ips), cpu=cpu)
        machine = cls.attach(built, emulators.start(emulator, options))
        machine.built = built
        return machine

    # --- Linux ---

    def wait_for_shell(self) -> None:
        """Wait for Linux's prompt; no line is to be broken, nor the kernel to talk in between."""
        self.wait_for_prompt("linux")
        self.shell("stty columns 500; dmesg -n 1")

    def wait_for_next_shell(self) -> None:
        """Wait until Linux, which restarts, has a shell again.

        A prompt of the shell before it may be there that no test has waited for: what is typed then
        is lost while the new one starts.
        """
        self.expect("linux", r"Linux version 6\.1", PATIENCE)
        self.wait_for_shell()

    def wait_for_prompt(self, console: str) -> None:
        """Wait for the prompt of a Linux's shell, on any console.

        A prompt ends no line, and only the console with the keyboard shows what is no line yet.
        """
        self.select(console)
        self.expect(console, PROMPT, PATIENCE)

    def shell(self, line: str, status: int = 0, timeout: float = PATIENCE) -> str:
        """Run a command in Linux, check its exit status, and return its output."""
        start = len(self.text("linux"))
        self.skip("linux")
        self.send("linux", f'{line}; echo "status:$?"\n')
        match = self.expect("linux", rf"status:(\d+)\n(?:[^\n]*\n)*?[^\n]*?{PROMPT}", timeout)
        echo, _, output = self.text("linux")[start : match.start()].partition("\n")
        assert int(match[1]) == status, f"{line}: status {match[1]}\n{echo}\n{output}"
        return output

    def pause_linux(self) -> None:
        """Pause Linux from the VMM's console, which refuses that while the VMM works for it."""
        for _ in range(20):
            self.vmm("pause linux", r"pause linux\n")
            if self.vmm("status", r"^linux: (\w+), ")[1] == "paused":
                break
        self.vmm("status", r"^linux: paused, ")

    def hackbench(self) -> None:
        """Run hackbench; it counts when it has said how long all its messages took."""
        assert re.search(r"^Time: \d+\.\d+$", self.shell(HACKBENCH), re.M)

    def kernel_is_sane(self) -> None:
        """Check that Linux's log tells of no crash. That memory runs out is none."""
        found = self.shell("dmesg | sed -nE '/Oops|BUG:|WARNING:|INFO: |general protection/p'")
        assert not found.strip(), found

    # --- The demo ---

    def latencies(self, name: str = "rtos") -> list[Latency]:
        """Return the demo's lines so far."""
        return [Latency(*map(int, line)) for line in _LINE.findall(self.text(name))]

    def next_latency(self, name: str = "rtos") -> Latency:
        """Wait for the demo's next line."""
        before = len(self.latencies(name))
        self.skip(name)
        self.expect(name, _LINE.pattern, PATIENCE)
        return self.latencies(name)[before]

    def demo(self, line: str, answer: str, timeout: float = PATIENCE) -> re.Match[str]:
        """Type a command of the demo and wait for what it prints."""
        self.skip("rtos")
        self.send("rtos", line + "\n")
        return self.expect("rtos", answer, timeout)

    def clock(self, name: str = "rtos") -> Clock:
        """Look from outside at the time that a FreeRTOS guest has."""
        index = self.built.names.index(name)
        region = self.built.checked.layout.guests[index]
        system = self.built.checked.system
        _, guest = system.guests[index]
        assert isinstance(guest, RtosGuest)
        tick = variable_address(system.resolve(guest.image), "xTickCount")
        self.pause()
        ticks = self._words(region.start + tick, 1)[0]
        tsc_khz, low, high = self._words(region.end - 0x1000 + _TSC_KHZ, 3)
        return Clock(ticks, low | high << 32, tsc_khz)

    def _words(self, address: int, count: int) -> list[int]:
        data = self.memory(address, 4 * count)
        return [int.from_bytes(data[i : i + 4], "little") for i in range(0, 4 * count, 4)]

    @contextmanager
    def rtos_undisturbed(self, name: str = "rtos") -> Iterator[None]:
        """Check that the demo misses no activation, and that its clock loses nothing.

        Its ticks are compared with the expiries of its timer, whose phase the VMM keeps, and its
        lines, one for each 1000 ticks, must each have 1000 activations more.
        """
        before, first = self.clock(name), len(self.latencies(name))
        yield
        self.next_latency(name)
        self.next_latency(name)
        after, lines = self.clock(name), self.latencies(name)[max(first - 1, 0) :]
        expiries = round((after.expiry - before.expiry) / after.tsc_khz)
        assert abs(after.ticks - before.ticks - expiries) <= 1, (before, after)
        for line, following in pairwise(lines):
            assert following.missed == line.missed, following
            assert following.activations == line.activations + 1000, (line, following)

    # --- The VMM's console ---

    def vmm(
        self, line: str, answer: str, timeout: float = PATIENCE, *, busy: bool = False
    ) -> re.Match[str]:
        """Type a command on the VMM's console and wait for what it prints.

        It is typed again while it is refused because the VMM works for the guest. busy: an RTOS
        never halts, so that the answer comes with the next line.
        """
        refused = r"(?P<refused>^guest \S+ is busy; try again\n)"
        for _ in range(_REFUSALS):
            self.skip("vmm")
            self.send("vmm", line + "\n" * (1 + busy))
            match = self.expect("vmm", rf"(?:{answer})|{refused}", timeout)
            if not match["refused"]:
                return match
        raise MachineError(f"`{line}` was refused {_REFUSALS} times.\n{self.report()}")

    def counters(self, name: str = "linux", *, busy: bool = False) -> Counter[str]:
        """Return the VMM's counters of a guest, by name (abi/control.h); busy: as for vmm()."""
        start = len(self.text("vmm"))
        self.vmm(f"counters {name}", rf"^{name}: end of counters\n", busy=busy)
        found = re.findall(rf"^{name}: (\w+)=(\d+)$", self.text("vmm")[start:], re.M)
        return Counter({what: int(number) for what, number in found})

    def stop_report(self, name: str, timeout: float = PATIENCE) -> str:
        """Wait for a guest's stop; check that the report is complete, and return its reason."""
        lines = (
            rf"^guest {name} stopped: (.+)",
            r"  at cs:eip [0-9a-f]{4}:[0-9a-f]{8}, ss:esp .*, eflags .*",
            r"  (?:instruction: (?:[0-9a-f]{2} )+.*|no instruction can be .*)",
            *(rf"  {register} [0-9a-f]{{4,8}} .*" for register in ("eax", "esi", "ds")),
            r"  its last events:",
            r"(?:  \d+ us, vCPU \d+: \w+ [0-9a-f]+, \w+\n)+",
        )
        return self.expect("vmm", "\\n".join(lines), timeout)[1]

    def start_linux(self) -> None:
        """Start a Linux that is off, and wait for its shell."""
        self.skip("linux")
        self.vmm("start linux", r"start linux\n")
        self.select("linux")  # who lacks the keyboard has only whole lines shown, and no prompt
        self.wait_for_shell()

    # --- All ---

    def next_console(self) -> str:
        """Press Ctrl-A n once; returns who has the keyboard then."""
        notice = b" has the keyboard]\r\n"
        with self._changed:
            before = self.stream.count(notice)
        self.send_raw(CTRL_A + b"n")
        with self._changed:
            changed = lambda: self.stream.count(notice) > before  # noqa: E731
            self._wait("the keyboard's going to the next console", changed, PATIENCE)
        return self.focus
