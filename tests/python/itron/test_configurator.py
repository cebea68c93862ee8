# SPDX-License-Identifier: Apache-2.0
"""The ITRON configurator finds every mistake at its place, and C takes what it writes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gandalf.base.paths import ROOT, UserError
from gandalf.itron.checker import HEADERS, standard_constants
from gandalf.itron.configurator import OUTPUTS, configure, write_outputs
from gandalf.itron.statements import FORMS

GOOD = """\
INCLUDE("\\"objects.h\\"");
CRE_TSK(MAIN, {TA_HLNG | TA_ACT, (VP_INT)1, task, 8, 1000, NULL});
CRE_TSK(4, {TA_FPU, EXTENDED, task, PRIORITY, STACK, NULL});
DEF_TEX(MAIN, {TA_HLNG, texrtn});
DEF_TEX(4, {TA_ASM, texrtn});
CRE_SEM(SEM, {TA_TPRI, FIRST, MOST}); /* a comment
over two lines */ CRE_SEM(SEM_B, {0, 0, 1});
CRE_FLG(FLG, {TA_TPRI | TA_WMUL | TA_CLR, 0xffffffffU});
CRE_DTQ(DTQ_EMPTY, {TA_TFIFO, 0, NULL});
CRE_DTQ(DTQ, {TA_TPRI, 2 * (1 + 1), NULL}); // the end of a line
CRE_MBX(MBX, {TA_TPRI | TA_MPRI, TMAX_MPRI, NULL});
CRE_MPF(MPF, {TA_TFIFO, 3, sizeof(int) + 1, NULL});
CRE_CYC(CYC, {TA_STA | TA_PHS, -1, cychdr, 5, 0});
DEF_INH(INHNO_IRQ(5), {TA_HLNG, inthdr});
DEF_INH(INHNO_DOORBELL, {TA_HLNG, inthdr});
DEF_EXC(6, {TA_HLNG, exchdr});
ATT_INI({TA_HLNG, 7, inirtn});
"""
OBJECTS = """\
#include "kernel.h"
#define EXTENDED 3
#define PRIORITY 5
#define STACK 2048
#define FIRST 1
#define MOST 2
void task(VP_INT exinf), cychdr(VP_INT exinf), inirtn(VP_INT exinf), inthdr(void);
void texrtn(TEXPTN texptn, VP_INT exinf), exchdr(T_EXCINF *p_excinf);
"""
# What is replaced in GOOD, by what, the place of the mistake, and part of its sentence.
MISTAKES = [
    ("CRE_TSK(MAIN", "CRE_TASK(MAIN", (2, 1), "no statement CRE_TASK; did you mean CRE_TSK?"),
    ("CRE_TSK(MAIN", "zebra(MAIN", (2, 1), "no statement zebra; there are INCLUDE"),
    ("CRE_TSK(MAIN", "CRE_TSK MAIN", (2, 8), "A ( is missing behind CRE_TSK"),
    ("CRE_TSK(MAIN", "7", (2, 1), "is wanted here, not 7"),
    ("CRE_TSK(MAIN", "; CRE_TSK(MAIN", (2, 1), "no statement in front of this semicolon"),
    ("1000, NULL});", "1000, NULL})", (2, 66), "A semicolon is missing"),
    ("1000, NULL});", "1000, NULL);", (2, 64), "closes the { in line 2, column 15"),
    ("1000, NULL});", "1000, NULL}", (2, 8), "This ( has no )"),
    ("1000, NULL});", "1000, NULL;", (2, 15), "This { has no }"),
    ("1000, NULL});", "1000});", (2, 15), "has 5 parameters in braces here and wants 6"),
    ("1000, NULL});", "1000, NULL, 3});", (2, 15), "has 7 parameters in braces"),
    ("1000, NULL});", ", NULL});", (2, 53), "The parameter stksz is missing"),
    ("CRE_TSK(MAIN, ", "CRE_TSK(", (2, 1), "has 1 parameter here and wants 2"),
    ("CRE_TSK(MAIN, ", "CRE_TSK(, ", (2, 8), "The parameter tskid is missing"),
    ("{0, 0, 1}", "0", (7, 34), "{ and } are missing around sematr, isemcnt, maxsem"),
    ("{0, 0, 1}", "{}", (7, 34), "has 0 parameters in braces here and wants 3"),
    ("CRE_TSK(MAIN", "CRE_TSK(int", (2, 9), "A task has a name or a number from 1 to 1000"),
    ("CRE_TSK(4", "CRE_TSK(0", (3, 9), "has a name or a number from 1 to 1000 as ID, not 0"),
    ("CRE_TSK(4", "CRE_TSK(A B", (3, 9), "as ID, not A B"),
    ("CRE_TSK(4", "CRE_TSK(TA_ACT", (3, 9), "TA_ACT has a meaning in the kernel's headers"),
    ("CRE_TSK(4", "CRE_TSK(MAIN", (3, 9), "The name MAIN is taken already, in line 2"),
    ("CRE_SEM(SEM,", "CRE_SEM(MAIN,", (6, 9), "The name MAIN is taken already, in line 2"),
    ("CRE_TSK(MAIN", "CRE_TSK(4", (3, 9), "There is a task 4 already, in line 2"),
    ("DEF_TEX(4", "DEF_TEX(9", (5, 9), "There is no task 9"),
    ("DEF_TEX(4", "DEF_TEX(SEM", (5, 9), "There is no task SEM"),
    ("DEF_TEX(4", "DEF_TEX(MAIN", (5, 9), "has a task exception routine already, in line 4"),
    ("TA_HLNG | TA_ACT", "TA_HLNG | TA_ASM", (2, 16), "TA_HLNG and TA_ASM exclude each other"),
    ("TA_HLNG | TA_ACT", "TA_STA", (2, 16), "TA_STA has no meaning here"),
    ("TA_HLNG | TA_ACT", "0x10", (2, 16), "which does not give 0x10"),
    ("TA_HLNG | TA_ACT", "TA_HLNG |", (2, 16), "tskatr is no C expression: TA_HLNG |"),
    ("{TA_TPRI, FIRST", "{TA_TFIFO | TA_TPRI, FIRST", (6, 15), "TA_TFIFO and TA_TPRI exclude"),
    ("TA_WMUL | TA_CLR", "TA_WSGL | TA_WMUL", (8, 15), "TA_WSGL and TA_WMUL exclude each"),
    ("TA_TPRI | TA_MPRI", "TA_MFIFO | TA_MPRI", (11, 15), "TA_MFIFO and TA_MPRI exclude each"),
    ("task, 8", "task, 0", (2, 51), "itskpri must be a number from 1 to 16, not 0"),
    ("task, 8", "task, 17", (2, 51), "from 1 to 16, not 17"),
    ("task, 8", "7, 8", (2, 45), "task must be the name of a C function, not 7"),
    ("1000,", "8,", (2, 54), "stksz must be a number from 512"),
    ("STACK", "512", (3, 47), "stksz of a task with TA_FPU must be at least 1040, not 512"),
    ("1000, NULL", "1000, stack", (2, 60), "stk must be NULL, not stack"),
    ("{0, 0, 1}", "{0, 2, 1}", (7, 38), "must not be greater than maxsem: 2 is greater than 1"),
    ("{0, 0, 1}", "{0, 0, 0}", (7, 41), "maxsem must be a number from 1"),
    ("0xffffffffU", "-1", (8, 43), "iflgptn must be a number from 0"),
    ("2 * (1 + 1)", "2 * (1 - 2)", (10, 24), "dtqcnt must be a number from 0 to 16777215, not -2"),
    ("TMAX_MPRI,", "TMAX_MPRI + 1,", (11, 34), "maxmpri must be a number from 1 to 16, not 17"),
    ("TA_TFIFO, 3", "TA_TFIFO, 0", (12, 25), "blkcnt must be a number from 1"),
    ("cychdr, 5", "cychdr, 0", (13, 44), "cyctim must be a number from 1"),
    ("cychdr, 5, 0", "cychdr, 5, 0x80000000", (13, 47), "cycphs must be a number from 0"),
    ("INHNO_DOORBELL", "51", (15, 9), "inhno must be a number from 32 to 50, not 51"),
    ("DEF_EXC(6", "DEF_EXC(32", (16, 9), "excno must be a number from 0 to 31, not 32"),
    ("ATT_INI", "DEF_EXC(6, {0, exchdr});\nATT_INI", (17, 9), "The exception 6 has a handler"),
    ("ATT_INI", "DEF_INH(50, {0, inthdr});\nATT_INI", (17, 9), "The interrupt 50 has a handler"),
    ('"\\"objects.h\\""', "objects", (1, 9), "INCLUDE wants a header's name"),
    ('"\\"objects.h\\""', '""', (1, 9), "is not the name of a header"),
    ("// the end", "/* the end", (10, 45), "This comment has no end"),
    ('"\\"objects.h\\""', '"objects.h', (1, 9), "This string has no end"),
    ("ATT_INI", "'x\nATT_INI", (17, 1), "This character constant has no end"),
    ("ATT_INI", "@\nATT_INI", (17, 1), "The character @ has no meaning here"),
    ("ATT_INI", "\x01\nATT_INI", (17, 1), "The character U+0001 has no meaning here"),
    ("ATT_INI", "#define X\nATT_INI", (17, 1), "Preprocessor lines are not read here"),
]  # fmt: skip


def sentences(path: Path) -> list[str]:
    try:
        configure(path)
    except UserError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize(("old", "new", "place", "part"), MISTAKES)
def test_a_mistake_is_found_at_its_place(
    tmp_path: Path, old: str, new: str, place: tuple[int, int], part: str
) -> None:
    assert GOOD.count(old) >= 1
    path = tmp_path / "x.cfg"
    path.write_text(GOOD.replace(old, new, 1))
    found = sentences(path)
    wanted = f"{path}:{place[0]}:{place[1]}: "
    assert any(line.startswith(wanted) and part in line for line in found), found
    assert all(re.match(r".*x\.cfg:\d+:\d+: .*[.;]?", line) for line in found)


def test_several_mistakes_are_reported_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "x.cfg"
    path.write_text("CRE_SEM(A, {0, 2, 1})\nCRE_SEM(A, {0, 0});\nBAD(1);\nCRE_SEM(A, {8, 0, 1});\n")
    assert [line.split(":")[1] for line in sentences(path)] == ["1", "1", "2", "3", "4", "4"]


@pytest.mark.parametrize("name", ["none.cfg", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (line,) = sentences(tmp_path / name)
    assert "There is no file" in line or "cannot be read: Is a directory" in line


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "x.cfg"
    path.write_bytes("// \u00fc\n ä".encode() + b"\xff")
    assert sentences(path) == [f"{path}:2:3: The byte 0xff is not UTF-8; save the file as UTF-8."]


def test_a_mistake_leaves_the_old_files_alone(tmp_path: Path) -> None:
    path, folder = tmp_path / "x.cfg", tmp_path / "out"
    path.write_text(GOOD)
    write_outputs(path, folder)
    before = [(folder / name).stat() for name in OUTPUTS]
    write_outputs(path, folder)  # nothing has changed, so nothing is to be compiled anew
    path.write_text(GOOD.replace("task, 8", "task, 99"))
    command = [sys.executable, "-m", "gandalf.itron.configurator", str(path)]
    done = subprocess.run(
        [*command, "--output-dir", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{path}:2:51: ")
    assert "Traceback" not in done.stderr
    assert [(folder / name).stat().st_mtime_ns for name in OUTPUTS] == [
        stat.st_mtime_ns for stat in before
    ]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.cfg"
    path.write_text(GOOD)
    with pytest.raises(UserError, match="cannot be written"):
        write_outputs(path, path)


# --- What is written ---


def compiled(
    folder: Path, text: str, objects: str = OBJECTS, checks: str = ""
) -> subprocess.CompletedProcess[str]:
    """Configure and compile; checks: C that follows the tables."""
    (folder / "system.cfg").write_text(text)
    (folder / "objects.h").write_text(objects)
    (folder / "storage.h").write_text(checks)  # stands in for the kernel's control blocks
    write_outputs(folder / "system.cfg", folder)
    kernel = ROOT / "guest" / "itron" / "kernel"
    return subprocess.run(
        ["gcc", "-m32", "-std=gnu17", "-ffreestanding", "-Wall", "-Wextra", "-Wconversion",
         "-Wshadow", "-Werror", "-Wno-unused-variable", "-fsyntax-only",
         f"-I{folder}", f"-I{HEADERS}", f"-I{kernel}", str(folder / "kernel_cfg.c")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_c_takes_what_is_written(tmp_path: Path) -> None:
    checks = """
#define ELEMENTS(table) (sizeof(table) / sizeof((table)[0]))
_Static_assert(ELEMENTS(task_configuration) == 4, "two gaps");
_Static_assert(ELEMENTS(semaphore_configuration) == 2, "");
_Static_assert(ELEMENTS(interrupt_configuration) == 2, "");
_Static_assert(sizeof(stack_1) == 1008 && sizeof(stack_4) == 2048, "multiples of 16");
_Static_assert(sizeof(queue_1) == 0 && sizeof(queue_2) == 16, "");
_Static_assert(sizeof(pool_1) == 24, "three blocks of 8 bytes");
_Static_assert(MAIN == 1 && SEM == 1 && SEM_B == 2 && DTQ == 2, "");
_Static_assert(TNUM_TSKID == 4 && TNUM_EXCNO == 1 && TNUM_INIRTN == 1, "");
"""
    done = compiled(tmp_path, GOOD, checks=checks)
    assert done.returncode == 0, done.stderr


def test_an_empty_configuration(tmp_path: Path) -> None:
    done = compiled(tmp_path, "")
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r" 0$", (tmp_path / "kernel_id.h").read_text(), re.MULTILINE)) == 10


def test_numbers_and_gaps(tmp_path: Path) -> None:
    text = "CRE_SEM(3, {0, 0, 1});\nCRE_SEM(A, {0, 0, 5});\nCRE_SEM(1, {0, 0, 2});\n"
    assert compiled(tmp_path, text).returncode == 0
    assert "#define A 2\n#define TNUM_SEMID 3\n" in (tmp_path / "kernel_id.h").read_text()
    maxima = re.findall(r"maxsem = \(UINT\)\((\d)\)", (tmp_path / "kernel_cfg.c").read_text())
    assert maxima == ["2", "5", "1"]
    assert compiled(tmp_path, "CRE_FLG(2, {0, 0});").returncode == 0
    assert ".flgatr = CONFIGURATION_GAP" in (tmp_path / "kernel_cfg.c").read_text()


@pytest.mark.parametrize(
    ("old", "new", "line", "part"),
    [
        ("PRIORITY 5", "PRIORITY 17", 3, "itskpri must be a number from 1 to 16"),
        ("STACK 2048", "STACK 512", 3, "stksz of a task with TA_FPU must be at least 1040"),
        ("MOST 2", "MOST 0", 6, "isemcnt must not be greater than maxsem"),
        ("FIRST 1", "FIRST (-1)", 6, "isemcnt must be a number from 0"),
    ],
)
def test_c_finds_what_the_tool_cannot_know(
    tmp_path: Path, old: str, new: str, line: int, part: str
) -> None:
    done = compiled(tmp_path, GOOD, OBJECTS.replace(old, new))
    assert done.returncode != 0
    assert re.search(rf"^system\.cfg:{line}:.*{re.escape(part)}", done.stderr, re.MULTILINE)


def test_c_finds_a_handler_that_is_defined_twice(tmp_path: Path) -> None:
    text = GOOD.replace("INHNO_DOORBELL", "37")
    done = compiled(tmp_path, text)
    assert done.returncode != 0
    assert "has a handler already, in line 14" in done.stderr


def test_the_same_configuration_gives_the_same_bytes(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert compiled(tmp_path / name, GOOD).returncode == 0
        texts.append([(tmp_path / name / output).read_bytes() for output in OUTPUTS])
    assert texts[0] == texts[1]
    assert str(tmp_path).encode() not in texts[0][0]


# --- Fuzz ---

_WORDS = [
    *FORMS, "(", ")", "{", "}", ",", ";", "|", "-", "+", "/", "%", "<<", "?", ":", "0", "1", "16",
    "0x", "08", "1u", "99999999999", "A", "B", "NULL", "TA_ACT", "TA_HLNG", "int", "sizeof", ".",
    '"x"', "'c'", "*", "~", "\n", "/*", "//", '"', "#",
]  # fmt: skip


def only_user_errors(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    sentences(path)


@given(st.binary(max_size=200))
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    only_user_errors(tmp_path_factory.getbasetemp() / "fuzz.cfg", content)


@example(["CRE_SEM", "(", "A", ",", "{", "0", ",", *["("] * 2000, ")", ",", "1", "}", ")", ";"])
@given(st.lists(st.sampled_from(_WORDS), max_size=60))
def test_random_tokens(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    only_user_errors(tmp_path_factory.getbasetemp() / "fuzz.cfg", " ".join(words).encode())


_EXPRESSIONS = st.lists(st.sampled_from([*_WORDS[12:], "f(x)", "(T)"]), max_size=12).map(" ".join)


@given(_EXPRESSIONS)
def test_random_expressions(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    content = f"CRE_CYC(C, {{{text}, {text}, f, {text}, {text}}});DEF_INH({text}, {{0, f}});"
    only_user_errors(tmp_path_factory.getbasetemp() / "fuzz.cfg", content.encode())


@example("(" * 3000 + "1" + ")" * 3000)
@example("-" * 3000 + "1")
@example("1" + "+1" * 3000)
@example("1" * 6000)
@given(st.text(alphabet="0123456789()+-*/%<>=!~?:xuL &|^", max_size=30))
def test_random_arithmetic(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    content = f"CRE_SEM(C, {{0, {text}, {text}}});"
    only_user_errors(tmp_path_factory.getbasetemp() / "fuzz.cfg", content.encode())


def test_the_headers_say_what_the_rules_need() -> None:
    constants = standard_constants()
    assert constants["TA_FPU"] == 0x100
    assert constants["TMAX_MAXSEM"] == 0x7FFFFFFF
    assert constants["E_TMOUT"] == -50
