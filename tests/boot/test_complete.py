# SPDX-License-Identifier: Apache-2.0
"""The kernels `complete` and `complete-smp` have what programs of a distribution expect.

All of it works, with one vCPU and with two. The RTOS beside the first misses nothing meanwhile.
That beside the other is at work: CPUs of QEMU's are threads of the host, whose time says nothing.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from gandalf.base.paths import BUILD, ROOT
from gandalf.guests.kernel_configuration import read_configuration
from gandalf.guests.modules import build_modules
from gandalf.guests.places import Places, Variant
from gandalf.run import copying

from .images import CONTENT, JOURNALLED, SQUASHED, images
from .systems import DEMO, PATIENCE, PROMPT, WHOLE, Boot, describe, linux
from .test_cores import describe_cores, on
from .workload import build_initrd_with

ONE, SEVERAL = "complete", "complete-smp"
CPUS = {ONE: 1, SEVERAL: 2}
TEXT = "what was written"
MODULE = ROOT / "guest" / "tests" / "module"
# Each makes a file system in a file of 8 MiB.
MADE = {"ext2": "mke2fs -F", "ext4": "mke2fs -F", "vfat": "mkdosfs"}
DIGEST = hashlib.sha256(CONTENT.read_bytes()).hexdigest()
# Programs of tests/boot/workload.
PROGRAMS = ("attributes", "fuse", "packet", "tun")
# System calls that stress-ng looks at; it says so if the kernel lacks one.
STRESSORS = ("seccomp", "io-uring", "userfaultfd", "fanotify", "unshare")
SMALL = "--userfaultfd-bytes 8M"


def describe_complete(name: str, kernel: str, more: str = "", initrd: str = WHOLE) -> Path:
    """Describe a Linux with one of the kernels, and the demo beside it."""
    guest = linux(kernel=f"build/linux/{kernel}/vmlinux", initrd=initrd, more=more)
    if kernel == ONE:
        return describe(name, guest, DEMO)
    guest = guest.replace("[[guest]]\n", f"[[guest]]\ncpus = {list(range(CPUS[kernel]))}\n", 1)
    return describe_cores(name, CPUS[kernel], guest, on(0, DEMO))


@pytest.fixture(scope="module", params=CPUS)
def kernel(request: pytest.FixtureRequest) -> Variant:
    found: Variant = request.param
    return found


@pytest.fixture(scope="module")
def initrd() -> str:
    """Return the root file system with programs of ours, and file systems to mount."""
    return build_initrd_with(*PROGRAMS, whole=True, more=images())


@pytest.fixture(scope="module")
def machine(kernel: Variant, initrd: str) -> Iterator[Boot]:
    with Boot.start(describe_complete(kernel, kernel, initrd=initrd)) as started:
        started.wait_for_shell()
        started.shell("mkdir -p /mnt/a /mnt/b")
        yield started


def test_it_has_all_cpus(machine: Boot, kernel: Variant) -> None:
    assert int(machine.shell("grep -c ^processor /proc/cpuinfo")) == CPUS[kernel]


def test_every_line_of_the_fragments_is_in_its_configuration(
    machine: Boot, kernel: Variant
) -> None:
    text = machine.shell("zcat /proc/config.gz")
    found = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", text, re.M))
    wanted: dict[str, str] = {}
    for fragment in Places(ROOT).fragments(kernel):
        wanted |= read_configuration(fragment)
    assert len(wanted) > 150
    assert not {name for name, value in wanted.items() if found.get(name, "n") != value}


@pytest.mark.parametrize("kind", MADE)
def test_a_file_system_in_a_file_keeps_what_is_written(machine: Boot, kind: str) -> None:
    machine.shell(f"head -c 8388608 /dev/zero > /tmp/image; {MADE[kind]} /tmp/image"
                  f" >/dev/null && mount -t {kind} -o loop /tmp/image /mnt/a")  # fmt: skip
    machine.shell(f"echo {TEXT} > /mnt/a/file && umount /mnt/a")
    assert TEXT in machine.shell(f"mount -t {kind} -o loop /tmp/image /mnt/a && cat /mnt/a/file")
    machine.shell("umount /mnt/a && rm /tmp/image")
    machine.kernel_is_sane()


@pytest.mark.parametrize("kind", JOURNALLED)
def test_a_file_system_with_a_journal_keeps_what_is_written(machine: Boot, kind: str) -> None:
    mount = f"mount -t {kind} -o loop /tmp/image /mnt/a"
    machine.shell(f"zcat /images/{kind}.gz > /tmp/image && {mount}")
    machine.shell(f"cp /mnt/a/{CONTENT.name} /mnt/a/copy && umount /mnt/a && {mount}")
    assert f"/mnt/a {kind} rw" in machine.shell("cat /proc/mounts")
    for name in (CONTENT.name, "copy"):
        assert machine.shell(f"sha256sum < /mnt/a/{name}").split()[0] == DIGEST
    machine.shell("umount /mnt/a && rm /tmp/image")
    machine.kernel_is_sane()


@pytest.mark.parametrize("way", SQUASHED)
def test_a_squashfs_has_what_was_packed(machine: Boot, way: str) -> None:
    machine.shell(f"mount -t squashfs -o loop /images/{way} /mnt/a")
    assert machine.shell(f"sha256sum < /mnt/a/{CONTENT.name}").split()[0] == DIGEST
    machine.shell("umount /mnt/a")


def test_a_process_is_a_file_system(machine: Boot) -> None:
    machine.shell("fuse /mnt/a")
    assert "fuse" in machine.shell("grep /mnt/a /proc/mounts")
    written = f"echo {TEXT} > /mnt/a/file && echo more >> /mnt/a/file && cat /mnt/a/file"
    assert machine.shell(written) == f"{TEXT}\nmore\n"
    assert "No such file" in machine.shell("cat /mnt/a/other 2>&1; true")
    machine.shell("umount /mnt/a && until ! pidof fuse; do sleep 0.1; done")


def test_a_file_in_memory_has_attributes_and_an_access_list(machine: Boot) -> None:
    machine.shell("mount -t tmpfs none /mnt/a && cd /mnt/a && touch listed other && "
                  "chmod 600 listed other")  # fmt: skip
    assert machine.shell("attributes listed other") == "attributes: ok\n"
    machine.shell("cd /; umount /mnt/a")


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


def test_equal_pages_become_one(machine: Boot) -> None:
    """The program writes the same into all of its pages, and then keeps them."""
    machine.shell("cd /sys/kernel/mm/ksm && echo 10000 > pages_to_scan && echo 1 > run")
    machine.shell("(stress-ng --vm 1 --vm-bytes 8M --vm-method zero-one --vm-madvise mergeable "
                  "--vm-hang 0 --timeout 0 >/dev/null 2>&1 &)")  # fmt: skip
    machine.shell("until [ $(cat pages_sharing) -gt 1000 ]; do sleep 0.1; done")
    machine.shell("echo 2 > run; cat pages_shared; killall -KILL stress-ng; cd /")
    machine.kernel_is_sane()


def test_both_internet_protocols_reach_the_machine_itself(machine: Boot) -> None:
    machine.shell("ip link set lo up")
    for ping in ("ping -c 2 127.0.0.1", "ping6 -c 2 ::1"):
        assert "2 packets received" in machine.shell(ping)


def test_containers_reach_each_other(machine: Boot) -> None:
    """Two network namespaces have an end each of a pair of interfaces."""
    machine.shell("ip link add type veth && { unshare -n sleep 1000 & pid=$!; }")
    machine.shell("until [ $(readlink /proc/$pid/ns/net) != $(readlink /proc/self/ns/net) ]; do "
                  "sleep 0.1; done; ip link set veth1 netns $pid")  # fmt: skip
    machine.shell("ip addr add 10.8.0.1/24 dev veth0 && ip link set veth0 up")
    inside = "nsenter --net=/proc/$pid/ns/net"
    machine.shell(f"{inside} ip addr add 10.8.0.2/24 dev veth1 && {inside} ip link set veth1 up")
    assert "2 packets received" in machine.shell("ping -c 2 10.8.0.2")
    assert "2 packets received" in machine.shell(f"{inside} ping -c 2 10.8.0.1")
    assert "lo" not in machine.shell(f"{inside} ip -o link show up")
    machine.shell("kill $pid; ip link del veth0; unset pid")
    machine.kernel_is_sane()


def test_a_process_is_a_network(machine: Boot) -> None:
    machine.shell("tun && ip addr add 10.9.0.1/24 dev tun0 && ip link set tun0 up")
    assert "2 packets received" in machine.shell("ping -c 2 10.9.0.2")
    machine.shell("killall tun; until ! ip link show tun0 2>/dev/null; do sleep 0.1; done")


def test_a_frame_comes_back(machine: Boot) -> None:
    machine.shell("ip link set lo up")
    assert machine.shell("packet") == "packet: ok\n"


def test_developers_look_into_the_kernel(machine: Boot) -> None:
    """It is in no place until it is mounted."""
    assert machine.shell("ls /sys/kernel/debug") == ""
    machine.shell("mount -t debugfs none /mnt/a && [ -e /mnt/a/gup_test ] && umount /mnt/a")


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
    assert {"nfs", "nfs4", "hugetlbfs"} <= set(known)


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
