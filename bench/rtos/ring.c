/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench that rings rung.c, which runs on another CPU: measures what the hypercall
 * takes, in which its core's VMM sends the other's a message. It rings seldom, so that each message
 * has been served before the next one.
 */
#include "print.h"
#include "rtos.h"

#define SAMPLES 200u
#define WARM_UP 8u
/* Ticks from one to the next. */
#define PERIOD 40000u

static uint32_t samples[SAMPLES];

static uint32_t ring(uint32_t peer)
{
	uint64_t start = time_stamp(), end;

	hypercall(GANDALF_HYPERCALL_DOORBELL, peer, 0);
	end = time_stamp();
	while (time_stamp() - start < PERIOD)
		;
	return (uint32_t)(end - start);
}

static uint32_t null(uint32_t peer)
{
	uint64_t start = time_stamp();

	(void)peer;
	return (uint32_t)(time_stamp() - start);
}

/* Time stamps are those of the machine, whose CPUs take turns: single ones are off by a turn of 16
 * instructions, and the mean is not. */
static uint32_t mean_times_100(uint32_t (*function)(uint32_t peer), uint32_t peer)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < WARM_UP; i++)
		function(peer);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		samples[i] = function(peer);
		sum += samples[i];
	}
	return sum / (SAMPLES / 100);
}

void main(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];
	uint32_t overhead = mean_times_100(null, 0);
	uint32_t rings = mean_times_100(ring, place->peer);

	print("message: sends=%u ticks_times_100=%u\n", SAMPLES, rings - overhead);
}
