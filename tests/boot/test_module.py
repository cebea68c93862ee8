# SPDX-License-Identifier: Apache-2.0
"""A module of any size arrives whole, or the VMM says what is wrong, and no guest runs."""

import hashlib
import stat
from collections.abc import Callable
from dataclasses import replace

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.build.build import build
from gandalf.guests import cpio
from gandalf.guests.rootfs import build_rootfs
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

from .systems import Boot, describe, linux, rtos_guest


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


def test_linux_has_a_root_file_system_of_hundreds_of_mib() -> None:
    """Each byte of it arrives, and the RTOS beside it misses nothing while it is unpacked.

    Linux takes archives one behind the other; the large one is not packed.
    """
    content = hashlib.shake_256(b"any").digest(1 << 20)
    large = b"".join(number.to_bytes(4, "little") + content[4:] for number in range(200))
    initrd = BUILD / "boot" / "large.cpio"
    initrd.parent.mkdir(parents=True, exist_ok=True)
    entry = cpio.Entry("large", stat.S_IFREG | 0o644, large)
    initrd.write_bytes(cpio.archive([entry]) + build_rootfs(ROOT, lambda _: None).read_bytes())
    guests = (
        linux(initrd=str(initrd.relative_to(ROOT)), memory="704M"),
        rtos_guest("heartbeat", priority=20),
    )
    with Boot.start(describe("module-large", *guests, memory="1G")) as machine:
        machine.wait_for_shell()
        assert machine.shell("sha256sum /large").split()[0] == hashlib.sha256(large).hexdigest()
        machine.expect("heartbeat", r"^beats=\d+ missed=0\n")
    initrd.unlink()
