# SPDX-License-Identifier: Apache-2.0
"""Images of the VMM that have what a system uses: each boots, and refuses what it lacks."""

from dataclasses import replace
from pathlib import Path

import pytest

from gandalf.base.abi import abi
from gandalf.build.build import build, build_vmm
from gandalf.build.profile import find_profile
from gandalf.build.symbols import Image
from gandalf.run import emulator as emulators
from gandalf.run.machine import Machine
from gandalf.run.options import options_for

from .systems import DEFAULT, DEMO, PATIENCE, Boot, describe, linux, rtos_guest
from .terminal import press, type_in, wait_for
from .test_cores import describe_cores, on
from .test_migration import describe_moving
from .test_smp import describe_smp

# The images for two levels of privilege are in tests/boot/test_two_level*.py.
pytestmark = pytest.mark.rings

CHANNEL = """\
[[channel]]
name = "wire"
between = ["one", "two"]
"""
# A function of each part that an image may lack.
PARTS = {
    "rtos": "rtos_deliver",
    "linux": "shadow_fill",
    "chips": "rtc_deadline",
    "dedicated": "upcall_point",
    "strict_tls": "half_show",
    "control": "hypercall_control",
    "channels": "channel_side",
}


def parts_in(vmm: Path) -> set[str]:
    """Return the parts of which an image has the function."""
    found = Image(vmm, "vmm").addresses
    return {part for part, function in PARTS.items() if function in found}


def two_rtoses(*more: str) -> Path:
    """Describe two RTOSes, with what joins them."""
    guests = [rtos_guest("heartbeat", name, priority=n) for n, name in enumerate(("one", "two"), 1)]
    return describe(f"profile-rtoses{len(more)}", *guests, *more, memory="64M")


@pytest.mark.parametrize(
    ("profile", "more", "parts"),
    [("rtos", (), {"rtos"}), ("rtos-channels", (CHANNEL,), {"rtos", "channels"})],
)
def test_rtoses_alone(profile: str, more: tuple[str, ...], parts: set[str]) -> None:
    with Boot.start(two_rtoses(*more)) as machine:
        assert machine.built.vmm == find_profile(profile).image
        assert parts_in(machine.built.vmm) == parts
        for name in ("one", "two"):
            machine.expect(name, r"^beats=\d+ missed=0\n", PATIENCE)


def test_a_linux_that_shares_its_cpu() -> None:
    with Boot.start(describe("profile-shared", linux(), DEMO)) as machine:
        assert machine.built.vmm == find_profile("shared").image
        assert parts_in(machine.built.vmm) == {"rtos", "linux", "chips"}
        machine.wait_for_shell()
        machine.hackbench()
        machine.kernel_is_sane()
        # Who may not manage others is told so, as by any image.
        assert "may not manage guests" in machine.shell("gandalfctl list", 1)
        machine.expect("vmm", r"^guest linux tried to manage guests: refused\n")


def test_a_linux_that_has_the_cpu_to_itself() -> None:
    description = describe("profile-dedicated", linux("dedicated", "build/linux/dedicated/vmlinux"))
    with Boot.start(description) as machine:
        assert machine.built.vmm == find_profile("dedicated").image
        assert parts_in(machine.built.vmm) == {"linux", "dedicated"}
        machine.wait_for_shell()
        machine.hackbench()
        machine.kernel_is_sane()


SCREEN = "[console]\nscreen = true\n"


@pytest.mark.parametrize(
    ("profile", "described"),
    [
        ("smp-screen", describe_cores("profile-smp-screen", 2, SCREEN,
                                      *(on(cpu, rtos_guest("deaf", f"deaf{cpu}"))
                                        for cpu in range(2)))),
        ("two-level-screen", describe("profile-two-level-screen", SCREEN,
                                      rtos_guest("deaf", "deaf0"), rings="two-level")),
        ("two-level-cores-screen",
         describe_cores("profile-two-level-cores-screen", 2, SCREEN,
                        *(on(cpu, rtos_guest("deaf", f"deaf{cpu}")) for cpu in range(2)),
                        rings="two-level")),
    ],
)  # fmt: skip
def test_screen_and_keyboard(profile: str, described: Path) -> None:
    """That on one CPU has tests of its own (test_screen.py)."""
    with Boot.start(described) as machine:
        assert machine.built.vmm == find_profile(profile).image
        wait_for(machine, "deaf: halts")
        press(machine, *("ctrl-a", "n") * len(machine.built.names))
        type_in(machine, "status\n")
        wait_for(machine, "deaf0: running, ")


def test_everything() -> None:
    with Boot.start(DEFAULT) as machine:
        assert machine.built.vmm == find_profile("full").image
        assert parts_in(machine.built.vmm) == set(PARTS)
        machine.wait_for_shell()


LACKING = [
    ("rtos", "linux", [linux()], "guest linux: this VMM lacks its kind"),
    (
        "dedicated",
        "rtos",
        [rtos_guest("heartbeat")],
        "guest heartbeat: this VMM lacks its kind",
    ),
    ("shared", "control", [linux(more="control = true")], "this VMM lacks control"),
    ("shared", "tls", [linux(more="strict_tls = true")], "this VMM lacks strict TLS"),
    ("full", "screen", [SCREEN, rtos_guest("heartbeat")], "this VMM lacks screen"),
]


@pytest.mark.parametrize(("profile", "name", "guests", "sentence"), LACKING)
def test_what_an_image_lacks_is_refused(
    profile: str, name: str, guests: list[str], sentence: str
) -> None:
    refused(describe(f"profile-without-{name}", *guests), profile, sentence)


@pytest.mark.parametrize(
    ("rings", "profile", "levels"),
    [
        ("four", "two-level", "4 levels"),
        ("two-level", "shared", "2 levels"),
        ("two-level", "full", "2 levels"),
    ],
)
def test_an_image_of_other_levels_refuses_a_system(rings: str, profile: str, levels: str) -> None:
    description = describe(f"profile-levels-{rings}-{profile}", linux(), DEMO, rings=rings)
    version = abi()["TABLE_VERSION"]
    refused(description, profile, f"The system: it needs VMM version {version}, {levels}.")


def test_an_image_without_channels_refuses_them() -> None:
    refused(two_rtoses(CHANNEL), "rtos", "this VMM lacks channels")


@pytest.mark.parametrize(
    ("profile", "described", "sentence"),
    [
        ("full", describe_cores("profile-two-cpus", 2, on(1, rtos_guest("heartbeat"))),
         "this VMM lacks several CPUs"),
        ("cores", describe_smp("profile-smp", 2), "guest linux: this VMM lacks its kind"),
        ("cores", describe_smp("profile-spins", 2, "yielding_spin = false"),
         "this VMM lacks yield"),
        ("cores", describe_moving("profile-moving", [0, 1]),
         "this VMM lacks migration"),
    ],
)  # fmt: skip
def test_an_image_for_fewer_cpus_refuses_a_system(
    profile: str, described: Path, sentence: str
) -> None:
    refused(described, profile, sentence)


def refused(description: Path, profile: str, sentence: str) -> None:
    """Start a system on an image that is not meant for it: no guest may run."""
    built = build(description, lambda _: None, deterministic=True)
    built = replace(built, vmm=build_vmm(find_profile(profile)))
    running = emulators.start("qemu", options_for(built, deterministic=True))
    with Machine.attach(built, running) as machine:
        outcome = machine.wait_off()
        text = machine.text("vmm")
        said = {name: machine.text(name) for name in built.names}
    assert f"the VMM stops: {sentence}" in text
    assert not outcome.clean
    assert not any(said.values())
