/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between cores (message.h), and the interrupt that tells of them.
 *
 * A sender may have a core interrupted as fast as it can send, which its guests may have it do by
 * doorbells. So a core takes MESSAGES_AT_ONCE of them in a window at most, and the rest at the
 * window's end: until then they are on their way, and no sender interrupts for one of those. A
 * window begins with the first message behind the last one's end; its end is a deadline only if so
 * many have come, so that a message alone costs none.
 */
#include "core/message.h"

#include "core/module.h"
#include "core/time.h"
#include "core/work.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "platform/pc/apic.h"

/* In 1/WINDOW_RATE ms. */
#define MESSAGES_AT_ONCE 16u
#define WINDOW_RATE 20u

OF_MACHINE u8 core_apic_ids[GANDALF_CPUS_MAXIMUM];
/* Who serves each message. */
OF_MACHINE static const struct message_range *served_by[MESSAGES];
OF_CORE static struct deadline window;
OF_CORE static u64 window_began;
OF_CORE static u32 taken; /* in this window */

u32 outboxes_size(void)
{
	return system_table.cpus * OUTBOX_PAGES * PAGE_SIZE;
}

void outboxes_map(u32 physical)
{
	for (u32 offset = 0; offset < outboxes_size(); offset += PAGE_SIZE)
		memory_map_page(LAYOUT_OUTBOXES + offset, physical + offset);
}

static u32 bits_on_their_way(u32 from, u32 to, u32 word)
{
	return outbox_of(from)->raised[to][word] ^ outbox_of(to)->seen[from][word];
}

bool message_is_on_its_way(u32 to, u32 message)
{
	return (bits_on_their_way(core.index, to, message / 32) >> message % 32 & 1) != 0;
}

HOT void message_send(u32 to, u32 message)
{
	volatile u32 *raised = &outbox_own()->raised[to][message / 32];
	u32 bit = 1u << message % 32;

	EXPECTS_MASKED();
	order_stores();
	if ((*raised ^ outbox_of(to)->seen[core.index][message / 32]) & bit)
		return;
	*raised ^= bit;
	apic_interrupt(core_apic_ids[to], VECTOR_APIC_MESSAGE);
}

u32 message_bit_to_send(u32 to, u32 message)
{
	return (~outbox_own()->raised[to][message / 32] >> message % 32) & 1;
}

u32 message_bit_taken(u32 from, u32 message)
{
	return outbox_own()->seen[from][message / 32] >> message % 32 & 1;
}

void message_send_all(u32 message)
{
	for (u32 to = 0; to < system_table.cpus; to++)
		if (to != core.index && outbox_of(to)->alive != 0)
			message_send(to, message);
}

/* Takes the next message of a core; false: there is none. */
MUST_CHECK static INLINE bool message_take(u32 from, u32 *message)
{
	const volatile u32 *raised = outbox_of(from)->raised[core.index];
	volatile u32 *seen = outbox_own()->seen[from];

	for (u32 word = 0; word < OUTBOX_WORDS; word++) {
		u32 bits = raised[word] ^ seen[word];

		if (bits == 0)
			continue;
		seen[word] ^= bits & -bits;
		order_stores();
		*message = word * 32 + (u32)__builtin_ctz(bits);
		return true;
	}
	return false;
}

static INLINE void message_serve(u32 from, u32 message)
{
	const struct message_range *range = served_by[message];

	if (range != NULL)
		range->serve(from, message - range->first);
}

static u64 window_length(void)
{
	return time_tsc_khz / WINDOW_RATE;
}

/* Counts a message that was taken. */
static INLINE void window_count(void)
{
	u64 now = rdtsc();

	if (taken == 0 || now - window_began >= window_length()) {
		window_began = now;
		taken = 0;
	}
	if (++taken == MESSAGES_AT_ONCE)
		deadline_set(&window, window_began + window_length());
}

/* Between two messages other interrupts are let in, one like this among them. */
static HOT void messages_take(void)
{
	u32 message;

	for (u32 from = 0; from < system_table.cpus; from++)
		while (from != core.index && taken < MESSAGES_AT_ONCE &&
		       message_take(from, &message)) {
			window_count();
			message_serve(from, message);
			work_pause(message);
		}
}

static void interrupt_self(void)
{
	apic_interrupt(apic_own_id(), VECTOR_APIC_MESSAGE);
}

/* There may be more of them. */
static u64 window_end(UNUSED struct deadline *deadline)
{
	taken = 0;
	interrupt_self();
	return TIME_NEVER;
}

void message_init(void)
{
	const struct message_range *const *at;

	deadline_init(&window, window_end, 0);
	for (at = UNITS_FIRST(message_ranges); at < UNITS_END(message_ranges); at++)
		for (u32 i = 0; i < (*at)->count; i++)
			served_by[(*at)->first + i] = *at;
}

void message_begin(void)
{
	EXPECTS_MASKED();
	outbox_own()->alive = 1;
	interrupt_self();
}

/* What a message is about may be a guest that does not exist yet. */
void message_interrupt(u32 vector)
{
	apic_end_of_interrupt();
	if (vector != VECTOR_APIC_MESSAGE || outbox_own()->alive == 0)
		return;
	messages_take();
}
