# SPDX-License-Identifier: Apache-2.0
"""What policies cost beside their curves (shares.py).

A TLB shootdown may hit a vCPU whose CPU an RTOS has. And a Linux whose vCPUs could move may be
slower for that, though no RTOS is at work.
"""

from gandalf.bench.cores import framed
from gandalf.bench.shares import CPUS
from gandalf.bench.workload import DYNAMIC

# The RTOS has half of its CPU, for 50 ms of each 100 ms.
IMAGE = "share-50"
# Shootdowns of each policy, at times that have nothing to do with the RTOS's period.
_CALLS = (200, 2000)
# Runs of hackbench, of which the mean is taken.
_RUNS = (8, 40)
COST = "hackbench_no_rtos"
# The systems without and with vCPUs that move.
STAYING, MOVING = "gandalf-lhp-staying", "gandalf-lhp-moving"
_SHOOTDOWN = "shootdown_policy_"
# The operation of the program that measures it.
APART = "shootdown_apart"


def shootdown(policy: str) -> str:
    """Return the name of the shootdown with a policy."""
    return _SHOOTDOWN + policy.replace("-", "_")


def shootdown_script(policies: tuple[str, ...], full: bool) -> str:
    """Return the script of a Linux that flushes the TLBs of all its CPUs, by each policy."""
    lines = ["gandalfctl stop rtos", f"gandalfctl load rtos /root/{IMAGE}.elf"]
    for policy in policies:
        named = f"sed 's/^sample=[a-z_]*/sample={shootdown(policy)}/'"
        lines += [
            f"gandalfctl policy linux {policy}",
            # The policy counts from the RTOS's next turn on.
            "gandalfctl restart rtos",
            "sleep 0.5",
            f"bench sample {APART} {_CALLS[full]} {CPUS} | {named}",
        ]
    return framed(lines)


def cost_script(full: bool) -> str:
    """Return the script of a Linux that has its CPUs to itself, after a run that warms up."""
    work = f"{DYNAMIC} -g 2 -l 120"
    run = f"bench elapsed {COST} {work}"
    loop = f"i=0; while [ $i -lt {_RUNS[full]} ]; do {run}; i=$((i + 1)); done"
    return framed([f"{work} > /dev/null", loop])
