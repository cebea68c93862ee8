# SPDX-License-Identifier: Apache-2.0
"""No guest on a shared CPU keeps a more urgent RTOS from it for long, whatever it does.

Each program of corpus/ has once driven the VMM over a limit, or near it (python -m
gandalf.stress.search found some of them, and searches on here). The machine is deterministic: so
are the figures.
"""

import pytest

from gandalf.base.paths import BUILD, UserError
from gandalf.masked.docs import read_reference, seen_by_load, write_seen
from gandalf.stress.hostile import (
    DISPATCH_LIMIT,
    FLOOD,
    MASKED_LIMIT,
    Bench,
    Found,
    Program,
    encode,
    language,
    parse,
)
from gandalf.stress.search import Mutator, Search, corpus

PROGRAMS = corpus()
POOLS = (4, 12)
GENERATIONS, SIZE = 2, 12


@pytest.fixture(scope="module", params=POOLS)
def bench(request: pytest.FixtureRequest) -> Bench:
    """With the smallest and the largest pool for page tables."""
    return Bench(BUILD / "search" / f"corpus-{request.param}", request.param)


@pytest.fixture(scope="module")
def found(bench: Bench) -> dict[str, Found]:
    """Run all programs."""
    return dict(zip(PROGRAMS, bench.run(list(PROGRAMS.values())), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_within_the_limits(found: dict[str, Found], name: str) -> None:
    print(f"{name}: {found[name]}")
    assert 0 < found[name].masked <= MASKED_LIMIT
    assert 0 < found[name].dispatch <= DISPATCH_LIMIT


def test_no_section_is_without_a_name_or_longer_than_its_bound(
    bench: Bench, found: dict[str, Found]
) -> None:
    load = bench.folder.name
    assert found
    write_seen(load, bench.sections)
    assert bench.wrong == []
    assert seen_by_load(read_reference(), load) <= bench.sections.keys()


def crowd(image: str, settings: str = "") -> str:
    """Return seven RTOSes, less urgent than the victim, each a page larger than the last."""
    guests = (
        f'[[guest]]\nname = "crowd{i}"\nkind = "rtos"\nimage = "build/tests/{image}.elf"\n'
        f'memory = "{256 + 4 * i}K"\npriority = 4\n{settings.format(watchdog=20 + 8 * i)}'
        for i in range(7)
    )
    return "\n".join(guests)


RESTART = 'on_fault = "restart"\nrestart_limit = 1000\nwatchdog_ms = {watchdog}\n'
CHANNELS = "".join(
    f'\n[[channel]]\nname = "c{i}"\nbetween = ["linux", "flood"]\nsize = "4K"\n' for i in range(8)
)
# Guests that agree on a moment, and one with all that a start sets up, restarted all the time.
CROWDS = {
    "timers": (crowd("crowd_timers"), "hypercall 32 0 0 0 0 *100000"),
    "watchdogs": (crowd("crowd_silent", RESTART), "hypercall 32 0 0 0 0 *300000"),
    "channels": (FLOOD + CHANNELS, "hypercall 35 0x202 0 0 0 *3000"),
    "ports": (FLOOD + 'ports = ["0x200-0x2f7", "0x800-0xaff"]\n', "hypercall 35 0x202 0 0 0 *3000"),
}


@pytest.mark.parametrize("name", CROWDS)
def test_many_at_once_are_within_the_limits(name: str) -> None:
    others, program = CROWDS[name]
    (found,) = Bench(BUILD / "search" / name, others=others).run([parse(program)])
    print(f"{name}: {found}")
    assert 0 < found.masked <= MASKED_LIMIT
    assert 0 < found.dispatch <= DISPATCH_LIMIT


def test_a_search_finds_nothing() -> None:
    bench = Bench(BUILD / "search" / "short")
    search = Search.begin(bench, 1, list(PROGRAMS.values()))
    search.size = SIZE
    for _ in range(GENERATIONS):
        search.step()
    print(*(row.found for row in search.best[:3]), sep="\n")
    assert not search.wrong, "\n".join(map(str, search.wrong))


def test_a_program_that_overwrites_what_runs_it_is_found_out() -> None:
    progress = language().progress
    programs = [parse("halt *2"), parse(f"write {progress + 4:#x} 0\nwrite {progress + 8:#x} 0")]
    found = Bench(BUILD / "search" / "overwrites").run(programs)
    assert found[0].masked > 0
    assert found[1] == Found(0, 0, "it overwrote or stopped what runs it")


def test_a_program_that_stops_the_victim_is_found_out() -> None:
    """No other waits for a victim that is off."""
    programs = [parse("hypercall 0x23 0x101 0 0 0"), parse("halt *2")]
    found = Bench(BUILD / "search" / "stops").run(programs)
    assert found[0] == Found(0, 0, "it overwrote or stopped what runs it")
    assert found[1].masked > 0


def test_the_same_programs_find_the_same() -> None:
    bench = Bench(BUILD / "search" / "same")
    mutator = Mutator(3)
    programs: list[Program] = [mutator.program() for _ in range(4)]
    assert bench.run(programs) == bench.run(programs)


def test_a_text_is_a_program() -> None:
    program = parse("# of it\nout8 0x40 1 *3 +0x10\nhalt\nread gdt_page # a variable\n")
    assert [str(operation) for operation in program[:2]] == ["out8 0x40 1 *3 +0x10", "halt"]
    assert program[2].arguments[0] % 0x1000 == 0
    assert parse("\n".join(map(str, program))) == program
    assert len(encode([program])) == 4 * (2 + 1 + 3 * 8)
    for wrong in ("nothing 1", "out8 1"):
        with pytest.raises(UserError, match="is no operation"):
            parse(wrong)


def test_a_seed_is_a_sequence() -> None:
    first, second, other = Mutator(1), Mutator(1), Mutator(2)
    program = first.program()
    assert program == second.program() != other.program()
    assert first.change(program, program) == second.change(program, program)
