# SPDX-License-Identifier: Apache-2.0
"""The self-test in the menu of an image for a real PC: another system on the same consoles."""

from gandalf.base.making import Log
from gandalf.base.paths import ROOT, system_folder, write_whole
from gandalf.build.build import Built, build

SYSTEM = ROOT / "systems" / "self-test.toml"


def build_selftest(built: Built, log: Log) -> Built | None:
    """Build the self-test for the serial port of a system; None in an SDK, which lacks its source.

    A screen alone will do, too.
    """
    if not SYSTEM.exists():
        return None
    uart = built.checked.system.console.uart
    words = '"none"'
    if uart is not None:
        words = f"{{port = {uart.port}, interrupt = {uart.interrupt}, baud = {uart.baud}}}"
    path = system_folder(built.checked.system.path) / "self-test.toml"
    words = f"uart = {words}\nscreen = {str(built.checked.system.console.screen).lower()}\n"
    text = SYSTEM.read_text().replace("[console]\n", f"[console]\n{words}")
    write_whole(path, text.encode())
    return build(path, log)
