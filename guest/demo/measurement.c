/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the demo's line of the samples of the periodic task:
 *
 *	activations=N minimum=N mean=N p99.9=N maximum=N missed=N
 */
#include <string.h>

#include "demo.h"
#include "statistics.h"
#include "terminal.h"

/* So many milliseconds lie between two lines. */
#define LINE_PERIOD 1000

static struct statistics statistics;
/* Counts the changes of the figures. */
static volatile uint32_t changes;
static volatile uint32_t samples_lost;
static volatile bool reset_wanted;

struct sample sample_take(uint64_t now, uint32_t missed)
{
	uint64_t expiry = os_timer_expiry(), latency;

	/* Another expiry may have come meanwhile. */
	if (expiry > now)
		expiry -= os_time_stamp_khz();
	latency = now - expiry;
	return (struct sample){ latency > UINT32_MAX ? UINT32_MAX : (uint32_t)latency, missed };
}

void measurement_lose(void)
{
	samples_lost++;
}

void measurement_reset(void)
{
	reset_wanted = true;
	while (reset_wanted)
		os_tick_sleep();
}

static void measurement_print(void)
{
	static uint32_t lost_before;

	if (statistics.activations)
		terminal_print("activations=%u minimum=%u mean=%u p99.9=%u maximum=%u missed=%u",
			       statistics.activations, statistics.minimum,
			       statistics_mean(&statistics),
			       statistics_percentile(&statistics, 999),
			       statistics.maximum, statistics.missed);
	if (samples_lost != lost_before) {
		lost_before = samples_lost;
		terminal_print("The console was full for too long: %u figures are lost.",
			       lost_before);
	}
}

static void distribution_print(void)
{
	for (uint32_t i = 0; i < STATISTICS_BUCKETS; i++)
		if (statistics.bucket[i])
			terminal_print("latency=%u count=%u", statistics_limit(i),
				       statistics.bucket[i]);
}

static void measurement_clear(void)
{
	statistics_reset(&statistics);
	changes++;
}

void measurement_add(const struct sample *sample)
{
	static uint32_t line;

	if (!line) {
		measurement_clear();
		line = LINE_PERIOD;
	}
	if (reset_wanted) {
		measurement_clear();
		reset_wanted = false;
		return;
	}
	statistics_add(&statistics, sample->latency, sample->missed);
	changes++;
	if ((int32_t)(os_tick() - line) < 0) /* the ticks begin anew after 50 days */
		return;
	measurement_print();
	if (measurement_anew) {
		distribution_print();
		measurement_clear();
	}
	line = (os_tick() / LINE_PERIOD + 1) * LINE_PERIOD;
}

/* A copy takes a small part of a millisecond, so hardly ever does a change come within, and then
 * the next copy has none. Whoever changes the figures waits for nothing. */
void measurement_copy(struct statistics *to)
{
	uint32_t before;

	do {
		before = changes;
		__asm__ volatile("" ::: "memory");
		memcpy(to, &statistics, sizeof(*to));
		__asm__ volatile("" ::: "memory");
	} while (before != changes);
}
