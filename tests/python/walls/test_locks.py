# SPDX-License-Identifier: Apache-2.0
"""What `make check` says of a VMM in which a function locks memory that other cores use."""

import subprocess
from pathlib import Path

from gandalf.walls.locks import check_locks

TABLE = '[[locked]]\nfunctions = ["allowed"]\nwhy = "a test"\n'
CODE = """\
int word;
void fence(void) { __asm__ volatile("lock addl $0, (%%esp)" : : : "memory"); }
void allowed(void) { __sync_bool_compare_and_swap(&word, 0, 1); }
int registers(int a, int b) { __asm__("xchg %0, %1" : "+r"(a), "+r"(b)); return a; }
"""


def check(folder: Path, more: str = "", code: str = CODE) -> list[str]:
    objects = folder / "build" / "core"
    objects.mkdir(parents=True)
    (folder / "walls.toml").write_text(TABLE)
    (folder / "one.c").write_text(code + more)
    command = ["gcc", "-m32", "-O1", "-fno-pie", "-c", str(folder / "one.c")]
    subprocess.run([*command, "-o", str(objects / "one.o")], check=True)
    return check_locks(folder, folder / "build")


def test_a_fence_of_the_own_stack_is_none_and_others_are_named(tmp_path: Path) -> None:
    assert check(tmp_path) == []


def test_a_lock_is_told_with_its_place(tmp_path: Path) -> None:
    (wrong,) = check(tmp_path, "void mistake(void) { __sync_fetch_and_or(&word, 1); }\n")
    assert wrong.startswith("core/one: mistake locks memory: lock or")


def test_an_exchange_with_memory_is_one(tmp_path: Path) -> None:
    (wrong,) = check(tmp_path, "int take(void) { return __sync_lock_test_and_set(&word, 1); }\n")
    assert wrong.startswith("core/one: take locks memory: xchg ")


def test_what_the_table_has_in_vain_is_told(tmp_path: Path) -> None:
    assert check(tmp_path, code="int word;\n") == ["walls.toml: allowed locks no memory"]
