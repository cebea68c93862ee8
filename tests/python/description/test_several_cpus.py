# SPDX-License-Identifier: Apache-2.0
"""A Linux with several vCPUs: its description, the system table, and the table it finds them by."""

import io
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import GOOD
from rich.console import Console

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT
from gandalf.build.profile import parts_used, profile_for
from gandalf.description import linux_boot, owners
from gandalf.description.check import check, show
from gandalf.description.compose import compose
from gandalf.description.description import LinuxGuest
from gandalf.description.messages import messages
from gandalf.description.mp_table import ADDRESS, mp_table
from gandalf.description.table import unpack

Describe = Callable[[str], Path]

SEVERAL = GOOD.replace('"128M"', '"128M"\ncpus = 4').replace(
    'kind = "linux"\n', 'kind = "linux"\ncpus = [0, 2, 3]\n'
)


def mistakes(path: Path) -> list[tuple[int, str]]:
    return [(item.line, item.sentence) for item in sorted(set(check(path).system.mistakes))]


def test_a_linux_may_have_several(describe: Describe) -> None:
    assert mistakes(describe(SEVERAL)) == []
    assert mistakes(describe(SEVERAL.replace("[0, 2, 3]", "[3, 1]"))) == []


@pytest.mark.parametrize("cpus", ["[0, 0]", "[0, 0, 1, 1]", "[3, 1, 3, 1, 3, 1, 3, 1]"])
def test_several_may_share_a_cpu(describe: Describe, cpus: str) -> None:
    assert mistakes(describe(SEVERAL.replace("[0, 2, 3]", cpus))) == []


def test_also_where_there_is_one(describe: Describe) -> None:
    system = check(describe(SEVERAL.replace("cpus = 4", "").replace("[0, 2, 3]", "[0, 0]"))).system
    assert not system.mistakes
    assert profile_for(system).name == "smp"


@pytest.mark.parametrize("cpus", [1, 2])
def test_cpus_are_required_where_there_are_several(describe: Describe, cpus: int) -> None:
    found = mistakes(
        describe(GOOD.replace('"128M"', f'"128M"\ncpus = {cpus}\ncpus_required = true'))
    )
    sentence = "`cpus_required` is for a machine with several CPUs: remove `cpus_required`."
    assert found == ([(4, sentence)] if cpus == 1 else [])


@pytest.mark.parametrize(("slice_us", "wrong"), [
    (499, "at least 500"), (500, ""), (100_000, ""), (100_001, "at most 100000"),
])  # fmt: skip
def test_a_slice_has_a_range(describe: Describe, slice_us: int, wrong: str) -> None:
    found = mistakes(describe(SEVERAL.replace("[0, 2, 3]", f"[0, 0]\nslice_us = {slice_us}")))
    assert len(found) == bool(wrong)
    assert all(line == 9 and wrong in said for line, said in found), found


@pytest.mark.parametrize(
    ("cpus", "sentence"),
    [
        ("cpus = [0, 2, 3]", "`slice_us` is for vCPUs that share a CPU"),
        ("cpu = 2", "`slice_us` is for a guest with `cpus`"),
    ],
)
def test_a_slice_is_for_who_shares(describe: Describe, cpus: str, sentence: str) -> None:
    found = mistakes(describe(SEVERAL.replace("cpus = [0, 2, 3]", f"{cpus}\nslice_us = 2000")))
    assert len(found) == 1
    assert found[0][0] == 9
    assert sentence in found[0][1]


def test_a_cpu_has_room_for_nine(describe: Describe) -> None:
    """A further vCPU takes a place there as a guest does."""
    text = SEVERAL.replace("[0, 2, 3]", "[0, 0, 0, 0, 0, 0, 0, 0]")
    assert mistakes(describe(text)) == []
    rtos = text[text.index("[[guest]]", text.index('kind = "linux"')) :]
    found = mistakes(describe(text + "\n" + rtos.replace('"rtos"', '"second"', 1)))
    assert any("CPU 0 has 8 vCPUs of linux, each of which counts" in said for _, said in found), (
        found
    )


def test_a_pool_has_room_for_all(describe: Describe) -> None:
    text = SEVERAL.replace("cpus = 4", 'cpus = 4\nshadow_pool = "4M"')
    assert mistakes(describe(text.replace("[0, 2, 3]", "[2, 2, 2, 2]"))) == []
    ((_, said),) = mistakes(describe(text.replace("[0, 2, 3]", "[2, 2, 2, 2, 2]")))
    assert said == (
        "CPU 2 has 5 vCPUs of linux, for which `shadow_pool` must be at least 8M, not 4M."
    )


@pytest.mark.parametrize(
    ("cpus", "line", "sentence"),
    [
        ("[0]", 8, "`cpus` has a CPU for each vCPU, two to 8; for one there is `cpu`."),
        ("[0, 1, 2, 3, 4]", 8, "CPU 4 does not exist: the machine has CPUs 0 to 3."),
        ("[]", 8, "`cpus` has a CPU for each vCPU, two to 8; for one there is `cpu`."),
        ("[0, 1, 2, 3, 0, 1, 2, 3, 0]", 8, "`cpus` has a CPU for each vCPU, two to 8"),
        ("[0, 4]", 8, "CPU 4 does not exist: the machine has CPUs 0 to 3."),
        ("[0, -1]", 8, "must be at least 0"),
        ('"all"', 8, "`cpus` must be a list"),
    ],
)
def test_not_any(describe: Describe, cpus: str, line: int, sentence: str) -> None:
    found = mistakes(describe(SEVERAL.replace("[0, 2, 3]", cpus)))
    assert [at for at, said in found if sentence in said] == [line], found


def test_either_cpu_or_cpus(describe: Describe) -> None:
    found = mistakes(describe(SEVERAL.replace("cpus = [0, 2, 3]", "cpus = [0, 2, 3]\ncpu = 2")))
    assert [said for _, said in found] == ["A guest has `cpu` or `cpus`, not both: remove `cpu`."]


def test_a_dedicated_linux_has_one(describe: Describe) -> None:
    found = mistakes(describe(SEVERAL.replace("3]\n", '3]\nmode = "dedicated"\n')))
    assert any('mode "dedicated" and several CPUs' in said for _, said in found), found


ALONE = GOOD.replace('"128M"', '"128M"\ncpus = 2').replace(
    'kind = "linux"\n', 'kind = "linux"\nmode = "dedicated"\n'
).replace('kind = "rtos"\n', 'kind = "rtos"\ncpu = 1\n')  # fmt: skip


def test_a_dedicated_linux_may_have_the_first_cpu(describe: Describe) -> None:
    path = describe(ALONE)
    assert mistakes(path) == []
    system = check(path).system
    assert profile_for(system).name == "cores"
    assert ("virtual periodic timer", "ticks of the RTOS", "rtos") in owners.timer_owners(system)
    assert ("0x0-0xffff", "all of them", "linux") in owners.port_owners(system)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('mode = "dedicated"\n', 'mode = "dedicated"\ncpu = 1\n', "devices interrupt CPU 0"),
        ("cpu = 1\n", "cpu = 0\n", "rtos on the same CPU"),
        ("cpu = 1\n", "cpu = 1\ninterrupts = [5]\n", "has those of all devices"),
        ("cpu = 1\n", 'cpu = 1\n[[guest]]\nname = "smp"\nkind = "linux"\ncpus = [1, 2]\n',
         "smp has several CPUs, and no VMM for that has what linux needs"),
    ],
)  # fmt: skip
def test_not_where_others_need_it(describe: Describe, old: str, new: str, sentence: str) -> None:
    found = mistakes(describe(ALONE.replace(old, new)))
    assert any(sentence in said for _, said in found), found


def test_an_rtos_has_one(describe: Describe) -> None:
    text = GOOD.replace('kind = "rtos"', 'kind = "rtos"\ncpus = [0, 1]')
    assert any("`cpus`" in said for _, said in mistakes(describe(text)))


@pytest.mark.parametrize(("cpu", "wrong"), [(0, True), (1, False), (2, True), (3, True)])
def test_each_cpu_has_one_linux(describe: Describe, cpu: int, wrong: bool) -> None:
    second = f'\n[[guest]]\nname = "b"\nkind = "linux"\ncpu = {cpu}\nkernel = "./vmlinux"\n'
    found = mistakes(describe(SEVERAL + second + 'memory = "32M"\n'))
    assert any(f"CPU {cpu} already has a Linux guest" in said for _, said in found) == wrong


@pytest.mark.parametrize(
    ("variant", "fits"),
    [("smp", True), ("complete-smp", True), ("patched", False), ("complete", False)],
)
def test_it_takes_a_kernel_for_that(
    describe: Describe, folder: Path, monkeypatch: pytest.MonkeyPatch, variant: str, fits: bool
) -> None:
    monkeypatch.setattr("gandalf.description.guests.BUILD", folder / "build")
    text = SEVERAL.replace("./vmlinux", f"{folder}/build/linux/{variant}/vmlinux")
    found = [said for _, said in mistakes(describe(text))]
    wrong = f"The kernel `{variant}` does not run with several CPUs; there are build/linux/smp"
    assert [wrong in said for said in found] == ([] if fits else [True])


def test_the_table_has_all_vcpus(describe: Describe) -> None:
    linux, rtos = unpack(compose(check(describe(SEVERAL)))).guests
    assert (linux.kind, linux.cpu) == (abi()["KIND_LINUX_SMP"], 0)
    assert (linux.vcpu_count, tuple(linux.vcpu_cpus)) == (3, (0, 2, 3))
    assert (rtos.kind, rtos.cpu) == (abi()["KIND_RTOS"], 0)
    assert (rtos.vcpu_count, tuple(rtos.vcpu_cpus)) == (1, (0,))
    assert (linux.slice_us, rtos.slice_us) == (1000, 0)


def test_it_needs_the_image_for_several(describe: Describe) -> None:
    system = check(describe(SEVERAL)).system
    assert parts_used(system) >= {"cores", "smp"}
    assert profile_for(system).name == "smp"
    assert profile_for(check(describe(GOOD)).system).name == "shared"


def test_a_spin_yields_unless_told(describe: Describe) -> None:
    for text, spins in (
        (SEVERAL, False),
        (SEVERAL.replace("3]", "3]\nyielding_spin = false"), True),
    ):
        linux, _ = unpack(compose(check(describe(text)))).guests
        assert bool(linux.flags & abi()["GUEST_SPINS"]) == spins
    single = SEVERAL.replace("cpus = [0, 2, 3]", "yielding_spin = true")
    (found,) = mistakes(describe(single))
    assert "`yielding_spin` is for a guest with `cpus`" in found[1]


def test_vcpus_may_move(describe: Describe) -> None:
    moving = SEVERAL.replace("[0, 2, 3]", "[0, 2, 3]\nmigrate = true")
    assert mistakes(describe(moving)) == []
    linux, rtos = unpack(compose(check(describe(moving)))).guests
    assert not rtos.flags
    assert linux.flags & abi()["GUEST_MIGRATES"]


def test_one_vcpu_does_not_move(describe: Describe) -> None:
    found = mistakes(describe(GOOD.replace('kind = "linux"\n', 'kind = "linux"\nmigrate = true\n')))
    assert [said for _, said in found] == [
        "`migrate` is for a guest with `cpus`: remove `migrate`."
    ]


def test_vcpus_leave_an_rtos(describe: Describe) -> None:
    moving = SEVERAL.replace(
        "[0, 2, 3]", '[0, 2, 3]\nmigrate = true\nlock_holder_preemption = "on-demand"'
    )
    (mistake,) = mistakes(describe(moving))
    assert mistake[1] == (
        "rtos is on CPU 0 with the first vCPU of linux, which does not move: put the RTOS on "
        "another CPU, have `cpus` begin with another one, or remove `lock_holder_preemption`."
    )
    assert mistakes(describe(moving.replace("[0, 2, 3]", "[2, 0, 3]"))) == []
    elsewhere = moving.replace('kind = "rtos"', 'kind = "rtos"\ncpu = 2')
    assert mistakes(describe(elsewhere)) == []
    linux, rtos = unpack(compose(check(describe(elsewhere)))).guests
    assert linux.preemption == abi()["PREEMPTION_ON_DEMAND"]
    assert not linux.flags & abi()["GUEST_REMEDIES"]
    assert (linux.delay_limit_us, rtos.delay_limit_us, rtos.preemption) == (100, 0, 0)
    staying = elsewhere.replace("migrate = true\n", "")
    assert [said for _, said in mistakes(describe(staying))] == [
        '`lock_holder_preemption = "on-demand"` is for vCPUs that move: set `migrate = true`.'
    ]


def test_an_rtos_may_wait_for_locks(describe: Describe) -> None:
    """No vCPU has to leave for that, so the RTOS may be beside the first one."""
    more = 'migrate = true\nlock_holder_preemption = "delayed"\ndelay_limit_us = {}'
    waiting = SEVERAL.replace("[0, 2, 3]", "[0, 2, 3]\n" + more)
    linux, _ = unpack(compose(check(describe(waiting.format(250))))).guests
    assert linux.preemption == abi()["PREEMPTION_DELAYED"]
    assert linux.flags & abi()["GUEST_REMEDIES"]
    assert linux.delay_limit_us == 250
    for limit in (4, 10_001):
        (mistake,) = mistakes(describe(waiting.format(limit)))
        assert "delay_limit_us" in mistake[1]


@pytest.mark.parametrize("policy", ["delayed", "pull", "trap"])
def test_two_levels_have_not_all_policies(describe: Describe, policy: str) -> None:
    more = f'migrate = true\nlock_holder_preemption = "{policy}"'
    moving = SEVERAL.replace("[0, 2, 3]", "[0, 2, 3]\n" + more)
    moving = moving.replace('kind = "rtos"', 'kind = "rtos"\ncpu = 2')
    assert mistakes(describe(moving)) == []
    found = mistakes(describe(moving.replace("cpus = 4", 'cpus = 4\nrings = "two-level"')))
    (mistake,) = found
    assert mistake[1] == (
        f'linux has `lock_holder_preemption = "{policy}"`, which does not exist with '
        '`rings = "two-level"` so far: use "on-demand".'
    )


def test_a_screen_leaves_no_room_for_the_policy_trap(describe: Describe) -> None:
    more = 'migrate = true\nlock_holder_preemption = "trap"'
    moving = SEVERAL.replace("[0, 2, 3]", "[0, 2, 3]\n" + more)
    moving = moving.replace('kind = "rtos"', 'kind = "rtos"\ncpu = 2')
    linux, _ = unpack(compose(check(describe(moving)))).guests
    assert linux.preemption == abi()["PREEMPTION_TRAP"]
    assert linux.flags & abi()["GUEST_REMEDIES"]
    assert linux.flags & abi()["GUEST_TRAP"]
    (mistake,) = mistakes(describe(moving + "\n[console]\nscreen = true\n"))
    assert mistake[1] == (
        'linux has `lock_holder_preemption = "trap"`, for which the VMM has no room beside '
        'screen and keyboard: use "pull", or remove `screen`.'
    )


def test_a_policy_that_is_not_there_is_refused(describe: Describe) -> None:
    moving = SEVERAL.replace(
        "[0, 2, 3]", '[0, 2, 3]\nmigrate = true\nlock_holder_preemption = "postponed"'
    )
    assert any("delayed" in said for _, said in mistakes(describe(moving)))


def test_each_cpu_needs_room_for_all_that_move(describe: Describe) -> None:
    moving = SEVERAL.replace("[0, 2, 3]", "[0, 2, 3]\nmigrate = true").replace(
        "cpus = 4", 'cpus = 4\nshadow_pool = "2M"'
    )
    assert any(
        "`shadow_pool` must be at least 4M" in said for _, said in mistakes(describe(moving))
    )


def test_linux_is_told_of_its_local_apics() -> None:
    one = linux_boot.command_line("quiet", False, 10).text.decode().split()
    several = linux_boot.command_line("quiet", False, 10, several=True).text.decode().split()
    assert "nolapic" in one
    assert "apic=gandalf" not in one
    assert [word for word in one if word != "nolapic"] == [
        word for word in several if word != "apic=gandalf"
    ]
    assert "nolapic" not in several


@pytest.mark.parametrize("count", range(2, 9))
def test_the_mp_table_is_one(count: int) -> None:
    """Read by Intel's MultiProcessor Specification 1.4, sections 4.1 to 4.3."""
    content = mp_table(count)
    signature, at, paragraphs, revision = struct.unpack_from("<4sIBB", content)
    assert (signature, at, paragraphs, revision) == (b"_MP_", ADDRESS + 16, 1, 4)
    assert sum(content[:16]) % 256 == 0
    table = content[16:]
    name, length, revision, _, _, _, _, _, entries, apic, _, _ = struct.unpack_from(
        "<4sHBB8s12sIHHIHB", table
    )
    assert (name, length, revision, apic) == (b"PCMP", len(table), 4, abi()["APIC_BASE"])
    assert sum(table) % 256 == 0
    place, processors, others = 44, [], []
    for _ in range(entries):
        if table[place] == 0:
            processors.append((table[place + 1], table[place + 3]))
            place += 20
        else:
            others.append(table[place])
            place += 8
    assert place == length
    assert processors == [(number, 3 if number == 0 else 1) for number in range(count)]
    assert others == [1, 4, 4]


def test_the_mp_table_is_where_linux_looks(describe: Describe) -> None:
    """In the last KiB of base memory, which the kernel does not get."""
    module = compose(check(describe(SEVERAL)))
    table = unpack(module)
    (image,) = [image for image in table.images if image.name == "MP table"]
    assert image.load_address == ADDRESS
    assert module[image.offset : image.offset + 4] == b"_MP_"
    assert ADDRESS == 640 * 1024 - 1024


def shown(path: Path) -> str:
    output = io.StringIO()
    show(check(path), Console(file=output, width=200))
    return output.getvalue()


def test_what_each_cpu_owns_is_shown(describe: Describe) -> None:
    text = SEVERAL.replace('kind = "rtos"\n', 'kind = "rtos"\ncpu = 1\ninterrupts = [3]\n')
    second = '\n[[guest]]\nname = "b"\nkind = "rtos"\ncpu = 2\nimage = "./rtos.elf"\n'
    line = '\n[[channel]]\nname = "line"\nbetween = ["rtos", "b"]\nsize = "8K"\n'
    system = check(describe(text + second + 'memory = "1M"\npriority = 3\n' + line)).system
    assert system.mistakes == []
    linux = next(guest.name for _, guest in system.guests if isinstance(guest, LinuxGuest))
    assert [row[1] for row in owners.cpu_owners(system)] == [linux, "rtos", f"{linux}, b", linux]
    assert [row[0] for row in owners.cpu_owners(system) if row[2]] == ["CPU 0"]
    assert messages(system)[:2] == [
        ("CPU 0", "CPU 1", "IRQ 3 of rtos"),
        ("CPU 1-2", "each other", "doorbell of the channel line"),
    ]


def said(path: Path) -> list[tuple[str, str, str]]:
    system = check(path).system
    assert system.mistakes == []
    return messages(system)


CONSOLES = "what guests print, and the VMM's log"
STATES = ("each other", "what has become of guests; each second, their counters")


def test_messages_between_vcpus_of_a_guest_are_shown() -> None:
    assert said(ROOT / "systems" / "cores-smp-4.toml") == [
        ("CPU 0-3", "each other", "linux: interrupts, starts and ends of its vCPUs"),
        ("CPU 1-3", "CPU 0", "linux: accesses to ports; the answers back"),
        ("CPU 0-3", "CPU 0", "orders of linux, which manages guests; the answers back"),
        ("CPU 1-3", "CPU 0", CONSOLES),
        ("CPU 0-3", *STATES),
    ]


def test_messages_of_guests_of_other_cpus_are_shown() -> None:
    assert said(ROOT / "systems" / "cores-linux.toml") == [
        ("CPU 0", "CPU 1", "orders of linux, which manages guests; the answers back"),
        ("CPU 0", "CPU 1", "orders typed at the VMM's console"),
        ("CPU 1", "CPU 0", CONSOLES),
        ("CPU 0", "CPU 1", "what is typed for guests"),
        ("CPU 0-1", *STATES),
    ]


def test_messages_of_vcpus_that_move_are_shown(describe: Describe) -> None:
    text = SEVERAL.replace("cpus = [0, 2, 3]", "cpus = [0, 2, 3]\nmigrate = true")
    assert ("CPU 0, 2-3", "each other", "linux: vCPUs that move") in said(describe(text))


def test_cpus_are_shown_where_there_are_several(describe: Describe) -> None:
    assert {"CPUs", "Messages"} <= {line.strip() for line in shown(describe(SEVERAL)).splitlines()}
    assert "what else it owns" not in shown(describe(GOOD))
