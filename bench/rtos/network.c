/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench at the other end of Linux's network, as fast as one can be: it has no
 * kernel. It copies each frame out of the ring, and sends it back if its payload begins with 1.
 */
#include "network_end.h"
#include "print.h"
#include "rtos.h"

static struct channel_end receiver, sender;
static uint8_t bytes[GANDALF_NETWORK_FRAME];
static uint32_t peer;

/* The doorbell's handler. The flag stays 0, as the loop wants it. */
void rung(void);
__asm__(".globl rung\n"
	"rung:\n"
	"	iret\n");

static void announce(void)
{
	network_announce(&receiver, 1);
	hypercall(GANDALF_HYPERCALL_DOORBELL, peer, 0);
}

/* Linux waits for each answer, so there is room. */
static void answer(uint32_t size)
{
	if (bytes[GANDALF_NETWORK_HEADER] == 1 &&
	    network_send(&sender, bytes, size) == GANDALF_CHANNEL_RESET)
		network_send(&sender, bytes, size);
}

/* Returns whether it is worth to look again. */
static bool serve(void)
{
	struct network_frame frame = { 0 };
	int32_t size = network_peek(&receiver, &frame);

	if (size > 0) {
		channel_copy(bytes, frame.bytes, frame.size);
		size = network_take(&receiver, &frame);
		if (size > 0)
			answer(frame.size);
	}
	if (size == GANDALF_CHANNEL_RESET)
		announce();
	return size > 0 || size == GANDALF_CHANNEL_RESET;
}

static bool serve_all(void)
{
	bool any = false, sent;

	while (serve())
		any = true;
	if (!any)
		return false;
	sent = network_rings(&sender, 0);
	if (network_rings(&receiver, 1) || sent)
		hypercall(GANDALF_HYPERCALL_DOORBELL, peer, 0);
	return true;
}

void main(void)
{
	static struct gandalf_handlers handlers;
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];

	if (!network_is(place)) {
		print("bench: network: there is none\n");
		return;
	}
	channel_open(&receiver, (void *)place->address, place);
	sender = receiver;
	peer = place->peer;
	handlers.entry[GANDALF_VECTOR_DOORBELL] = (uint32_t)rung;
	handlers_register(&handlers);
	announce();
	for (;;) {
		serve_all();
		network_want(&receiver, 0);
		if (serve_all())
			continue;
		interrupt_wait();
		interrupt_disable();
	}
}
