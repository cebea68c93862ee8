# SPDX-License-Identifier: Apache-2.0
"""The samples of a trace among which the pictures of lock-holder preemptions are chosen."""

import subprocess
from pathlib import Path

import pytest

from gandalf.bench.lock_holder import samples_of, script

# Two turns of the RTOS. In the second one somebody spins before a vCPU has left.
TRACE = """\
CPU 0: 5 us, linux: hypercall: number 0x14, EBX 0x2
CPU 1: 10 us, linux: switch_to: vCPU 0x1, state 0x1
CPU 1: 20 us, rtos: stop: guest 0, reason 0x80000102
CPU 0: 30 us, linux: hypercall: number 0x16, EBX 0
CPU 0: 40 us, linux: hypercall: number 0x16, EBX 0
CPU 1: 50 us, rtos: switch_to: vCPU 0xffff, state 0x2
CPU 1: 60 us, idle: switch_to: vCPU 0x1, state 0x1
CPU 0: 70 us, linux: hypercall: number 0x16, EBX 0
CPU 1: 80 us, rtos: stop: guest 0, reason 0x80000102
CPU 1: 90 us, rtos: switch_to: vCPU 0xffff, state 0x2
CPU 0: 95 us, linux: hypercall: number 0x16, EBX 0
"""


def counted(trace: str, tmp_path: Path) -> str:
    """Return what the part of the script prints that looks through a trace."""
    lines = script("pull", 3).splitlines()
    program = lines[lines.index("cat > /tmp/count <<'EOF'") + 1 : lines.index("EOF")]
    begin = next(number for number, line in enumerate(lines) if "found=$(grep" in line)
    look = "\n".join(lines[begin : begin + 3]).replace("busybox awk", "awk")
    (tmp_path / "count").write_text("\n".join(program))
    (tmp_path / "trace").write_text(trace)
    here = look.replace("/tmp/", f"{tmp_path}/")  # noqa: S108 - it is the machine's
    command = f'{here}\necho "$found"'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("trace", "found"),
    [
        (TRACE, "1 7"),
        (TRACE.replace("CPU 1: 20 us, rtos: stop", "CPU 1: 20 us, rtos: halt"), "2 2"),
        (TRACE.replace("0x16", "0x14"), "0 0"),
    ],
)
def test_a_turn_counts_if_somebody_spins_before_a_vcpu_leaves(
    trace: str, found: str, tmp_path: Path
) -> None:
    assert counted(trace, tmp_path) == found


def test_samples_are_what_stands_between_two_lines() -> None:
    text = "sample of the trace\r\na\r\nend of the sample\r\ntry 2\r\nsample of the trace\r\nb\r\n"
    assert samples_of(text) == ["a\n"]
    assert samples_of(text + "end of the sample\r\n") == ["a\n", "b\n"]
