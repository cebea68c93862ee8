/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest, one for each side of a channel: side 0 sends bytes that count up and
 * prints a line for each of ROUND that came back as they went, side 1 sends back what
 * it receives. Both say when a new epoch has begun.
 */
#include "channel_end.h"
#include "guest.h"
#include "print.h"

#define ROUND 65536u

static struct channel_end end;
static uint32_t peer;

/* The flag is 0 but while the guest waits: a ring that comes between a look at the
 * channel and the wait ends it. */
static void wait(void)
{
	hypercall(GANDALF_HYPERCALL_DOORBELL, peer, 0);
	interrupt_wait();
	interrupt_disable();
}

/* Whether bytes were moved; a new epoch is told. */
static bool moved(int32_t result)
{
	if (result == GANDALF_CHANNEL_RESET)
		print("channel: a new epoch\n");
	else if (result < 0)
		guest_fail("channel", "the other side wrote nonsense");
	return result > 0;
}

static void echo(void)
{
	uint8_t bytes[100];

	for (;;) {
		int32_t size = channel_receive(&end, bytes, sizeof(bytes));
		int32_t done = 0;

		if (!moved(size)) {
			wait();
			continue;
		}
		while (done < size) {
			int32_t sent = channel_send(&end, bytes + done, (uint32_t)(size - done));

			if (moved(sent))
				done += sent;
			else if (sent == GANDALF_CHANNEL_RESET)
				break; /* the rest is nobody's any more */
			else
				wait();
		}
	}
}

static void count(void)
{
	uint32_t sent = 0, received = 0;
	uint8_t bytes[64];

	for (;;) {
		int32_t size;

		for (uint32_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(sent + i);
		size = channel_send(&end, bytes, sizeof(bytes));
		if (moved(size))
			sent += (uint32_t)size;
		else if (size == GANDALF_CHANNEL_RESET)
			sent = received = 0;
		size = channel_receive(&end, bytes, sizeof(bytes));
		if (size == GANDALF_CHANNEL_RESET)
			sent = received = 0;
		if (!moved(size)) {
			wait();
			continue;
		}
		for (int32_t i = 0; i < size; i++, received++) {
			if (bytes[i] != (uint8_t)received)
				guest_fail("channel", "a byte came back changed");
			if ((received + 1) % ROUND == 0)
				print("channel: %u bytes\n", received + 1);
		}
	}
}

void main(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];

	handlers_install();
	if (place->name[0] == '\0')
		guest_fail("channel", "there is none");
	channel_open(&end, (void *)place->address, place);
	peer = place->peer;
	print("channel: %s, side %u, %u bytes at %x\n", place->name, place->side, place->size,
	      place->address);
	if (place->side == 0)
		count();
	echo();
}
