/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages that have an interrupt of their own in the entry by it: doorbells (message.c), and
 * those between vCPUs (guests/x86/smp/ipi.c). It is inline, since for the latter a sender mostly
 * waits in a loop, and each instruction is one that it waits for.
 */
#pragma once

#include "core/message.h"
#include "core/time.h"
#include "masked_state.h"
#include "platform.h"

/* What each core has sent to this one, and what of that has been taken. */
struct heard {
	const volatile u32 *raised;
	volatile u32 *seen;
};
extern struct heard heard[GANDALF_CPUS_MAXIMUM];

/* Windows in a millisecond. */
#define MESSAGE_WINDOW_RATE 20u

struct message_window {
	u64 ends;
	u32 length; /* in ticks */
	u32 taken;
};
extern struct message_window message_window;
extern struct deadline message_window_end;
/* Has the messages that wait served at the window's end: it has had its share, or who takes them
 * has lost the core. */
void message_window_is_full(void);
/* Has messages served for which no interrupt is on its way any more. */
void messages_are_left(u32 most);

/* Changes bits of a word that this core writes, each of which stands for something that is on its
 * way while the bit differs in the reader's word. Returns false if one of them is on its way
 * already, which stands for all. */
MUST_CHECK static INLINE bool bits_raise(volatile u32 *own, const volatile u32 *seen, u32 bits)
{
	u32 raised = *own;

	if ((raised ^ *seen) & bits)
		return false;
	*own = raised ^ bits;
	return true;
}

/* Puts a message on its way by its word, which is this core's, the reader's, and its bit. Returns
 * false if it is that already, and needs no interrupt. */
MUST_CHECK static INLINE bool message_raise_bit(volatile u32 *own, const volatile u32 *seen,
						u32 bit)
{
	EXPECTS_MASKED();
	order_stores();
	return bits_raise(own, seen, bit);
}

/* The same for a message to a core, by its word and the bit there. */
MUST_CHECK static INLINE bool message_raise(u32 to, u32 word, u32 bit)
{
	return message_raise_bit(&outbox_own()->raised[to][word],
				 &outbox_of(to)->seen[core.index][word], bit);
}

/* Has this core take so many in a window only, whose end is a deadline; or, where the core has no
 * clock, all as they come. */
static INLINE void message_window_limit(bool limited)
{
	message_window.length = limited ? time_tsc_khz / MESSAGE_WINDOW_RATE : 0;
}

/* Begins another window if the last one is over. */
static INLINE void message_window_renew(void)
{
	u64 now = rdtsc();

	if (now < message_window.ends)
		return;
	message_window.ends = now + message_window.length;
	message_window.taken = 0;
}

/* Returns whether fewer than `most` have been taken in this window. If not, its end is a
 * deadline. */
static INLINE bool message_window_has_room(u32 most)
{
	message_window_renew();
	if (message_window.taken < most)
		return true;
	message_window_is_full();
	return false;
}

/* A message has been taken. With each one of an RTOS's share the window begins anew, so that its
 * end does not bring as many again at once; a window may begin without any. */
static INLINE void message_count(u32 most)
{
	if (++message_window.taken <= MESSAGES_OF_RTOS && most == MESSAGES_OF_RTOS)
		message_window.ends = rdtsc() + message_window.length;
}

/* Takes a message, by its word and the bit there, from a core, if that has sent it and the window
 * has room. Adds the bits of others of its kind, which have the same interrupt, to those that are
 * left. What the message is about is to be read behind this. */
static INLINE bool message_take_from(u32 from, u32 word, u32 bit, u32 kind, u32 most, u32 *left)
{
	volatile u32 *seen = &heard[from].seen[word];
	u32 known = *seen;
	u32 bits = (heard[from].raised[word] ^ known) & kind;

	EXPECTS_MASKED();
	if ((bits & bit) == 0 || message_window.taken >= most) {
		*left |= bits;
		return false;
	}
	*seen = known ^ bit;
	*left |= bits ^ bit;
	message_count(most);
	order_stores();
	return true;
}

/* Ends the interrupt once what it is for is taken. Those that are left get another one, or the end
 * of the window has them served if this one is full. */
static INLINE void messages_are_taken(u32 left, u32 most)
{
	cpu_end_interrupt();
	if (left != 0)
		messages_are_left(most);
}
