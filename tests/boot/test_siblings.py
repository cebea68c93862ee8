# SPDX-License-Identifier: Apache-2.0
"""A hostile kernel with two vCPUs, on two cores or on one, which attack at once, beside RTOSes.

What it tries, and that each attempt was made and had the answer it must have, is checked by
guest/tests/pc/siblings.c itself.
"""

import re
from pathlib import Path

import pytest

from .systems import DEMO, FEW_INSTRUCTIONS, PATIENCE, Boot, rtos_guest
from .test_cores import describe_cores, on
from .test_guests import pc

ATTACKS = 12
# Ticks after which a task begins at the latest: as in test_cores_latency.py under a flood and its
# own doorbells, since a guest beside it is restarted all the time by messages.
LATEST = 3900


def demo(name: str, cpu: int) -> str:
    """Return the FreeRTOS demo, whose 1 ms task measures itself, on a CPU."""
    return on(cpu, DEMO.replace('"rtos"', f'"{name}"', 1))


def attack(cpus: list[int]) -> tuple[str, ...]:
    """Return the attacker on these CPUs, a victim beside it, another one on CPU 2, and a guest that
    the attacker manages."""
    attacker = pc("pc-siblings").replace("[[guest]]\n", f"[[guest]]\ncpus = {cpus}\n", 1)
    managed = on(2, rtos_guest("heartbeat", "managed", priority=5))
    return attacker + "\ncontrol = true\n", demo("beside", 0), demo("away", 2), managed


def system(name: str, cpus: list[int]) -> Path:
    """Describe the attack on three CPUs."""
    return describe_cores(name, 3, *attack(cpus))


@pytest.mark.parametrize(
    ("cpus", "emulator"),
    [
        pytest.param([0, 1], "qemu", id="two-cores"),
        pytest.param([0, 0], "qemu", id="one-core"),
        pytest.param([0, 1], "bochs", id="two-cores-bochs", marks=pytest.mark.long),
    ],
)
def test_what_two_vcpus_try_at_once_harms_nobody(cpus: list[int], emulator: str) -> None:
    """In QEMU the cores are threads of the host. On one core the vCPUs take turns.

    In Bochs, where time is what the CPUs execute, no victim misses anything. A turn has so few
    instructions there that attacks which wait for the other vCPU's turn are made less often than
    they check.
    """
    description = system(f"siblings-{cpus[1]}", cpus)
    with Boot.start(description, emulator=emulator, ips=FEW_INSTRUCTIONS) as machine:
        machine.expect("linux", r"^(?:PASS|FAIL) pc-siblings.*\n", PATIENCE)
        text = machine.text("linux")
        assert "not ok" not in text, text
        assert len(re.findall(r"^ok \d+ ", text, re.M)) == ATTACKS + 2
        for name in ("beside", "away"):
            before = machine.latencies(name)
            after = machine.next_latency(name)
            assert after.activations > before[-1].activations
            print(f"{name}: {after}")
            assert emulator == "qemu" or (after.missed == 0 and after.maximum <= LATEST)
