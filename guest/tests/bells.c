/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: rings the other end of its channel as fast as it can, for ever, and prints without
 * end in between, so that its CPU sends all the messages that an RTOS can have it send. Before it
 * begins it says so.
 */
#include "guest.h"
#include "print.h"

#define RINGS_PER_LINE 64

void main(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];

	if (place->name[0] == '\0')
		guest_fail("bells", "there is no channel");
	print("bells: from now on\n");
	for (uint32_t rings = 0;; rings++) {
		hypercall(GANDALF_HYPERCALL_DOORBELL, place->peer, 0);
		if (rings % RINGS_PER_LINE == 0)
			print("rings=%u\n", rings);
	}
}
