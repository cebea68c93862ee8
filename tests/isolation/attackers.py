# SPDX-License-Identifier: Apache-2.0
"""Hostile guests that a test can tell what to try, and what came of it."""

import re
import secrets
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gandalf.machine import Machine

from .outside import Guest, Place, Vmm, VmmImage

HERE = Path(__file__).parent
_MEGABYTES = 128
_SHELL = r"gandalf:[^\n]*# "
# Bochs spends one nanosecond of the guests' time on an instruction, or ten.
_BOCHS_SPEED = 1_000_000_000


@dataclass(frozen=True)
class Result:
    """What an attack gave: "fault", "wrote" or "read", then with a value."""

    outcome: str
    value: int | None = None


FAULT = Result("fault")
WROTE = Result("wrote")


def read_value(value: int) -> Result:
    return Result("read", value)


class Hostile:
    """A system with a guest that attacks on demand, seen from outside as well."""

    def __init__(self, description: str, emulator: str, attacker: str) -> None:
        self.emulator = emulator
        self.machine = Machine(HERE / description, emulator, ips=_BOCHS_SPEED)
        self.attacker = attacker
        self._vmm: Vmm | None = None

    @property
    def vmm(self) -> Vmm:
        """The VMM from outside; not before a guest runs."""
        if self._vmm is None:
            self._vmm = Vmm(self.machine.emulator, _MEGABYTES, VmmImage())
        return self._vmm

    def guest(self, name: str) -> Guest:
        return self.vmm.vm(self.machine.names.index(name))

    def wait(self) -> Self:
        """Wait until the attacker takes commands."""
        raise NotImplementedError

    def attack(self, line: str) -> Result:
        """Have the attacker try something."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.machine.__enter__()
        try:
            return self.wait()
        except BaseException:
            self.machine.stop()
            raise

    def __exit__(self, *error: object) -> None:
        self.machine.stop()

    # What attacks aim at.

    def vmm_image(self) -> Place:
        """Code of the VMM that has run and never will again."""
        return self.vmm.place("VMM image", self.vmm.image.symbols["boot_high"])

    def pool(self) -> Place:
        """The unused end of a page that holds descriptor tables."""
        return self.vmm.place("pool", (self.guest("rtos").tables | 0xFFF) - 7)

    def rtos(self) -> Place:
        """The RTOS's first page, which its image leaves empty."""
        return self.vmm.place("RTOS", self.guest("rtos").linear + 0x20)

    # Attacks that come in pairs: with a protection and without it.

    def try_read(self, line: str, place: Place, without: AbstractContextManager[None]) -> None:
        """A read must fault, and must give what is there once the protection is gone."""
        secret = secrets.randbits(32)
        with self.vmm.changed(place.physical, secret):
            assert self.attack(line) == FAULT, f"{line} must not read {place.name}"
            with without:
                assert self.attack(line) == read_value(secret), f"{line} must show the gap"
            assert self.attack(line) == FAULT

    def try_write(self, line: str, place: Place, without: AbstractContextManager[None]) -> None:
        """A write ("write ds ADDRESS", less the value) must fault and change nothing, and must
        arrive once the protection is gone."""
        kept, value = secrets.randbits(32), secrets.randbits(32)
        line = f"{line} {value:#x}"
        with self.vmm.changed(place.physical, kept):
            assert self.attack(line) == FAULT, f"{line} must not write {place.name}"
            assert self.vmm.memory.word(place.physical) == kept
            with without:
                assert self.attack(line) == WROTE, f"{line} must show the gap"
            assert self.vmm.memory.word(place.physical) == value
            self.vmm.memory.set_word(place.physical, kept)
            assert self.attack(line) == FAULT
            assert self.vmm.memory.word(place.physical) == kept

    def must_fail(self, line: str) -> None:
        assert self.attack(line) == FAULT, line

    def beats(self) -> tuple[int, int]:
        """Wait for the next line of the RTOS; returns its beats and how many it missed."""
        match = self.machine.expect("rtos", r"beats=(\d+) missed=(\d+)", 120)
        return int(match[1]), int(match[2])


class HostileLinux(Hostile):
    """Linux with the driver guest/linux/driver/gandalf_attack.c."""

    def __init__(self, emulator: str) -> None:
        super().__init__("linux.toml", emulator, "linux")

    def wait(self) -> Self:
        self.machine.expect("linux", _SHELL, 240)
        return self

    def shell(self, line: str) -> str:
        return self.machine.command("linux", line, _SHELL, 120)

    def attack(self, line: str) -> Result:
        name = line.split()[0]
        device = "/dev/gandalf-attack"
        output = self.shell(f"sh -c 'echo {line} >{device}'; cat {device}")
        match = re.search(rf"^{name}: (fault|wrote|read) ?(0x[0-9a-f]+)?$", output, re.MULTILINE)
        assert match, f"no answer to {line!r}: {output!r}"
        return Result(match[1], int(match[2], 16) if match[2] else None)


nothing_removed = nullcontext()
