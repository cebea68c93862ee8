/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's figures. Nothing here knows the guest, so that the host's tests compile it as it is.
 */
#include "statistics.h"

#include <string.h>

/* log2 of STATISTICS_PER_OCTAVE, and of the first value above the linear part. */
#define OCTAVE_BITS 6
#define LINEAR_BITS 7

void statistics_reset(struct statistics *statistics)
{
	memset(statistics, 0, sizeof(*statistics));
	statistics->minimum = UINT32_MAX;
}

static uint32_t bucket_find(uint32_t latency)
{
	uint32_t octave;

	if (latency < STATISTICS_LINEAR)
		return latency;
	octave = 31 - (uint32_t)__builtin_clz(latency);
	return STATISTICS_LINEAR + (octave - LINEAR_BITS) * STATISTICS_PER_OCTAVE +
	       (latency >> (octave - OCTAVE_BITS)) % STATISTICS_PER_OCTAVE;
}

uint32_t statistics_limit(uint32_t bucket)
{
	uint32_t octave, part;

	if (bucket < STATISTICS_LINEAR)
		return bucket;
	octave = (bucket - STATISTICS_LINEAR) / STATISTICS_PER_OCTAVE + LINEAR_BITS;
	part = (bucket - STATISTICS_LINEAR) % STATISTICS_PER_OCTAVE;
	/* The last one ends at 2^32 - 1. The sum wraps to 0 before 1 is subtracted. */
	return ((STATISTICS_PER_OCTAVE + part + 1) << (octave - OCTAVE_BITS)) - 1;
}

void statistics_add(struct statistics *statistics, uint32_t latency, uint32_t missed)
{
	statistics->activations++;
	statistics->missed += missed;
	statistics->sum += latency;
	if (latency < statistics->minimum)
		statistics->minimum = latency;
	if (latency > statistics->maximum)
		statistics->maximum = latency;
	statistics->bucket[bucket_find(latency)]++;
}

uint32_t statistics_mean(const struct statistics *statistics)
{
	if (!statistics->activations)
		return 0;
	return (uint32_t)(statistics->sum / statistics->activations);
}

uint32_t statistics_percentile(const struct statistics *statistics, uint32_t permille)
{
	/* So many may lie above it, rounded down, without a division of 64 bits. */
	uint32_t above = statistics->activations / 1000 * (1000 - permille) +
			 statistics->activations % 1000 * (1000 - permille) / 1000;
	uint32_t bucket = STATISTICS_BUCKETS, seen = 0, limit;

	if (!statistics->activations)
		return 0;
	do
		seen += statistics->bucket[--bucket];
	while (seen <= above);
	limit = statistics_limit(bucket);
	return limit < statistics->maximum ? limit : statistics->maximum;
}
