# SPDX-License-Identifier: Apache-2.0
"""What `make check` says of a VMM in which a folder uses what the table of walls keeps from it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.walls.header import wrong_names
from gandalf.walls.walls import check_walls, find_circles, read_uses, read_walls, wrong_includes

TABLE = """\
[[folder]]
name = "lib"
uses = []

[[folder]]
name = "core"
uses = ["lib"]
only = { "lib" = ["lib/open.h"] }

[[folder]]
name = "guest"
uses = ["core"]

[[door]]
from = "lib"
to = "core"
why = "it is entered"
symbols = ["enter"]
headers = ["core/door.h"]
"""
SOURCES = {
    "lib/help.c": '#include "core/door.h"\nvoid enter(void); void help(void) { enter(); }',
    "lib/open.h": "",
    "core/door.h": "",
    "core/one.c": '#include "lib/open.h"\nvoid help(void); void enter(void) { help(); }',
    "guest/linux.c": "void enter(void); void start(void) { enter(); }",
}


def tree(folder: Path, changes: dict[str, str], table: str = TABLE) -> tuple[Path, Path]:
    """Write and compile a small VMM; returns the folders of sources and of objects."""
    vmm, objects = folder / "vmm", folder / "objects"
    for name, text in (SOURCES | changes).items():
        path = vmm / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    (vmm / "walls.toml").write_text(table)
    for path in vmm.rglob("*.c"):
        output = (objects / path.relative_to(vmm)).with_suffix(".o")
        output.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-I", str(vmm), "-c", str(path), "-o", str(output)], check=True)
    return vmm, objects


def test_what_the_table_allows_is_right(tmp_path: Path) -> None:
    assert check_walls(*tree(tmp_path, {})) == []


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("core/two.c", "void start(void); void go(void) { start(); }",
         "core/two: core may not use start of guest/linux"),
        ("lib/late.c", "void late(void); void go(void); void late(void) { go(); }",
         "lib/late: lib may not use go of core/three"),
        ("guest/near.c", "void help(void); void near(void) { help(); }",
         "guest/near: guest may not use help of lib/help"),
        ("core/four.c", '#include "lib/closed.h"',
         "core/four.c: core may not include lib/closed.h"),
        ("lib/back.c", '#include "core/other.h"', "lib/back.c: lib may not include core/other.h"),
        ("guest/five.c", '#include "lib/open.h"', "guest/five.c: guest may not include lib/open.h"),
        ("other/six.c", "void help(void); void six(void) { help(); }",
         "other is not in the table"),
    ],
)  # fmt: skip
def test_a_planted_violation_is_named(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    added = {name: text, "core/three.c": "void go(void) {}", "lib/closed.h": "", "core/other.h": ""}
    if "go(void) {" in text:
        del added["core/three.c"]
    assert sentence in check_walls(*tree(tmp_path, added))


def test_what_nobody_needs_is_named(tmp_path: Path) -> None:
    changes = {"lib/help.c": "void help(void) {}", "guest/linux.c": "void start(void) {}"}
    assert check_walls(*tree(tmp_path, changes)) == [
        "guest does not need core any more",
        "lib does not need core/door.h of core any more",
        "lib does not need enter of core any more",
    ]


def test_folders_in_a_circle_are_named(tmp_path: Path) -> None:
    table = TABLE.replace('name = "lib"\nuses = []', 'name = "lib"\nuses = ["core"]')
    assert "lib uses core, which stands behind it" in check_walls(*tree(tmp_path, {}, table))


def test_a_circle_of_files_needs_a_reason(tmp_path: Path) -> None:
    changes = {
        "core/a.c": "void b(void); void a(void) { b(); }",
        "core/b.c": "void a(void); void b(void) { a(); }",
    }
    vmm, objects = tree(tmp_path, changes)
    assert check_walls(vmm, objects) == ["a circle among core/a, core/b"]
    assert find_circles(read_uses(objects, vmm)) == [{"core/a", "core/b"}]
    reason = '\n[[circle]]\nfiles = ["core/a", "core/b"]\nwhy = "they are one"\n'
    (vmm / "walls.toml").write_text(TABLE + reason)
    assert check_walls(vmm, objects) == []
    (objects / "core" / "b.o").unlink()
    (said,) = check_walls(vmm, objects)
    assert said == "there is no circle among core/a, core/b any more"


def test_a_circle_of_headers_is_named(tmp_path: Path) -> None:
    """What they do to each other may be inline, so that no object tells of it."""
    once = "#pragma once\n"
    changes = {"core/a.h": once + '#include "core/b.h"', "core/b.h": once + '#include "core/a.h"'}
    assert check_walls(*tree(tmp_path, changes)) == ["a circle among core/a.h, core/b.h"]


def test_a_variable_without_an_owner_is_named(tmp_path: Path) -> None:
    owned = '__attribute__((section(".bss..core"))) int owned; '
    others = "int nobodys; static int set = 1; int *get(void);"
    function = "int *get(void) { static int inside; return set++ ? &inside : &nobodys; }"
    changes = {"core/state.c": owned + others + function}
    said = check_walls(*tree(tmp_path, changes))
    assert [sentence.split(".")[0] for sentence in sorted(said)] == [
        "core/state: inside", "core/state: nobodys has no owner", "core/state: set has no owner",
    ]  # fmt: skip
    assert all(sentence.endswith(" has no owner") for sentence in said)


BARE = """
[bare]
"chosen.h" = "core"
"""
ONE = '#include "lib/open.h"\n#include "chosen.h"\nvoid help(void); void enter(void) { help(); }'


def test_a_header_that_a_profile_chooses_is_behind_the_walls(tmp_path: Path) -> None:
    chosen = {"few/chosen.h": "", "many/chosen.h": "", "core/one.c": ONE}
    vmm, objects = tree(tmp_path, {"core/chosen.h": ""}, TABLE + BARE)
    assert check_walls(vmm, objects) == ["nobody includes chosen.h any more"]
    (vmm / "core" / "chosen.h").unlink()
    for name, text in chosen.items():
        (vmm / name).parent.mkdir(exist_ok=True)
        (vmm / name).write_text(text)
    assert check_walls(vmm, objects) == []
    (vmm / "many" / "chosen.h").write_text('#include "guest/linux.h"\n#include "more.h"\n')
    (vmm / "guest" / "near.h").write_text('#include "chosen.h"\n#include "other.h"\n')
    assert check_walls(vmm, objects) == [
        "many/chosen.h: core may not include guest/linux.h",
        "guest/near.h: other.h is in no folder of the table",
        "many/chosen.h: more.h is in no folder of the table",
    ]


STAND_IN = {"without/guests.c": "void help(void); void start(void) { help(); }"}


def test_what_stands_in_is_behind_the_walls_of_its_folder(tmp_path: Path) -> None:
    """Its symbols are those of the part itself, which another build has."""
    said = check_walls(*tree(tmp_path, STAND_IN, TABLE + '\n[stand_in]\nguests = "core"\n'))
    assert said == []
    said = check_walls(*tree(tmp_path, STAND_IN, TABLE + '\n[stand_in]\nguests = "guest"\n'))
    assert said == ["without/guests: guest may not use help of lib/help"]
    include = {"without/guests.c": '#include "lib/open.h"'}
    said = check_walls(*tree(tmp_path, include, TABLE + '\n[stand_in]\nguests = "guest"\n'))
    assert said == ["without/guests.c: guest may not include lib/open.h"]


def test_what_stands_in_for_nobody_is_named(tmp_path: Path) -> None:
    table = TABLE + '\n[stand_in]\nothers = "core"\n'
    said = check_walls(*tree(tmp_path, {"without/guests.c": ""}, table))
    assert said == [
        "without/guests.c is in no folder of the table",
        "there is no without/others.c any more",
    ]


def test_assertions_of_a_debug_build_are_no_circle_but_stay_behind_the_walls(
    tmp_path: Path,
) -> None:
    folder = '[[folder]]\nname = "look"\nuses = ["core"]\ndebug = true\n\n[[door]]\n'
    door = 'from = "core"\nto = "look"\nwhy = "it is looked at"\nsymbols = ["look"]\n\n[[door]]'
    table = TABLE.replace("[[door]]", folder + door)
    vmm, objects = tree(tmp_path / "release", {"core/a.c": "void a(void) {}"}, table)
    assert check_walls(vmm, objects) == []
    (tmp_path / "debug").mkdir()
    changes = {
        "core/a.c": "void b(void); void start(void); int nobodys; void a(void) { b(); start(); }",
        "core/b.c": "void a(void); void look(void); void b(void) { a(); look(); }",
        "look/at.c": "void enter(void); void look(void) { enter(); }",
    }
    _, debug = tree(tmp_path / "debug", changes)
    (vmm / "look").mkdir()
    for name in changes:
        (vmm / name).write_text("")
    assert check_walls(vmm, objects, debug=[debug]) == [
        "core/a: core may not use start of guest/linux",
        "core/a: nobodys has no owner",
    ]


def test_nothing_built_is_not_right(tmp_path: Path) -> None:
    vmm, _ = tree(tmp_path, {})
    assert check_walls(vmm, tmp_path / "nowhere") == [
        f"there are no object files below {tmp_path / 'nowhere'}"
    ]


def test_the_tree_includes_only_what_its_table_allows() -> None:
    assert wrong_includes(read_walls(ROOT / "vmm" / "walls.toml"), ROOT / "vmm") == []


SEEN = """\
/* It offers count() of low.h, and the size of its place. */
#pragma once
#define WIDTH 4
void run(void);
"""
LOW = """\
#define LIMIT 9 /* of WIDTH */
#define READ(name) \\
\tstatic inline int name##_read(void) { return 0; }
READ(cr0)
int count(int from);
int weigh(int what,
\t  int more);
"""
STATE = (
    "struct state {\n\tint size; /* of it */\n\tint *flags, hidden[2];\n\tvoid (*go)(int what);\n};"
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int f(void) { run(); return count(WIDTH) + at->size; }", []),
        ("int f(void) { return count(LIMIT); }", ["LIMIT"]),
        ("int f(void) { return weigh(1, 2); }", ["weigh"]),
        ("int f(void) { return cr0_read(); }", ["cr0_read"]),
        ("int f(void) { return at->go(at->flags + it.hidden[0]); }", ["flags", "go", "hidden"]),
        ('/* weigh(LIMIT) */ int weight; const char *f = "weigh(LIMIT)"; int hidden;', []),
    ],
)
def test_what_the_one_header_does_not_offer_is_named(
    tmp_path: Path, text: str, names: list[str]
) -> None:
    table = TABLE.replace('only = { "lib"', 'sees = { "lib" = "lib/open.h" }\nonly = { "lib"')
    headers = {"lib/open.h": SEEN, "lib/low.h": LOW, "lib/state.h": STATE, "core/use.h": text}
    assert check_walls(*tree(tmp_path, headers, table)) == [
        f"core/use.h: lib/open.h does not offer {name}" for name in names
    ]


def test_core_uses_of_the_architecture_what_its_header_offers() -> None:
    walls = read_walls(ROOT / "vmm" / "walls.toml")
    assert walls.sees[("core", "arch/ia32")] == "arch/ia32/arch.h"
    assert wrong_names(ROOT / "vmm", "core", "arch/ia32", "arch/ia32/arch.h") == []


def test_core_sees_of_the_machine_what_one_header_offers() -> None:
    walls = read_walls(ROOT / "vmm" / "walls.toml")
    assert walls.sees[("core", "platform/pc")] == "platform/pc/platform.h"
    assert walls.only[("core", "platform/pc")] == ["platform.h"]
    assert wrong_names(ROOT / "vmm", "core", "platform/pc", "platform/pc/platform.h") == []


def test_a_chip_that_core_names_is_reported(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "vmm", tmp_path / "vmm")
    source = tmp_path / "vmm" / "core" / "message.c"
    source.write_text(source.read_text() + "void more(void)\n{\n\tapic_join();\n}\n")
    wrong = wrong_names(tmp_path / "vmm", "core", "platform/pc", "platform/pc/platform.h")
    assert wrong == ["core/message.c: platform/pc/platform.h does not offer apic_join"]
