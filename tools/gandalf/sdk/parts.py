# SPDX-License-Identifier: Apache-2.0
"""What the SDK consists of: its parts in the tree, what they are for, and their licences."""

from dataclasses import dataclass

# FreeRTOS's kernel, where guest/freertos/freertos.mk has it.
KERNEL = "build/freertos/vendor/freertos-next/FreeRTOS-Kernel"
# What says that it is there, and complete.
KERNEL_STAMP = "build/freertos/vendor/fetched"

# lwIP's sources, where guest/freertos/lwip.mk has them, and what says that they are there.
LWIP = "build/lwip/source"
LWIP_FILES = ("src/core/*.c", "src/core/ipv4/*.c", "src/netif/ethernet.c", "src/include/**/*.h",
              "COPYING", ".gandalf-stamp")  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A part of the SDK.

    path: its folder, from the SDK's own. files: patterns below it. linked: an application's image
    holds some of it.
    """

    path: str
    files: tuple[str, ...]
    what: str
    licence: str
    linked: bool


PARTS = (
    Part("abi", ("*.h",), "the VMM's interface to guests", "MIT", True),
    Part("guest/rtos", ("*.[chS]", "*.ld", "*.mk", "include/*.h"),
         "start-up, linker script, hypercalls, print()", "Apache-2.0", True),
    Part("guest/freertos", ("freertos.mk", "port/*", "lwip.mk", "lwip/*.[ch]", "lwip/arch/*.h"),
         "the ports of FreeRTOS and lwIP", "Apache-2.0", True),
    Part(KERNEL, ("*.c", "include/*.h", "portable/MemMang/heap_4.c", "LICENSE.md"),
         "FreeRTOS's kernel", "MIT", True),
    Part(LWIP, LWIP_FILES, "lwIP", "BSD-3-Clause", True),
    Part("guest/itron", ("itron.mk", "include/*.h", "kernel/*", "channel/*", "port/*/*"),
         "the uITRON kernel and its ports", "Apache-2.0", True),
    Part("guest/application", ("*.mk",), "the make rules of applications", "Apache-2.0", False),
    Part("guest/application", ("*/*", "*/.gitignore"),
         "what `gandalf new` copies, which is yours", "0BSD", True),
    Part("build", ("vmm*/gandalf.elf", "measure/pace.so", "loader/multiboot.bin"),
         "the VMM for each profile, QEMU's pacer, Bochs' loader", "Apache-2.0", False),
    Part("vmm", ("profile/*.mk", "arch/ia32/layout.h", "arch/ia32/entry.h", "**/masked_sections.h"),
         "what the command reads of the VMM", "Apache-2.0", False),
    Part("tools", ("gandalf/**/*.py", "requirements.txt"), "the command", "Apache-2.0", False),
    Part("docs", ("*.md", "pictures/*"), "the documentation", "Apache-2.0", False),
)  # fmt: skip
