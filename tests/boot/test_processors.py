# SPDX-License-Identifier: Apache-2.0
"""CPUs and machines other than the usual ones: the systems run there, or a sentence says why not.

Each has an instruction or a register that a Pentium III lacks, lacks one, or has other chips.
"""

import pytest

from .systems import DEFAULT, DEMO, FEW_INSTRUCTIONS, PATIENCE, Boot, describe, linux, rtos_guest

# What a kernel in ring 1 must not use, as /proc/cpuinfo has it.
HIDDEN = ("sep", "smap", "smep", "umip", "invpcid", "xsave", "avx", "avx2", "avx512f", "pku")
QEMU_CPUS = (
    "max", "EPYC", "SandyBridge", "Skylake-Server", "Nehalem", "phenom", "core2duo", "coreduo",
    "n270", "athlon", "kvm32", "qemu64",
)  # fmt: skip
BOCHS_CPUS = ("corei7_haswell_4770", "corei7_skylake_x", "p4_willamette", "atom_n270")


def linux_is_right(machine: Boot) -> None:
    """Linux knows of nothing that it must not use, runs programs, and disturbs no neighbour."""
    machine.wait_for_shell()
    flags = machine.shell("sed -n 's/^flags.*: //p' /proc/cpuinfo").split()
    assert "tsc" in flags
    assert not set(HIDDEN) & set(flags)
    with machine.rtos_undisturbed():
        machine.hackbench()
    machine.kernel_is_sane()


@pytest.mark.representatives("max", "EPYC", "n270")
@pytest.mark.parametrize("cpu", QEMU_CPUS)
def test_linux_beside_an_rtos_on_a_cpu_of_qemu(cpu: str) -> None:
    with Boot.start(DEFAULT, cpu=cpu) as machine:
        linux_is_right(machine)


@pytest.mark.representatives("q35", "isapc")
@pytest.mark.parametrize("chips", ["q35", "isapc"])
def test_linux_beside_an_rtos_on_a_machine_of_qemu(chips: str) -> None:
    with Boot.start(DEFAULT, ("-machine", chips)) as machine:
        linux_is_right(machine)


@pytest.mark.representatives("corei7_haswell_4770")
@pytest.mark.parametrize("cpu", BOCHS_CPUS)
def test_linux_on_a_cpu_of_bochs(cpu: str) -> None:
    """The first of them has INVPCID, and the second AVX-512, of which QEMU emulates neither."""
    description = describe("processor", linux(), rtos_guest("heartbeat", priority=20))
    with Boot.start(description, emulator="bochs", ips=FEW_INSTRUCTIONS, cpu=cpu) as machine:
        machine.wait_for_shell()
        flags = machine.shell("sed -n 's/^flags.*: //p' /proc/cpuinfo").split()
        assert "tsc" in flags
        assert not set(HIDDEN) & set(flags)
        machine.kernel_is_sane()


def test_tasks_with_floating_point_on_a_cpu_of_bochs_without_fxsave() -> None:
    """QEMU's CPU without it is a later one, of which only the bit of CPUID is gone."""
    description = describe("klamath", DEMO, memory="64M")
    cpu = "p2_klamath"
    with Boot.start(description, emulator="bochs", ips=FEW_INSTRUCTIONS, cpu=cpu) as machine:
        machine.demo("float on", r"^float: ok \d+\n")
        assert "WRONG" not in machine.text("rtos")
        machine.expect("rtos", r"^activations=\d+ .* missed=0\n", PATIENCE)


@pytest.mark.parametrize(
    ("cpu", "chips", "sentence"),
    [("486", "pc", "no CMOV"), ("pentium", "pc", "no CMOV"), ("pentium3", "microvm", "no 8254")],
)
def test_what_is_missing_is_named(cpu: str, chips: str, sentence: str) -> None:
    description = describe("missing", rtos_guest("heartbeat"), memory="64M")
    with Boot.start(description, ("-machine", chips), cpu=cpu) as machine:
        machine.expect("vmm", rf"^the VMM stops: {sentence}\n", PATIENCE)
        assert not machine.wait_off(PATIENCE).clean
