# SPDX-License-Identifier: Apache-2.0
"""What `gandalf build` goes by: the images that it builds, not those of another time."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD

from gandalf.base.paths import BUILD, ROOT, UserError
from gandalf.build import build as building
from gandalf.description import guests
from gandalf.description.check import check
from gandalf.guests import rootfs

INITRD = Path("build") / "rootfs" / "initramfs.cpio"
SYSTEM = GOOD.replace("./initrd", f"./{INITRD}")
# One that leaves no room for the kernel in 64 MiB, and one that does.
LARGE, SMALL = 50 << 20, 1 << 20
Describe = Callable[[str], Path]


@pytest.fixture
def initrd(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root file system that the tool builds, and that has to be built anew; nothing else has."""
    path = folder / INITRD
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(guests, "BUILD", folder / "build")
    monkeypatch.setattr(building, "system_folder", lambda _: folder / "built")
    monkeypatch.setattr(building, "build_vmm", lambda *_: folder / "vmm")
    return path


def builds(monkeypatch: pytest.MonkeyPatch, path: Path, size: int) -> None:
    monkeypatch.setattr(rootfs, "build_rootfs", lambda *_: path.write_bytes(bytes(size)))


def test_an_old_image_that_did_not_fit_does_not_count(
    describe: Describe, initrd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    initrd.write_bytes(bytes(LARGE))
    system = describe(SYSTEM)
    assert check(system).system.mistakes
    builds(monkeypatch, initrd, SMALL)
    built = building.build(system, lambda _: None)
    linux = built.checked.loaded[0]
    assert linux is not None
    assert dict(linux.segments)["initrd"].content == bytes(SMALL)
    assert LARGE > built.module.stat().st_size > SMALL


def test_a_new_image_that_does_not_fit_is_a_mistake(
    describe: Describe, initrd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    initrd.write_bytes(bytes(SMALL))
    builds(monkeypatch, initrd, LARGE)
    with pytest.raises(UserError, match=r"The initial RAM disk .* does not fit"):
        building.build(describe(SYSTEM), lambda _: None)


def test_what_the_tool_does_not_build_is_looked_at_before_anything_is_built(
    describe: Describe, initrd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rootfs, "build_rootfs", pytest.fail)
    with pytest.raises(UserError, match="there is no file"):
        building.build(describe(SYSTEM.replace("./rtos.elf", "./none.elf")), lambda _: None)
    assert not initrd.exists()


def test_each_of_the_benchs_rtoses_can_be_built() -> None:
    """One that is left out is found by who runs the bench in a new clone, and by nobody else."""
    programs = [path.stem for path in (ROOT / "bench" / "rtos").glob("*.c")]
    assert {"ring", "rung", "switch"} <= set(programs)
    for name in programs:
        assert guests.builder(BUILD / "bench" / "rtos" / f"{name}.elf") == "bench"
    assert guests.builder(BUILD / "bench" / "rtos" / "nothing.elf") is None
