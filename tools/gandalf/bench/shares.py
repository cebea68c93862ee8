# SPDX-License-Identifier: Apache-2.0
"""hackbench on a Linux with several vCPUs, while an RTOS has a share of the CPU of one of them.

The RTOS (guest/tests/burst.c) has CPU 1 for a part of each period. Without a remedy a vCPU that it
preempts may hold a spin lock, for which the others spin until it is done. What a run takes depends
on where in the RTOS's period it begins. So there is one for each of several beginnings, evenly
apart, and the figure is their mean.
"""

from dataclasses import dataclass

from gandalf.bench import latency
from gandalf.bench.cores import framed
from gandalf.bench.workload import DYNAMIC

CPUS = 4
# In how many places of a period a run of hackbench begins.
BEGINNINGS = 4
POLICIES = ("none", "delayed", "trap", "on-demand", "pull")
# Those of the system with short periods.
_SHORT = ("none", "on-demand", "pull")
# Those that have a vCPU leave.
MOVES = ("trap", "on-demand", "pull")
# The one that is to be as good as CPUs that Linux has to itself.
BEST = "pull"
# Of Linux alone on so many CPUs, for comparison.
ALONE = (4, 3, 2)
# No policy: a real-time process of Linux has the share, which then knows that the CPU is taken and
# has all means to do without. What it makes of the CPUs that are left is what one can ask for.
BY_LINUX = "linux"
SYSTEM_BY_LINUX = "gandalf-lhp-by-linux"
TAKE = "bench-take"
# The policies by which a vCPU waits for an RTOS, which may never end.
_WAITS = ("none", "delayed")
_BESIDE = "hackbench_share_"
_LATENCY, _SLEEP = "dispatch_latency_policy_", "asleep"


@dataclass(frozen=True)
class Curve:
    """What is measured: an RTOS's shares of its CPU, in per cent of a period, for each policy."""

    images: str
    shares: tuple[int, ...]
    policies: tuple[str, ...]
    loops: int
    period_us: int
    # Of Linux alone, on so many CPUs, first.
    alone: tuple[int, ...] = ()
    beginnings: int = BEGINNINGS

    def points(self) -> list[tuple[int, str]]:
        """Return each share with each policy by which hackbench ends."""
        return [
            (share, policy)
            for share in self.shares
            for policy in self.policies
            if share < 100 or policy not in _WAITS
        ]

    def operations(self) -> tuple[str, ...]:
        """Return all, those of Linux alone first."""
        return (*map(alone, self.alone), *(shared(*point) for point in self.points()))

    def image(self, share: int) -> str:
        """Return the name of the test guest with this share."""
        return f"{self.images}-{share}"

    def pause_us(self, beginning: int) -> int:
        """Return how long behind the start of who takes the CPU a run begins.

        The first period is idle.
        """
        return self.period_us + beginning * self.period_us // self.beginnings

    def all_images(self) -> tuple[str, ...]:
        """Return the names of all test guests that are needed."""
        beside = {share for share, policy in self.points() if policy != BY_LINUX}
        return tuple(map(self.image, sorted(beside)))


def short(full: bool) -> Curve:
    """Return what `gandalf bench --cores` measures: a period of 100 ms."""
    return Curve("share", (50, 80), _SHORT, 200 if full else 40, 100_000, ALONE)


def paper(full: bool, policies: tuple[str, ...]) -> list[Curve]:
    """Return the curve of SPUMONE's paper: a period of 500 ms, of which a run takes several.

    It is in pieces, each a machine of its own: Linux alone, and then share by share.
    """
    loops, period = 300 if full else 120, 500_000
    beginnings = BEGINNINGS if full else BEGINNINGS // 2
    shares = tuple(range(10, 101, 10))
    beside = [
        Curve("cycle", (share,), policies, loops, period, beginnings=beginnings) for share in shares
    ]
    return [
        Curve("cycle", (), policies, loops, period, ALONE),
        Curve("cycle", shares, (BY_LINUX,), loops, period, beginnings=beginnings),
        *(piece for piece in beside if piece.points()),
    ]


def alone(cpus: int) -> str:
    """Return the name of the operation without an RTOS."""
    return f"hackbench_{cpus}_cpus"


def shared(share: int, policy: str) -> str:
    """Return the name of the operation beside an RTOS."""
    return f"{_BESIDE}{share}_{policy.replace('-', '_')}"


def point_of(operation: str) -> tuple[int, str] | None:
    """Return the share and the policy of an operation beside an RTOS; None: it is another one."""
    share, _, policy = operation.removeprefix(_BESIDE).partition("_")
    if not operation.startswith(_BESIDE):
        return None
    return int(share), policy.replace("_", "-")


def share_of_best(operation: str) -> float | None:
    """Return which part of a CPU the RTOS has, if the policy is the best one."""
    point = point_of(operation)
    return point[0] / 100 if point is not None and point[1] == BEST else None


def _run(curve: Curve, name: str, work: str, beginning: int) -> str:
    """Return the line that measures once, from a fixed time behind the start of the RTOS on.

    The RTOS's first period is idle. The shell's CPU is one that the RTOS does not take.
    """
    pause = curve.pause_us(beginning)
    return (
        f"taskset 1 sh -c 'gandalfctl restart rtos; usleep {pause}; "
        f"exec taskset {(1 << CPUS) - 1:x} bench elapsed {name} {work}'"
    )


def _run_by_linux(curve: Curve, share: int, work: str, beginning: int) -> str:
    """Return the same line for a share that a real-time process has."""
    pause = curve.pause_us(beginning)
    took = curve.period_us * share // 100
    return (
        f"taskset 1 sh -c '{TAKE} 1 {curve.period_us} {took} & usleep {pause}; "
        f"taskset {(1 << CPUS) - 1:x} bench elapsed {shared(share, BY_LINUX)} {work}; kill $!'"
    )


def latency_operation(policy: str) -> str:
    """Return the name of the dispatch latency with a policy; "": while Linux sleeps."""
    return f"{_LATENCY}{policy.replace('-', '_') or _SLEEP}"


def latency_policy(operation: str) -> str | None:
    """Return which policy an operation has the dispatch latency with; "": while Linux sleeps."""
    policy = operation.removeprefix(_LATENCY).replace("_", "-")
    return ("" if policy == _SLEEP else policy) if operation.startswith(_LATENCY) else None


def latency_operations(policies: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of all dispatch latencies, that without a load first."""
    return tuple(map(latency_operation, ("", *policies)))


def latency_script(policies: tuple[str, ...], seconds: int) -> str:
    """Return the script of a Linux that works, with each policy, for so many whole seconds."""
    lines: list[str] = []
    for policy in ("", *policies):
        name = latency_operation(policy)
        work = f"{DYNAMIC} -g {CPUS} -l 20 >/dev/null" if policy else "sleep 1"
        lines += [
            f"gandalfctl policy linux {policy or 'none'}",
            *latency.phase(name, work, seconds),
        ]
    return framed(lines)


def script(curve: Curve) -> str:
    """Return the script of a Linux on CPUS CPUs.

    It gives the RTOS, which has halted at first, one image after the other: Linux gives a CPU up
    that does not start since an RTOS has it.
    """
    work = f"{DYNAMIC} -g 2 -l {curve.loops}"
    online = "/sys/devices/system/cpu/cpu{}/online"
    lines: list[str] = []
    for cpus in curve.alone:
        lines += [f"echo 0 > {online.format(cpus)}"] if cpus < CPUS else []
        lines.append(f"bench elapsed {alone(cpus)} {work}")
    back = range(min(curve.alone, default=CPUS), CPUS)
    lines += [f"echo 1 > {online.format(cpu)}" for cpu in back]
    if BY_LINUX in curve.policies:  # whose process may have the CPU for good
        lines.append("echo -1 > /proc/sys/kernel/sched_rt_runtime_us")
    before = 0
    for share, policy in curve.points():
        if policy == BY_LINUX:
            starts = range(curve.beginnings)
            lines += [_run_by_linux(curve, share, work, beginning) for beginning in starts]
            continue
        lines.append(f"gandalfctl policy linux {policy}")
        if share != before:
            lines += [
                "gandalfctl stop rtos",
                f"gandalfctl load rtos /root/{curve.image(share)}.elf",
            ]
            before = share
        name = shared(share, policy)
        lines += [_run(curve, name, work, beginning) for beginning in range(curve.beginnings)]
    return framed(lines)
