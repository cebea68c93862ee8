# SPDX-License-Identifier: Apache-2.0
"""The page-table cache of a system with two levels of privilege, seen by a whole Linux.

tests/unit/guests/x86/two_level/test_cache.c has its policies, load by load.
"""

from collections import Counter
from pathlib import Path

from .changed import substitute
from .systems import Boot, describe, linux
from .two_level import changed_vmm

# What a Linux says whose processes find another one's pages.
BROKEN = r"Kernel panic|segfault|Oops|BUG:|traps:|exited with status|can't run"


def start(
    name: str, entries: int, policy: str, vmm: Path | None = None, coherence: str = "hook"
) -> Boot:
    path = describe(f"cache-{name}", linux(), rings="two-level")
    fields = {"cache_entries": entries, "cache_policy": policy, "coherence": coherence}
    lines = "\n".join(f"{name} = {value!r}" for name, value in fields.items())
    path.write_text(path.read_text().replace("rings =", f"{lines}\nrings ="))
    return Boot.start(path, vmm=vmm)


def used(machine: Boot) -> Counter[str]:
    """Return what is counted while processes that live at once get the CPU in turn."""
    before = machine.counters()
    words = machine.shell("busybox seq 1 20000 | busybox sort -n | busybox uniq | busybox wc -l")
    assert words.strip() == "20000"
    machine.kernel_is_sane()
    return machine.counters() - before


def test_with_room_for_all_none_goes() -> None:
    with start("all", 256, "lru") as machine:
        machine.wait_for_shell()
        found = used(machine)
    assert found["space_hits"] > found["space_misses"] > 0
    assert found["space_evictions"] == 0


def test_with_one_entry_each_goes_for_the_next() -> None:
    with start("one", 1, "fifo") as machine:
        machine.wait_for_shell()
        found = used(machine)
    # A load of what is loaded already is a hit.
    assert found["space_misses"] > found["space_hits"]
    assert found["space_evictions"] == found["space_misses"]


def kept(folder: Path) -> None:
    """Leave the pages of an address space to the next one that has its entry."""
    cache = folder / "vmm" / "guests" / "x86" / "two_level" / "cache.c"
    substitute(cache, "\tspace_drop(goes, NULL);\n", "")


def test_an_entry_that_is_not_dropped_is_found() -> None:
    with start("kept", 1, "fifo", changed_vmm("two-level-kept", kept)) as machine:
        machine.expect("linux", BROKEN, 60)


def test_without_the_hook_shadows_are_found_again() -> None:
    """The VMM takes the hook's word only for what is loaded, so what Linux says is of no use."""
    with start("detect", 8, "lru", coherence="detect") as machine:
        machine.wait_for_shell()
        machine.hackbench()
        found = used(machine)
    assert found["space_hits"] > found["space_misses"] > 0


def unseen(folder: Path) -> None:
    """Leave what is out of date where it is."""
    detect = folder / "vmm" / "guests" / "x86" / "two_level" / "detect.c"
    substitute(detect, "\t\t\ttable[i] = 0;\n", "\t\t\tcontinue;\n")


def test_a_change_that_is_not_detected_is_found() -> None:
    vmm = changed_vmm("two-level-unseen", unseen)
    with start("unseen", 8, "lru", vmm, coherence="detect") as machine:
        machine.expect("linux", BROKEN, 60)
