# SPDX-License-Identifier: Apache-2.0
"""Mutants are what they say, are counted as they should be, and depend on nothing but the seed."""

import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gandalf.base.paths import UserError
from gandalf.mutate import workbench as mutation_bench
from gandalf.mutate.command import EQUIVALENT, SOURCES, Score, change_of, measure, read_equivalent
from gandalf.mutate.mutation import Mutant, attribute_macros, mutants_of
from gandalf.mutate.workbench import VMM, Program, read_programs

HEADER = b"""\
#define COLD __attribute__((cold))
#define MUST_CHECK __attribute__((warn_unused_result))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
"""

SOURCE = b"""\
/* a + b in a comment */
#include <x.h>
#define STEP (4u << 2)
MUST_CHECK COLD static int f(unsigned a, struct s *p)
{
\tif (a <= 0x10 && !p->on)
\t\tp->name = "a < b";
\tfor (; a-- > 1;)
\t\tp->sum |=
\t\t\ta;
\treturn p->on ? 1 : 0;
}
"""


def found() -> dict[tuple[str, str], Mutant]:
    attributes = attribute_macros(HEADER)
    return {(mutant.before, mutant.after): mutant for mutant in mutants_of(SOURCE, attributes)}


def test_attributes() -> None:
    assert attribute_macros(HEADER) == ["COLD", "MUST_CHECK"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#define STEP (4u << 2)", "#define STEP (4u >> 2)"),
        ("#define STEP (4u << 2)", "#define STEP (5u << 2)"),
        ("#define STEP (4u << 2)", "#define STEP (4u << 1)"),
        ("if (a <= 0x10 && !p->on)", "if (a < 0x10 && !p->on)"),
        ("if (a <= 0x10 && !p->on)", "if (a > 0x10 && !p->on)"),
        ("if (a <= 0x10 && !p->on)", "if (a <= 0x11 && !p->on)"),
        ("if (a <= 0x10 && !p->on)", "if (a <= 0xf && !p->on)"),
        ("if (a <= 0x10 && !p->on)", "if (a <= 0x10 || !p->on)"),
        ("if (a <= 0x10 && !p->on)", "if (a <= 0x10 && p->on)"),
        ("if (a <= 0x10 && !p->on)", "if (!((a <= 0x10 && !p->on)))"),
        ('p->name = "a < b";', ";"),
        ("for (; a-- > 1;)", "for (; a++ > 1;)"),
        ("for (; a-- > 1;)", "for (; (!(a-- > 1));)"),
        ("p->sum |=", "p->sum &="),
        ("p->sum |= a;", ";"),
        ("return p->on ? 1 : 0;", "return (!(p->on)) ? 1 : 0;"),
        ("return p->on ? 1 : 0;", "return p->on ? 1 : 1;"),
    ],
)
def test_a_mutant_is_there(before: str, after: str) -> None:
    mutant = found()[before, after]
    changed = mutant.apply(SOURCE)
    assert changed != SOURCE
    assert changed[: mutant.start] == SOURCE[: mutant.start]
    assert changed.endswith(SOURCE[mutant.end :])
    assert SOURCE.splitlines()[mutant.line - 1].decode().split()[0] in before
    assert mutant.function == ("STEP" if "STEP" in before else "f")


def test_nothing_else_is_changed() -> None:
    """Comments, strings, types and what is included are no code."""
    for before, after in found():
        assert "comment" not in before
        assert "include" not in before
        assert "struct s" not in before
        assert "b" not in after or '"a < b"' in after or "STEP" in after


def test_every_source_is_understood() -> None:
    """A construct that the parser does not know would have no mutants: so would its function."""
    attributes = attribute_macros((VMM / "lib" / "types.h").read_bytes())
    for source in SOURCES:
        text = (VMM / source).read_bytes()
        functions = Counter(mutant.function for mutant in mutants_of(text, attributes))
        lines = text.decode().splitlines()
        bodies = sum(line == "{" for line in lines)
        assert len(functions) > bodies * 3 // 4, source


PROGRAM = """\
#include <stdlib.h>
int twice(int number);
int main(void)
{
\tif (twice(2) != 4 || twice(0) != 0)
\t\tabort();
\treturn 0;
}
"""

TWICE = """\
int twice(int number);
int twice(int number)
{
\tint sum = 0;
\tunsigned unused = 3;
\tfor (int i = 0; i < 2; i++)
\t\tsum += number;
\tif (sum >= 1000)
\t\tsum = 1000;
\treturn unused * 0 + sum;
}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tree with one source and the test of it."""
    (tmp_path / "vmm" / "lib").mkdir(parents=True)
    (tmp_path / "unit").mkdir()
    (tmp_path / "vmm" / "lib" / "types.h").write_bytes(HEADER)
    (tmp_path / "vmm" / "lib" / "twice.c").write_text(TWICE)
    (tmp_path / "unit" / "test_twice.c").write_text(PROGRAM)
    monkeypatch.setattr(mutation_bench, "VMM", tmp_path / "vmm")
    monkeypatch.setattr(mutation_bench, "WORK", tmp_path / "work")
    monkeypatch.setattr(mutation_bench, "_UNIT", tmp_path / "unit")
    monkeypatch.setattr("gandalf.mutate.command.VMM", tmp_path / "vmm")
    programs = [Program("twice", ("lib/twice.c",), ("-O1", "-Wall", "-Werror"))]
    monkeypatch.setattr("gandalf.mutate.command.read_programs", lambda: programs)
    return tmp_path


def run(sample: int | None, seed: int = 1, listed: tuple[Mutant, ...] = ()) -> Score:
    changes = {change_of("lib/twice.c", mutant): "a reason" for mutant in listed}
    with ThreadPoolExecutor(2) as pool:
        return measure("lib/twice.c", sample, seed, changes, pool)


def after(mutants: list[Mutant]) -> set[str]:
    return {mutant.after for mutant in mutants}


@pytest.mark.usefixtures("tree")
def test_what_no_test_asks_for_survives() -> None:
    score = run(None)
    assert "if (sum >= 999)" in after(score.survivors)
    assert "sum = 1001;" in after(score.survivors)
    # Noticed, also where it never ends; and a constant that does not matter is no mutant at all.
    noticed = {"sum -= number;", "for (int i = 0; i < 3; i++)", "for (int i = 0; i < 2; i--)"}
    assert not after(score.survivors) & noticed
    assert "unsigned unused = 4;" not in after(score.survivors)
    assert score.noticed > len(score.survivors) > 0


@pytest.mark.usefixtures("tree")
def test_what_is_listed_does_not_count() -> None:
    before = run(None)
    kept, other = before.survivors[0], before.survivors[1:]
    score = run(None, listed=(kept,))
    assert score.equivalent == 1
    assert score.survivors == other
    assert score.noticed == before.noticed
    assert score.counted == before.counted - 1


@pytest.mark.usefixtures("tree")
def test_what_a_test_notices_must_not_be_listed() -> None:
    mutants = mutants_of(TWICE.encode(), [])
    noticed = next(mutant for mutant in mutants if mutant.after == "sum -= number;")
    assert run(None, listed=(noticed,)).wrongly_listed == [noticed]


def test_a_listed_change_that_is_gone_is_told(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = Mutant(0, 0, "", 1, "twice", "sum *= number;", "sum /= number;")
    # Lines move without harm.
    source = tree / "vmm" / "lib" / "twice.c"
    source.write_text("\n\n" + source.read_text())
    here = next(one for one in mutants_of(TWICE.encode(), []) if one.after == "sum = 1001;")
    score = run(None, listed=(gone, here))
    assert score.equivalent == 1
    assert "nothing like this is in lib/twice.c any more: sum *= number;" in capsys.readouterr().out


@pytest.mark.usefixtures("tree")
def test_a_sample_depends_on_the_seed() -> None:
    one, again, other = run(5), run(5), run(5, seed=2)
    assert one.counted == again.counted == other.counted == 5
    assert (one.noticed, one.survivors) == (again.noticed, again.survivors)
    assert len({str(score.survivors) for score in (one, run(5, 3), run(5, 4), other)}) > 1


def test_a_test_that_fails_measures_nothing(tree: Path) -> None:
    (tree / "unit" / "test_twice.c").write_text("int main(void) { return 1; }")
    with pytest.raises(UserError, match="the test twice fails"):
        run(None)


def test_the_list_has_reasons(tmp_path: Path) -> None:
    assert all(len(reason) > 10 for reason in read_equivalent(EQUIVALENT).values())
    entry = '[[equivalent]]\nfile = "a"\nfunction = "f"\nbefore = "x"\nafter = "y"\n'
    path = tmp_path / "list.toml"
    for text in (entry, (entry + 'reason = "z"\n') * 2, entry + 'reason = "z"\nmore = 1\n'):
        path.write_text(text)
        with pytest.raises(UserError):
            read_equivalent(path)


def test_what_is_listed_is_in_the_sources() -> None:
    attributes = attribute_macros((VMM / "lib" / "types.h").read_bytes())
    for change in read_equivalent(EQUIVALENT):
        mutants = mutants_of((VMM / change.file).read_bytes(), attributes)
        assert change in {change_of(change.file, mutant) for mutant in mutants}, change


def test_every_source_has_a_test() -> None:
    linked = {source for program in read_programs() for source in program.sources}
    assert set(SOURCES) <= linked


def test_endless_loops_end(tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text("int main(void) { for (;;) ; }")
    subprocess.run(["gcc", "-O1", "-o", tmp_path / "loop", tmp_path / "loop.c"], check=True)
    assert not mutation_bench._run(tmp_path / "loop", 1)
