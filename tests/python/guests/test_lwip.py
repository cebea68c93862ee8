# SPDX-License-Identifier: Apache-2.0
"""How lwIP's sources come to FreeRTOS guests, and how they are pinned."""

import hashlib
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT, UserError
from gandalf.guests import debian
from gandalf.guests import lwip as guest_lwip
from gandalf.guests.debian import Package


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree whose lock names an archive that is there."""
    outer = tmp_path / "outer" / "lwip-2"
    for name in ("src/core/tcp.c", "test/test.c", "COPYING", "README"):
        (outer / name).parent.mkdir(parents=True, exist_ok=True)
        (outer / name).write_text(name)
    cache = tmp_path / "build" / "cache"
    cache.mkdir(parents=True)
    with tarfile.open(cache / "lwip_2.orig.tar.xz", "w:xz") as tar:
        tar.add(outer, "lwip-2")
    lock_archive(tmp_path)
    return tmp_path


def lock_archive(tree: Path) -> None:
    """Pin the archive in the cache as it is now."""
    content = (tree / "build" / "cache" / "lwip_2.orig.tar.xz").read_bytes()
    package = Package("lwip", "lwip", "2-1", "source", "pool/l/lwip_2.orig.tar.xz", len(content),
                      hashlib.sha256(content).hexdigest())  # fmt: skip
    lock = tree / guest_lwip.ORIGIN.lock
    lock.parent.mkdir(parents=True, exist_ok=True)
    debian.write_lock(lock, [package], "A lock.")


def test_sources_are_unpacked_once_and_nothing_but_what_is_used(tree: Path) -> None:
    source = guest_lwip.fetch(tree, print)
    found = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert found == {"src/core/tcp.c", "COPYING", ".gandalf-stamp"}
    (source / "COPYING").write_text("changed")
    assert guest_lwip.fetch(tree, print) == source
    assert (source / "COPYING").read_text() == "changed"


def test_other_sources_take_the_place_of_the_old_ones(tree: Path) -> None:
    source = guest_lwip.fetch(tree, print)
    (source / "left").write_text("")
    lock = tree / guest_lwip.ORIGIN.lock
    (package,) = debian.read_lock(lock)
    debian.write_lock(lock, [replace(package, sha256="0" * 64)], "Another lock.")
    guest_lwip.fetch(tree, print)
    assert not (source / "left").exists()


def test_an_archive_that_is_none_is_told(tree: Path) -> None:
    (tree / "build" / "cache" / "lwip_2.orig.tar.xz").write_text("no archive")
    with pytest.raises(UserError, match=r"lwip_2\.orig\.tar\.xz cannot be unpacked"):
        guest_lwip.fetch(tree, print)


def test_a_lock_of_several_archives_is_none(tree: Path) -> None:
    lock = tree / guest_lwip.ORIGIN.lock
    debian.write_lock(lock, debian.read_lock(lock) * 2, "Twice.")
    with pytest.raises(UserError, match="does not name one archive"):
        guest_lwip.fetch(tree, print)


LISTING = f"""\
Package: lwip
Format: 3.0 (quilt)
Version: 2.1.3-2
Directory: pool/main/l/lwip
Checksums-Sha256:
 {"a" * 64} 2003 lwip_2.1.3-2.dsc
 {"b" * 64} 802896 lwip_2.1.3.orig.tar.xz
 {"c" * 64} 29696 lwip_2.1.3-2.debian.tar.xz

"""


def test_a_list_of_sources_gives_the_authors_archive() -> None:
    found = debian.parse_source("lwip", "lwip", LISTING)
    assert found.path == "pool/main/l/lwip/lwip_2.1.3.orig.tar.xz"
    assert (found.version, found.size, found.sha256) == ("2.1.3-2", 802896, "b" * 64)
    with pytest.raises(UserError, match="no sources of lwip"):
        debian.parse_source("lwip", "lwip", "N: Unable to locate package lwip\n")


def test_lwip_is_pinned() -> None:
    (package,) = debian.read_lock(ROOT / guest_lwip.ORIGIN.lock)
    assert package.path.endswith("lwip_2.1.3+dfsg1.orig.tar.xz")
    assert len(package.sha256) == 64
