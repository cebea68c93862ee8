# SPDX-License-Identifier: Apache-2.0
"""The builder of the Linux guest, as far as it can be tested without network and compiler."""

import gzip
import hashlib
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from elftools.elf.elffile import ELFFile
from unidiff.patch import PatchSet

from gandalf.base.paths import ROOT, UserError
from gandalf.guests import debian, kernel_configuration, kernel_debug, selftests
from gandalf.guests import kernel as linux_kernel
from gandalf.guests import linux as guest_linux
from gandalf.guests import places as linux_places
from gandalf.guests import rootfs as linux_rootfs
from gandalf.guests.debian import Package
from gandalf.guests.places import Places

PLACES = Places(ROOT)
INTERFACE = ROOT / "abi" / "gandalf.h"
# The lines and files that each patch changes.
CHANGES = {PLACES.patch: (6, 4), PLACES.smp_patch: (7, 5)}
# What Linux's own check of patches allows.
PATCH_COLUMNS = 100


def abi_numbers() -> dict[str, int]:
    """Return the plain numbers of the guests' interface."""
    found = re.findall(
        r"^#define (\w+) (0x[0-9a-fA-F]+|\d+)\b", INTERFACE.read_text(encoding="utf-8"), re.M
    )
    return {name: int(value, 0) for name, value in found}


def added_lines(path: Path) -> dict[str, list[str]]:
    """Return what a patch adds, by the last part of the file's name."""
    patch = PatchSet(path.read_text(encoding="utf-8"))
    return {
        Path(file.path).name: [line.value for hunk in file for line in hunk if line.is_added]
        for file in patch
    }


def package(**changes: object) -> Package:
    """Return a package with some fields changed."""
    fields: dict[str, object] = {
        "group": "rootfs",
        "name": "hello",
        "version": "1:2.0-1",
        "architecture": "i386",
        "path": "pool/main/h/hello/hello_2.0-1_i386.deb",
        "size": 5,
        "sha256": hashlib.sha256(b"hello").hexdigest(),
    }
    return Package(**(fields | changes))  # type: ignore[arg-type]


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""


# The patches


@pytest.fixture(params=CHANGES, ids=lambda path: path.stem)
def patch(request: pytest.FixtureRequest) -> Path:
    """Return the path of each patch."""
    path = request.param
    assert isinstance(path, Path)
    return path


def test_patch_keeps_to_its_budget(patch: Path) -> None:
    files = PatchSet(patch.read_text(encoding="utf-8"))
    assert not files.added_files
    assert not files.removed_files
    assert (sum(max(file.added, file.removed) for file in files), len(files)) == CHANGES[patch]


def test_patch_is_readable(patch: Path) -> None:
    """No two statements in a line, no assembler statement, and no number that has a name."""
    for lines in added_lines(patch).values():
        for line in lines:
            assert len(line.rstrip("\n").expandtabs(8)) <= PATCH_COLUMNS, line
            assert line.count(";") <= 1, line
            assert not re.search(r"\basm\b|__asm__|\b0x|\b\d\d", line), line


def test_patch_calls_what_the_header_has(patch: Path) -> None:
    lines = {name: [line.strip() for line in lines] for name, lines in added_lines(patch).items()}
    save, *rest = lines.pop("irqflags.h")
    assert save == '"pushl " GANDALF_FLAG " ; pop %0"'
    assert rest == ["gandalf_irq_disable();", "gandalf_irq_enable();"]
    wanted = {
        "desc.h": ["gandalf_update_tls"],
        "special_insns.h": ["gandalf_read_cr2"],
        "tlb.c": ["gandalf_flush"],
    }
    if patch == PLACES.smp_patch:
        wanted["tlbflush.h"] = ["gandalf_flush"]
    assert {name: re.findall(r"gandalf_\w+", "".join(lines[name])) for name in lines} == wanted


def test_several_cpus_change_what_one_does_but_for_the_flushes() -> None:
    """There are others to be told, so flush_tlb_mm_range() must not return."""
    one, several = added_lines(PLACES.patch), added_lines(PLACES.smp_patch)
    assert "tlbflush.h" not in one
    assert len(several.pop("tlbflush.h")) == 1
    assert [line.replace("return ", "") for line in one.pop("tlb.c")] == several.pop("tlb.c")
    assert one == several


# What each of the header's functions and strings becomes, as the interface's numbers have it.
HEADER_USES = {
    "unsigned long save(void)"
    ' { unsigned long x; asm("pushl " GANDALF_FLAG " ; pop %0" : "=r" (x)); return x; }': [
        "push 0x{GANDALF_SHARED_PAGE:x}",
        "pop %eax",
    ],
    "void disable(void) { gandalf_irq_disable(); }": ["movl $0x0,0x{GANDALF_SHARED_PAGE:x}"],
    "void enable(void) { gandalf_irq_enable(); }": [
        "movl $0x{GANDALF_INTERRUPT_FLAG:x},0x{GANDALF_SHARED_ALIAS:x}"
    ],
    "unsigned long cr2(void) { return gandalf_read_cr2(); }": ["mov 0x{cr2:x},%eax"],
    "void flush(unsigned long a, unsigned long b, unsigned long c) { gandalf_flush(a, b, c); }": [
        "mov $0x{GANDALF_HYPERCALL_FLUSH:x},%eax",
        "int $0x{GANDALF_HYPERCALL_VECTOR:x}",
    ],
    "void tls(const void *a, const void *b, const void *c) { gandalf_update_tls(a, b, c); }": [
        "mov $0x{GANDALF_HYPERCALL_LOAD_TLS:x},%eax",
        "int $0x{GANDALF_HYPERCALL_VECTOR:x}",
    ],
}


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the header in a source that has the interface."""
    source = small_tree(tmp_path_factory.mktemp("source"))
    linux_kernel._add_drivers(PLACES, source)
    path = source / linux_kernel.HEADER_FILE
    path.parent.mkdir(parents=True)
    linux_kernel._update_file(path, PLACES.header.read_bytes())
    return path


def compile_with_header(header: Path, text: str, *options: str) -> Path:
    """Compile a file as Linux tries an option: with the header, without folders of others."""
    output = header.with_name("use.o")
    flags = ["-m32", "-O2", "-mregparm=3", "-ffreestanding", "-nostdinc", "-fno-pic", "-Werror"]
    files = ["-include", str(header), "-x", "c", "-", "-c", "-o", str(output)]
    subprocess.run(
        ["gcc", *flags, *options, *files],
        input=text.encode(),
        check=True,
    )
    return output


@pytest.mark.parametrize("use", HEADER_USES)
def test_header_has_the_numbers_of_the_interface(header: Path, use: str) -> None:
    interface = INTERFACE.read_text(encoding="utf-8")
    structure = interface[interface.index("struct gandalf_shared {") :]
    fields = re.findall(r"^\tuint32_t (\w+);", structure, re.M)
    numbers = abi_numbers()
    numbers["cr2"] = numbers["GANDALF_SHARED_PAGE"] + 4 * fields.index("cr2")
    dump = subprocess.run(
        ["objdump", "--disassemble", "--no-show-raw-insn", str(compile_with_header(header, use))],
        capture_output=True,
        text=True,
        check=True,
    )
    instructions = [
        " ".join(line.split()[1:]).replace("pushl", "push") for line in dump.stdout.splitlines()
    ]
    for wanted in HEADER_USES[use]:
        assert wanted.format(**numbers) in instructions, dump.stdout


def test_header_leaves_the_interface_to_be_included(header: Path, tmp_path: Path) -> None:
    """A driver gets the structures, which the header cannot have yet."""
    source = header.parents[len(Path(linux_kernel.HEADER_FILE).parts) - 1]
    types = "".join(f"typedef __UINT{bits}_TYPE__ uint{bits}_t;\n" for bits in (8, 16, 32, 64))
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux" / "types.h").write_text(types, encoding="utf-8")
    text = '#include "gandalf.h"\nstruct gandalf_shared shared;\n'
    folders = [f"-I{source / 'drivers' / 'misc' / 'gandalf'}", f"-I{tmp_path}"]
    compile_with_header(header, text, *folders)


def test_an_assembly_file_gets_nothing_from_the_header(header: Path) -> None:
    result = subprocess.run(
        ["gcc", "-E", "-P", "-include", str(header), "-x", "assembler-with-cpp", "-"],
        input=b"nop ; GANDALF_FLAG\n",
        capture_output=True,
        check=True,
    )
    assert result.stdout.split(b"\n") == [b"nop ; GANDALF_FLAG", b""]


@pytest.mark.parametrize("variant", get_args(linux_places.Variant))
def test_only_patched_kernels_are_compiled_with_the_header(variant: linux_places.Variant) -> None:
    side = linux_kernel.side_of(variant, PLACES)
    variables = list(linux_kernel.make_variables(variant, side))
    option = f"KCPPFLAGS=-include {side.source}/arch/x86/include/asm/gandalf.h"
    assert (option in variables) == (side.header is not None)
    assert (side.header is None) == (variant == "native" or variant.endswith("-native"))
    assert ("GANDALF_ATTACK=y" in variables) == (variant == "attack")
    assert ("GANDALF_SMP=y" in variables) == (variant in ("smp", "complete-smp"))


def test_debug_information_is_beside_what_it_is_of(tmp_path: Path) -> None:
    """What is loaded stays as it is, and gdb finds the rest by a name and a checksum."""
    image = tmp_path / "vmlinux"
    source = b"int known; int main(void) { return known; }"
    command = ["gcc", "-g", "-x", "c", "-o", str(image), "-"]
    subprocess.run(command, input=source, check=True)
    before = _sections(image)
    kernel_debug.split_debug(image)
    after = _sections(image)
    assert ".debug_info" in before
    assert not any(name.startswith(".debug") for name in after)
    assert after[".text"] == before[".text"]
    assert ".gnu_debuglink" in after
    assert ".debug_info" in _sections(tmp_path / "vmlinux.debug")
    shown = subprocess.run(
        ["gdb", "-batch", "-nx", "-ex", "info scope main", "-ex", "whatis known", str(image)],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert "type = int" in shown
    # It must be linked again before: there is nothing left.
    with pytest.raises(UserError, match="has no debug information"):
        kernel_debug.split_debug(image)
    assert ".debug_info" in _sections(tmp_path / "vmlinux.debug")


def test_what_is_no_kernel_has_no_debug_information(tmp_path: Path) -> None:
    image = tmp_path / "vmlinux"
    image.write_text("no ELF file")
    with pytest.raises(UserError, match="has no debug information"):
        kernel_debug.split_debug(image)


def _sections(path: Path) -> dict[str, bytes]:
    with path.open("rb") as stream:
        return {section.name: section.data() for section in ELFFile(stream).iter_sections()}


def test_a_dedicated_cpu_leaves_the_interrupt_flag_alone() -> None:
    """What is left of the patch is the rest of it, line by line."""
    whole = PatchSet(PLACES.patch.read_text(encoding="utf-8"))
    part = PatchSet(linux_kernel.read_patch(PLACES.patch, "dedicated").decode())
    assert [file.path for file in whole if file.path not in {kept.path for kept in part}] == [
        "arch/x86/include/asm/irqflags.h"
    ]
    assert [str(file) for file in part] == [
        str(file) for file in whole if file.path != linux_kernel.FLAG_FILE
    ]
    assert linux_kernel.read_patch(PLACES.patch, "patched") == PLACES.patch.read_bytes()
    assert linux_kernel.read_patch(PLACES.smp_patch, "smp") == PLACES.smp_patch.read_bytes()


# The configuration


@pytest.mark.parametrize("fragment", PLACES.fragments("complete-smp"), ids=lambda path: path.stem)
def test_fragment_says_each_option_once(fragment: Path) -> None:
    text = fragment.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "CONFIG_" in line]
    assert len(kernel_configuration.read_configuration(fragment)) == len(lines)


@pytest.mark.parametrize("variant", get_args(linux_places.Variant))
def test_only_kernels_for_several_cpus_have_smp(variant: linux_places.Variant) -> None:
    options: dict[str, str] = {}
    for fragment in PLACES.fragments(variant):
        options |= kernel_configuration.read_configuration(fragment)
    assert options["CONFIG_SMP"] == ("y" if "smp" in variant else "n")


@pytest.mark.parametrize(
    "option",
    ["SMP", "X86_PAE", "MODULES", "VMAP_STACK", "PAGE_TABLE_ISOLATION", "X86_16BIT", "JUMP_LABEL"],
)
def test_fragment_leaves_out_what_ring_1_cannot_have(option: str) -> None:
    assert kernel_configuration.read_configuration(PLACES.fragment)[f"CONFIG_{option}"] == "n"


@pytest.mark.parametrize(
    ("configuration", "lost"),
    [
        ("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=5\n", []),
        ("CONFIG_A=y\nCONFIG_C=5\nCONFIG_D=y\n", []),
        ("CONFIG_A=m\nCONFIG_C=5\n", ["CONFIG_A"]),
        ("CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=5\n", ["CONFIG_B"]),
        ("CONFIG_B=y\n", ["CONFIG_A", "CONFIG_B", "CONFIG_C"]),
    ],
)
def test_lost_options_are_named(tmp_path: Path, configuration: str, lost: list[str]) -> None:
    fragment = tmp_path / "config.fragment"
    fragment.write_text("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=5\n", encoding="utf-8")
    actual = tmp_path / ".config"
    actual.write_text(configuration, encoding="utf-8")
    if not lost:
        kernel_configuration.check_configuration([fragment], actual)
        return
    with pytest.raises(UserError) as error:
        kernel_configuration.check_configuration([fragment], actual)
    assert re.findall(r"CONFIG_\w", str(error.value)) == lost


@pytest.mark.parametrize(
    ("configuration", "lost"), [("# CONFIG_B is not set", ["CONFIG_B"]), ("CONFIG_B=y", [])]
)
def test_the_last_fragment_wins(tmp_path: Path, configuration: str, lost: list[str]) -> None:
    fragments = [tmp_path / "first", tmp_path / "second"]
    texts = ["CONFIG_A=y\n# CONFIG_B is not set\n", "CONFIG_B=y\n"]
    for fragment, text in zip(fragments, texts, strict=True):
        fragment.write_text(text, encoding="utf-8")
    (tmp_path / ".config").write_text(f"CONFIG_A=y\n{configuration}\n", encoding="utf-8")
    if not lost:
        kernel_configuration.check_configuration(fragments, tmp_path / ".config")
        return
    with pytest.raises(UserError, match=r"first and \S+second: set what") as error:
        kernel_configuration.check_configuration(fragments, tmp_path / ".config")
    assert re.findall(r"CONFIG_\w", str(error.value)) == lost


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT is not set\n", True),
        ("CONFIG_PREEMPT_VOLUNTARY=y\n", True),
        ("CONFIG_PREEMPT=y\nCONFIG_PREEMPTION=y\n", False),
        ("CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_NONE=y\nCONFIG_PREEMPTION=y\n", False),
    ],
)
def test_no_kernel_is_preemptible(tmp_path: Path, text: str, right: bool) -> None:
    """Even if the fragment asks for it, and so loses no line."""
    (tmp_path / "config.fragment").write_text(text, encoding="utf-8")
    (tmp_path / ".config").write_text(text, encoding="utf-8")
    fragments = [tmp_path / "config.fragment"]
    if right:
        kernel_configuration.check_configuration(fragments, tmp_path / ".config")
        return
    with pytest.raises(UserError, match=r"would be preemptible .* set CONFIG_PREEMPT_NONE"):
        kernel_configuration.check_configuration(fragments, tmp_path / ".config")


# The lock


def test_lock_pins_one_kernel_and_every_package_of_the_root_file_system() -> None:
    packages = debian.read_lock(PLACES.lock)
    kernels = [entry.name for entry in packages if entry.group == "kernel"]
    rootfs = {entry.name for entry in packages if entry.group == "rootfs"}
    linked = [entry.name for entry in packages if entry.group == selftests.PACKAGES]
    assert kernels == [linux_kernel.KERNEL_PACKAGE]
    assert linked == list(guest_linux.SELFTEST_LIBRARIES)
    assert rootfs == {*linux_rootfs.ROOTFS_PROGRAMS, *guest_linux.ROOTFS_LIBRARIES}
    for entry in packages:
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.path.startswith("pool/")
        assert entry.size > 0


def test_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    packages = [package(), package(name="other", version="3")]
    debian.write_lock(tmp_path / "lock", packages, "One line\nand another")
    assert debian.read_lock(tmp_path / "lock") == packages


@pytest.mark.parametrize("text", ["[[package]\n", "", "[[package]]\nname = 'x'\n"])
def test_damaged_lock_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "lock").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"is not a list of packages .* restore it"):
        debian.read_lock(tmp_path / "lock")


def test_missing_lock_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is missing: restore it"):
        debian.read_lock(tmp_path / "lock")


# Mirrors and downloads


def test_mirrors_are_the_debian_ones() -> None:
    listing = (
        "'http://mirror.test/debian/dists/bookworm/InRelease' mirror.test_x 0\n"
        "'http://mirror.test/debian/dists/bookworm-updates/InRelease' mirror.test_y 0\n"
        "'http://other.test/tools/dists/stable/InRelease' other.test_z 0\n"
        "'http://mirror.test/debian-security/dists/bookworm-security/InRelease' mirror.test_s 0\n"
    )
    assert debian.parse_mirrors(listing) == [
        "http://mirror.test/debian",
        "http://mirror.test/debian-security",
    ]


def test_no_debian_mirror_is_one_sentence() -> None:
    with pytest.raises(UserError, match="knows no Debian mirror: add one"):
        debian.parse_mirrors("'http://other.test/tools/dists/stable/InRelease' other.test_z 0\n")


class Helper:
    """Stands in for apt's downloader: writes what the mirror has, says what apt would say."""

    def __init__(self, content: bytes | None, output: str) -> None:
        """Take the content of every file, None for no file, and apt's words."""
        self.content = content
        self.output = output
        self.calls = 0

    def __call__(self, _mirror: str, parts: dict[Package, Path], _log: debian.Log) -> str:
        """Download the parts."""
        self.calls += 1
        for part in parts.values():
            if self.content is not None:
                part.write_bytes(self.content)
        return self.output


def use_helper(monkeypatch: pytest.MonkeyPatch, helper: Helper) -> None:
    """Replace the downloader, and the mirrors by one."""
    monkeypatch.setattr(debian, "mirrors", lambda: ["http://mirror.test/debian"])
    monkeypatch.setattr(debian, "_run_helper", helper)


def test_fetched_packages_are_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = Helper(b"hello", "")
    use_helper(monkeypatch, helper)
    for _ in range(2):
        assert debian.fetch([package()], tmp_path, quiet) == [tmp_path / "hello_2.0-1_i386.deb"]
    assert helper.calls == 1
    assert [path.name for path in tmp_path.iterdir()] == ["hello_2.0-1_i386.deb"]


@pytest.mark.parametrize(
    ("content", "output", "sentence"),
    [
        (None, "Err:1 ... 404  Not Found", r"no longer has hello 1:2\.0-1: run .* update-lock"),
        (b"HELLO", "E: Hash Sum mismatch", r"does not have the pinned checksum"),
        (None, "E: Could not resolve 'mirror.test'", r"Could not resolve .* network connection"),
        (b"hell", "", r"apt gave no reason"),
    ],
)
def test_failed_download_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    output: str,
    sentence: str,
) -> None:
    use_helper(monkeypatch, Helper(content, output))
    with pytest.raises(UserError, match=sentence):
        debian.fetch([package()], tmp_path, quiet)
    assert list(tmp_path.iterdir()) == []


def test_archive_that_is_no_package_is_one_sentence(tmp_path: Path) -> None:
    archive = tmp_path / "broken.deb"
    archive.write_bytes(b"no archive")
    with pytest.raises(UserError, match="cannot be unpacked"):
        debian.unpack(archive, tmp_path / "out")


# The host


def test_missing_tools_are_named_by_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None if tool in ("xz", "bc") else "/bin/x")
    with pytest.raises(UserError, match=r"install bc, xz-utils \(Debian's names\)"):
        linux_places.require_tools(linux_kernel.KERNEL_TOOLS)


def test_too_small_a_disk_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"needs .* GB of disk .* make room"):
        linux_places.require_space(tmp_path, 10**18)


def test_source_that_is_no_package_is_one_sentence(tmp_path: Path) -> None:
    archive = tmp_path / "linux.deb"
    archive.write_bytes(gzip.compress(b"no archive"))
    with pytest.raises(UserError, match="cannot be unpacked"):
        linux_kernel.unpack_source(archive, tmp_path / "out", [])


def small_tree(folder: Path) -> Path:
    """Make a folder that has what the patch step touches."""
    (folder / "drivers" / "misc").mkdir(parents=True)
    (folder / "drivers" / "misc" / "Makefile").write_text("# misc\n", encoding="utf-8")
    (folder / "file").write_text("one\n", encoding="utf-8")
    (folder / linux_places.STAMP).write_text("stamp", encoding="utf-8")
    return folder


def test_patching_leaves_the_original_alone(tmp_path: Path) -> None:
    native = small_tree(tmp_path / "native")
    patch = tmp_path / "change.patch"
    patch.write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n", encoding="utf-8")
    linux_kernel._patch_source(native, tmp_path / "patched", patch, "patched")
    assert (native / "file").read_text(encoding="utf-8") == "one\n"
    assert (tmp_path / "patched" / "file").read_text(encoding="utf-8") == "two\n"
    assert (native / "drivers" / "misc" / "Makefile").read_text(encoding="utf-8") == "# misc\n"


def test_drivers_are_added_once_and_to_one_tree(tmp_path: Path) -> None:
    """The trees share their files: one that is changed in a tree must be a new one."""
    native, patched = small_tree(tmp_path / "native"), tmp_path / "patched"
    patch = tmp_path / "change.patch"
    patch.write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n", encoding="utf-8")
    linux_kernel._patch_source(native, patched, patch, "patched")
    for _ in range(2):
        linux_kernel._add_drivers(PLACES, patched)
    folders = [tree / "drivers" / "misc" for tree in (native, patched)]
    before, after = ((folder / "Makefile").read_text(encoding="utf-8") for folder in folders)
    assert before == "# misc\n"
    assert after == "# misc\nobj-y += gandalf/\n"
    assert not (folders[0] / "gandalf").exists()


def test_drivers_that_stay_the_same_keep_their_time(tmp_path: Path) -> None:
    source = small_tree(tmp_path)
    linux_kernel._add_drivers(PLACES, source)
    copy = source / "drivers" / "misc" / "gandalf" / "gandalf_control.c"
    assert copy.read_bytes() == (PLACES.drivers / copy.name).read_bytes()
    assert (copy.parent / "control.h").read_bytes() == (PLACES.abi / "control.h").read_bytes()
    before = copy.stat()
    linux_kernel._add_drivers(PLACES, source)
    assert copy.stat() == before


def test_a_variant_that_begins_with_objects_has_their_configuration() -> None:
    """Objects of another one would all be compiled anew."""
    for variant, origin in linux_kernel.ORIGINS.items():
        first = PLACES.fragments(origin)
        assert PLACES.fragments(variant)[: len(first)] == first
        assert origin not in linux_kernel.ORIGINS or variant in linux_kernel.ALONE
    for variant in ("attack", "complete"):
        assert linux_kernel._tree(variant) == "patched"
    assert linux_kernel._tree("complete-smp") == "smp"


def test_a_variant_that_begins_with_objects_compiles_less() -> None:
    """So says the progress display, which knows of every variant."""
    assert set(linux_places.KERNEL_FILES) == set(get_args(linux_places.Variant))
    for variant, origin in linux_kernel.ORIGINS.items():
        assert linux_places.KERNEL_FILES[variant] < linux_places.KERNEL_FILES[origin] / 2


def test_patch_that_does_not_apply_is_one_sentence(tmp_path: Path) -> None:
    native = small_tree(tmp_path / "native")
    patch = tmp_path / "change.patch"
    patch.write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-three\n+two\n", encoding="utf-8")
    with pytest.raises(UserError, match="does not apply to the pinned kernel"):
        linux_kernel._patch_source(native, tmp_path / "patched", patch, "patched")


# A change of the interrupt flag's lines, and of others.
FLAG_CHANGE = """\
--- a/arch/x86/include/asm/irqflags.h
+++ b/arch/x86/include/asm/irqflags.h
@@ -1 +1 @@
-cli
+{}
"""
CHANGE = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+{}\n"


@pytest.mark.parametrize("variant", get_args(linux_places.Variant))
def test_stamp_follows_the_inputs_of_the_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: linux_places.Variant
) -> None:
    for module in (linux_kernel, linux_rootfs):
        monkeypatch.setattr(module, "compiler_version", lambda: b"gcc 12")
    places = Places(tmp_path)
    inputs = {"driver": places.drivers / "driver.c", "abi": places.abi / "gandalf.h"}
    inputs |= {path.name: path for path in places.fragments(variant)}
    for path in inputs.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first", encoding="utf-8")
    places.header.parent.mkdir()

    def write_patch(rest: int, flag: int, header: int) -> None:
        text = CHANGE.format(rest) + FLAG_CHANGE.format(flag)
        for patch in (places.patch, places.smp_patch):
            patch.write_text(text, encoding="utf-8")
        places.header.write_text(str(header), encoding="utf-8")

    write_patch(1, 1, 1)

    def stamp() -> str:
        return linux_places.digest_of(*linux_kernel._kernel_inputs(variant, places, package()))

    seen = [stamp()]
    for path in inputs.values():
        path.write_text("second", encoding="utf-8")
        seen.append(stamp())
    assert len(set(seen)) == len(seen)
    changing = set()
    for name, *change in (("flag", 1, 2, 1), ("rest", 2, 2, 1), ("header", 2, 2, 2)):
        before = stamp()
        write_patch(*change)
        if stamp() != before:
            changing.add(name)
    every = {"flag", "rest", "header"}
    wanted = {"dedicated": every - {"flag"}}
    wanted |= {native: set() for native in get_args(linux_places.Variant) if "native" in native}
    assert changing == wanted.get(variant, every)


# The root file system


def test_archive_has_parents_first_and_no_trace_of_when_it_was_made(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"x")
    program.chmod(0o750)
    entries = linux_rootfs.archive_entries({"usr/lib/gandalf/probe": program, "etc/text": program})
    made = {"."}
    for entry in entries:
        assert str(Path(entry.name).parent) in made, entry.name
        if stat.S_ISDIR(entry.mode):
            made.add(entry.name)
    modes = {entry.name: f"{entry.mode:o}" for entry in entries}
    assert modes["usr/lib/gandalf/probe"] == "100755"
    assert modes["dev/console"] == "20600"
    assert modes["init"] == "120777"
    images = [tmp_path / "first", tmp_path / "second"]
    for time, image in enumerate(images):
        os.utime(program, (time, time))
        linux_rootfs._write_image({"etc/text": program}, image)
    assert images[0].read_bytes() == images[1].read_bytes()


def compile_library(folder: Path, name: str, *needed: str) -> Path:
    """Compile an empty shared library that names others."""
    path = folder / name
    named = [f"-l:{other}" for other in needed]
    link = ["-shared", "-nostdlib", "-Wl,--no-as-needed", f"-Wl,-soname={name}", f"-L{folder}"]
    source = ["-x", "c", "/dev/null", "-x", "none"]
    subprocess.run(["gcc", *link, *source, *named, "-o", str(path)], check=True)
    return path


def test_libraries_are_found_through_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linux_rootfs, "ROOTFS_LOADED_LATE", ())
    compile_library(tmp_path, "libc.so.1")
    compile_library(tmp_path, "libb.so.1", "libc.so.1")
    compile_library(tmp_path, "libunused.so.1")
    program = compile_library(tmp_path, "program", "libb.so.1")
    found = linux_rootfs.libraries([program], tmp_path)
    assert {Path(name).name for name in found} == {"libb.so.1", "libc.so.1"}


def test_missing_library_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_rootfs, "ROOTFS_LOADED_LATE", ())
    library = compile_library(tmp_path, "libb.so.1")
    program = compile_library(tmp_path, "program", "libb.so.1")
    library.unlink()
    with pytest.raises(UserError, match=r"program needs libb\.so\.1, which no pinned package has"):
        linux_rootfs.libraries([program], tmp_path)


def test_small_image_lacks_large_programs_and_their_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although all packages are unpacked in one folder, where one asks for every program."""
    monkeypatch.setattr(linux_rootfs, "ROOTFS_LOADED_LATE", ())
    folder = tmp_path / "usr" / "bin"
    folder.mkdir(parents=True)
    compile_library(tmp_path, "libc.so.1")
    compile_library(tmp_path, "liblarge.so.1", "libc.so.1")
    for name, needed in (("stress-ng", "liblarge.so.1"), ("hackbench", "libc.so.1")):
        compile_library(tmp_path, name, needed).rename(folder / name)
    whole, small = (
        {Path(name).name for name in linux_rootfs._collect(tmp_path, Places(tmp_path), without)}
        for without in ((), linux_rootfs.ROOTFS_LARGE)
    )
    assert whole == {"hackbench", "stress-ng", "libc.so.1", "liblarge.so.1"}
    assert small == {"hackbench", "libc.so.1"}


def test_scripts_name_no_libraries(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    assert linux_rootfs.needed_libraries(script) is None


def test_extra_files_change_the_stamp(tmp_path: Path) -> None:
    places = Places(tmp_path)
    before = linux_places.digest_of(*linux_rootfs._rootfs_inputs(places, []))
    extra = places.rootfs_extra / "usr" / "lib" / "gandalf" / "probe"
    extra.parent.mkdir(parents=True)
    extra.write_bytes(b"x")
    with_file = linux_places.digest_of(*linux_rootfs._rootfs_inputs(places, []))
    extra.chmod(0o755)
    with_mode = linux_places.digest_of(*linux_rootfs._rootfs_inputs(places, []))
    assert len({before, with_file, with_mode}) == 3


def test_a_change_of_gandalfctl_changes_the_stamp(tmp_path: Path) -> None:
    places = Places(tmp_path)
    stamps = set()
    for name in ("guest/linux/control/list.c", "abi/control.h"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
        stamps.add(linux_places.digest_of(*linux_rootfs._rootfs_inputs(places, [])))
    assert len(stamps) == 2


def test_gandalfctl_that_does_not_compile_is_told(tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.control.mkdir(parents=True)
    (places.control / "Makefile").write_text("all:\n\t@echo wrong; false\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"wrong\n(?s:.*)gandalfctl did not compile"):
        linux_rootfs.build_programs(places)


# The attack driver


def test_every_attack_is_listed_once() -> None:
    files = sorted(PLACES.drivers.glob("gandalf_attack_*.c"))
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    listed = re.findall(r"^\t\{ \"([a-z0-9-]+)\", .*, (attack_\w+) \},$", text, re.M)
    written = re.findall(
        r"^static enum outcome (attack_\w+)\(struct request \*request\)$", text, re.M
    )
    # Those that differ in one instruction are defined by a macro.
    makers = re.findall(
        r"^#define (\w+)\(name\b.*\\\nstatic enum outcome attack_##name\(", text, re.M
    )
    for maker in makers:
        written += [f"attack_{name}" for name in re.findall(rf"^{maker}\((\w+)", text, re.M)]
    assert listed
    assert len(makers) == 3
    assert len({name for name, _ in listed}) == len(listed)
    assert {function for _, function in listed} == set(written)
