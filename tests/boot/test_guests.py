# SPDX-License-Identifier: Apache-2.0
"""Guests that check the VMM themselves, and guests that do what they must not.

Beside each bad guest runs a heartbeat of a higher priority, which must not miss a beat. What only
segment limits prevent is not here: QEMU does not enforce them (tests/isolation has it, in Bochs).
"""

import pytest

from .systems import PATIENCE, Boot, describe, linux, rtos_guest

BAD = (
    "bad-hypercall",
    "bad-linux-hypercall",
    "bad-pointer",
    "bad-wrapping-pointer",
    "bad-handlers",
    "bad-handler",
    "bad-unknown-instruction",
    "bad-debug-register",
    "bad-port",
    "bad-undefined",
    "bad-divide",
    "bad-selector",
    "bad-triple-fault",
)
CHECKERS = ("hypercalls", "interrupts", "exceptions", "selectors", "fpu", "hostile")
BEATS = r"^beats=\d+ missed=0\n"


@pytest.mark.parametrize("image", BAD)
def test_a_bad_rtos_is_stopped_and_its_neighbour_misses_nothing(image: str) -> None:
    heartbeat = rtos_guest("heartbeat", priority=20)
    system = describe(image, rtos_guest(image, "bad"), heartbeat, memory="64M")
    with Boot.start(system) as machine:
        assert machine.stop_report("bad")
        machine.skip("heartbeat")
        machine.expect("heartbeat", BEATS, PATIENCE)
        machine.expect("heartbeat", BEATS, PATIENCE)
        assert "missed=1" not in machine.text("heartbeat")


@pytest.mark.parametrize("image", CHECKERS)
def test_a_self_checking_rtos_passes(image: str) -> None:
    with Boot.start(describe(image, rtos_guest(image), memory="64M")) as machine:
        machine.expect(image, rf"^PASS {image}\n", PATIENCE)
        assert "not ok" not in machine.text(image)


def pc(image: str, mode: str = "shared") -> str:
    """Return the description of a test kernel that takes Linux's place."""
    text = linux(mode=mode, kernel=f"build/tests/{image}.elf", command_line="", memory="16M")
    return "\n".join(line for line in text.splitlines() if not line.startswith("initrd"))


@pytest.mark.parametrize("mode", ["shared", "dedicated"])
def test_every_emulated_instruction_does_what_a_pc_does(mode: str) -> None:
    with Boot.start(describe(f"pc-{mode}", pc("pc", mode), memory="64M")) as machine:
        machine.expect("linux", r"^PASS pc\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        assert machine.wait_off(PATIENCE).clean


@pytest.mark.parametrize("image", ["pc-bad-hypercall", "pc-bad-pointer"])
def test_a_bad_kernel_is_stopped_and_its_neighbour_misses_nothing(image: str) -> None:
    heartbeat = rtos_guest("heartbeat", priority=20)
    with Boot.start(describe(image, pc(image), heartbeat, memory="64M")) as machine:
        assert machine.stop_report("linux")
        machine.skip("heartbeat")
        machine.expect("heartbeat", BEATS, PATIENCE)
        assert "missed=1" not in machine.text("heartbeat")
