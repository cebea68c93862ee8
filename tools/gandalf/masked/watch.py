# SPDX-License-Identifier: Apache-2.0
"""Watches the masked sections of a machine's VMM, from the first guest's start to the end.

    with Watch(description) as watch:
        with Machine.attach(watch.built, emulators.start("qemu", watch.options)) as machine:
            ...
        assert watch.wrong() == []

The plug-in writes what it saw when the machine has ended, however it did.
"""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from gandalf.build.build import build
from gandalf.build.symbols import Image, Symbols
from gandalf.measure import masked
from gandalf.measure.measure import build_plugin, plugin_arguments
from gandalf.measure.measurement import Measurement, read_measurement
from gandalf.run.emulator import Options
from gandalf.run.options import options_for

# What the VMM does when it has started. What comes before delays nobody.
_BEGIN = "idle_run"


class Watch:
    """What a machine is to be started with so that its masked sections are seen.

    more: further options of the plug-in. Of several CPUs one is watched; all take turns then, in
    one thread.
    """

    def __init__(self, description: Path, cpu: int = 0, **more: str | int) -> None:
        self.built = build(description, lambda _: None, deterministic=True)
        self._cpu = cpu if self.built.checked.system.machine.cpus > 1 else None
        if self._cpu is not None:
            more["vcpu"] = cpu
        build_plugin()
        self._folder = Path(tempfile.mkdtemp(prefix="gandalf-masked-"))
        begin = Image(self.built.vmm, "vmm").addresses[_BEGIN]
        self.arguments = plugin_arguments(
            out=str(self._output), begin=begin, **masked.plugin_option(), **more
        )

    @property
    def _output(self) -> Path:
        return self._folder / "measurement.json"

    @property
    def options(self) -> Options:
        """How to start the machine in QEMU."""
        options = options_for(self.built, True, None, self.arguments)
        return replace(options, in_turn=self._cpu is not None)

    def measurement(self) -> Measurement:
        """Return all that was measured in the machine, which has ended."""
        return read_measurement(self._output)

    def stretches(self) -> list[masked.Stretch]:
        """Return the masked stretches by section, the longest first. The machine has ended."""
        return masked.Sections(Symbols(self.built, self._cpu)).stretches(self.measurement())

    def wrong(self) -> list[str]:
        """Return what is wrong with them: a section without a name, or one that took too long."""
        return masked.wrong(self.stretches(), self.measurement())

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
