# SPDX-License-Identifier: Apache-2.0
"""Hostile guests that a test can tell what to try, and what came of it."""

import re
import secrets
from abc import abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from gandalf.base.paths import BUILD
from gandalf.build.build import build, make
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for
from tests.boot.systems import FEW_INSTRUCTIONS, TWO_LEVEL, World

from .outside import Guest, Place, Vmm, vmm_image

HERE = Path(__file__).parent
_SHELL = r"gandalf:[^\n]*# "


@dataclass(frozen=True)
class Result:
    """What an attack gave: "fault", "wrote" or "read", then with a value."""

    outcome: str
    value: int | None = None


FAULT = Result("fault")
WROTE = Result("wrote")


def read_value(value: int) -> Result:
    return Result("read", value)


def _answer(name: str) -> str:
    """Return the pattern of an attacker's answer."""
    return rf"^(?:\d+ )?{name}: (?:(fault|wrote)$|read (0x[0-9a-f]{{8}})$)"


def _result(match: re.Match[str]) -> Result:
    return Result(match[1]) if match[1] else read_value(int(match[2], 16))


def enforcer() -> str:
    """Return the emulator that shows whether a guest can read what it may not.

    With rings segment limits keep it from that, and only Bochs enforces these.
    """
    return "qemu" if World.rings == TWO_LEVEL else "bochs"


def in_this_world(description: str) -> Path:
    """Return a description of this folder as the option --rings wants it."""
    path = HERE / description
    if World.rings == TWO_LEVEL:
        text = path.read_text().replace("[machine]", f'[machine]\nrings = "{World.rings}"')
        path = BUILD / "isolation" / World.rings / description
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path


class Hostile:
    """A system with a guest that attacks on demand, seen from outside as well."""

    def __init__(self, description: str, emulator: str, vmm: Path | None = None) -> None:
        """Start it; vmm: the image of a VMM without one of its checks, QEMU only."""
        self.emulator = emulator
        self.attacker = ""
        built = build(in_this_world(description), lambda _: None, deterministic=True)
        built = replace(built, vmm=vmm or built.vmm)
        options = options_for(built, deterministic=True, ips=FEW_INSTRUCTIONS)
        self.machine = Machine.attach(built, emulators.start(emulator, options))
        self._megabytes = options.memory
        self._image = vmm_image(built.vmm)
        self._vmm: Vmm | None = None

    @property
    def vmm(self) -> Vmm:
        """The VMM from outside; not before a guest runs."""
        if self._vmm is None:
            self._vmm = Vmm(self.machine.emulator, self._megabytes, self._image)
        return self._vmm

    def guest(self, name: str) -> Guest:
        return self.vmm.vm(self.machine.names.index(name))

    @abstractmethod
    def wait(self) -> Self:
        """Wait until the attacker takes commands."""

    @abstractmethod
    def attack(self, line: str) -> Result:
        """Have the attacker try something."""

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
        super().__init__("linux.toml", emulator)

    def wait(self) -> Self:
        self.machine.expect("linux", _SHELL, 240)
        # A stack that may grow little, so that attacks on what lies below it are faults.
        self.shell("ulimit -s 1024")
        return self

    def shell(self, line: str) -> str:
        return self.machine.command("linux", line, _SHELL, 60)

    def attack(self, line: str) -> Result:
        name = line.split()[0]
        device = "/dev/gandalf-attack"
        output = self.shell(f"sh -c 'echo {line} >{device}'; cat {device}")
        match = re.search(_answer(name), output, re.MULTILINE)
        assert match, f"no answer to {line!r}: {output!r}"
        return _result(match)


class HostileSmall(Hostile):
    """A hostile RTOS and a hostile ring-1 kernel (guests/) beside the RTOS that counts."""

    def __init__(self, emulator: str, description: str = "small.toml", vmm: Path | None = None):
        make(HERE / "guests")
        super().__init__(description, emulator, vmm)

    def wait(self) -> Self:
        for name in ("pc", "hostile"):
            self.machine.expect(name, "^ready$", 120)
        return self

    def attack(self, line: str) -> Result:
        self.machine.send(self.attacker, line + "\n")
        name = line.split()[0]
        return _result(self.machine.expect(self.attacker, _answer(name), 60))

    def attack_to_death(self, line: str, reason: str) -> None:
        """Have the attacker try what it is stopped for, and wait for its restart."""
        self.machine.send(self.attacker, line + "\n")
        self.machine.expect("vmm", f"guest {self.attacker} stopped: {reason}", 60)
        self.machine.expect(self.attacker, "^ready$", 60)

    def by(self, attacker: str) -> Self:
        """Have this guest attack from now on."""
        self.attacker = attacker
        return self


class HostileDedicated(HostileSmall):
    """The hostile ring-1 kernel alone, with I/O privilege level 1."""

    def __init__(self, emulator: str) -> None:
        super().__init__(emulator, "dedicated.toml")

    def wait(self) -> Self:
        self.machine.expect("pc", "^ready$", 120)
        return self.by("pc")

    def attack(self, line: str) -> Result:
        # The serial port is its own: no other console is on it.
        self.machine.send_raw(f"{line}\n".encode())
        return _result(self.machine.expect("pc", _answer(line.split()[0]), 60))

    def pool(self) -> Place:
        """The unused end of the page that holds its own real descriptor tables."""
        return self.vmm.place("pool", (self.guest("pc").tables | 0xFFF) - 7)
