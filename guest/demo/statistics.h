/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's figures, which say how long after its timer's expiry a periodic task ran. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdint.h>

/*
 * The histogram has a bucket for each value below 128, and 64 for each power of two above, so that
 * a percentile is at most 1/64 too large.
 */
#define STATISTICS_LINEAR 128
#define STATISTICS_PER_OCTAVE 64
#define STATISTICS_BUCKETS (STATISTICS_LINEAR + 25 * STATISTICS_PER_OCTAVE)

struct statistics {
	uint32_t activations;
	uint32_t missed;
	uint32_t minimum; /* in cycles, as all that follow are */
	uint32_t maximum;
	double sum;
	uint32_t bucket[STATISTICS_BUCKETS];
};

void statistics_reset(struct statistics *statistics);

/* Adds an activation, with its latency in cycles. `missed` activations before it did not happen. */
void statistics_add(struct statistics *statistics, uint32_t latency, uint32_t missed);

/* Returns the largest latency that a bucket counts. */
uint32_t statistics_limit(uint32_t bucket);

/* Returns the mean latency in cycles, or 0 without activations. It uses floating point. */
uint32_t statistics_mean(const struct statistics *statistics);

/* Returns the latency that at least permille/1000 of all activations kept, 0 without
 * activations. permille is at most 1000. */
uint32_t statistics_percentile(const struct statistics *statistics, uint32_t permille);

#endif
