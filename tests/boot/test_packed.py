# SPDX-License-Identifier: Apache-2.0
"""The kernel `complete` unpacks a root file system that is packed in any way that Linux knows."""

import pytest

from .images import PACKERS, packed_rootfs
from .systems import Boot, describe, linux

KERNEL = "build/linux/complete/vmlinux"


@pytest.mark.parametrize("way", PACKERS)
def test_it_boots_to_the_shell(way: str) -> None:
    guest = linux(kernel=KERNEL, initrd=packed_rootfs(way), memory="96M")
    with Boot.start(describe(f"packed-{way}", guest)) as machine:
        machine.wait_for_shell()
        machine.kernel_is_sane()
