# SPDX-License-Identifier: Apache-2.0
"""How an emulator runs a system that was built: what its description says of the machine."""

from pathlib import Path

from gandalf.base.paths import UserError
from gandalf.build.build import Built
from gandalf.description.description import COM1, COM2
from gandalf.run import emulator


def options_for(
    built: Built,
    deterministic: bool,
    memory: int | None = None,
    arguments: tuple[str, ...] = (),
    iso: Path | None = None,
    ips: int = 1_000_000_000,
    gdb: str | None = None,
) -> emulator.Options:
    """Return how an emulator runs a system. memory: MiB, instead of the description's."""
    machine, console = built.checked.system.machine, built.checked.system.console
    ports = {COM1.port: "com1", COM2.port: "com2"}
    if console.uart is None or console.uart.port not in ports:
        raise UserError(
            'The emulators have their serial ports at "com1" and "com2"; set `uart` to one of '
            "them, or run the system on a real machine (`gandalf image`)."
        )
    return emulator.Options(
        memory=memory or machine.memory >> 20,
        kernel=built.vmm,
        module=built.module,
        iso=iso,
        uart=ports[console.uart.port],
        deterministic=deterministic,
        gdb=gdb,
        ips=ips,
        arguments=arguments,
        cpus=machine.cpus,
    )
