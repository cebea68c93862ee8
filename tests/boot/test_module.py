# SPDX-License-Identifier: Apache-2.0
"""A module that was damaged on its way: the VMM says what is wrong, and no guest runs."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from gandalf.base.paths import BUILD
from gandalf.build.build import build
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

from .systems import describe, rtos_guest


def flipped(content: bytes, offset: int) -> bytes:
    """Return the content with one byte changed."""
    return content[:offset] + bytes([content[offset] ^ 0x40]) + content[offset + 1 :]


@pytest.mark.parametrize(
    ("name", "damage", "sentence"),
    [
        ("table", lambda content: flipped(content, 100), "checksum"),
        ("magic", lambda content: flipped(content, 0), "not a compiled system"),
        ("image", lambda content: flipped(content, len(content) - 1), "damaged"),
        ("truncated", lambda content: content[: len(content) // 2], "truncated|cut|bytes"),
        ("short", lambda content: content[:64], "truncated|cut|bytes"),
    ],
)
def test_a_damaged_module_is_refused(
    name: str, damage: Callable[[bytes], bytes], sentence: str
) -> None:
    description = describe(f"module-{name}", rtos_guest("heartbeat"), memory="64M")
    built = build(description, lambda _: None, deterministic=True)
    module = BUILD / "boot" / f"module-{name}.bin"
    module.write_bytes(damage(built.module.read_bytes()))
    options = options_for(built, True)
    running = emulators.start("qemu", replace(options, module=module))
    with Machine.attach(built, running) as machine:
        outcome = machine.wait_off()
        text = machine.text("vmm")
    assert "the VMM stops: " in text
    assert any(word in text for word in sentence.split("|")), text
    assert not outcome.clean
    assert "beats" not in text
