# SPDX-License-Identifier: Apache-2.0
"""What Bochs is told of the machine that it is to be: the text of its configuration."""

from pathlib import Path

from gandalf.base.paths import UserError

# The CPU unless another is asked for, by QEMU's name of it, and by Bochs'.
PENTIUM_III = "pentium3"
_CPUS = {PENTIUM_III: "p3_katmai"}
_ROMS = Path("/usr/share/bochs")

_MACHINE = """\
config_interface: textconfig
display_library: term
plugin_ctrl: unmapped=1, biosdev=1, extfpuirq=1, serial=1
memory: guest={memory}, host={memory}
romimage: file={roms}/BIOS-bochs-latest
vgaromimage: file={roms}/VGABIOS-lgpl-latest
cpu: model={cpu}, count={cpus}, ips={ips}, reset_on_triple_fault=0
clock: sync=none, time0={time}
{serial}: enabled=1, mode=socket-client, dev=127.0.0.1:{port}
log: {log}
panic: action=fatal
error: action=report
info: action=report
debug: action=ignore
"""
_DISKS = """\
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type={kind}, path={path}, {more}
boot: {kind}
"""


def check_roms() -> None:
    """Raise UserError if Bochs' ROMs are missing."""
    if not (_ROMS / "VGABIOS-lgpl-latest").exists():
        raise UserError("Bochs' ROMs are missing; run `tools/setup test` to install them.")


def machine_text(
    *, memory: int, cpu: str, cpus: int, ips: int, time: int, serial: str, port: int, log: Path
) -> str:
    """Return what Bochs is told of all but what it boots.

    memory: MiB. cpu: by QEMU's name or Bochs'. ips: instructions per virtual second. time: at its
    start, in seconds since 1970. serial: "com1" or "com2", which connects to a port of this host.
    """
    return _MACHINE.format(
        memory=memory, roms=_ROMS, cpu=_CPUS.get(cpu, cpu), cpus=cpus, ips=ips, time=time,
        serial=serial, port=port, log=log,
    )  # fmt: skip


def cd_text(iso: Path) -> str:
    """Return how it boots from the image of a CD."""
    return _DISKS.format(kind="cdrom", path=iso, more="status=inserted")


def disk_text(disk: Path) -> str:
    """Return how it boots from a disk, whose size tells its geometry."""
    return _DISKS.format(kind="disk", path=disk, more="mode=flat, cylinders=0")
