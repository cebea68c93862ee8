/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual time, with one instruction a nanosecond in between QEMU's own readings. See clock.h. */
#include "clock.h"

#include "cpu.h"
#include "measurement.h"
#include "qemu.h"

/* QEMU's virtual time at the last delivery less the instructions until then. The CPU sleeps only
 * until a delivery, so this tells the time until the next. */
static uint64_t offset;
/* When the timer expired whose interrupt was delivered last. */
static uint64_t timer_expired;

int64_t clock_ask(void)
{
	return qemu_clock_get_ns(QEMU_VIRTUAL_CLOCK);
}

void clock_set(void)
{
	offset = (uint64_t)clock_ask() - instructions;
}

uint64_t clock_now(void)
{
	return instructions + offset;
}

/* The timer runs once: until it is started again its expiry is the last. */
void clock_look_at_timer(void)
{
	uint64_t expiry = (uint64_t)cpu_timer_expiry();

	if (expiry <= clock_now())
		timer_expired = expiry;
}

uint64_t clock_timer_expiry(void)
{
	return timer_expired;
}
