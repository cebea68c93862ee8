# SPDX-License-Identifier: Apache-2.0
"""Lock-holder preemptions: what is read of a trace, drawn, and taken as a proof."""

from pathlib import Path

import pytest

from gandalf.base.paths import UserError
from gandalf.walls.lock_holder import check_lock_holders, draw, summary, title
from gandalf.walls.lock_holder_record import choose, function_at, proves, text_of
from gandalf.walls.preemption import Preemption, Spin, read_preemptions

SYMBOLS = "c0000000 T first\nc0001000 t second\nc0002000 T third\n"
# The vCPU waits until the RTOS is done, and another one spins for it.
NONE = """\
CPU 1: 990 us, linux: cr3: page directory 0x5000, hit 0x1
CPU 0: 995 us, linux: hypercall: number 0x14, EBX 0x2
CPU 2: 995 us, linux: hypercall: number 0x14, EBX 0x2
CPU 3: 995 us, linux: hypercall: number 0x14, EBX 0x2
CPU 1: 999 us, linux: interrupt: vector 0xf3, EIP 0xc0001020
CPU 1: 1000 us, linux: switch_to: vCPU 0x1, state 0x1
CPU 0: 1020 us, linux: hypercall: number 0x16, EBX 0
CPU 0: 1030 us, linux: interrupt: vector 0xf3, EIP 0xc0000010
CPU 0: 1490 us, linux: hypercall: number 0x16, EBX 0
CPU 1: 1500 us, rtos: switch_to: vCPU 0, state 0x2
CPU 0: 1510 us, linux: hypercall: number 0x14, EBX 0x2
"""
# It leaves for CPU 2, where it has two turns, and between these the one that was there has one.
PULL = NONE.replace("CPU 0: 1490 us", "CPU 0: 1075 us").replace(
    "CPU 1: 1500 us",
    """\
CPU 1: 1060 us, rtos: stop: guest 0, reason 0x80000102
CPU 2: 1061 us, linux: switch_to: vCPU 0xffff, state 0x1
CPU 2: 1070 us, idle: start: guest 0, entry 0x80000101
CPU 2: 1080 us, idle: switch_to: vCPU 0, state 0x1
CPU 2: 1085 us, linux: cr3: page directory 0x5000, hit 0
CPU 2: 1100 us, linux: switch_to: vCPU 0, state 0x1
CPU 2: 1120 us, linux: switch_to: vCPU 0, state 0x1
CPU 2: 1200 us, linux: switch_to: vCPU 0, state 0x1
CPU 0: 1250 us, linux: hypercall: number 0x14, EBX 0x2
CPU 1: 1500 us""",
)


def seen_in(sample: str, policy: str = "pull") -> Preemption:
    return choose([sample], policy, SYMBOLS)[0]


def test_the_pictures_are_as_they_are_drawn() -> None:
    assert check_lock_holders() == []
    seen = read_preemptions()
    assert [preemption.name for preemption in seen] == ["none", "pull"]
    assert all(map(proves, seen))
    assert seen[0].move is None
    assert seen[1].move is not None


def test_a_vcpu_that_stays_is_back_when_the_rtos_is_done() -> None:
    seen = seen_in(NONE, "none")
    assert (seen.cpu, seen.vcpu, seen.move, seen.lost, seen.back) == (1, 1, None, 1000, 1500)
    assert seen.function == "second"
    assert seen.spins() == [Spin(0, (1020, 1490))]
    turns = [(turn.who, turn.begin, turn.end, turn.victim) for turn in seen.turns(1)]
    assert turns == [
        ("linux", 990, 1000, True), ("rtos", 1000, 1500, False), ("linux", 1500, 1510, True),
    ]  # fmt: skip


def test_a_vcpu_that_leaves_is_back_where_it_loads_its_page_directory() -> None:
    seen = seen_in(PULL)
    assert (seen.vcpu, seen.back) == (1, 1080)
    turns = [(turn.begin, turn.end) for turn in seen.turns(2) if turn.victim]
    assert turns == [(1080, 1100), (1120, 1200)]
    assert not any(turn.victim for turn in seen.turns(1) if turn.begin >= seen.lost)


def test_a_picture_has_who_has_a_cpu_spins_and_moves() -> None:
    stays, leaves = draw(seen_in(NONE, "none")), draw(seen_in(PULL))
    assert "vCPU 1 loses CPU 1 in second()" in stays
    assert stays.count('stroke="#d1242f"') == 2 + 1  # and in the legend
    assert "url(#tip)" not in stays
    assert "url(#tip)" in leaves
    assert title(seen_in(NONE, "none")).endswith("waits until the RTOS is done")
    assert summary(seen_in(PULL)) == (
        "vCPU 1 is without a CPU for 80 us; others say 2 times that they have looked 256 times "
        "in vain"
    )


def test_only_who_spins_for_nobody_else_is_a_proof() -> None:
    late = PULL.replace("CPU 0: 1020 us", "CPU 0: 1090 us").replace("CPU 0: 1075", "CPU 0: 1095")
    short = PULL.replace("CPU 0: 1075 us", "CPU 0: 1035 us")
    for sample in (late, short, NONE.replace("number 0x16", "number 0x14")):
        with pytest.raises(UserError, match=r"No sample shows .* by the policy pull"):
            seen_in(sample)


def test_the_first_sample_that_proves_something_is_chosen() -> None:
    nothing = NONE.replace("number 0x16", "number 0x14")
    seen, lines = choose([nothing, NONE, PULL], "none", SYMBOLS)
    assert seen == seen_in(NONE, "none")
    assert lines == NONE.splitlines()


def test_what_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text("".join(text_of(*choose([PULL], "pull", SYMBOLS)) for _ in range(2)))
    assert read_preemptions(path) == [seen_in(PULL)] * 2


def test_what_is_no_line_of_a_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    text = text_of(*choose([NONE], "none", SYMBOLS))
    path.write_text(text.replace("CPU 1: 999 us", "CPU 1: soon"))
    with pytest.raises(ValueError, match="no line of a trace: CPU 1: soon"):
        read_preemptions(path)


def test_a_function_is_the_last_one_before_an_address() -> None:
    assert function_at(0xC0001000, SYMBOLS) == "second"
    assert function_at(0xC0000FFF, SYMBOLS) == "first"


def test_an_old_picture_is_named(tmp_path: Path) -> None:
    assert check_lock_holders(tmp_path) == [
        f"lock-holder-{seen.name}.svg is old: run python -m gandalf.walls.lock_holder"
        for seen in read_preemptions()
    ]
