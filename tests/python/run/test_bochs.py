# SPDX-License-Identifier: Apache-2.0
"""What Bochs is told of its machine."""

from pathlib import Path

import pytest

from gandalf.base.paths import UserError
from gandalf.run import bochs


def told(cpu: str) -> list[str]:
    text = bochs.machine_text(
        memory=64, cpu=cpu, cpus=2, ips=1000, time=7, serial="com2", port=5000, log=Path("log")
    )
    return text.splitlines()


def test_the_machine() -> None:
    lines = told("corei7_haswell_4770")
    assert "memory: guest=64, host=64" in lines
    assert "cpu: model=corei7_haswell_4770, count=2, ips=1000, reset_on_triple_fault=0" in lines
    assert "clock: sync=none, time0=7" in lines
    assert "com2: enabled=1, mode=socket-client, dev=127.0.0.1:5000" in lines
    assert "log: log" in lines


def test_the_usual_cpu_has_another_name_there() -> None:
    assert any(line.startswith("cpu: model=p3_katmai,") for line in told(bochs.PENTIUM_III))


def test_what_it_boots_from() -> None:
    cd, disk = bochs.cd_text(Path("a.iso")), bochs.disk_text(Path("b"))
    assert "ata0-master: type=cdrom, path=a.iso, status=inserted\nboot: cdrom\n" in cd
    assert "ata0-master: type=disk, path=b, mode=flat, cylinders=0\nboot: disk\n" in disk


def test_missing_roms_are_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bochs, "_ROMS", tmp_path)
    with pytest.raises(UserError, match=r"ROMs are missing; run `tools/setup test`"):
        bochs.check_roms()
