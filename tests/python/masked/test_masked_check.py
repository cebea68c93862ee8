# SPDX-License-Identifier: Apache-2.0
"""What `make check` says of a VMM that masks interrupts without a name for it."""

import re
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT, UserError
from gandalf.build.build import build_vmm
from gandalf.build.profile import find_profile
from gandalf.build.symbols import apic_vector
from gandalf.masked.check import check_code, check_entries, check_images, check_use, check_words
from gandalf.measure.masked import entry_name, promises, records
from tests.boot.changed import substitute
from tests.boot.two_level import changed_vmm

# What is planted, where: (file, text, instead).
UNNAMED = ("core/doorbell.c", "work_mask(doorbell);", '__asm__ volatile("cli");')
UNKNOWN = ("arch/ia32/entry.S", "MASKED\treturn_to_guest", "MASKED\treturn_to_nowhere")
NO_CLI = ("arch/ia32/entry.S", "entry_leave:\n", "entry_leave:\n\tMASKED halt\n")
POPF = ("core/hypercall.c", "work_mask(alive);", '__asm__ volatile("pushf; popf");')


def build(name: str, *plants: tuple[str, str, str], profile: str = "cores") -> Path:
    """Build a VMM with changes to sources, and return its image."""

    def change(folder: Path) -> None:
        for file, text, instead in plants:
            substitute(folder / "vmm" / file, text, instead)

    return changed_vmm(f"masked-{name}", change, profile)


@pytest.fixture(scope="module")
def planted() -> list[str]:
    """What is said of a VMM with every mistake there can be."""
    one = build("one", UNNAMED, UNKNOWN, NO_CLI, POPF)
    several = build("several", UNNAMED, UNKNOWN, NO_CLI, POPF, profile="smp")
    table = promises()
    return [*check_code(one, table), *check_use([one, several], table)]


@pytest.mark.parametrize(
    "sentence",
    [
        r"hypercall_doorbell\+0x\w+ at 0xfc\w+: CLI of a masked section without a name",
        r"doorbell: nothing in the VMM begins this section",
        r"return_to_guest\+0x\w+ at 0xfc\w+: return_to_nowhere is in no masked_sections.h",
        r"return_to_guest: nothing in the VMM begins this section",
        r"entry_leave\+0x0 at 0xfc\w+: halt begins behind no CLI",
        r"hypercall_alive\+0x\w+ at 0xfc\w+: POPF, which may mask interrupts; CLI has a name",
        r"alive: nothing in the VMM begins this section",
    ],
)
def test_a_planted_mistake_is_told(planted: list[str], sentence: str) -> None:
    found = [line for line in planted if re.fullmatch(sentence, line)]
    assert len(found) == 1, planted


def test_nothing_else_is_told(planted: list[str]) -> None:
    assert len(planted) == 7, planted


def test_the_vmm_has_no_mistake() -> None:
    """As it is in the tree; and what was planted are mistakes because it was."""
    images = [build_vmm(find_profile(name)) for name in ("cores", "smp")]
    assert check_images(images) == []
    assert len(set(records(images[0]).values())) > 20


def test_a_name_that_is_not_in_the_table_does_not_compile() -> None:
    with pytest.raises(UserError, match=r"(?s)MASKED_##section.*work_mask\(ringing\);"):
        build("unknown", ("core/doorbell.c", "work_mask(doorbell);", "work_mask(ringing);"))


def test_an_entry_without_a_line_is_told() -> None:
    table = dict(promises())
    table["clock_of_nobody"] = table.pop("clock_of_shared")
    assert check_entries(table) == [
        "clock_of_shared: an entry that masks interrupts is in no masked_sections.h",
        "clock_of_nobody: there is no such entry",
    ]


def table_of(folder: Path, *lines: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "masked_sections.h"
    path.write_text("#define MASKED_IN_TEST(SECTION) \\\n" + " \\\n".join(lines) + "\n")
    return folder


def test_the_table_is_read(tmp_path: Path) -> None:
    lines = promises(
        table_of(
            tmp_path,
            '\tSECTION(one, 100, "no loop; (or a short \\"one\\")",\\\n\t\t"port "\\\n\t\t"70")',
            '\tENTRY(two, UNBOUNDED, "why", "")',
        )
    )
    one, two = lines["one"], lines["two"]
    assert (one.bound, one.why, one.action) == (100, 'no loop; (or a short "one")', "port 70")
    assert (two.bound, two.entry, one.entry) == (None, True, False)
    assert check_words(lines) == ["two: the guest's action is missing"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (('\tSECTION(one, x, "a", "b")',), "the line of one cannot be read"),
        (('\tSECTION(one, 1, "a", "b")', '\tSECTION(one, 1, "a", "b")'), "one is there twice"),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path: Path, lines: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        promises(table_of(tmp_path, *lines))


def test_each_folder_has_a_table(tmp_path: Path) -> None:
    """They are one table; so a name that two folders have is refused."""
    table_of(tmp_path / "one", '\tSECTION(first, 1, "a", "b")')
    table_of(tmp_path / "two", '\tSECTION(second, 1, "a", "b")')
    assert list(promises(tmp_path)) == ["first", "second"]
    table_of(tmp_path / "three", '\tSECTION(second, 1, "a", "b")')
    promises.cache_clear()
    with pytest.raises(UserError, match="second is there twice"):
        promises(tmp_path)


def test_core_has_no_section_of_an_instruction_set() -> None:
    """What masks for a register, a trap or a chip stands in the folder that does that."""
    core = set(promises(ROOT / "vmm" / "core"))
    for folder, name in (("arch/ia32", "return_to_guest"), ("guests/x86", "cr0"),
                         ("guests/x86/smp", "apic_write")):  # fmt: skip
        assert name in promises(ROOT / "vmm" / folder)
        assert name not in core
    assert {"idle_step", "message", "control_object"} <= core


def test_entries_are_named_by_what_came_and_who_was_interrupted() -> None:
    assert entry_name(apic_vector("TIMER"), "shared", hardware=True) == "clock_of_shared"
    assert entry_name(0x24, "rtos", hardware=True) == "line_of_rtos"
    assert entry_name(0x1E, "rtos", hardware=False) == "hypercall_of_rtos"
    assert entry_name(0x0E, "dedicated", hardware=False) == "exception_of_dedicated"
    # A guest with the 8259s to itself may give them any vector.
    assert entry_name(0x08, "vmm", hardware=True) == "line_of_vmm"
    assert entry_name(0x01, "vmm", hardware=False) == "debug_of_vmm"
