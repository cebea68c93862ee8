/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals, their outliers, and copies of the guest's memory at these. See interval.h. */
#include "interval.h"

#include <stdlib.h>

#include "clock.h"
#include "measurement.h"
#include "options.h"
#include "qemu.h"

struct interval intervals[INTERVALS];

/* Copies of the memory of options.ring: of the longest interval, and of the outliers. */
static uint8_t *rings;

void intervals_reset(void)
{
	for (unsigned i = 0; i < options.intervals; i++)
		intervals[i] = (struct interval){ .from = intervals[i].from,
						  .to = intervals[i].to,
						  .expired = intervals[i].expired,
						  .sample = intervals[i].sample };
}

const char *rings_make(void)
{
	if (!options.ring_size)
		return NULL;
	rings = calloc(OUTLIERS + 1, options.ring_size);
	return rings ? NULL : "there is no memory for copies of the ring";
}

const uint8_t *longest_ring(void)
{
	return rings;
}

const uint8_t *outlier_ring(unsigned outlier)
{
	return rings ? rings + (outlier + 1) * options.ring_size : NULL;
}

static void outlier_keep(struct outlier *outlier, uint64_t length, uint8_t *ring)
{
	*outlier = (struct outlier){ clock_now(), length, clock_timer_expiry() };
	if (ring)
		cpu_physical_memory_rw(options.ring, ring, options.ring_size, false);
}

/* The longest is kept in any case: so there is always one whose cause can be told. */
static void outlier_look(uint64_t length)
{
	uint64_t distance = length > options.period ? length - options.period :
						      options.period - length;

	if (length > measurement.longest.length)
		outlier_keep(&measurement.longest, length, rings);
	if (distance <= options.deviation)
		return;
	if (measurement.outlier_count < OUTLIERS)
		outlier_keep(&measurement.outliers[measurement.outlier_count], length,
			     (uint8_t *)outlier_ring((unsigned)measurement.outlier_count));
	measurement.outlier_count++;
}

static uint64_t interval_now(void)
{
	return options.time ? clock_now() : instructions;
}

void interval_reach(struct interval *interval, bool end)
{
	if (measurement.progress != PROGRESS_ON)
		return;
	if (!end) {
		interval->repeated += interval->running;
		interval->since = interval->expired ? clock_timer_expiry() : interval_now();
		interval->running = true;
		return;
	}
	if (!interval->running)
		return;
	uint64_t length = interval_now() - interval->since;

	interval->running = false;
	if (options.period && interval == &intervals[0])
		outlier_look(length);
	if (interval->count < SAMPLES)
		interval->sample[interval->count] = (uint32_t)length;
	if (!interval->count || length < interval->minimum)
		interval->minimum = length;
	if (length > interval->maximum)
		interval->maximum = length;
	interval->count++;
	interval->total += length;
}
