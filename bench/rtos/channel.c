/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench at the other end of Linux's two channels, as fast as one can be: it has no
 * kernel, and rings once for all that it has moved.
 *
 *	echo	what comes goes back
 *	stream	what comes is thrown away, and bytes that count up go as long as there is room
 */
#include "channel_end.h"
#include "print.h"
#include "rtos.h"

#define CHANNELS 2u
#define CHUNK 1024u
#define NUMBERS 256u

static struct channel_end ends[CHANNELS];
static uint8_t bytes[CHUNK];
/* Bytes that count up, from which a chunk may begin with any number. */
static uint8_t numbers[NUMBERS + CHUNK];

/* The doorbell's handler. The flag stays 0, as the loop wants it. */
void rung(void);
__asm__(".globl rung\n"
	"rung:\n"
	"	iret\n");

/* All three return whether it is worth to look again. */
static bool echo(struct channel_end *end)
{
	int32_t size = channel_receive(end, bytes, sizeof(bytes));

	/* Linux waits for each answer, so there is room. */
	if (size > 0)
		channel_send(end, bytes, (uint32_t)size);
	return size != 0;
}

static bool swallow(struct channel_end *end)
{
	return channel_receive(end, bytes, sizeof(bytes)) != 0;
}

static bool count_up(struct channel_end *end)
{
	static uint8_t next;
	int32_t size = channel_send(end, &numbers[next], CHUNK);

	if (size > 0)
		next = (uint8_t)(next + size);
	return size != 0;
}

static bool serve(void)
{
	bool again = echo(&ends[0]);

	again |= swallow(&ends[1]);
	return again | (channel_ready(&ends[1], true) != 0 && count_up(&ends[1]));
}

void main(void)
{
	static struct gandalf_handlers handlers;
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];

	for (uint32_t i = 0; i < sizeof(numbers); i++)
		numbers[i] = (uint8_t)i;
	for (uint32_t i = 0; i < CHANNELS; i++, place++) {
		if (!place->name[0]) {
			print("bench: channel: there are not two\n");
			return;
		}
		channel_open(&ends[i], (void *)place->address, place);
	}
	handlers.entry[GANDALF_VECTOR_DOORBELL] = (uint32_t)rung;
	handlers_register(&handlers);
	for (;;) {
		bool moved = false;

		while (serve())
			moved = true;
		if (moved)
			hypercall(GANDALF_HYPERCALL_DOORBELL, shared_page->channels[0].peer, 0);
		interrupt_wait();
		interrupt_disable();
	}
}
