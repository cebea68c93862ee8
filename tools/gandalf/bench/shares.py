# SPDX-License-Identifier: Apache-2.0
"""hackbench on a Linux with several vCPUs, while an RTOS has a share of the CPU of one of them.

The RTOS (guest/tests/burst.c) has CPU 1 for a part of each 100 ms. Without a remedy a vCPU that it
preempts may hold a spin lock, for which the others spin until it is done.
"""

from gandalf.bench.cores import DONE
from gandalf.bench.workload import CLOCKSOURCE, DYNAMIC

CPUS = 4
SHARES = (50, 80)
POLICIES = ("none", "on-demand")
# Of Linux alone on so many CPUs, for comparison.
ALONE = (4, 3, 2)
_LOOPS = (40, 200)


def alone(cpus: int) -> str:
    """Return the name of the operation without an RTOS."""
    return f"hackbench_{cpus}_cpus"


def shared(share: int, policy: str) -> str:
    """Return the name of the operation beside an RTOS."""
    return f"hackbench_share_{share}_{policy.replace('-', '_')}"


def image(share: int) -> str:
    """Return the RTOS's image in the root file system, without a slash in front."""
    return f"root/share-{share}.elf"


def operations() -> tuple[str, ...]:
    """Return all, those of Linux alone first."""
    beside = (shared(share, policy) for share in SHARES for policy in POLICIES)
    return (*map(alone, ALONE), *beside)


def remedied() -> tuple[str, ...]:
    """Return those beside an RTOS in which a policy helps."""
    return tuple(shared(share, policy) for share in SHARES for policy in POLICIES[1:])


def script(full: bool) -> str:
    """Return the script of a Linux on CPUS CPUs.

    It gives the RTOS, which has halted at first, one image after the other: Linux gives a CPU up
    that does not start since an RTOS has it.
    """
    work = f"{DYNAMIC} -g 2 -l {_LOOPS[full]}"
    online = "/sys/devices/system/cpu/cpu{}/online"
    lines = ["dmesg -n 1", 'echo "kernel=$(uname -r)"', f'echo "clocksource=$(cat {CLOCKSOURCE})"']
    for cpus in ALONE:
        lines += [f"echo 0 > {online.format(cpus)}"] if cpus < CPUS else []
        lines.append(f"bench elapsed {alone(cpus)} {work}")
    lines += [f"echo 1 > {online.format(cpu)}" for cpu in range(min(ALONE), CPUS)]
    for share in SHARES:
        lines += ["gandalfctl stop rtos", f"gandalfctl load rtos /{image(share)}"]
        lines.append("gandalfctl start rtos")
        for policy in POLICIES:
            lines.append(f"gandalfctl policy linux {policy}")
            lines.append(f"bench elapsed {shared(share, policy)} {work}")
    lines += [f'echo "clocksource=$(cat {CLOCKSOURCE})"', DONE, "sleep 9", ""]
    return "\n".join(lines)
