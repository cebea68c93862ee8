/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RTOS guest that joins all networks it has (abi/network.h), as an Ethernet switch does: a frame
 * goes to the network in which its destination was seen, or to all others. With it two Linuxes
 * reach each other, of which neither may see memory of the other.
 *
 * Frames are copied from ring to ring. The guest that sent one may change it meanwhile, which is as
 * if it had sent something else: nothing here depends on what is in a frame but for its addresses,
 * which are looked at in a copy. A frame for a ring without room is lost, so that a guest which
 * takes nothing stops nobody.
 */
#include <stddef.h>

#include "network_end.h"
#include "print.h"
#include "rtos.h"
#include "table.h"

/* Frames from one network before the next has its turn. */
#define TURN 32

struct port {
	struct channel_end receiver, sender;
	const char *name;
	uint32_t peer;
	bool alive; /* the other guest receives, as was last told */
};

static struct port ports[GANDALF_CHANNELS_MAXIMUM];
static uint32_t port_count;

/* Its only job is to end HALT. */
__attribute__((interrupt)) static void doorbell_interrupt(void *frame)
{
	(void)frame;
	interrupt_enable();
}

static void ring(const struct port *port)
{
	hypercall(GANDALF_HYPERCALL_DOORBELL, port->peer, 0);
}

static void announce(const struct port *port)
{
	network_announce(&port->receiver, 1);
	ring(port);
}

static void send(struct port *port, const struct network_frame *frame)
{
	if (!port->alive)
		return;
	if (network_send(&port->sender, frame->bytes, frame->size) == GANDALF_CHANNEL_RESET)
		network_send(&port->sender, frame->bytes, frame->size);
}

static void forward(uint32_t from, const struct network_frame *frame)
{
	uint8_t addresses[2 * ADDRESS_SIZE]; /* destination, source */
	uint32_t to;

	channel_copy(addresses, frame->bytes, sizeof(addresses));
	table_learn(addresses + ADDRESS_SIZE, from);
	to = table_find(addresses);
	for (uint32_t i = 0; i < port_count; i++)
		if (i != from && (to == i || to == TABLE_UNKNOWN))
			send(&ports[i], frame);
}

/* Tells when the guest at the other end of a network has come or gone. */
static void watch(uint32_t number)
{
	struct port *port = &ports[number];
	bool alive = network_peer_alive(&port->receiver);

	if (alive == port->alive)
		return;
	port->alive = alive;
	if (!alive)
		table_forget(number);
	print("switch: %s is %s\n", port->name, alive ? "up" : "down");
}

/* Forwards what has come from a network, TURN frames at most. Returns whether anything has. */
static bool serve(uint32_t number)
{
	struct port *port = &ports[number];
	struct network_frame frame = { 0 };
	uint32_t done = 0, epoch = port->receiver.epoch;
	int32_t size = 1;

	while (done < TURN && (size = network_peek(&port->receiver, &frame)) > 0) {
		forward(number, &frame);
		size = network_take(&port->receiver, &frame);
		if (size < 0)
			break;
		done++;
	}
	/* A guest that writes another epoch to one of its indices has not begun one. */
	if (size == GANDALF_CHANNEL_RESET && port->receiver.epoch != epoch) {
		announce(port);
		done++;
	}
	watch(number);
	return done != 0;
}

/* Serves all networks, then rings each guest that has asked for it, once for all its frames. */
static bool serve_all(void)
{
	bool any = false;

	for (uint32_t i = 0; i < port_count; i++)
		any |= serve(i);
	for (uint32_t i = 0; any && i < port_count; i++) {
		bool sent = network_rings(&ports[i].sender, 0);

		if (network_rings(&ports[i].receiver, 1) || sent)
			ring(&ports[i]);
	}
	return any;
}

static void ports_open(void)
{
	for (uint32_t i = 0; i < GANDALF_CHANNELS_MAXIMUM; i++) {
		const struct gandalf_channel_place *place =
			(const struct gandalf_channel_place *)&shared_page->channels[i];
		struct port *port = &ports[port_count];

		if (!network_is(place))
			continue;
		channel_open(&port->receiver, (void *)place->address, place);
		port->sender = port->receiver;
		port->name = place->name + GANDALF_NETWORK_PREFIX_SIZE;
		port->peer = place->peer;
		port_count++;
	}
}

/* The interrupt flag is 0 but while the guest waits, so no ring is lost: one that comes between the
 * last look at the rings and HALT ends HALT. */
void main(void)
{
	static struct gandalf_handlers handlers;

	handlers.entry[GANDALF_VECTOR_DOORBELL] = (uint32_t)doorbell_interrupt;
	handlers_register(&handlers);
	ports_open();
	print("switch: %u networks\n", port_count);
	for (uint32_t i = 0; i < port_count; i++)
		announce(&ports[i]);
	for (;;) {
		if (serve_all())
			continue;
		for (uint32_t i = 0; i < port_count; i++)
			network_want(&ports[i].receiver, 0);
		if (serve_all())
			continue;
		interrupt_wait();
		interrupt_disable();
	}
}
