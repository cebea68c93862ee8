# SPDX-License-Identifier: Apache-2.0
"""The kernel's tests of itself: which are built, which are run, and how two machines compare."""

from dataclasses import replace
from pathlib import Path

import pytest

from gandalf.guests import rootfs, selftests
from gandalf.guests.debian import Package
from gandalf.guests.selftests import failures
from tests.boot.kselftests import (
    END,
    LIMIT,
    Outcome,
    Table,
    mistakes,
    outcomes,
    read_table,
    results,
    script,
)
from tests.boot.kselftests import runs as runs_of

LOG = """\
gup.c:3:1: warning: nothing that matters
hmm.c:34:10: fatal error: lib/hmm.h: No such file or directory
compilation terminated.
make[1]: *** [../lib.mk:155: /tree/tools/testing/selftests/vm/hmm] Error 1
make: *** No rule to make target '/tree/tools/testing/selftests/x86/none', needed by 'all'.
"""
CONSOLE = f"""\
Linux version 6.1
kselftests: run x86/one -t 1
ok 1 at 0xb7f01234, process 1234
not ok 2 [38] after 12 ns, -0.25 s, in deadbeef

kselftests: status 1
kselftests: run vm/two
half a line
kselftests: status 137
{END}
"""
ONE = Outcome("status 1", ("ok 1 at N, process N", "not ok 2 [38] after N ns, N s, in N"))
TWO = Outcome("killed after the time limit", ("half a line",))


def test_what_does_not_compile_is_named_with_the_reason() -> None:
    found = failures(LOG)
    assert list(found) == ["vm/hmm", "x86/none"]
    assert found["vm/hmm"].startswith("hmm.c:34:10: fatal error")
    assert "No rule" in found["x86/none"]
    assert failures("gcc: warning: all is well\n") == {}


def test_the_stamp_follows_what_is_linked_with_them() -> None:
    kernel = Package("kernel", "linux", "6.1", "all", "pool/linux.deb", 5, "0" * 64)
    library = replace(kernel, group=selftests.PACKAGES, name="libcap-dev")
    first = selftests._inputs(kernel, [library])
    assert first == selftests._inputs(kernel, [library])
    assert first != selftests._inputs(replace(kernel, sha256="1" * 64), [library])
    assert first != selftests._inputs(kernel, [replace(library, sha256="1" * 64)])


def test_each_program_is_run_once_or_as_the_table_says() -> None:
    table = Table({"vm/two": ["-a", "-b 1"]}, {"vm/three": "it suspends the machine"}, {})
    assert runs_of(("vm/one", "vm/two", "vm/three"), table) == [
        "vm/one",
        "vm/two -a",
        "vm/two -b 1",
    ]


def test_each_entry_of_the_table_has_a_reason_and_an_order() -> None:
    table = read_table()
    assert all({**table.left_out, **table.differences, **table.only_one}.values())
    for names in (table.arguments, table.left_out, table.differences, table.last, table.several):
        assert list(names) == sorted(names)
    groups = {name.rpartition("/")[0] for name in (*table.arguments, *table.left_out)}
    assert groups <= set(selftests.GROUPS)


def test_the_script_ends_with_its_mark() -> None:
    lines = list(filter(None, script(["x86/one -t 1", "vm/two"]).splitlines()))
    assert lines[-3:] == [f"t {LIMIT} x86/one -t 1", f"t {LIMIT} vm/two", f'echo "{END}"']


def test_what_changes_the_clock_is_behind_all_others() -> None:
    table = Table({"timers/tai": ["-t 1"]}, {}, {}, {"timers/tai": 7})
    commands = runs_of(("timers/tai", "vm/two"), table)
    assert commands == ["vm/two", "timers/tai -t 1"]
    lines = script(commands, table.last).splitlines()
    assert lines[-2] == "t 7 timers/tai -t 1"
    assert lines.index("chmod 755 inconsistency-check") > lines.index(f"t {LIMIT} vm/two")


def test_two_cpus_have_some_folders_and_programs() -> None:
    table = Table({}, {"rseq/long": "slow", "rseq/never": ""}, {}, {"x86/last": 7, "rseq/long": 8},
                  ("rseq", "rseq/long"), {"rseq/quick": "it waits"})  # fmt: skip
    names = ("rseq/long", "rseq/never", "rseq/one", "vm/two", "x86/last")
    assert list(filter(table.is_for_several, names)) == ["rseq/long", "rseq/never", "rseq/one"]
    assert table.on_several().last == {"rseq/long": 8}
    assert runs_of(("rseq/quick", *names[:3]), table.on_several()) == ["rseq/one", "rseq/long"]
    assert runs_of(("rseq/quick", *names[:3]), table) == ["rseq/quick", "rseq/one"]


def test_a_console_is_read_without_what_is_chance() -> None:
    found = outcomes(CONSOLE)
    assert found == {"x86/one -t 1": ONE, "vm/two": TWO}
    assert results(ONE) == {"ok": 1, "not ok": 1}
    assert results(TWO) == {}


def test_a_run_without_an_end_is_none() -> None:
    assert outcomes(CONSOLE.replace("kselftests: status 1\n", "")) == {"vm/two": TWO}


@pytest.mark.parametrize("other", [replace(ONE, status="pass"), replace(ONE, lines=("ok 1",))])
def test_what_differs_is_shown_unless_it_is_known_to(other: Outcome) -> None:
    assert mistakes({"one": ONE}, {"one": ONE}, {}) == []
    (found,) = mistakes({"one": ONE}, {"one": other}, {})
    assert found.startswith(f"one: status 1 natively, {other.status} as a guest")
    known = mistakes({"one": ONE}, {"one": other}, {"one": "a reason"})
    assert known == ([] if other.status == ONE.status else [found])
    assert "not run" in mistakes({"one": ONE}, {}, {})[0]


def test_what_no_longer_differs_is_to_be_removed() -> None:
    (found,) = mistakes({"one": ONE}, {"one": ONE}, {"one": "a reason"})
    assert "no longer differs" in found


def test_libraries_beside_a_program_are_not_looked_for(tmp_path: Path) -> None:
    assert rootfs.libraries([], tmp_path, {"libgcc_s.so.1"}) == {}
