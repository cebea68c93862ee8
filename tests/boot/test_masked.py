# SPDX-License-Identifier: Apache-2.0
"""Every masked section of the VMM has a name, and is as short as masked_sections.h promises.

Loads drive the VMM through all of them, watched from outside. Each writes what it saw to
build/masked/; `gandalf masked --keep` makes the reference of it that docs/masked-sections.md shows.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.masked.docs import document, read_reference, seen_by_load, write_seen
from gandalf.masked.watch import Watch
from gandalf.measure.masked import WAY, lengths, promises
from gandalf.run import emulator as emulators

from .systems import (
    DEMO,
    FOUR,
    HACKBENCH,
    PATIENCE,
    WHOLE,
    Boot,
    World,
    describe,
    linux,
    rtos_guest,
)
from .test_control import lab, root_file_system
from .test_cores import describe_cores, on
from .test_guests import pc
from .test_siblings import attack
from .test_smp import smp

# The loads of tests/measure/test_search.py.
SEARCHES = {"corpus-4", "corpus-12"}
# What a shared guest can cause is no longer than this.
SHARED_BOUND = 1000
PAUSES = 20
# With CPUs that are threads of the host a load that reaches a section so often does so each time.
OFTEN = 10
# In front of the name of a load where the VMM alone is privileged.
TWO_LEVEL_LOAD = "two-level-"
ATTACK = "build/linux/attack/vmlinux"
ATTACKED = '\non_fault = "restart"\nrestart_limit = 100\n'
FORKS = "i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done"
STRESS = (
    "stress-ng --vm 1 --vm-bytes 16M --mmap 1 --mmap-bytes 16M --fork 1 --switch 1 -t 1 "
    "> /dev/null 2>&1"
)
CONSOLE = "i=0; while [ $i -lt 40 ]; do cat /proc/interrupts; i=$((i+1)); done"
# Everything that one guest can do to another.
MANAGE = """\
gandalfctl list; gandalfctl stats lab; gandalfctl log; gandalfctl trace
gandalfctl report lab; gandalfctl alive
gandalfctl pause lab; gandalfctl resume lab; gandalfctl restart lab
gandalfctl stop lab; gandalfctl load lab /root/uitron.elf; gandalfctl start lab
gandalfctl console lab < /dev/null
"""
TYPED = {
    "help": r"^resume GUEST: .*\n",
    "status": r"frames free\n",
    "counters linux": r"^linux: end of counters\n",
    "trace rtos": r"(^  \d+ us, .*\n){9}",
    "pause rtos\nresume rtos\nresume rtos": r"^guest rtos is running\n",
    "restart rtos": r"^guest rtos stopped: by command\n",
}
# Lines for the kernel of guest/tests/pc/attack.c. A process in virtual-8086 mode, which QEMU lets
# it enter: what it executes there (UD2, INT 0x80, a load from an absent page, JMP to itself until a
# timer interrupts), its CS and its EFLAGS.
VIRTUAL_8086 = [
    f"vm86 {code:x} {cs:x} {flags:x}"
    for code in (0x90900B0F, 0x909080CD, 0x900000A0, 0x9090FEEB)
    for cs, flags in ((0x1000, 0x200), (0x1003, 0x200), (0x1000, 0x3200))
]
# The timer interrupts while the kernel waits, in ring 1, while the VMM works and in ring 3, by
# vectors for which the kernel has no gate, and by those of exceptions. And a single step without
# a gate.
STRAY_VECTORS = [
    *(f"vectors {base:x} 70 1 0 {where} 0" for base in (0x40, 0, 8) for where in range(4)),
    "step",
]
# The kernel's half with every page there and 256 page directories: with interrupts disabled,
# enabled, and with a stack for which there is no page table when the pool is empty. The second
# number, of page tables, fits a pool of 8 MiB: with others the VMM takes less long.
KERNEL_HALF = ["kernel-half 100 510 0", "kernel-half 100 510 1", "kernel-half 100 5ed 2"]


def hypercall(machine: Boot, *words: int) -> None:
    """Have Linux's kernel make a hypercall."""
    line = " ".join(map(str, words))
    machine.shell(f'echo "hypercall {line}" > /dev/gandalf-attack; cat /dev/gandalf-attack')


def drive_linux(machine: Boot) -> None:
    machine.wait_for_shell()
    for line in (HACKBENCH, STRESS, FORKS, CONSOLE, "hwclock; date; dd if=/dev/zero count=1"):
        machine.shell(f"{line}; true")


def drive_management(machine: Boot) -> None:
    machine.wait_for_shell()
    for line in MANAGE.splitlines():
        machine.shell(f"{line}; true")
    for line, answer in TYPED.items():
        machine.vmm(line, answer)


def drive_typed(machine: Boot) -> None:
    """Have the UART interrupt a Linux that computes, with what is typed to end or pause it."""
    machine.send("linux", "(while :; do :; done) & echo bus''y\n")
    machine.expect("linux", r"^busy\n", PATIENCE)
    for _ in range(PAUSES):  # it is refused while the VMM works for Linux
        machine.vmm("pause linux", r"pause linux\n")
        if machine.vmm("status", r"^linux: (\w+), ")[1] == "paused":
            break
    else:
        raise AssertionError("each pause was refused")
    machine.vmm("resume linux\nstatus", r"^linux: running, ")
    machine.vmm("stop linux", r"^guest linux stopped: by command\n")


def drive_life(machine: Boot) -> None:
    """Many processes, and a reset in the middle of it; then the guest's end, and the machine's."""
    machine.wait_for_shell()
    machine.skip("vmm")
    machine.send("linux", "for i in $(seq 96); do sleep 60 & done; reboot -f\n")
    machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
    machine.wait_for_next_shell()
    drive_typed(machine)
    machine.start_linux()
    machine.send("linux", "poweroff -f\n")
    machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
    machine.vmm("stop rtos", r"^guest rtos stopped: by command\n")


def drive_hypercalls(machine: Boot) -> None:
    """Doorbells, and what a Linux that must not manage others is refused."""
    machine.wait_for_shell()
    for words in ((18, 1, 0, 0), (18, 7, 0, 0), (33, 0, 0, 0), (34, 256, 0, 0), (35, 256, 0, 0)):
        hypercall(machine, *words)
    machine.expect("doorbell", r"^doorbells=1\n", PATIENCE)


def passes(guest: str, what: str) -> Callable[[Boot], None]:
    """Return what waits until a guest that checks itself has passed."""
    return lambda machine: machine.expect(guest, rf"^PASS {what}\n", PATIENCE) and None


def stops(times: int) -> Callable[[Boot], None]:
    """Return what waits until a guest has been stopped or reset so often."""

    def drive(machine: Boot) -> None:
        for _ in range(times):
            machine.expect("vmm", r"^guest linux (?:restarts\b|stays stopped)", PATIENCE)

    return drive


def drive_hog(machine: Boot) -> None:
    """Lines are typed while an RTOS never halts: what they print waits, what they do does not."""
    machine.expect("hog", r"^hog: ", PATIENCE)
    machine.send("vmm", "status\ncounters hog\n\x01h\ntrace hog\npause hog\n")
    for answer in (r"^heartbeat: \w+, ", r"^hog: end of counters\n", r"(^  \d+ us, .*\n)+"):
        machine.expect("vmm", answer, PATIENCE)
    machine.vmm("stop hog", r"^guest hog stopped: by command\n")


def attacks(lines: Iterable[str], *, alone: bool = False) -> Callable[[Boot], None]:
    """Return what has the kernel of guest/tests/pc/attack.c attack; it is stopped at each.

    alone: the UART is its own.
    """

    def drive(machine: Boot) -> None:
        for line in lines:
            machine.expect("linux", r"^ready\n", PATIENCE)
            if alone:
                machine.send_raw(f"{line}\n".encode())
            else:
                machine.send("linux", f"{line}\n")
            machine.expect("vmm", r"^guest linux stopped: ", PATIENCE)
        machine.expect("linux", r"^ready\n", PATIENCE)

    return drive


def drive_siblings(machine: Boot) -> None:
    """Two vCPUs attack, on two CPUs or one: page tables, interrupts and doorbells without end."""
    machine.expect("linux", r"^ok \d+ interrupts-without-end\n", PATIENCE)


def drive_dedicated(machine: Boot) -> None:
    machine.wait_for_shell()
    machine.shell(f"{HACKBENCH}; {STRESS}; {FORKS}")
    machine.send("linux", "poweroff -f\n")
    machine.wait_off(PATIENCE)


def drive_two_worlds(machine: Boot) -> None:
    """A Linux that has CPU 0 to itself manages what the VMM runs on CPU 1, and then goes."""
    machine.wait_for_shell()
    for line in (FORKS, "gandalfctl pause rtos", "gandalfctl resume rtos", "gandalfctl log"):
        machine.shell(line)
    machine.send("linux", "gandalfctl restart rtos; gandalfctl restart linux2; poweroff -f\n")
    machine.expect("vmm", r"^guest linux is off\n", PATIENCE)
    machine.expect("rtos", r"^activations=\d+ ", PATIENCE)


@dataclass(frozen=True)
class Load:
    """guests: parts of a description. drive: waits until all has been done. cpu: is watched."""

    guests: Callable[[], tuple[str, ...]]
    drive: Callable[[Boot], None]
    memory: str = "256M"
    cpus: int = 1
    cpu: int = 0

    def describe(self, name: str) -> Path:
        if self.cpus > 1:
            return describe_cores(name, self.cpus, *self.guests())
        return describe(name, *self.guests(), memory=self.memory)


def beside(kernel: str, more: str = "") -> Callable[[], tuple[str, ...]]:
    """Return the guests of a kernel in Linux's place beside an RTOS."""
    return lambda: (pc(kernel) + f"\n{more}\n", rtos_guest("heartbeat", priority=20))


def rtos_alone(image: str) -> Callable[[], tuple[str, ...]]:
    return lambda: (rtos_guest(image),)


def dedicated(kernel: str, more: str = "") -> Callable[[], tuple[str, ...]]:
    """Return a kernel in Linux's place with the CPU to itself."""
    return lambda: (pc(kernel, "dedicated") + f"\n{more}\n",)


def crowd(cpus: list[int], what: str = "", more: str = "") -> str:
    """Return guest/tests/pc/crowd.c on these CPUs. what: it is to do beside interrupting itself."""
    text = pc("pc-crowd").replace('command_line = ""', f'command_line = "{what}"')
    text = text.replace("[[guest]]\n", f"[[guest]]\ncpus = {cpus}\n", 1)
    return f'{text}\ncontrol = true\non_reboot = "restart"\n{more}\n'


def crowd_moves() -> tuple[str, ...]:
    """Return eight vCPUs that move, also since an RTOS sends them away."""
    more = 'migrate = true\nlock_holder_preemption = "on-demand"'
    return crowd(list(range(8)), "moves", more), on(1, rtos_guest("burst"))


def drive_moves(machine: Boot) -> None:
    stops(3)(machine)
    assert re.search(r"^crowd of 8, .*moves [1-9]", machine.text("linux"), re.M)


def traps() -> tuple[str, ...]:
    """Return a Linux whose kernel never runs on CPU 1."""
    more = 'control = true\nmigrate = true\nlock_holder_preemption = "trap"'
    return smp([0, 1, 2], more), on(1, rtos_guest("burst"))


def drive_traps(machine: Boot) -> None:
    machine.wait_for_shell()
    machine.shell("taskset -c 1 sh -c 'i=0; while [ $i -lt 300 ]; do umask 22; i=$((i+1)); done'")


def crowd_manages() -> tuple[str, ...]:
    """Return a guest that restarts seven others of CPU 1, which print."""
    others = (on(1, rtos_guest("heartbeat", f"beat{i}", priority=i)) for i in range(1, 8))
    return crowd([0, 2], "manages"), *others


def two_worlds() -> tuple[str, ...]:
    """Return a Linux that has CPU 0 to itself, and guests that the VMM runs on CPU 1."""
    first = linux(
        "dedicated", "build/linux/dedicated/vmlinux", memory="128M", more="control = true"
    )
    other = linux(memory="64M").replace('name = "linux"', 'name = "linux2"')
    return first, on(1, other), on(1, DEMO)


def managed() -> tuple[str, ...]:
    return linux(initrd=root_file_system(), more="control = true"), DEMO, lab()


LOADS = {
    "linux": Load(lambda: (linux(initrd=WHOLE), DEMO), drive_linux),
    "management": Load(managed, drive_management),
    "life": Load(lambda: (linux(more='on_reboot = "restart"'), DEMO), drive_life),
    "hypercalls": Load(
        lambda: (linux(kernel=ATTACK), rtos_guest("doorbell", priority=20)), drive_hypercalls
    ),
    **{
        f"rtos-{image}": Load(rtos_alone(image), passes(image, image), "64M")
        for image in ("hypercalls", "interrupts", "exceptions", "hostile")
    },
    "hog": Load(
        lambda: (rtos_guest("heartbeat", priority=5), rtos_guest("hog", priority=30)),
        drive_hog,
        "64M",
    ),
    "pc": Load(beside("pc"), passes("linux", "pc"), "64M"),
    "pc-reset": Load(beside("pc-reset"), stops(3), "64M"),
    **{
        f"pc-{kind}": Load(
            beside(f"pc-{kind}", 'on_fault = "restart"\nrestart_limit = 2'), stops(3), "64M"
        )
        for kind in ("triple-fault", "bad-hypercall")
    },
    "virtual-8086": Load(beside("pc-attack", ATTACKED), attacks(VIRTUAL_8086), "64M"),
    **{
        name: Load(
            lambda: (pc("pc-attack", "dedicated") + ATTACKED,), attacks(lines, alone=True), "64M"
        )
        for name, lines in (("stray-vectors", STRAY_VECTORS), ("kernel-half", KERNEL_HALF))
    },
    "dedicated": Load(
        lambda: (linux("dedicated", "build/linux/dedicated/vmlinux", WHOLE),), drive_dedicated
    ),
    "pc-dedicated": Load(dedicated("pc"), passes("linux", "pc"), "64M"),
    **{
        name: Load(dedicated(name, 'on_fault = "restart"'), passes("linux", name), "64M")
        for name in ("pc-upcalls", "pc-apic")
    },
    **{
        f"siblings-{cpu}": Load(lambda: attack([0, 1]), drive_siblings, cpus=3, cpu=cpu)
        for cpu in (0, 1)
    },
    **{
        f"crowd-{cpu}": Load(lambda: (crowd(list(range(8))),), stops(3), cpus=8, cpu=cpu)
        for cpu in (0, 1)
    },
    **{f"crowd-moves-{cpu}": Load(crowd_moves, drive_moves, cpus=8, cpu=cpu) for cpu in (0, 1)},
    "traps": Load(traps, drive_traps, cpus=3, cpu=1),
    "crowd-manages": Load(crowd_manages, stops(3), cpus=3, cpu=1),
    "siblings-together": Load(lambda: attack([0, 0]), drive_siblings, cpus=3),
    **{f"two-worlds-{cpu}": Load(two_worlds, drive_two_worlds, cpus=2, cpu=cpu) for cpu in (0, 1)},
}


# Eight vCPUs that interrupt each other (`crowd`) do more than two that attack. On the CPU that a
# Linux has to itself nobody waits but that Linux.
LONG = {"siblings-0", "siblings-1", "siblings-together", "two-worlds-0"}


# There a Linux has a CPU to itself.
DEDICATED = {
    "stray-vectors", "kernel-half", "dedicated", "pc-dedicated", "pc-upcalls", "pc-apic",
    "two-worlds-0", "two-worlds-1",
}  # fmt: skip


def marks(name: str) -> list[pytest.MarkDecorator]:
    found = ((pytest.mark.long, LONG), (pytest.mark.rings, DEDICATED | {"traps"}))
    return [mark for mark, names in found if name in names]


def of_this_world(rows: dict[str, int]) -> dict[str, int]:
    """Return what the document tells of it: of two levels of privilege what is there alone."""
    return rows if World.rings == FOUR else {name: rows[name] for name in rows if name == WAY}


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in LOADS])
def test_no_section_is_without_a_name_or_longer_than_its_bound(name: str) -> None:
    load = LOADS[name]
    with Watch(load.describe(f"masked-{name}"), load.cpu) as watch:
        with Boot.attach(watch.built, emulators.start("qemu", watch.options)) as machine:
            machine.built = watch.built
            load.drive(machine)
        stretches = watch.stretches()
        prefix = "" if World.rings == FOUR else TWO_LEVEL_LOAD
        by_chance = {row.name or "" for row in stretches if load.cpus > 1 and row.times < OFTEN}
        write_seen(prefix + name, of_this_world(lengths(stretches)), by_chance)
        assert watch.wrong() == []
    # A load that the document names for a section must reach it.
    reached = {row.name for row in stretches}
    assert seen_by_load(read_reference(), prefix + name) <= reached


def test_what_a_shared_guest_can_cause_is_short() -> None:
    for line in promises().values():
        if line.bound is None or line.bound > SHARED_BOUND:
            assert line.why.startswith(("no guest runs", "dedicated")), line


def test_every_section_is_reached_by_a_load_or_says_why_not() -> None:
    reference = read_reference()
    loads = {row.load.removeprefix(TWO_LEVEL_LOAD) for row in reference.values()}
    assert loads <= LOADS.keys() | SEARCHES
    for name, line in promises().items():
        assert (name in reference) != line.action.startswith("none"), name
    for name, row in reference.items():
        bound = promises()[name].bound
        assert bound is None or row.longest <= bound, name


def test_the_document_is_what_the_command_prints() -> None:
    assert (ROOT / "docs" / "masked-sections.md").read_text() == document()
