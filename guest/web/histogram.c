/* SPDX-License-Identifier: Apache-2.0 */
/* The bars of the page's histogram. Nothing here knows the guest. */
#include "histogram.h"

#include <string.h>

/* Parts of a power of two that bars' lengths tell apart: 2^OCTAVE_BITS. */
#define OCTAVE_BITS 4

void histogram_make(struct histogram *histogram, const struct statistics *statistics)
{
	uint32_t first = 0, last = STATISTICS_BUCKETS - 1, step;

	memset(histogram, 0, sizeof(*histogram));
	if (!statistics->activations)
		return;
	while (!statistics->bucket[first])
		first++;
	while (!statistics->bucket[last])
		last--;
	step = (last - first) / HISTOGRAM_BARS + 1;
	histogram->bars = (last - first) / step + 1;
	for (uint32_t i = first; i <= last; i++) {
		struct histogram_bar *bar = &histogram->bar[(i - first) / step];

		bar->count += statistics->bucket[i];
		bar->limit = statistics_limit(i);
		if (bar->count > histogram->highest)
			histogram->highest = bar->count;
	}
}

/* Returns the logarithm of 2 * count in parts of a power of two, linear in between; 0 of 0. */
static uint32_t logarithm(uint32_t count)
{
	uint32_t octave;
	uint64_t scaled = (uint64_t)count << OCTAVE_BITS;

	if (!count)
		return 0;
	octave = 31 - (uint32_t)__builtin_clz(count);
	return ((octave + 1) << OCTAVE_BITS) +
	       ((uint32_t)(scaled >> octave) & ((1u << OCTAVE_BITS) - 1));
}

uint32_t histogram_length(const struct histogram *histogram, uint32_t bar)
{
	uint32_t whole = logarithm(histogram->highest);

	return whole ? logarithm(histogram->bar[bar].count) * 100 / whole : 0;
}
