/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: the other end of its first channel. It writes an epoch of its own making to one index
 * of the ring by which it sends, once, tells so, and rings:
 *
 *	stale: another epoch
 */
#include "channel_end.h"
#include "guest.h"
#include "print.h"

/* The other end has learned the right epoch by then. */
#define DELAY 20000 /* microseconds */

void main(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];
	struct gandalf_channel *channel = (struct gandalf_channel *)place->address;

	handlers_install();
	timer_start(DELAY);
	interrupt_wait();
	timer_start(0);
	channel->rings[place->side].tail ^= GANDALF_CHANNEL_EPOCH;
	print("stale: another epoch\n");
	hypercall(GANDALF_HYPERCALL_DOORBELL, place->peer, 0);
	for (;;)
		interrupt_wait();
}
