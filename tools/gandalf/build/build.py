# SPDX-License-Identifier: Apache-2.0
"""Builds a system: the guests that its description names, the VMM, and the module.

What is already built costs next to nothing: every builder keeps stamps of its
own, and the module is written only if it changes.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.making import Log, quiet, run_make
from gandalf.base.paths import (
    INSTALLED,
    ROOT,
    UserError,
    building,
    shown,
    system_folder,
    write_whole,
)
from gandalf.build.profile import FULL, Profile, arguments, find_profile, profile_for
from gandalf.description.check import Checked, checked_or_fail
from gandalf.description.compose import compose
from gandalf.description.description import read_description
from gandalf.description.guests import builder, image_names, kernel_variant
from gandalf.description.images import ImageError, read_vmm
from gandalf.description.layout import VMM_END, VMM_START
from gandalf.guests import freertos as guest_freertos
from gandalf.guests import kernel as linux_kernel
from gandalf.guests import rootfs as linux_rootfs
from gandalf.guests import web as guest_web


@dataclass(frozen=True)
class Built:
    """A system that is ready to run."""

    checked: Checked
    vmm: Path
    module: Path

    @property
    def names(self) -> list[str]:
        return [guest.name for _, guest in self.checked.system.guests]

    @property
    def focus(self) -> str:
        return self.names[self.checked.system.focus()]


def make(folder: Path, *arguments: str, what: str = "", log: Log = quiet) -> None:
    """Run make in a folder; raises UserError with its last lines if it fails.

    what: is logged as being built, if it is not there already. An installed SDK has no sources of
    it, which UserError says as well.
    """
    if INSTALLED:
        raise UserError(
            f"{what[:1].upper()}{what[1:]} is built from Gandalf's own tree, and this is an "
            "installed SDK: do this in a clone."
        )
    with building():
        done = run_make(folder, *arguments, what=what, log=log)
    if done.returncode:
        lines = done.stdout.strip().splitlines()[-20:]
        raise UserError("\n".join([*lines, f"Building {shown(folder)} failed; see above."]))


def build_vmm(profile: Profile | None = None, log: Log = quiet) -> Path:
    """Build the VMM, whole or for a profile; returns its image, which an installed SDK has.

    Raises UserError if it is too large for its place.
    """
    chosen = profile or find_profile(FULL)
    path = chosen.image
    if not INSTALLED:
        make(ROOT / "vmm", *arguments(chosen), what="the VMM", log=log)
    try:
        image = read_vmm(path)
    except (OSError, ImageError) as error:
        raise UserError(f"The VMM's image {shown(path)} cannot be used: {error}.") from error
    if image.start < VMM_START or image.end > VMM_END:
        raise UserError(
            f"The VMM's image occupies {image.start:#x} to {image.end:#x}; its place is "
            f"{VMM_START:#x} to {VMM_END:#x}."
        )
    return path


def build_itron(log: Log = quiet) -> None:
    """Build the uITRON demo for both ports, and the motor. Raises UserError if that fails."""
    configurator = f"CONFIGURATOR={sys.executable} -m gandalf.itron.configurator"
    for name, what in (("itron", "uITRON"), ("itron/motor", "uITRON's motor")):
        make(ROOT / "guest" / name, configurator, what=what, log=log)


def build_kernels(description: Path, log: Log) -> None:
    """Build Linux for a system, which takes longest. Raises UserError if that fails."""
    system = read_description(description)
    with building():
        for _, guest in system.guests:
            for _, name in image_names(guest):
                variant = kernel_variant(system.resolve(name))
                if variant is not None:
                    linux_kernel.build_kernel(variant, ROOT, log)


def _build_image(path: Path, log: Log) -> None:
    """Build one file that a description names. Raises UserError with the reason if it fails."""
    if INSTALLED and builder(path) is not None:
        raise UserError(
            f"{shown(path)} is built in Gandalf's own tree, and this is an installed SDK: copy it "
            "from a clone, and name it with ./ in front."
        )
    variant = kernel_variant(path)
    if variant is not None:
        linux_kernel.build_kernel(variant, ROOT, log)
    match builder(path):
        case "rootfs":
            linux_rootfs.build_rootfs(ROOT, log)
        case "freertos":
            guest_freertos.build(ROOT, log)
        case "itron":
            build_itron(log)
        case "switch":
            make(ROOT / "guest" / "switch", what="the switch", log=log)
        case "web":
            guest_web.build(ROOT, log)
        case "selftest":
            make(ROOT / "guest" / "selftest", what="the self-test", log=log)
        case "bench":
            # Its root file system was written before, by gandalf.bench.targets.
            make(ROOT / "bench" / "rtos", what="the bench's RTOSes", log=log)
        case "services":
            guest_web.build_services(ROOT, log)
        case "tests":
            make(ROOT / "guest/tests", str(path), what=f"the test guest {path.stem}", log=log)
    if not path.is_file():
        raise UserError(f"Building {shown(path)} did not produce it.")


def build(description: Path, log: Log, deterministic: bool = False) -> Built:
    """Build a system. Raises UserError with every mistake in it before anything is built."""
    with building():
        return _build(description, log, deterministic)


def _build(description: Path, log: Log, deterministic: bool) -> Built:
    system = checked_or_fail(description, deterministic, built=False).system
    for _, guest in system.guests:
        for _, name in image_names(guest):
            _build_image(system.resolve(name), log)
    vmm = build_vmm(profile_for(system), log)
    # Only now are the images those that will run.
    checked = checked_or_fail(description, deterministic)
    content = compose(checked)
    name = "system-deterministic.bin" if deterministic else "system.bin"
    module = system_folder(description) / name
    write_whole(module, content)
    return Built(checked, vmm, module)
