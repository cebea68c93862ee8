# SPDX-License-Identifier: Apache-2.0
"""The kernels `complete` and `complete-smp` have what programs of a distribution expect.

All of it works, with one vCPU and with two. The RTOS beside the first misses nothing meanwhile.
That beside the other is at work: CPUs of QEMU's are threads of the host, whose time says nothing.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.guests.modules import build_modules
from gandalf.guests.places import Variant
from gandalf.run import copying

from .systems import DEMO, PATIENCE, PROMPT, WHOLE, Boot, describe, linux
from .test_cores import describe_cores, on

ONE, SEVERAL = "complete", "complete-smp"
CPUS = {ONE: 1, SEVERAL: 2}
FRAGMENT = ROOT / "guest" / "linux" / "complete.fragment"
TEXT = "what was written"
MODULE = ROOT / "guest" / "tests" / "module"
# Each makes a file system in a file of 8 MiB.
MADE = {"ext4": "mke2fs -F", "vfat": "mkdosfs"}
# System calls that stress-ng looks at; it says so if the kernel lacks one.
STRESSORS = ("seccomp", "io-uring", "userfaultfd", "fanotify", "unshare")
SMALL = "--userfaultfd-bytes 8M"


def describe_complete(name: str, kernel: str, more: str = "") -> Path:
    """Describe a Linux with one of the kernels, and the demo beside it."""
    guest = linux(kernel=f"build/linux/{kernel}/vmlinux", initrd=WHOLE, more=more)
    if kernel == ONE:
        return describe(name, guest, DEMO)
    guest = guest.replace("[[guest]]\n", f"[[guest]]\ncpus = {list(range(CPUS[kernel]))}\n", 1)
    return describe_cores(name, CPUS[kernel], guest, on(0, DEMO))


@pytest.fixture(scope="module", params=CPUS)
def kernel(request: pytest.FixtureRequest) -> Variant:
    found: Variant = request.param
    return found


@pytest.fixture(scope="module")
def machine(kernel: Variant) -> Iterator[Boot]:
    with Boot.start(describe_complete(kernel, kernel)) as started:
        started.wait_for_shell()
        started.shell("mkdir -p /mnt/a /mnt/b")
        yield started


def test_it_has_all_cpus(machine: Boot, kernel: Variant) -> None:
    assert int(machine.shell("grep -c ^processor /proc/cpuinfo")) == CPUS[kernel]


def test_every_line_of_the_fragment_is_in_its_configuration(machine: Boot) -> None:
    found = set(machine.shell("zcat /proc/config.gz").splitlines())
    wanted = re.findall(r"^(?:CONFIG_\w+=.*|# CONFIG_\w+ is not set)$", FRAGMENT.read_text(), re.M)
    assert len(wanted) > 50
    assert not set(wanted) - found


@pytest.mark.parametrize("kind", MADE)
def test_a_file_system_in_a_file_keeps_what_is_written(machine: Boot, kind: str) -> None:
    machine.shell(f"head -c 8388608 /dev/zero > /tmp/image; {MADE[kind]} /tmp/image"
                  f" >/dev/null && mount -t {kind} -o loop /tmp/image /mnt/a")  # fmt: skip
    machine.shell(f"echo {TEXT} > /mnt/a/file && umount /mnt/a")
    assert TEXT in machine.shell(f"mount -t {kind} -o loop /tmp/image /mnt/a && cat /mnt/a/file")
    machine.shell("umount /mnt/a && rm /tmp/image")
    machine.kernel_is_sane()


def test_an_overlay_leaves_what_is_below(machine: Boot) -> None:
    machine.shell("mount -t tmpfs none /mnt/a && cd /mnt/a && mkdir low high work && "
                  f"echo {TEXT} > low/file && mount -t overlay -o "
                  "lowerdir=low,upperdir=high,workdir=work none /mnt/b && cd /")  # fmt: skip
    machine.shell("echo other > /mnt/b/file")
    assert machine.shell("cat /mnt/b/file /mnt/a/low/file") == f"other\n{TEXT}\n"
    machine.shell("umount /mnt/b /mnt/a")


def test_pages_go_to_compressed_memory_and_come_back(machine: Boot) -> None:
    """More is written than the machine has memory for, of what can be compressed."""
    machine.shell("echo 160M > /sys/block/zram0/disksize && mkswap /dev/zram0 >/dev/null && "
                  "swapon /dev/zram0")  # fmt: skip
    machine.shell("stress-ng --vm 1 --vm-bytes 220M --vm-method zero-one --vm-ops 2000 --verify "
                  "--timeout 0 >/tmp/log 2>&1 || { cat /tmp/log; false; }")  # fmt: skip
    counts = machine.shell("cat /sys/block/zram0/stat").split()
    assert min(int(counts[0]), int(counts[4])) > 1000, counts  # requests to read, and to write
    machine.shell("swapoff /dev/zram0")
    machine.kernel_is_sane()


def test_a_cgroup_bounds_how_many_processes_there_are(machine: Boot) -> None:
    machine.shell("mount -t cgroup2 none /mnt/a && echo +pids > /mnt/a/cgroup.subtree_control && "
                  "mkdir /mnt/a/few && echo 3 > /mnt/a/few/pids.max")  # fmt: skip
    tried = "sh -c 'echo $$ > /mnt/a/few/cgroup.procs; for i in 1 2 3 4 5; do sleep 1 & done; wait'"
    assert "Resource temporarily unavailable" in machine.shell(f"{tried} 2>&1; true")
    machine.shell("until rmdir /mnt/a/few 2>/dev/null; do sleep 0.1; done; umount /mnt/a")


def test_both_internet_protocols_reach_the_machine_itself(machine: Boot) -> None:
    machine.shell("ip link set lo up")
    for ping in ("ping -c 2 127.0.0.1", "ping6 -c 2 ::1"):
        assert "2 packets received" in machine.shell(ping)


@pytest.mark.parametrize("stressor", STRESSORS)
def test_a_system_call_is_there(machine: Boot, stressor: str) -> None:
    text = machine.shell(f"stress-ng --{stressor} 1 --{stressor}-ops 20 {SMALL} 2>&1")
    assert "successful run completed" in text
    assert not re.search(r"skip|not (?:supported|implemented)", text), text


def test_a_module_that_was_built_elsewhere_comes_and_goes(machine: Boot, kernel: Variant) -> None:
    folder = BUILD / f"module-{kernel}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(MODULE, folder)
    (built,) = build_modules(folder, ROOT, print, kernel)
    copying.push(machine, "linux", built.read_bytes(), "/root/checked.ko")
    machine.expect("linux", PROMPT, PATIENCE)
    machine.shell("insmod /root/checked.ko addend=1")
    assert "checked: passed" in machine.shell("dmesg | tail -n 3")
    assert "\nchecked " in machine.shell("lsmod")
    machine.shell("rmmod checked")
    assert "checked: gone" in machine.shell("dmesg | tail -n 1")
    assert "checked" not in machine.shell("lsmod")
    machine.kernel_is_sane()


def test_a_module_of_another_kernel_is_refused(machine: Boot, kernel: Variant) -> None:
    """It says for which kernel it is, and the kernel looks."""
    built = (BUILD / f"module-{kernel}" / "checked.ko").read_bytes()
    copying.push(machine, "linux", built.replace(b"vermagic=6.1", b"vermagic=6.2"), "/root/bad.ko")
    machine.expect("linux", PROMPT, PATIENCE)
    assert "invalid module format" in machine.shell("insmod /root/bad.ko 2>&1; true")
    machine.kernel_is_sane()


def test_file_systems_that_nobody_mounts_here_are_known(machine: Boot) -> None:
    known = machine.shell("cat /proc/filesystems").split()
    assert {"squashfs", "fuse", "nfs", "nfs4", "ext2", "ext3"} <= set(known)
    assert "fuse" in machine.shell("cat /proc/misc")


def test_without_a_watchdog_the_device_cannot_be_opened(machine: Boot) -> None:
    assert "No such device" in machine.shell("(echo > /dev/watchdog) 2>&1; true")


def test_a_program_that_feeds_the_watchdog_is_watched(kernel: Variant) -> None:
    """It counts in seconds, and the kernel tells the VMM in between that it lives.

    With several CPUs time is the host's, so the VMM has more patience. A first vCPU that has done
    nothing for so long has no event left in the report.
    """
    limit = {ONE: 300, SEVERAL: 3000}[kernel]
    more = f'watchdog_ms = {limit}\non_fault = "restart"'
    with Boot.start(describe_complete(f"{kernel}-watchdog", kernel, more)) as machine:
        machine.wait_for_shell()
        machine.shell("watchdog -T 3 -t 1 /dev/watchdog; sleep 6")
        machine.kernel_is_sane()
        machine.send("linux", "killall -STOP watchdog\n")
        if kernel == ONE:
            assert machine.stop_report("linux") == f"no sign of life for {limit} ms"
        else:
            machine.expect(
                "vmm", rf"^guest linux stopped: no sign of life for {limit} ms\n", PATIENCE
            )
        machine.wait_for_next_shell()


def test_the_rtos_has_missed_nothing(machine: Boot, kernel: Variant) -> None:
    with machine.rtos_undisturbed() if kernel == ONE else nullcontext():
        machine.shell("ls -lR /sys >/dev/null")
    machine.next_latency()
    machine.kernel_is_sane()
