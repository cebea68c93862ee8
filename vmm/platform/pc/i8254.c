/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives the machine's 8254. Counter 2 measures time, and counter 0 interrupts once for each
 * program().
 */
#include "platform/pc/i8254.h"

#include "arch/ia32/cpu.h"
#include "lib/math.h"
#include "lib/owner.h"

enum { COUNTER_0 = 0x40, COUNTER_2 = 0x42, CONTROL, PORT_61 = 0x61 };
enum { PORT_61_GATE = 0x01, PORT_61_SPEAKER = 0x02, PORT_61_OUTPUT = 0x20 };
/* Control words. */
enum { COUNTER_0_MODE_0 = 0x30, COUNTER_2_MODE_0 = 0xb0, COUNTER_2_MODE_2 = 0xb4,
       LATCH_COUNTER_2 = 0x80 };
#define MEASUREMENTS 3u
/* The milliseconds that counter 0 can wait: its 65,535 clocks are a little more. */
#define MILLISECONDS 54

/* The frequency of the TSC as i8254_measure_tsc() has found it. */
OF_MACHINE static u32 tsc_khz;

/* The clocks before the end of a wait from which on the chip is asked as often as can be. */
#define NEAR_CLOCKS 100u
/* Rounds of a loop with three NOPs, which pass in fewer clocks than these on any processor. */
#define PAUSE_ROUNDS 200u

void i8254_latch(void)
{
	outb(CONTROL, LATCH_COUNTER_2);
}

static u16 latched(void)
{
	u16 low = inb(COUNTER_2);

	return (u16)(low | inb(COUNTER_2) << 8);
}

/* Returns the clocks that counter 2 has left, behind a pause in which nothing is asked of it. NOPs
 * make it cheap for an emulator, which takes far longer for a branch. */
static u32 clocks_left(void)
{
	for (u32 i = 0; i < PAUSE_ROUNDS; i++)
		__asm__ volatile("nop; nop; nop");
	i8254_latch();
	return latched();
}

static void counter_start(u8 mode, u32 clocks)
{
	outb(PORT_61, (u8)((inb(PORT_61) & ~PORT_61_SPEAKER) | PORT_61_GATE));
	outb(CONTROL, mode);
	outb(COUNTER_2, (u8)clocks);
	outb(COUNTER_2, (u8)(clocks >> 8));
}

void i8254_count_begin(void)
{
	counter_start(COUNTER_2_MODE_2, 0); /* which stands for 2^16 */
}

u16 i8254_count(void)
{
	return (u16)-latched();
}

/* An emulator takes far longer for a port than for a loop, and waits make up a third of the host's
 * time until a Linux's first line if the output is polled all the while. So it is from the last
 * clocks on alone, which is what the precision of a measurement depends on. */
u64 i8254_wait(u32 clocks)
{
	u32 left = clocks;
	u64 start;

	counter_start(COUNTER_2_MODE_0, clocks);
	start = rdtsc();
	while ((inb(PORT_61) & PORT_61_OUTPUT) == 0)
		if (left > NEAR_CLOCKS)
			left = clocks_left();
	return start;
}

/* Takes the shortest measurement, since it is the one that was least disturbed by what delays the
 * processor, such as SMM or the host of an emulator. */
u32 i8254_measure_tsc(void)
{
	u64 best = UINT64_MAX;

	for (unsigned i = 0; i < MEASUREMENTS; i++) {
		u64 start = i8254_wait(I8254_MEASURED);
		u64 ticks = rdtsc() - start;

		if (ticks < best)
			best = ticks;
	}
	tsc_khz = i8254_khz(best);
	return tsc_khz;
}

static void i8254_program(u32 low, s32 high)
{
	s64 ticks = -((s64)high << 32 | low);
	u32 count = 1;

	if (ticks > (s64)tsc_khz * MILLISECONDS)
		count = 0xffff;
	else if (ticks > tsc_khz / 1000)
		count = (u32)divide_u64(multiply_divide((u64)ticks, I8254_FREQUENCY, tsc_khz), 1000,
					NULL);
	outb(CONTROL, COUNTER_0_MODE_0);
	outb(COUNTER_0, (u8)count);
	outb(COUNTER_0, (u8)(count >> 8));
}

/* Selects mode 0 and gives no count, so that counter 0 does not interrupt. */
static void i8254_quiet(void)
{
	outb(CONTROL, COUNTER_0_MODE_0);
}

const struct timer_hardware i8254_timer = {"8254", 0, i8254_quiet, i8254_quiet, i8254_program};
