# SPDX-License-Identifier: Apache-2.0
"""The debug build of the VMM, which checks its page tables at each return to a guest.

What must hold is in vmm/debug/shadow_check.c. A VMM that finds it broken stops with a report, so
a guest that comes to its end has not broken it. tests/fuzz/mutations/shadow has mistakes to put
back.
"""

import subprocess
from pathlib import Path

import pytest

from gandalf.base.paths import ROOT
from gandalf.build.profile import FULL

from .changed import SMP, build_debug, build_debug_for_smp, changed_debug, substitute
from .systems import DEMO, PATIENCE, Boot, describe, linux, rtos_guest
from .test_cores import describe_cores, on
from .test_guests import BAD_KERNELS, MODES, NO_GATE, pc
from .test_migration import place
from .test_smp import describe_smp, online, smp

MUTATIONS = ROOT / "tests" / "fuzz" / "mutations" / "shadow"
COMMAND = "\tu64 now = rdtsc();\n"  # of the console's status
# Where an action on a guest begins.
ACTS = "\tif (vm_is_elsewhere(vm))\n\t\treturn (u32)elsewhere_act("
REPORT = r"the shadow page tables are broken: another page has taken the place of the protected one"


@pytest.fixture(scope="module")
def debug() -> Path:
    return build_debug()


def with_mistake(name: str) -> Path:
    """Build a debug VMM with one of the mistakes that the fuzzer is tried with."""

    def change(folder: Path) -> None:
        with (MUTATIONS / f"{name}.patch").open() as patch:
            subprocess.run(["patch", "-s", "-p1", "-d", str(folder)], stdin=patch, check=True)

    return changed_debug(name, change)


@pytest.mark.parametrize("mode", MODES)
def test_a_linux_at_work_breaks_nothing(debug: Path, mode: str) -> None:
    kernel = "build/linux/" + ("patched" if mode == "shared" else "dedicated") + "/vmlinux"
    guests = [linux(mode, kernel)] + [DEMO] * (mode == "shared")
    with Boot.start(describe(f"debug-{mode}", *guests), vmm=debug) as machine:
        machine.wait_for_shell()
        machine.hackbench()
        machine.shell("for i in $(seq 100); do /bin/true; done; ls -R /proc/self >/dev/null", 0)
        machine.kernel_is_sane()


@pytest.mark.parametrize("mode", MODES)
def test_a_kernel_that_tries_every_instruction_breaks_nothing(debug: Path, mode: str) -> None:
    description = describe(f"debug-pc-{mode}", pc("pc", mode), memory="64M")
    with Boot.start(description, vmm=debug) as machine:
        machine.expect("linux", r"^PASS pc\n", PATIENCE)
        assert "not ok" not in machine.text("linux")
        assert machine.wait_off(PATIENCE).clean


@pytest.mark.rings
def test_a_kernel_that_interrupts_the_vmm_breaks_nothing(debug: Path) -> None:
    """It dies at the end, with work suspended, and is loaded again."""
    guest = pc("pc-upcalls", "dedicated") + '\non_fault = "restart"\n'
    with Boot.start(describe("debug-upcalls", guest, memory="64M"), vmm=debug) as machine:
        machine.expect("linux", r"^PASS pc-upcalls\n", PATIENCE)
        machine.expect("vmm", f"guest linux stopped: {NO_GATE} breakpoint", PATIENCE)
        machine.expect("linux", r"^PASS pc-upcalls\n", PATIENCE)
        assert machine.wait_off(PATIENCE).clean


def test_a_mistake_is_reported(debug: Path) -> None:
    """The control: a kernel half that changed leaves what the VMM noted about it behind.

    The same guest comes to its end where the VMM forgets it, as it must.
    """
    description = describe("debug-mistake", pc("pc-replace-gdt"), memory="64M")
    with Boot.start(description, vmm=debug) as machine:
        assert machine.stop_report("linux") == BAD_KERNELS["replace-gdt"]
    with Boot.start(description, vmm=with_mistake("protected-page")) as machine:
        machine.expect("vmm", REPORT, PATIENCE)


def test_guests_that_are_managed_break_nothing(debug: Path) -> None:
    """Hypercalls of control and commands touch what interrupt handlers share."""
    description = describe("debug-control", linux(more="control = true"), DEMO)
    with Boot.start(description, vmm=debug) as machine:
        machine.wait_for_shell()
        for action in ("pause", "resume", "restart"):
            machine.shell(f"gandalfctl {action} rtos")
        machine.next_latency()
        machine.vmm("restart rtos", r"guest rtos restarts|guest rtos stopped: by command")
        machine.shell("gandalfctl list; gandalfctl log; cat /proc/interrupts")
        machine.counters("rtos")


def test_a_linux_with_two_cpus_breaks_nothing() -> None:
    """Nor does what its cores say to each other: its console, a CPU that goes and comes back."""
    description = describe_smp("debug-smp", 2, "control = true")
    with Boot.start(description, vmm=build_debug_for_smp()) as machine:
        machine.wait_for_shell()
        assert online(machine) == "0-1"
        machine.hackbench()
        assert "2024" in machine.shell("taskset -c 1 hwclock -r")
        machine.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
        machine.shell("echo 1 > /sys/devices/system/cpu/cpu1/online")
        assert online(machine) == "0-1"
        machine.shell("gandalfctl restart beat")
        machine.kernel_is_sane()
        machine.vmm("stop linux", r"^guest linux stopped: by command\n")
        machine.start_linux()
        assert online(machine) == "0-1"


def test_a_reset_by_the_second_cpu_while_the_first_sleeps_breaks_nothing() -> None:
    """The first one serves that port amid its sleep, and must not go on sleeping then."""
    description = describe_smp("debug-reset", 2, 'on_reboot = "restart"')
    with Boot.start(description, vmm=build_debug_for_smp()) as machine:
        machine.wait_for_shell()
        for _ in range(3):
            machine.skip("vmm")
            machine.send("linux", "taskset -c 1 sh -c 'sleep 1; echo b > /proc/sysrq-trigger'\n")
            machine.expect("vmm", r"^guest linux restarts\n", PATIENCE)
            machine.wait_for_next_shell()
            assert online(machine) == "0-1"


def test_a_linux_whose_vcpus_move_breaks_nothing() -> None:
    """One goes by hand, and both are moved when an RTOS has their CPU."""
    more = 'control = true\nmigrate = true\nlock_holder_preemption = "on-demand"\n'
    guests = (smp([0, 1], more), on(1, rtos_guest("burst")))
    description = describe_cores("debug-moves", 2, *guests)
    with Boot.start(description, vmm=build_debug_for_smp()) as machine:
        machine.wait_for_shell()
        machine.hackbench()
        machine.shell("for i in 0 1 0 1; do gandalfctl move linux 1 $i; done")
        before = place(machine)[1]
        machine.hackbench()
        assert place(machine)[1] > before
        machine.kernel_is_sane()


# So few instructions are in a second that a handler takes longer than the UART's pause, 50 us.
SLOW = 10_500_000
NO_ROOM = r"(the VMM stops: vCPU [0-9a-f]+ has used \d+ bytes of its VMM stack)"
STEP = "static void consoles_step(void)\n{\n"
WIDE = '#pragma GCC diagnostic ignored "-Wframe-larger-than="\n'
SPACE = '\tu8 space[2048];\n\n\tasm volatile("" : "=m"(space));\n'
OFF = "\tpower_stop_machine();\n"


def start_slow(vmm: Path) -> Boot:
    """Start a slow machine whose guests print without a pause."""
    guests = (rtos_guest("heartbeat", "beat"), rtos_guest("burst"))
    description = describe("debug-slow", *guests, memory="64M", rings="four")
    return Boot.start(description, vmm=vmm, emulator="bochs", ips=SLOW)


@pytest.mark.rings
def test_interrupts_of_a_slow_machine_leave_room_on_the_stack(debug: Path) -> None:
    """The VMM prints without a pause, too. It answers, so it has not stopped."""
    with start_slow(debug) as machine:
        machine.expect("beat", "^beats=", PATIENCE)
        machine.select("vmm")
        for _ in range(20):
            machine.skip("vmm")
            machine.send("vmm", "counters beat\n" * 5 + "help\n" * 5)
            machine.expect("vmm", "^beat: end of counters\n", PATIENCE)


@pytest.mark.rings
def test_too_little_room_on_the_stack_is_a_panic() -> None:
    """The control: a handler that lets interrupts in needs half of the stack.

    That it is not served within itself is a unit test: tests/unit/core/test_interrupt.c.
    """

    def change(folder: Path) -> None:
        substitute(folder / "vmm" / "core" / "interrupt.c", STEP, WIDE + STEP + SPACE)
        # Bochs loses what it has not sent yet when its machine is switched off.
        substitute(folder / "vmm" / "core" / "log.c", OFF, "\tfor (;;)\n\t\t;\n")

    with start_slow(changed_debug("wide", change)) as machine:
        machine.expect("vmm", NO_ROOM, PATIENCE)


def with_change(name: str, source: str, old: str, new: str, profile: str = FULL) -> Path:
    """Build a debug VMM of which a line is another."""

    def change(folder: Path) -> None:
        substitute(folder / "vmm" / source, old, new)

    return changed_debug(name, change, profile)


IN_COMMON = r"CPU {} has written what the machine has in common, at [0-9a-f]+ to [0-9a-f]+"
HAS_CHANGED = r"what the machine has in common has changed at [0-9a-f]+"


def test_a_write_to_what_the_machine_has_in_common_is_a_panic() -> None:
    """A command of the console is made to change it, behind the start of the guests."""
    vmm = with_change("machine", "core/command.c", COMMAND, COMMAND + "\ttime_tsc_khz++;\n")
    with Boot.start(describe("debug-machine", DEMO, memory="64M"), vmm=vmm) as machine:
        machine.next_latency()
        machine.vmm("status", IN_COMMON.format(0))


def test_a_change_of_it_by_a_window_on_memory_is_a_panic() -> None:
    """A command is made to copy over it by way of physical memory, which no page table shows."""
    copy = "memory_copy_out((u32)&time_tsc_khz - LAYOUT_IMAGE, &(u32){time_tsc_khz + 1}, 4);"
    vmm = with_change("machine-window", "core/command.c", COMMAND, f"{COMMAND}\t{copy}\n")
    with Boot.start(describe("debug-window", DEMO, memory="64M"), vmm=vmm) as machine:
        machine.next_latency()
        machine.vmm("status", HAS_CHANGED)


def test_a_write_of_another_core_is_a_panic() -> None:
    """It is made to change what all have in common when its vCPU of Linux is started.

    It says so itself, unless the first core finds something else there before.
    """
    start = "\tvm->start_wanted = true;\n\tvm->wanted_life = life;"
    vmm = with_change("machine-smp", "core/part_start.c", start, "\ttime_tsc_khz++;\n" + start, SMP)
    with Boot.start(describe_smp("debug-machine-smp", 2), vmm=vmm) as machine:
        machine.expect("vmm", f"{IN_COMMON.format(1)}|{HAS_CHANGED}", PATIENCE)


# What the process's view must not have, and what it must forget.
VIEWS = {
    "the vCPU's table": ("guests/x86/two_level/space.c", "process[KERNEL_END] &= ~PTE_U;", ""),
    "a table that is gone": (
        "two_level/views.h", "views_follow(space, group * GROUP + i, 0);", "(void)(space + group);",
    ),
}  # fmt: skip


@pytest.mark.two_level
@pytest.mark.parametrize("mistake", VIEWS)
def test_a_process_s_view_that_is_wrong_is_a_panic(mistake: str) -> None:
    vmm = with_change("view", *VIEWS[mistake])
    with Boot.start(describe("debug-view", linux(), DEMO), vmm=vmm) as machine:
        machine.expect("vmm", "the shadow page tables are broken: a ", PATIENCE)


@pytest.mark.parametrize(
    ("source", "function", "more"),
    [
        ("arch/ia32/trap.c", "trap_init", "entries_make"),
        ("core/message.c", "message_init", "messages_assign"),
    ],
)
def test_another_core_that_writes_it_when_it_comes_up_is_a_panic(
    source: str, function: str, more: str
) -> None:
    """The same values, too: in between others may find something else there."""
    old = f"\nvoid {function}(void)\n{{\n"
    vmm = with_change("machine-again", source, old, f"{old}\t{more}();\n", SMP)
    with Boot.start(describe_smp("debug-machine-again", 2), vmm=vmm) as machine:
        machine.expect("vmm", IN_COMMON.format(1), PATIENCE)


@pytest.mark.parametrize(
    ("source", "old", "new", "action", "panic"),
    [
        ("core/control.c", f"\twork_mask(control_change);\n{ACTS}", f"\twork_unmask(vcpu);\n{ACTS}",
         "gandalfctl stop rtos", "interrupts are enabled in vm_act"),
        ("arch/ia32/trap.c", "\twork_unmask(vcpu);\n\tvcpu->operations->page_fault",
         "\twork_mask(stop);\n\tvcpu->operations->page_fault",
         "true", "interrupts are masked in linux_page_fault"),
    ],
    ids=["enabled", "masked"],
)  # fmt: skip
def test_interrupts_that_are_not_as_a_function_expects_are_a_panic(
    source: str, old: str, new: str, action: str, panic: str
) -> None:
    vmm = with_change("masked-state", source, old, new)
    description = describe("debug-state", linux(more="control = true"), DEMO)
    with Boot.start(description, vmm=vmm) as machine:
        if action != "true":
            machine.wait_for_shell()
            machine.send("linux", f"{action}\n")
        machine.expect("vmm", panic, PATIENCE)
