/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the time stamp counter while guests run. Two samples of it and of the platform's
 * reference are enough, however the core was used in between. A sample is only as good as the
 * reference can be asked at one point of time: an emulator's host, or SMM, may come in between. So
 * the second one is taken again each second until both together, with a clock of the reference,
 * are less than a millionth of the time between them. The first one is replaced by one that
 * is better.
 */
#include "core/rate.h"

#include "arch.h"
#include "core/core.h"
#include "core/time.h"
#include "elsewhere.h"
#include "lib/math.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "platform.h"

/* A frequency that differs from the first one by more than this part of it is wrong. */
#define PART_WRONG 2000u
/* A measurement begins anew after 2^20 / 32 ms, which are 32.8 s. What PART_WRONG lets pass is less
 * than half a round of the reference by then, so that it is clear how often that has begun again,
 * and a first frequency that is wrong by up to a thousandth never makes another one seem right. */
#define ERROR_SHIFT 20
#define ERRORS_MAXIMUM 32u
/* What a sample has instead of its spread if there is none, and the reference has not begun; and if
 * there is none yet. */
#define NO_REFERENCE 0x7fffffffu
#define NO_SAMPLE (NO_REFERENCE - 1)
#define HALF_ROUND 0x8000u
#define RATE_UNIT 10u

struct sample {
	u64 time;   /* when the reference was about to be asked */
	u32 spread; /* ticks in which that was done */
	u32 count;  /* of the reference, which goes up, modulo 2^16 */
};

OF_CORE u32 rate_measured;
OF_CORE_INITIALISED static struct sample first = {.spread = NO_REFERENCE};
OF_CORE static struct deadline next;

static struct sample sample_take(void)
{
	struct sample sample = {.time = rdtsc()};

	reference_latch();
	sample.spread = (u32)(rdtsc() - sample.time);
	sample.count = reference_count();
	return sample;
}

/* Returns the frequency, or 0 if it cannot be right: the machine may have slept, or its firmware
 * may have stopped the reference, whose count is then always the same. How often the reference has
 * begun again follows from the first frequency. */
static u32 rate_of(u64 ticks, u32 counted)
{
	u32 first_rate = time_tsc_khz * (1000 / RATE_UNIT);
	u32 expected = (u32)multiply_divide(ticks, REFERENCE_FREQUENCY / RATE_UNIT, first_rate);
	u32 clocks = expected - HALF_ROUND + (u16)(counted - expected + HALF_ROUND);
	u32 rate = (u32)multiply_divide(ticks, REFERENCE_FREQUENCY, clocks * RATE_UNIT);
	u32 part = first_rate / PART_WRONG;

	return counted != 0 && rate - first_rate + part <= 2 * part ? rate : 0;
}

/* The reference counts for a second before the first sample: a chip may take a moment to begin. */
static void rate_measure(void)
{
	u32 clock = time_tsc_khz / (REFERENCE_FREQUENCY / 1000);
	struct sample last;
	u32 error;
	u64 ticks;

	if (first.spread == NO_REFERENCE) {
		reference_begin();
		first.spread = NO_SAMPLE;
		return;
	}
	last = sample_take();
	ticks = last.time - first.time;
	error = (u32)(ticks >> ERROR_SHIFT); /* which the frequency may have */
	if (error < time_tsc_khz / ERRORS_MAXIMUM) {
		if (first.spread + last.spread + clock < error)
			rate_measured = rate_of(ticks, last.count - first.count);
		else if (last.spread >= first.spread)
			return;
	}
	first = last;
}

static u64 rate_expire(UNUSED struct deadline *deadline)
{
	EXPECTS_MASKED();
	if (!elsewhere_tells_rate(&rate_measured))
		rate_measure();
	if (rate_measured == 0)
		return rdtsc() + (u64)time_tsc_khz * 1000;
	for (u32 i = 0; i < core.vcpu_count; i++)
		vcpus[i].shared->tsc_rate = rate_measured;
	return TIME_NEVER;
}

void rate_begin(void)
{
	deadline_init(&next, rate_expire, 0);
	deadline_set(&next, rdtsc() + (u64)time_tsc_khz * 1000);
}

void rate_forget(void)
{
	first.spread = NO_REFERENCE;
}
