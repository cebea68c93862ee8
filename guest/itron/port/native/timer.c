/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 8254 timer of a PC: the tick, and the measure of the time stamp counter.
 */
#include "board.h"
#include "cpu.h"
#include "io.h"
#include "machine.h"

#define COUNTER 0x40
#define CONTROL 0x43
#define RATE_GENERATOR 0x34 /* counter 0, low and high byte, mode 2 */
#define LATCH 0x00	    /* counter 0 */

#define INPUT_HZ 1193182
#define RELOAD (INPUT_HZ / 1000)
/* How long the time stamp counter is measured. */
#define MEASURED_TICKS 10

static UW time_stamp_khz;

/* Counts down from RELOAD to 1 in each tick. */
static UW counter_read(void)
{
	UW low;

	io_write(CONTROL, LATCH);
	low = io_read(COUNTER);
	return low | (UW)io_read(COUNTER) << 8;
}

static void counter_start(void)
{
	io_write(CONTROL, RATE_GENERATOR);
	io_write(COUNTER, RELOAD & 0xff);
	io_write(COUNTER, RELOAD >> 8);
}

/* Until the counter begins anew. */
static uint64_t tick_await(void)
{
	UW before = counter_read(), now;

	while ((now = counter_read()) <= before)
		before = now;
	return time_stamp();
}

void timer_init(void)
{
	uint64_t start;

	counter_start();
	start = tick_await();
	for (UINT i = 1; i < MEASURED_TICKS; i++)
		tick_await();
	time_stamp_khz = (UW)(tick_await() - start) / MEASURED_TICKS;
	counter_start();
}

uint32_t board_time_stamp_khz(void)
{
	return time_stamp_khz;
}

/* A tick is not divided further than the counter does. */
uint64_t board_timer_expiry(void)
{
	UW since = RELOAD - counter_read();

	return time_stamp() - time_stamp_khz / RELOAD * since -
	       time_stamp_khz % RELOAD * since / RELOAD;
}
