# SPDX-License-Identifier: Apache-2.0
"""The bench's driver of the clock, guest/linux/driver/gandalf_rtc.c, for Debian's 64-bit kernel.

It is built into our own kernels. For Debian's it is a module, which a system loads once Linux's own
driver has let go of the clock.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from gandalf.base.paths import ROOT, UserError
from gandalf.bench.amd64 import CACHE, ORIGIN, OUTPUT, pinned, stamped
from gandalf.guests import debian
from gandalf.guests.debian import Log

SOURCE = ROOT / "guest" / "linux" / "driver" / "gandalf_rtc.c"
# Where the module is in the root file system.
MODULE = "lib/gandalf_rtc.ko"
_CLOCKS = "/sys/bus/pnp/drivers/rtc_cmos"
# The lines of a script that make /dev/gandalf-rtc.
LOAD = (
    f"for clock in {_CLOCKS}/*:*; do echo ${{clock##*/}} >{_CLOCKS}/unbind; done",
    f"insmod /{MODULE}",
)
_MAKEFILE = f"obj-m := {SOURCE.stem}.o\n"


def build_driver(log: Log) -> Path:
    """Return the module, built unless it is there. Raises UserError if it cannot be."""
    packages = pinned("headers")
    result = OUTPUT / "driver" / Path(MODULE).name
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    inputs = [compiler.stdout, _MAKEFILE, SOURCE.read_text()]
    with stamped(result, *inputs, *(package.sha256 for package in packages)) as outdated:
        if outdated:
            archives = debian.fetch(packages, CACHE, log, ORIGIN)
            log("building the driver of the clock for Debian's kernel")
            with tempfile.TemporaryDirectory(dir=OUTPUT) as scratch:
                for archive in archives:
                    debian.unpack(archive, Path(scratch))
                _compile(_headers(Path(scratch)), result)
    return result


def _headers(unpacked: Path) -> Path:
    """Return the folder with the kernel's configuration, which leads to all the rest."""
    folder = unpacked / "usr" / "src"
    (headers,) = folder.glob("linux-headers-*-amd64")
    (common,) = folder.glob("linux-headers-*-common")
    # Debian's names the place where the package would be installed.
    (headers / "Makefile").write_text(f"include {common}/Makefile\n")
    return headers


def _compile(headers: Path, result: Path) -> None:
    """Compile and link the module in a folder of its own, whose name is the same each time."""
    work = result.with_name("work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copy(SOURCE, work)
    (work / "Makefile").write_text(_MAKEFILE)
    command = ["make", "--silent", "-C", str(headers), f"M={work}", "CC=gcc", "modules"]
    # A make that has called this one says what it was told, too.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment | {"LC_ALL": "C"}
    )
    if done.returncode:
        errors = re.findall(r"^.*\berror\b.*$", done.stderr, re.M | re.I) or [done.stderr.strip()]
        raise UserError(f"The clock's driver does not build for Debian's kernel: {errors[0]}")
    module = work / result.name
    subprocess.run(["strip", "--strip-debug", "-o", str(result), str(module)], check=True)
    shutil.rmtree(work)
