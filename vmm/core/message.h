/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how cores tell each other of something. Each core has an outbox, a page that it alone writes
 * and all others read, so no word is ever contended for and nothing needs a lock.
 *
 * A message is a bit of a word. The sender keeps such a word for each reader, and each reader one
 * for each sender; a message is on its way while the bit differs in the two. The sender changes the
 * bit in its word, unless it differs already: then the message that is on its way stands for this
 * one, too. The reader first makes its bit equal, and then does what the message asks for, so what
 * is sent from then on is a new one. So no message is lost, none waits for room, and one that is
 * repeated without end takes the reader's time no more often than it looks. tests/cores has a model
 * of this.
 */
#pragma once

#include "abi/channel.h"
#include "abi/table.h"
#include "arch.h"
#include "core/core.h"
#include "core/order.h"
#include "lib/types.h"
#include "lib/unit.h"
#include "vm_part.h"

#define OUTBOX_WORDS 3u
/* Pages of each core: its outbox, what it says of guests, and of guests with several vCPUs. */
#define OUTBOX_PAGES (2u + PART_PAGES)
/* Bytes of guests' consoles on their way to another core; of an instance's log, too. */
#define OUTPUT_RING 512u
#define INPUT_RING 64u

/* Messages: the first two are for each guest, by its place in the table; lines are those of
 * devices. */
enum {
	MESSAGE_DOORBELL = 0,  /* rings the guest, which is the reader's */
	MESSAGE_STATE = 9,     /* guests[] has the new state of a guest, which is the sender's */
	MESSAGE_OUTPUT = 18,   /* the output ring has bytes for core 0 */
	MESSAGE_INPUT = 19,    /* the input ring has bytes for the reader */
	MESSAGE_ORDER = 20,    /* orders[] has one for a guest of the reader's */
	MESSAGE_TURN = 21,     /* for each vCPU, by its number: siblings spin for it (pull.c) */
	MESSAGE_LINE = 32,     /* a line's interrupt for its owner, who is the reader's */
	MESSAGE_PART = 48,     /* for each guest: the life of it or of a part has changed */
	MESSAGE_LIFE = 57,     /* a part's sign of life, for the whole, which is the reader's */
	MESSAGE_PORT = 58,     /* a part asks the whole, which is the reader's, for a port */
	MESSAGE_PORT_DONE = 59, /* the whole has answered a part of the reader's */
	/* For each vCPU of a guest, by its number, which is the reader's: */
	MESSAGE_START = 64,    /* it is to be started */
	MESSAGE_IPI = 72,      /* siblings interrupt it */
	MESSAGE_MOVE = 80,     /* it is to move (core/migration.h) */
	MESSAGE_LEFT = 88,     /* it has left for the reader's core */
	MESSAGES = 96
};

/* Bytes with the guest whose console they belong to: the place << 8 | the byte. */
#define CONSOLE_OF_LOG 0xffu

/* What a core says of a guest of its own. */
struct guest_notice {
	u32 state;          /* GANDALF_STATE_... */
	u32 fault_restarts;
	u64 ran, started;   /* ticks; of the last second's end */
	u32 counters[COUNTERS];
};

struct outbox {
	u32 started;        /* 1: the core has come up, and its instance has not stopped */
	u32 alive;          /* 1: its guests exist, and it takes messages */
	u32 ended;          /* 1: its instance of the VMM has stopped */
	u32 raised[GANDALF_CPUS_MAXIMUM][OUTBOX_WORDS]; /* for each reader */
	u32 seen[GANDALF_CPUS_MAXIMUM][OUTBOX_WORDS];   /* of each sender */
	/* Orders for guests of other cores, and what this core has answered to those of others, by
	 * core and guest (order.h). */
	struct order orders[GANDALF_GUESTS_MAXIMUM];
	struct order_answer answers[GANDALF_CPUS_MAXIMUM][GANDALF_GUESTS_MAXIMUM];
	/* Of guests of this core: 1 + the core that writes the image, maybe this one; or 0. */
	u32 writer[GANDALF_GUESTS_MAXIMUM];
	u32 writes;         /* 1 + the guest of another core whose image it writes; 0: none */
	/* How often this core has written a new epoch into each channel (epoch.c). */
	u32 epochs[GANDALF_CHANNELS_MAXIMUM];
	/* Bytes ever put into the rings, and ever taken from those of others. */
	u32 output_put, input_put[GANDALF_CPUS_MAXIMUM];
	u32 output_taken[GANDALF_CPUS_MAXIMUM], input_taken[GANDALF_CPUS_MAXIMUM];
	u16 output[OUTPUT_RING];
	u16 input[GANDALF_CPUS_MAXIMUM][INPUT_RING];
};

_Static_assert(sizeof(struct outbox) <= PAGE_SIZE, "a page of each core");

/* The outbox of a core, and what it says of the guests. */
static inline volatile struct outbox *outbox_of(u32 core_index)
{
	return (volatile struct outbox *)(LAYOUT_OUTBOXES + core_index * OUTBOX_PAGES * PAGE_SIZE);
}

static inline volatile struct guest_notice *guest_notices_of(u32 core_index)
{
	return (volatile struct guest_notice *)(LAYOUT_OUTBOXES +
						core_index * OUTBOX_PAGES * PAGE_SIZE + PAGE_SIZE);
}

static inline volatile struct outbox *outbox_own(void)
{
	return outbox_of(core.index);
}

/* Who serves which messages: count of them from first on. The function gets a message's number
 * among those; interrupts are masked. */
struct message_range {
	u32 first, count;
	void (*serve)(u32 from, u32 number);
};

/* At file scope. */
#define MESSAGES_SERVED(first, count, function)                                             \
	static const struct message_range function##_range = {first, count, function};      \
	UNIT(message_ranges, struct message_range, function##_range)
UNITS(message_ranges, struct message_range);

/* Who serves messages with an interrupt of their own as that enters: its vector, and the handler
 * (trap_set_handler()). */
struct message_entry {
	u32 interrupt;
	void (*handler)(struct frame *frame);
};

/* At file scope. */
#define MESSAGES_ENTER(vector, function)                                                    \
	static const struct message_entry function##_entry = {vector, function};            \
	UNIT(message_entries, struct message_entry, function##_entry)
UNITS(message_entries, struct message_entry);

/* How many messages a core takes in a window of 1/20 ms: of any who has the CPU, and of an RTOS. */
#define MESSAGES_AT_ONCE 8u
#define MESSAGES_OF_RTOS 2u
/* All IPIs, which are in one word. */
#define MESSAGE_IPI_BITS (((1u << GANDALF_CPUS_MAXIMUM) - 1) << MESSAGE_IPI % 32)
#define MESSAGE_IPI_BIT(number) (1u << (MESSAGE_IPI % 32 + (number)))
_Static_assert(MESSAGE_IPI % 32 + GANDALF_CPUS_MAXIMUM <= 32, "in one word");
/* By which each core is interrupted, by its index. */
extern u8 core_cpu_ids[];
/* An interrupt by a vector that is that of no line: ends it, and takes what other cores say. */
void message_interrupt(void);
/* On the core that has booted the machine: who serves each message. */
void messages_assign(void);
/* On each core, before it sends or gets one. */
void message_init(void);
/* The bytes of the outboxes of all cores, and where they are mapped from then on. */
u32 outboxes_size(void);
void outboxes_map(u32 physical);

/* Sends a message, or one that is on its way stands for it; about 40 instructions. Interrupts are
 * masked. What the message is about has been written before. A doorbell has an interrupt of its
 * own: the reader may take it as it enters (message_take_doorbell()). */
void message_send(u32 to, u32 message);
/* The same to all other cores among these, which are bits. It is no doorbell. Each takes
 * some 20 instructions, and the interrupt is one. */
void message_send_cores(u32 cores, u32 message);
/* Interrupts cores, which are bits, at once by the interrupt of MESSAGE_IPI, which has been put on
 * its way to them (message_quick.h). */
void message_tell_ipis(u32 cores);
/* For the entry by its interrupt: takes the doorbell of an RTOS from all cores, as far as this
 * window has room, and ends the interrupt. most: of a window, MESSAGES_OF_RTOS if the RTOS runs and
 * MESSAGES_AT_ONCE if the idle vCPU does. Messages to others that may have the same interrupt get
 * another one. Returns the cores that have sent what is taken. With 0 the interrupt has not been
 * ended, and message_interrupt() serves it. message_quick.h does the same for IPIs. */
u32 message_take_doorbell(u32 place, u32 most);
/* From here on this core takes messages, what has been sent to it before among them. */
void message_begin(void);
