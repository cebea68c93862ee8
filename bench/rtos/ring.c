/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench that rings rung.c, which runs on another CPU: measures what the hypercall
 * takes, in which its core's VMM sends the other's a message. It rings seldom, so that each message
 * has been served before the next one. The tool that counts instructions knows the hypercall by the
 * labels around it, and the emulator that it uses gives the other CPU its turn at PAUSE.
 */
#include "print.h"
#include "rtos.h"

#define SAMPLES 200u
#define WARM_UP 8u
/* Microseconds from one to the next: many times what a core waits that has had its share. */
#define PERIOD 400u

static uint32_t samples[SAMPLES];

__attribute__((noinline, noclone)) static uint32_t ring(uint32_t peer)
{
	uint64_t start = time_stamp(), end;
	uint32_t result, period = time_ticks(PERIOD);

	__asm__ volatile(".globl ring_begin\n"
			 "ring_begin:\n"
			 "	int	%1\n"
			 ".globl ring_end\n"
			 "ring_end:\n"
			 : "=a"(result)
			 : "i"(GANDALF_HYPERCALL_VECTOR), "a"(GANDALF_HYPERCALL_DOORBELL), "b"(peer)
			 : "memory");
	end = time_stamp();
	while (time_stamp() - start < period)
		__asm__ volatile("pause");
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
