# SPDX-License-Identifier: Apache-2.0
"""The configuration of the Linux guest's kernels, and what else decides what they are built to."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gandalf.base.paths import UserError, shown
from gandalf.guests.places import STAMP, read_input

# Fixed, so that two builds give the same bytes.
KBUILD_ENVIRONMENT = {
    "KBUILD_BUILD_TIMESTAMP": "Mon Jan  1 00:00:00 UTC 2024",
    "KBUILD_BUILD_USER": "gandalf",
    "KBUILD_BUILD_HOST": "gandalf",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}


def configure(fragments: Sequence[Path], source: Path, output: Path) -> None:
    """Write output/.config: tinyconfig, then the fragments, then the defaults of what is new."""
    output.mkdir(parents=True, exist_ok=True)
    (output / STAMP).unlink(missing_ok=True)
    make = ["make", "--silent", f"O={output}", "ARCH=i386"]
    merge = ["scripts/kconfig/merge_config.sh", "-m", "-O", str(output), str(output / ".config")]
    with (output / "configure.log").open("w", encoding="utf-8") as log_file:
        for command in (
            [*make, "tinyconfig"],
            [*merge, *(str(fragment) for fragment in fragments)],
            [*make, "olddefconfig"],
        ):
            result = subprocess.run(
                command,
                cwd=source,
                env=os.environ | KBUILD_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if result.returncode != 0:
                raise UserError(
                    f"The guest kernel cannot be configured: see {shown(output)}/configure.log."
                )
    check_configuration(fragments, output / ".config")


def check_configuration(fragments: Sequence[Path], configuration: Path) -> None:
    """Raise UserError if a line of the fragments is not what the configuration says.

    Of two lines for the same option the last one counts. Neither may they say that the kernel can
    be preempted, which no mode is made for.
    """
    wanted: dict[str, str] = {}
    for fragment in fragments:
        wanted |= read_configuration(fragment)
    names = " and ".join(shown(fragment) for fragment in fragments)
    actual = read_configuration(configuration)
    if actual.get("CONFIG_PREEMPTION", "n") != "n":
        raise UserError(
            "The kernel would be preemptible (CONFIG_PREEMPTION), and no guest's may be: set "
            f"CONFIG_PREEMPT_NONE in {names}."
        )
    lost = [name for name, value in wanted.items() if actual.get(name, "n") != value]
    if lost:
        raise UserError(
            f"The kernel's configuration did not take {', '.join(lost)} of {names}: "
            "set what these options depend on, or remove them."
        )


def read_configuration(path: Path) -> dict[str, str]:
    """Return the options of a Kconfig file; an option that is not set has the value "n"."""
    options = {}
    for line in read_input(path).decode().splitlines():
        if match := re.fullmatch(r"(CONFIG_\w+)=(.*)", line):
            options[match[1]] = match[2]
        elif match := re.fullmatch(r"# (CONFIG_\w+) is not set", line):
            options[match[1]] = "n"
    return options
