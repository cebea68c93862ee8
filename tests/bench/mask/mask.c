/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a test build of the VMM, linked with --wrap=pit_write: once, when Linux writes to its
 * timer, for which the VMM masks interrupts anyway, this keeps them masked until MASKED
 * instructions after the local APIC's timer has expired. So an RTOS whose timer it is starts by
 * that much later than if MASKED were 0.
 */
#include "arch/ia32/layout.h"
#include "device/pit.h"
#include "arch/ia32/cpu.h"
#include "lib/owner.h"

/* Linux has booted and runs something by then. */
#define AT 1600000000u
#define CURRENT_COUNT (LAYOUT_APIC + 0x390)

void __real_pit_write(struct pit *pit, u16 port, u8 value, u64 now);
void __wrap_pit_write(struct pit *pit, u16 port, u8 value, u64 now);

/* The timer counts ticks of the time stamp counter, which are instructions. */
static void mask(void)
{
	OF_CORE static bool done;
	u64 now = rdtsc();
	u64 end = now + *(const volatile u32 *)CURRENT_COUNT + MASKED;

	if (done || now < AT)
		return;
	done = true;
	while (rdtsc() < end)
		;
}

void __wrap_pit_write(struct pit *pit, u16 port, u8 value, u64 now)
{
	mask();
	__real_pit_write(pit, port, value, now);
}
