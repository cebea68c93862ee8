/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RTOS guest that tells what a PC is good for, before anything else is installed on it. It has
 * the machine to itself, and shows by turns, cumulative,
 *
 *	self-test: polled_ms=N stolen=N longest_ns=N
 *	self-test: expiries=N minimum_ns=N mean_ns=N maximum_ns=N missed=N
 *
 * In the first it reads the time stamp counter without a pause and no timer runs: a gap between two
 * readings is time that something below the VMM has taken, which on a PC is SMM. The second
 * is the latency of a 1 ms timer, from its expiry to the handler.
 */
#include "print.h"
#include "processor.h"
#include "rtos.h"

#define PERIOD 1000U /* microseconds */
#define EXPIRIES 1000U
#define POLLED 100U /* milliseconds of each turn */
/* Microseconds between two readings that are more than the reading itself takes. */
#define GAP 2U

static struct {
	uint32_t milliseconds, stolen, longest;
} polling;

static struct {
	volatile uint32_t expiries;
	uint32_t minimum, mean, maximum;
	uint64_t sum;
} timer = { .minimum = UINT32_MAX };

__attribute__((interrupt)) static void timer_interrupt(void *frame)
{
	uint32_t late = (uint32_t)(time_stamp() - shared_page->timer_expiry);

	(void)frame;
	timer.expiries++;
	timer.sum += late;
	if (late < timer.minimum)
		timer.minimum = late;
	if (late > timer.maximum)
		timer.maximum = late;
	interrupt_enable();
}

static uint32_t nanoseconds(uint32_t ticks)
{
	uint32_t mhz = shared_page->tsc_khz / 1000;

	return ticks < UINT32_MAX / 1000 ? ticks * 1000 / mhz : ticks / mhz * 1000;
}

/* Without a 64-bit division, which would need a library: sum / count, where that has 32 bits. */
static uint32_t quotient(uint64_t sum, uint32_t count)
{
	uint32_t result, rest;

	__asm__("divl %4"
		: "=a"(result), "=d"(rest)
		: "a"((uint32_t)sum), "d"((uint32_t)(sum >> 32)), "r"(count)
		: "cc");
	return result;
}

static void poll(void)
{
	uint32_t gap = time_ticks(GAP), turn = time_ticks(POLLED * 1000);
	uint64_t start = time_stamp(), last = start, now = start;

	for (; now - start < turn; last = now) {
		uint32_t taken;

		now = time_stamp();
		taken = (uint32_t)(now - last);
		if (taken <= gap)
			continue;
		polling.stolen++;
		if (taken > polling.longest)
			polling.longest = taken;
	}
	polling.milliseconds += POLLED;
}

static void timer_measure(void)
{
	uint32_t end = timer.expiries + EXPIRIES;

	timer_start(PERIOD);
	while (timer.expiries < end) {
		interrupt_wait();
		interrupt_disable();
	}
	timer_start(0);
	timer.mean = quotient(timer.sum, timer.expiries);
}

static void figures_print(void)
{
	print("self-test: polled_ms=%u stolen=%u longest_ns=%u\n", polling.milliseconds,
	      polling.stolen, nanoseconds(polling.longest));
	print("self-test: expiries=%u minimum_ns=%u mean_ns=%u maximum_ns=%u missed=%u\n",
	      timer.expiries, nanoseconds(timer.minimum), nanoseconds(timer.mean),
	      nanoseconds(timer.maximum), shared_page->timer_overruns);
}

void main(void)
{
	static struct gandalf_handlers handlers;

	handlers.entry[GANDALF_VECTOR_TIMER] = (uint32_t)timer_interrupt;
	handlers_register(&handlers);
	processor_print();
	print("self-test: time stamp counter %u kHz, measured with the 8254\n",
	      shared_page->tsc_khz);
	for (;;) {
		/* Meanwhile the UART sends the last figures: its interrupts steal nothing. */
		timer_measure();
		poll();
		figures_print();
	}
}
