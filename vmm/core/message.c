/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between cores (message.h), and the interrupt that tells of them.
 *
 * A sender may have a core interrupted as fast as it can send, which its guests may have it do by
 * doorbells. So a core takes MESSAGES_AT_ONCE of them in a WINDOW at most, and the rest at the
 * window's end: until then they are on their way, and no sender interrupts for one of those.
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
OF_CORE static struct deadline window;
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

void message_send(u32 to, u32 message)
{
	EXPECTS_MASKED();
	order_stores();
	if (message_is_on_its_way(to, message))
		return;
	outbox_own()->raised[to][message / 32] ^= 1u << message % 32;
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
MUST_CHECK static bool message_take(u32 from, u32 *message)
{
	for (u32 word = 0; word < OUTBOX_WORDS; word++) {
		u32 bits = bits_on_their_way(from, core.index, word);

		if (bits == 0)
			continue;
		outbox_own()->seen[from][word] ^= bits & -bits;
		order_stores();
		*message = word * 32 + (u32)__builtin_ctz(bits);
		return true;
	}
	return false;
}

static void message_serve(u32 from, u32 message)
{
	const struct message_range *const *at;

	for (at = UNITS_FIRST(message_ranges); at < UNITS_END(message_ranges); at++)
		if (message - (*at)->first < (*at)->count)
			(*at)->serve(from, message - (*at)->first);
}

/* Counts a message that was taken. A window begins with the first: the one that there was may have
 * ended between two messages. */
static void window_count(void)
{
	if (!deadline_is_set(&window))
		deadline_set(&window, rdtsc() + time_tsc_khz / WINDOW_RATE);
	taken++;
}

/* Between two messages other interrupts are let in, one like this among them. */
static void messages_take(void)
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

static u64 window_end(UNUSED struct deadline *deadline)
{
	bool more = taken == MESSAGES_AT_ONCE;

	taken = 0;
	if (more)
		interrupt_self();
	return TIME_NEVER;
}

void message_init(void)
{
	deadline_init(&window, window_end, 0);
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
