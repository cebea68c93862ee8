# SPDX-License-Identifier: Apache-2.0
"""The disk from which Bochs boots: what is on it, and where it says that it belongs."""

import struct
from pathlib import Path

import pytest

from gandalf.base.paths import UserError
from gandalf.description.images import read_vmm
from gandalf.run.loader import write_disk

MODULE = b"the module" * 1001


def words(content: bytes, at: int, count: int) -> list[int]:
    return list(struct.unpack_from(f"<{count}I", content, at))


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module"
    path.write_bytes(MODULE)
    return path


@pytest.fixture
def disk(dummy_vmm: Path, module: Path, tmp_path: Path) -> bytes:
    path = tmp_path / "disk"
    write_disk(path, dummy_vmm, module, 32)
    return path.read_bytes()


def test_kernel_and_module_follow_each_other(disk: bytes, dummy_vmm: Path) -> None:
    """What is behind the first sector is as it will be in memory, from the kernel's start on."""
    image, memory = read_vmm(dummy_vmm), disk[512:]
    for segment in image.segments:
        begin = segment.address - image.start
        rest = segment.memory_size - len(segment.content)
        assert memory[begin:][: segment.memory_size] == segment.content + bytes(rest)
    start, end = words(disk, 16 + 88, 2)
    assert start % 4096 == 0
    assert 0 <= start - max(segment.end for segment in image.segments) < 4096
    assert memory[start - image.start : end - image.start] == MODULE


def test_the_first_sector_says_where_all_belongs(disk: bytes, dummy_vmm: Path) -> None:
    """Multiboot Specification 0.6.96, 3.3: mods_count and mods_addr at 20, mmap_addr at 48."""
    image = read_vmm(dummy_vmm)
    entry, target, count = words(disk, 4, 3)
    start, end, string, reserved = words(disk, 16 + 88, 4)
    assert disk[510:512] == b"\x55\xaa"
    assert (entry, target) == (image.entry, image.start)
    assert target + (count - 1) * 512 < end <= target + count * 512
    assert end - start == len(MODULE)
    assert (string, reserved) == (0, 0)
    assert words(disk, 16, 1) == [0x48]
    assert words(disk, 16 + 20, 2) == [1, 0x9000 + 88]
    assert words(disk, 16 + 48, 1) == [0x9100]


def test_it_has_whole_cylinders(disk: bytes) -> None:
    """Of which Bochs counts the size, and finds no sector behind the last one."""
    assert len(disk) % (16 * 63 * 512) == 0


def test_a_kernel_without_a_module(dummy_vmm: Path, tmp_path: Path) -> None:
    write_disk(tmp_path / "disk", dummy_vmm, None, 32)
    assert words((tmp_path / "disk").read_bytes(), 16 + 20, 1) == [0]


def test_what_does_not_fit_is_a_sentence(dummy_vmm: Path, module: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"does not fit into 1 MiB of memory: it ends at 0x1"):
        write_disk(tmp_path / "disk", dummy_vmm, module, 1)


def test_what_is_no_kernel_is_a_sentence(module: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"module is a damaged ELF file"):
        write_disk(tmp_path / "disk", module, None, 32)
