/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches the machine off. QEMU ends by a write to its isa-debug-exit device at port 0xf4, with
 * the status 2 * value + 1. Bochs ends by the word Shutdown on port 0x8900. On a PC both ports do
 * nothing.
 */
#include "platform/pc/power.h"

#include "arch/ia32/cpu.h"
#include "platform/pc/masked_sections.h"

enum { DEBUG_EXIT_PORT = 0xf4, DEBUG_EXIT_GOOD = 0x10, DEBUG_EXIT_BAD = 0x11, BOCHS_PORT = 0x8900 };

static _Noreturn void power_halt(u8 status)
{
	const char *shutdown = "Shutdown";

	outb(DEBUG_EXIT_PORT, status);
	while (*shutdown != '\0')
		outb(BOCHS_PORT, (u8)*shutdown++);
	for (;;) {
		cli(power_off);
		__asm__ volatile("hlt");
	}
}

_Noreturn void power_off_machine(void)
{
	power_halt(DEBUG_EXIT_GOOD);
}

NAMED _Noreturn void power_stop_machine(void)
{
	power_halt(DEBUG_EXIT_BAD);
}
