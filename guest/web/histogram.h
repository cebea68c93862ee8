/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's figures as a histogram of few bars, for a page. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "statistics.h"

#define HISTOGRAM_BARS 24

struct histogram_bar {
	uint32_t limit; /* the largest latency that it counts, in cycles */
	uint32_t count;
};

/* The bars lie next to each other, from the first latency that was seen to the last. */
struct histogram {
	uint32_t bars;
	uint32_t highest; /* the largest count of a bar */
	struct histogram_bar bar[HISTOGRAM_BARS];
};

/* Sums up the figures' buckets, as many for each bar as are needed. Without activations there is
 * no bar. */
void histogram_make(struct histogram *histogram, const struct statistics *statistics);

/* Returns the length of a bar in percent of the longest. It is logarithmic, so that what is seen
 * once is seen beside what is seen a million times. */
uint32_t histogram_length(const struct histogram *histogram, uint32_t bar);

#endif
