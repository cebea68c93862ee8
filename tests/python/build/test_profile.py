# SPDX-License-Identifier: Apache-2.0
"""The image of the VMM that a description needs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.build.profile import FULL, find_profile, parts_used, profile_for, read_profiles
from gandalf.description.description import read_description

LINUX = """\
[[guest]]
name = "linux"
kind = "linux"
kernel = "vmlinux"
memory = "64M"
"""


def rtos(name: str) -> str:
    """Return an RTOS's part of a description."""
    return f"""\
[[guest]]
name = "{name}"
kind = "rtos"
image = "rtos.elf"
memory = "1M"
priority = 1
"""


SCREEN = "[console]\nscreen = true\n"
CHANNEL = """\
[[channel]]
name = "wire"
between = ["one", "two"]
"""


@pytest.mark.parametrize(
    ("text", "parts", "profile"),
    [
        (rtos("one"), {"rtos"}, "rtos"),
        (rtos("one") + rtos("two") + CHANNEL, {"rtos", "channels"}, "rtos-channels"),
        (LINUX, {"linux", "chips"}, "shared"),
        (LINUX + rtos("one"), {"linux", "chips", "rtos"}, "shared"),
        (LINUX + 'mode = "dedicated"\n', {"linux", "dedicated"}, "dedicated"),
        (rtos("one") + SCREEN, {"rtos", "screen"}, "screen"),
        (LINUX + "control = true\n", {"linux", "chips", "control"}, "full"),
        (LINUX + "strict_tls = true\n", {"linux", "chips", "strict_tls"}, "full"),
        (LINUX + 'mode = "dedicated"\ncontrol = true\n', {"linux", "dedicated", "control"}, "full"),
    ],
)
def test_a_system_has_the_smallest_image_with_all_that_it_uses(
    describe: Callable[[str], Path], text: str, parts: set[str], profile: str
) -> None:
    system = read_description(describe(text))
    assert parts_used(system) == parts
    assert profile_for(system).name == profile


def test_where_no_screen_is_there_is_room_for_the_policy_trap() -> None:
    """Both images have the same budget. Without a screen all policies can be chosen later."""
    names = [profile.name for profile in read_profiles()]
    assert names.index("smp") < names.index("smp-screen")


def test_a_profile_leaves_out_what_the_makefile_knows() -> None:
    known = set(re.findall(r"^(\w+) := .*\.c", (ROOT / "vmm" / "Makefile").read_text(), re.M))
    for profile in read_profiles():
        assert profile.without <= known
    assert find_profile(FULL).without == {"cores", "smp", "two_level", "screen"}
    assert find_profile("cores").without == {"smp", "two_level", "screen"}
    assert find_profile("smp").without == {"dedicated", "two_level", "screen"}
    assert find_profile("two-level-cores").without == {"dedicated", "smp", "strict_tls", "screen"}
    without = {"dedicated", "strict_tls", "screen"}
    assert find_profile("two-level-smp").without == without | {"remedies", "trap_policy"}
    for name in ("smp", "two-level", "two-level-cores"):
        with_screen = find_profile(f"{name}-screen").without - {"trap_policy"}
        assert find_profile(name).without == with_screen | {"screen"}
    assert "trap_policy" in find_profile("smp-screen").without
    assert find_profile(FULL).folder == "vmm"


def test_every_stand_in_is_for_a_part() -> None:
    stand_ins = {path.stem for path in (ROOT / "vmm" / "without").glob("*.c")}
    assert stand_ins <= set().union(*(profile.without for profile in read_profiles()))
