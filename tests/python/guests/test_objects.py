# SPDX-License-Identifier: Apache-2.0
"""Objects of a kernel with which another one begins: which of them stay, and what is said of them.

That the other one is the same, byte for byte, as if all of it had been compiled takes minutes.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from gandalf.base.paths import ROOT
from gandalf.guests import kernel as linux_kernel
from gandalf.guests.objects import Side, begin_with_objects, uses_header
from gandalf.guests.places import KERNEL_FILES, Places, Variant, is_stamped, write_stamp

PLACES = Places(ROOT)
# A call of each function of asm/gandalf.h.
CALLS = {
    "gandalf_irq_disable": "gandalf_irq_disable()",
    "gandalf_irq_enable": "gandalf_irq_enable()",
    "gandalf_read_cr2": "sink = gandalf_read_cr2()",
    "gandalf_update_tls": "gandalf_update_tls(memory, memory + 8, memory)",
    "gandalf_relax": "gandalf_relax(&sink)",
    "gandalf_flush": "gandalf_flush(sink, sink, sink)",
}
FLAG = 'asm volatile("pushl " GANDALF_FLAG " ; popl %0" : "=m" (sink))'
NOTHING = "sink = 0xfc << 16 | 0x1ecd0000"


def source_tree(folder: Path) -> Path:
    """Make as much of a patched source as its header needs, and return the header."""
    header = folder / linux_kernel.HEADER_FILE
    header.parent.mkdir(parents=True)
    shutil.copy(PLACES.header, header)
    drivers = folder / "drivers" / "misc" / "gandalf"
    drivers.mkdir(parents=True)
    for name in ("gandalf.h", "apic.h"):
        shutil.copy(PLACES.abi / name, drivers)
    return header


def compile_with(header: Path, statement: str, output: Path) -> Path:
    output.parent.mkdir(parents=True, exist_ok=True)
    source = output.with_suffix(".c")
    source.write_text(
        f"unsigned int sink; char memory[64];\nvoid function(void) {{ {statement}; }}\n"
    )
    flags = ["-m32", "-O2", "-ffreestanding", "-fno-pic", "-include", str(header)]
    subprocess.run(["gcc", *flags, "-c", "-o", str(output), str(source)], check=True)
    return output


def test_every_function_of_the_header_leaves_its_trace(tmp_path: Path) -> None:
    header = source_tree(tmp_path)
    functions = re.findall(r"^GANDALF_INLINE .*\b(gandalf_\w+)\(", header.read_text(), re.M)
    assert set(functions) == CALLS.keys()
    for name, call in (*CALLS.items(), ("flag", FLAG)):
        assert uses_header(compile_with(header, call, tmp_path / f"{name}.o")), name
    assert not uses_header(compile_with(header, NOTHING, tmp_path / "nothing.o"))


def command(source: Path, header: Path) -> str:
    """Return what the kernel's makefiles keep of an object."""
    return (
        f"cmd_fork.o := gcc -I{source}/include -include {header} -c -o fork.o {source}/fork.c\n\n"
        f"deps_fork.o := \\\n    $(wildcard include/config/SMP) \\\n"
        f"  {header} \\\n"
        f"  {header.parent}/../../../../drivers/misc/gandalf/apic.h \\\n"
        f"  {source}/include/linux/fork.h \\\n"
    )


@pytest.mark.parametrize("target", ["native", "dedicated"])
def test_what_is_the_same_stays_and_the_rest_goes(tmp_path: Path, target: str) -> None:
    origin, source = tmp_path / "patched", tmp_path / "source" / "patched"
    header = source_tree(source)
    compile_with(header, CALLS["gandalf_read_cr2"], origin / "mm" / "fault.o")
    compile_with(header, NOTHING, origin / "mm" / "tlb.o")
    compile_with(header, NOTHING, origin / "kernel" / "fork.o")
    (origin / "kernel" / ".fork.o.cmd").write_text(command(source, header))
    (origin / "source").symlink_to(source)
    os.utime(origin / "kernel" / "fork.o", (1, 1))
    write_stamp(origin, "made")

    other = source.with_name(target)
    own = None if target == "native" else other / linux_kernel.HEADER_FILE
    begin_with_objects(
        Side(origin, source, header), Side(tmp_path / target, other, own),
        ["mm/tlb.c", "arch/x86/include/asm/desc.h"],
    )  # fmt: skip
    (fork,) = (tmp_path / target).rglob("*.o")
    assert fork.name == "fork.o"
    assert fork.stat().st_mtime >= header.stat().st_mtime
    kept = (tmp_path / target / "kernel" / ".fork.o.cmd").read_text()
    assert "patched" not in kept
    assert kept.startswith(f"cmd_fork.o := gcc -I{other}/include -")
    assert (" -include " in kept) == (own is not None)
    assert ("gandalf.h" in kept) == ("apic.h" in kept) == (own is not None)
    assert f"  {other}/include/linux/fork.h \\\n" in kept
    assert is_stamped(origin, "made")
    assert not is_stamped(tmp_path / target, "made")


def test_of_the_same_source_all_stay(tmp_path: Path) -> None:
    """What differs then is the configuration, which the kernel's makefiles follow."""
    origin, source = tmp_path / "patched", tmp_path / "source"
    header = source_tree(source)
    compile_with(header, CALLS["gandalf_flush"], origin / "tlb.o")
    write_stamp(origin, "made")
    begin_with_objects(
        Side(origin, source, header), Side(tmp_path / "complete", source, header), ["tlb.c"]
    )
    assert (tmp_path / "complete" / "tlb.o").read_bytes() == (origin / "tlb.o").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("variant", ["native", "dedicated", "smp-native"])
def test_a_kernel_that_begins_with_objects_is_the_one_compiled_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: Variant
) -> None:
    assert variant in get_args(Variant)
    linux_kernel.build_kernel(linux_kernel.ORIGINS[variant], ROOT, print)
    for name in ("guest", "abi"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "cache").symlink_to(PLACES.cache)
    derived = linux_kernel.build_kernel(variant, ROOT, print)
    whole_count = KERNEL_FILES["patched"]
    assert (derived.parent / "build.log").read_text().count("  CC ") < whole_count / 2
    monkeypatch.setattr(linux_kernel, "ORIGINS", {})
    whole = linux_kernel.build_kernel(variant, tmp_path, print)
    for name in ("vmlinux", "arch/x86/boot/bzImage"):
        assert (derived.parent / name).read_bytes() == (whole.parent / name).read_bytes(), name
