# SPDX-License-Identifier: Apache-2.0
"""Each measure of two levels of privilege, changed where a Linux has a vCPU on each of two CPUs.

tests/boot/test_two_level_cache.py, test_two_level.py and test_two_level_views.py have them on one.
"""

from collections.abc import Iterator

import pytest

from .systems import PATIENCE, PROMPT, Boot
from .test_cores import beats
from .test_two_level import kernel_lives
from .test_two_level_cache import BROKEN, unseen
from .test_two_level_cores import SMP, kept_in, siblings
from .two_level import changed_vmm, direct_ways, take_direct_ways

MANY = "escape many 1000"
# Programs on both CPUs at once; what is sorted is what was to be sorted.
LOAD = (
    "(taskset -c 1 hackbench -l 2 > /tmp/other) & taskset -c 0 hackbench -l 2; wait; "
    "cat /tmp/other; busybox seq 1 5000 | busybox sort -n | busybox uniq | busybox wc -l"
)
MEASURES = {
    "detect": 'coherence = "detect"',
    "global": "global_pages = true",
    "indirect": "direct_switch = false",
    "unfilled": "prefill = false",
    "unhinted": "cache_hints = false",
    "fifo-1": 'cache_policy = "fifo"\ncache_entries = 1',
    "lru-2": 'cache_policy = "lru"\ncache_entries = 2',
    "bimodal-32": 'cache_policy = "bimodal"\ncache_entries = 32',
}
# Those that differ least from others and from what one CPU has.
LONG = ("unfilled", "unhinted", "fifo-1", "bimodal-32")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in MEASURES
    ],
)
def measure(request: pytest.FixtureRequest) -> str:
    """Return the name of a measure."""
    return str(request.param)


@pytest.fixture(scope="module")
def machine(measure: str) -> Iterator[Boot]:
    with Boot.start(siblings(f"smp-{measure}", MEASURES[measure] + "\n")) as running:
        running.wait_for_shell()
        yield running


def test_both_work_at_once(machine: Boot, measure: str) -> None:
    before = machine.counters()
    output = machine.shell(LOAD)
    assert output.count("400 tasks") == 2
    assert output.splitlines()[-1] == "5000"
    found = machine.counters() - before
    assert found["space_misses"] > 0
    # There are more address spaces than 2.
    if measure in ("fifo-1", "lru-2"):
        assert found["space_evictions"] > 0
    if measure == "bimodal-32":
        assert found["space_hits"] > 0


@pytest.mark.parametrize("cpu", [0, 1])
def test_the_direct_ways_are_taken_if_there_are_any(machine: Boot, measure: str, cpu: int) -> None:
    command = f"taskset -c {cpu} {MANY}"
    if measure == "indirect":
        machine.shell(command)
        assert direct_ways(machine, cpu)["calls"] == 0
        assert direct_ways(machine, cpu)["returns"] == 0
    else:
        take_direct_ways(machine, command, cpu)
    assert (direct_ways(machine, cpu)["fills"] == 0) == (measure == "unfilled")


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_process_is_kept_in(machine: Boot, cpu: int) -> None:
    kept_in(machine, cpu)
    kernel_lives(machine)
    beats(machine, "beat")


@pytest.mark.long
def test_a_change_that_is_not_detected_is_found_with_two_vcpus() -> None:
    vmm = changed_vmm("unseen-siblings", unseen, SMP)
    path = siblings("smp-unseen", MEASURES["detect"] + "\n")
    with Boot.start(path, vmm=vmm) as running:
        running.expect("linux", f"{PROMPT}|{BROKEN}", PATIENCE)
        running.send("linux", f"while true; do {LOAD}; done\n")
        running.expect("linux", BROKEN, PATIENCE)
