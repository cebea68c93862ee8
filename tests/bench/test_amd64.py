# SPDX-License-Identifier: Apache-2.0
"""The 64-bit systems: how they are made, and a null system call measured in each."""

import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import UserError
from gandalf.bench import amd64 as bench_amd64
from gandalf.bench import amd64_driver as bench_amd64_driver
from gandalf.bench import bench as benching
from gandalf.bench import workload as bench_workload
from gandalf.bench.amd64 import NATIVE, XEN, Parts, qemu_options
from gandalf.bench.amd64_names import Names
from gandalf.bench.amd64_target import Amd64, Clock
from gandalf.bench.results import Result
from gandalf.bench.target import Run
from gandalf.bench.workload import WORK
from gandalf.guests import debian
from gandalf.measure.measurement import Measurement


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""


# --- Packages ---


def test_the_lock_pins_a_kernel_a_hypervisor_and_the_root_file_system() -> None:
    packages = debian.read_lock(bench_amd64.LOCK)
    names = {group: {entry.name for entry in packages if entry.group == group}
             for group in ("kernel", "xen", "headers", "rootfs")}  # fmt: skip
    assert names["xen"] == {bench_amd64.XEN_PACKAGE}
    assert names["rootfs"] == {*bench_amd64.PROGRAMS, *bench_amd64.LIBRARIES}
    (kernel,) = names["kernel"]
    assert kernel.startswith("linux-image-6.1.")
    assert names["headers"] == set(bench_amd64.header_packages(kernel))
    assert {entry.architecture for entry in packages} == {"amd64", "all"}
    # A module is for one version of the kernel.
    versions = {entry.version for entry in packages if entry.group in ("kernel", "headers")}
    assert len(versions) == 1


def test_a_package_that_is_gone_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names this lock and the command that writes it, not the guest's."""
    monkeypatch.setattr(bench_amd64, "OUTPUT", tmp_path / "output")
    monkeypatch.setattr(bench_amd64, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(debian, "mirrors", lambda: ["http://mirror.test/debian"])
    monkeypatch.setattr(debian, "_run_helper", lambda *_: "Err:1 ... 404  Not Found")
    sentence = r"no longer has .*gandalf\.bench\.amd64 update-lock.*bench/amd64/packages\.lock"
    with pytest.raises(UserError, match=sentence):
        bench_amd64.build(XEN, {}, quiet)
    # Nothing is left that looks like a result.
    with pytest.raises(UserError, match=sentence):
        bench_amd64.build(XEN, {}, quiet)


def test_a_package_without_the_file_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = tmp_path / "package" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text("Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n")
    archive = tmp_path / "x.deb"
    command = ["dpkg-deb", "--build", str(control.parents[1]), str(archive)]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setattr(bench_amd64, "OUTPUT", tmp_path / "output")
    monkeypatch.setattr(debian, "fetch", lambda *_: [archive])
    with pytest.raises(UserError, match=r"x\.deb has no file"):
        bench_amd64.build_kernel(quiet)


def test_a_library_that_no_package_has_is_a_sentence(tmp_path: Path) -> None:
    source, program = tmp_path / "main.c", tmp_path / "program"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", str(source), "-o", str(program)], check=True)
    with pytest.raises(UserError, match=r"No pinned package has libc\.so\.6: add its package"):
        bench_amd64._libraries([program], tmp_path)


@pytest.mark.long
def test_a_driver_that_does_not_build_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing but its operation is missing for it."""
    broken = tmp_path / bench_amd64_driver.SOURCE.name
    broken.write_text("#include <linux/no_such_header.h>\n")
    monkeypatch.setattr(bench_amd64_driver, "SOURCE", broken)
    monkeypatch.setattr(bench_amd64_driver, "OUTPUT", tmp_path)
    monkeypatch.setattr(benching, "FOLDER", tmp_path)
    plan = benching.Plan((NATIVE,), bench_workload.SLEEPING)
    (missing,) = benching.bench(plan, [Clock(NATIVE)], quiet).absent
    assert (missing.system, missing.operation) == (NATIVE, "rtc_latency")
    assert "does not build for Debian's kernel" in missing.reason
    assert "no_such_header.h" in missing.reason


# --- Symbols ---

SYMBOLS = Names(
    "ffff82d040200000 T _stext\nffff82d040200000 T _start\n"
    "ffff82d040201930 t page_fault\nffff82d040201980 t file.c#local\n"
)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (0xFFFF_82D0_4020_0000, ("_start", 0)),
        (0xFFFF_82D0_4020_1934, ("page_fault", 4)),
        (0xFFFF_82D0_4020_1980, ("file.c#local", 0)),
        (0xFFFF_82D0_401F_FFFF, None),
        (0xFFFF_82D0_7FFF_E000, None),
    ],
)
def test_the_function_at_an_address(address: int, found: tuple[str, int] | None) -> None:
    assert SYMBOLS.find(address) == found


# --- Machines ---


def test_both_have_the_same_command_line_and_memory(tmp_path: Path) -> None:
    kernel, rootfs = tmp_path / "a, b", tmp_path / "rootfs"
    native = qemu_options(Parts(kernel, rootfs), tmp_path, ())
    xen = qemu_options(Parts(kernel, rootfs, tmp_path / "xen"), tmp_path, ())
    line = " ".join(bench_amd64.KERNEL_OPTIONS)
    assert f"console=ttyS0 {line}" in native.arguments
    modules = xen.arguments[xen.arguments.index("-initrd") + 1]
    # Only the separators of QEMU's list: the path's own comma and spaces are not in it.
    assert modules == f"{tmp_path}/vmlinuz console=hvc0 {line},{tmp_path}/initramfs"
    assert (tmp_path / "vmlinuz").readlink() == kernel
    assert f"dom0_mem={native.memory}M,max:{native.memory}M" in xen.arguments[-1]
    assert xen.memory == native.memory + bench_amd64.XEN_MEGABYTES


def measure(name: str) -> Run:
    (work,) = (part for part in WORK if part.operation == "syscall")
    return Amd64(name).run((work,), quiet)


@pytest.fixture(scope="module")
def native() -> Run:
    return measure(NATIVE)


@pytest.fixture(scope="module")
def xen() -> Run:
    return measure(XEN)


def per_call(run: Run, value: str) -> float:
    """Return an event or a sum per system call, of the difference of the two brackets."""
    few, many = run.measurements
    calls = run.output.brackets[1].operations - run.output.brackets[0].operations

    def of(measurement: Measurement) -> int:
        if value in measurement.events:
            return sum(measurement.events[value])
        whole = getattr(measurement, value)
        assert isinstance(whole, int)
        return whole

    return (of(many) - of(few)) / calls


@pytest.mark.long
def test_the_native_system_call_is_the_same_from_inside_and_outside(native: Run) -> None:
    (_, sample) = native.output.samples
    assert sample.minimum == sample.median == sample.maximum == per_call(native, "instructions")
    assert per_call(native, "entries") == per_call(native, "syscall") == 1
    assert per_call(native, "sysret") == 1
    assert per_call(native, "swapgs") == 2
    assert per_call(native, "cr3_load") == 0
    entered = {native.entry_name(entry.linear) for entry in native.measurements[1].handlers}
    assert "entry_SYSCALL_64" in entered


@pytest.mark.long
def test_a_system_call_on_xen_goes_in_and_out_twice(native: Run, xen: Run) -> None:
    """To Xen and its guest's kernel, and back by a hypercall; with an address space each time.

    A timer interrupt may be in the longer bracket.
    """
    assert per_call(xen, "entries") == pytest.approx(2, abs=0.05)
    assert per_call(xen, "cr3_load") == pytest.approx(2, abs=0.05)
    assert xen.output.samples[1].median > 2 * native.output.samples[1].median
    calls = xen.output.brackets[1].operations
    guests, processes = zip(
        *((entry.from_guest, entry.stays - entry.from_guest)
          for entry in xen.measurements[1].handlers if entry.from_guest > calls / 2),
        strict=True,
    )  # fmt: skip
    assert sum(guests) == pytest.approx(calls, rel=0.05)
    assert sum(processes) == pytest.approx(calls, rel=0.05)


def clocks(folder: Path, *targets: Clock) -> list[Result]:
    """Have the driver of our own kernels, loaded into Debian's, wait for interrupts of the clock.

    Each period has one, which is a physical one on Xen, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benching, "FOLDER", folder)
        plan = benching.Plan(operations=bench_workload.SLEEPING)
        found = benching.bench(plan, list(targets), quiet)
    assert not found.absent
    for row in found.results:
        assert row.samples == 500
        assert row.events["interrupts"] >= 1
    return found.results


@pytest.mark.long
def test_an_interrupt_of_the_clock_reaches_a_process(tmp_path: Path) -> None:
    clocks(tmp_path, Clock(NATIVE))


@pytest.mark.long
def test_an_interrupt_of_the_clock_goes_through_xen(tmp_path: Path) -> None:
    native, xen = clocks(tmp_path, Clock(NATIVE), Clock(XEN, NATIVE))
    assert xen.events["vmm_entries"] > native.events["ring_0_entries"]
    assert xen.ratio is not None
    assert xen.ratio > 1
