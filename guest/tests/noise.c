/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: the worst neighbour that the other end of a channel can have. It writes
 * pseudo-random words into the shared memory, its indices included, and sends and
 * receives in between as it should, at moments that its timer chooses. What is typed
 * on its console changes the sequence. Now and then it prints, cumulative,
 *
 *	noise=N sent=N received=N
 */
#include "channel_end.h"
#include "guest.h"
#include "print.h"

#define PERIOD 300 /* microseconds */
#define BEATS_PER_LINE 2000
#define INDICES 4

static struct channel_end end;
static volatile uint32_t *words;
static uint32_t word_count;
static uint32_t sent, received;
static uint32_t state = 1;

/* Marsaglia's xorshift. */
static uint32_t next(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* Neither end may be led to another result, whatever is in the memory. */
static uint32_t checked(int32_t result, uint32_t size)
{
	if (result == GANDALF_CHANNEL_RESET || result == GANDALF_CHANNEL_BROKEN)
		return 0;
	if (result < 0 || (uint32_t)result > size)
		guest_fail("noise", "a result that no channel has");
	return (uint32_t)result;
}

static void behave(void)
{
	uint8_t bytes[64];
	uint32_t size = 1 + next() % sizeof(bytes);

	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(state + i);
	sent += checked(channel_send(&end, bytes, size), size);
	received += checked(channel_receive(&end, bytes, size), size);
}

static void scribble(void)
{
	uint32_t first = next() % word_count, count = next() % 64;
	uint32_t epoch = words[next() % INDICES] & ~(uint32_t)GANDALF_CHANNEL_POSITION;
	uint32_t value = next();

	switch (next() % 4) {
	case 0: /* a range, wherever it lies */
		for (uint32_t i = first; i < first + count && i < word_count; i++)
			words[i] = next();
		break;
	case 1: /* an index that could be one */
		words[first % INDICES] = epoch | value % end.capacity;
		break;
	case 2: /* a little too large */
		words[first % INDICES] = epoch | (end.capacity + value % 4);
		break;
	default: /* an epoch that the VMM has not begun */
		for (uint32_t i = 0; i < INDICES; i++)
			words[i] = value & ~(uint32_t)GANDALF_CHANNEL_POSITION;
	}
}

static void listen(void)
{
	char typed;

	while (console_read(&typed, 1) == 1)
		state = (state ^ (uint8_t)typed) * 0x01000193 | 1;
}

void main(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];

	handlers_install();
	if (place->name[0] == '\0')
		guest_fail("noise", "there is no channel");
	channel_open(&end, (void *)place->address, place);
	words = (volatile uint32_t *)place->address;
	word_count = place->size / sizeof(*words);
	timer_start(PERIOD);
	for (uint32_t beat = 1;; beat++) {
		interrupt_wait();
		listen();
		for (uint32_t i = next() % 4; i > 0; i--)
			scribble();
		if (next() % 2)
			behave();
		if (next() % 2)
			hypercall(GANDALF_HYPERCALL_DOORBELL, place->peer, 0);
		if (beat % BEATS_PER_LINE == 0)
			print("noise=%u sent=%u received=%u\n", beat, sent, received);
	}
}
