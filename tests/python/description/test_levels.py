# SPDX-License-Identifier: Apache-2.0
"""A system with two levels of privilege: its image, and what it cannot have."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD

from gandalf.build.profile import parts_used, profile_for
from gandalf.description.check import check
from gandalf.description.description import read_description

Describe = Callable[[str], Path]

ALONE = GOOD[: GOOD.index('[[guest]]\nname = "rtos"')].replace(
    "[machine]\n", '[machine]\nrings = "two-level"\n'
)


def mistakes(path: Path) -> list[str]:
    return [item.sentence for item in sorted(set(check(path).system.mistakes))]


def test_a_linux_alone(describe: Describe) -> None:
    path = describe(ALONE)
    assert mistakes(path) == []
    system = read_description(path)
    assert parts_used(system) == {"linux", "chips", "two_level"}
    assert profile_for(system).name == "two-level"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "linux"\n', 'kind = "linux"\nmode = "dedicated"\n', "leaves that to nobody: use"),
        ('kind = "linux"\n', 'kind = "linux"\nstrict_tls = true\n', "Remove `strict_tls` of"),
        ('"two-level"', '"three"', "`rings` must be"),
        ('rings = "two-level"\n', "prefill = false\n", "Remove `prefill`: only with"),
        ('rings = "two-level"\n', "cache_entries = 4\n", "Remove `cache_entries`: only with"),
        ('rings = "two-level"\n', "cache_hints = false\n", "Remove `cache_hints`: only with"),
        ('rings = "two-level"\n', 'cache_policy = "lru"\n', "Remove `cache_policy`: only with"),
        ('rings = "two-level"\n', "global_pages = true\n", "Remove `global_pages`: only with"),
        ('rings = "two-level"\n', 'coherence = "detect"\n', "Remove `coherence`: only with"),
        ("[machine]\n", '[machine]\ncoherence = "best"\n', "`coherence` must be"),
        ("[machine]\n", "[machine]\ncache_entries = 0\n", "`cache_entries` must be"),
        ("[machine]\n", "[machine]\ncache_entries = 257\n", "`cache_entries` must be"),
        ("[machine]\n", '[machine]\ncache_policy = "best"\n', "`cache_policy` must be"),
        ('rings = "two-level"\n', "direct_switch = false\n", "Remove `direct_switch`: only with"),
    ],
)
def test_not_with(describe: Describe, old: str, new: str, sentence: str) -> None:
    found = mistakes(describe(ALONE.replace(old, new)))
    assert any(sentence in said for said in found), found


def test_several_cpus(describe: Describe) -> None:
    cores = ALONE.replace("[machine]\n", "[machine]\ncpus = 2\n")
    path = describe(cores)
    assert mistakes(path) == []
    assert profile_for(read_description(path)).name == "two-level-cores"
    spread = cores.replace('kind = "linux"\n', 'kind = "linux"\ncpus = [0, 1]\n')
    path = describe(spread)
    assert mistakes(path) == []
    assert profile_for(read_description(path)).name == "two-level-smp"
    moving = spread.replace("cpus = [0, 1]\n", "cpus = [0, 1]\nmigrate = true\n")
    path = describe(moving)
    assert mistakes(path) == []
    assert profile_for(read_description(path)).name == "two-level-smp"
    screen = spread.replace("[machine]", "[console]\nscreen = true\n\n[machine]")
    assert "several vCPUs has no screen so far" in " ".join(mistakes(describe(screen)))


def test_with_an_rtos(describe: Describe) -> None:
    path = describe(GOOD.replace("[machine]\n", '[machine]\nrings = "two-level"\n'))
    assert mistakes(path) == []
    assert profile_for(read_description(path)).name == "two-level"
