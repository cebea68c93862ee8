/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest at side 0 of a channel, beside channel.c at side 1, which sends back what it receives:
 * sends MESSAGE bytes, waits until they have come back, and does it again. For each ROUNDS of these
 * it prints the mean time in ticks of the time stamp counter.
 */
#include "channel_end.h"
#include "cpu.h"
#include "guest.h"
#include "print.h"

#define MESSAGE 16
#define ROUNDS 1000u

static struct channel_end end;

/* All bytes at once, since the ring is larger. A new epoch begins the message again. */
static void round_trip(uint32_t peer)
{
	uint8_t bytes[MESSAGE] = {0};
	int32_t received = 0, size;

	while (channel_send(&end, bytes, MESSAGE) != MESSAGE)
		;
	hypercall(GANDALF_HYPERCALL_DOORBELL, peer, 0);
	while (received < MESSAGE) {
		size = channel_receive(&end, bytes, MESSAGE);
		if (size < 0)
			return;
		received += size;
		if (size == 0) {
			interrupt_wait();
			interrupt_disable();
		}
	}
}

void main(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];

	handlers_install();
	if (place->name[0] == '\0')
		guest_fail("round_trip", "there is no channel");
	channel_open(&end, (void *)place->address, place);
	for (;;) {
		uint64_t start = time_stamp();

		for (uint32_t i = 0; i < ROUNDS; i++)
			round_trip(place->peer);
		print("round_trip: %u\n", (uint32_t)(time_stamp() - start) / ROUNDS);
	}
}
