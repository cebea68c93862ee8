# SPDX-License-Identifier: Apache-2.0
"""Samples of the trace of a Linux whose vCPUs lose a CPU to an RTOS while they do much together.

Linux has four vCPUs on four CPUs, on each of which a process has children that end at once, so that
all of them need the same locks often. An RTOS (guest/tests/burst.c) has CPU 1
for half a millisecond of each two. Now and then the vCPU there holds a spin lock when that begins.
Nobody can know beforehand when, so Linux reads the trace rings again and again, and prints what is
around the burst in which its vCPUs have said most often that they spin for long.
"""

import re

from gandalf.base.abi import abi
from gandalf.bench import cores, latency, shares
from gandalf.bench import cores_machine as machines
from gandalf.bench.lhp_targets import test_guest
from gandalf.bench.simulated import DONE, IDLE, initrd_of
from gandalf.bench.target import Log
from gandalf.build.build import build, build_kernels

IMAGE = "brief"
# Where the RTOS is, and the vCPU that it takes the CPU from at first.
CPU = 1
# How often Linux looks, how many samples it prints at most, and seconds of a CPU for all of that.
TRIES, SAMPLES, PATIENCE = 40, 4, 2400
# Lines in front of the beginning of a burst, and behind it.
_BEFORE, _BEHIND = 40, 120
# More than there is time for.
_FORKS = 1_000_000
_FIELDS = f"cpus = {list(range(shares.CPUS))}\ncontrol = true\nmigrate = true"
_BEGIN, _END = "sample of the trace", "end of the sample"

# Prints how many spins there were in the burst that had most, and the line of its beginning in the
# trace. Its input are the lines that tell of spins, of the RTOS's turns and of who leaves the CPU.
# A burst counts if somebody spins before that: then nobody else is without his CPU yet.
_COUNT = """
/hypercall: number SPIN,/ { if (began) spins++; next }
/ stop: / { if (!spins) began = 0; next }
/ rtos: / { if (spins > most) { most = spins; line = began }; began = 0; next }
{ split($1, place, ":"); began = place[1]; spins = 0 }
END { print most + 0, line + 0 }
"""

_SCRIPT = """
cat > /tmp/count <<'EOF'
{count}EOF
trimmed() {{
  {trim}
}}
busybox renice -n -20 -p $$ > /dev/null
gandalfctl stop rtos
gandalfctl load rtos /root/{image}.elf
gandalfctl restart rtos
gandalfctl policy linux {policy}
{load} > /dev/null 2>&1 &
load=$!
busybox renice -n 19 -p $load > /dev/null
sleep 0.2
tries=0 samples=0
while [ $tries -lt {tries} ] && [ $samples -lt {most} ]; do
  tries=$((tries + 1))
  taskset 1 gandalfctl trace | trimmed | tac | trimmed | tac > /tmp/trace
  found=$(grep -n -F -e 'number {spin},' -e 'CPU {cpu}: ' /tmp/trace |
    grep -F -e 'number {spin},' -e 'switch_to: vCPU 0x1,' -e 'rtos: switch_to' -e '{leaves}' |
    busybox awk -f /tmp/count)
  echo "try $tries: ${{found% *}} spins in a burst"
  [ ${{found% *}} -ge {least} ] || continue
  samples=$((samples + 1))
  killall -STOP bench
  echo '{begin}'
  head -n $((${{found#* }} + {behind})) /tmp/trace | tail -n {lines}
  echo '{end}'
  killall -CONT bench
  sleep 0.1
done
kill -9 $load
killall -9 bench
"""


def script(policy: str, least: int) -> str:
    """Return the script of Linux, which prints bursts with so many spins at least.

    Who looks comes before the load, and is on a CPU that the RTOS does not take. The rings are read
    one after the other and lose older events meanwhile, so what is older or newer than all that is
    left of one of them is left out.
    """
    cpus = "".join(map(str, range(shares.CPUS)))
    trim = " | ".join(f"sed -n '/^CPU {cpu}: /,$p'" for cpu in range(shares.CPUS))
    spin = f"{abi()['HYPERCALL_YIELD']:#x}"
    text = _SCRIPT.format(
        count=_COUNT.lstrip().replace("SPIN", spin), image=IMAGE, policy=policy, least=least,
        load=f"bench together fork_exit {_FORKS} {cpus}", cpu=CPU, spin=spin, tries=TRIES,
        most=SAMPLES, begin=_BEGIN, end=_END, behind=_BEHIND, lines=_BEFORE + _BEHIND,
        leaves="stop: guest 0, reason 0x8", trim=trim,
    )  # fmt: skip
    return cores.framed([text])


def samples_of(text: str) -> list[str]:
    """Return the samples that Linux has printed."""
    plain = text.replace("\r", "")
    return re.findall(rf"^{_BEGIN}\n(.*?)^{_END}$", plain, re.MULTILINE | re.DOTALL)


def record(policy: str, least: int, log: Log) -> list[str]:
    """Run the machine in Bochs, and return samples of its trace.

    Bochs is deterministic: the same images have the same samples.
    """
    name = f"gandalf-lock-holder-{policy}"
    linux = machines.linux("linux", _FIELDS, "smp", name)
    rtos = machines.rtos("rtos", IDLE, CPU)
    description = machines.describe(name, shares.CPUS, linux, rtos)
    build_kernels(description, log)
    images = {f"root/{IMAGE}.elf": test_guest(IMAGE, log)}
    initrd_of(name, script(policy, least), log, images)
    built = build(description, log, deterministic=True)
    stream = machines.watch(machines.options_of(built, cores.RATE), DONE, PATIENCE)
    return samples_of(latency.consoles(built.names, stream)["linux"])
