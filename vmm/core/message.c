/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and takes messages between cores (message.h), and the interrupts that tell of them.
 *
 * A sender may have a core interrupted as fast as it can send, which its guests may have it do by
 * doorbells. So a core takes MESSAGES_AT_ONCE of them in a window at most, and the rest at the
 * window's end: until then they are on their way, and no sender interrupts for one of those. A
 * window begins with the first message behind the last one's end; its end is a deadline only if so
 * many have come, so that a message alone costs none.
 *
 * An RTOS that has the CPU is interrupted by MESSAGES_OF_RTOS of them at most. They are what comes
 * between its timer's interrupt and its task. With each of them the window begins anew, so
 * there are no more in any time as long as a window. Linux and the idle vCPU are another matter,
 * since an RTOS takes the CPU from them between two messages.
 *
 * Which are taken first must not be for the guests to say, either: a guest that repeats some
 * without end would keep back all that come behind those. So cores take turns, and so do the
 * messages of each. One that is on its way is served behind MESSAGES - 1 others of its sender and
 * as many of each other one at most. When none is left nobody has waited, and a search may begin
 * where the frequent ones are.
 */
#include "core/message_quick.h"

#include "core/module.h"
#include "core/time.h"
#include "core/work.h"
#include "lib/math.h"
#include "lib/owner.h"

/* Where more other cores than that may send, the way out is a masked section of its own. */
#define OTHERS_AT_ONCE 3u
/* What has an interrupt of its own: doorbells, which are the first messages, and IPIs. Each kind
 * has its bits in one word. */
#define DOORBELLS GANDALF_GUESTS_MAXIMUM
#define DOORBELL_BITS (((1u << DOORBELLS) - 1) << MESSAGE_DOORBELL)
_Static_assert(MESSAGE_DOORBELL == 0 && DOORBELLS <= 32, "message.h");

OF_MACHINE u8 core_cpu_ids[GANDALF_CPUS_MAXIMUM];
/* Who serves each message. */
OF_MACHINE static const struct message_range *served_by[MESSAGES];
OF_CORE static u8 others[GANDALF_CPUS_MAXIMUM]; /* the cores that may send to this one */
OF_CORE static u32 others_count, others_bits;
OF_CORE struct heard heard[GANDALF_CPUS_MAXIMUM];
OF_CORE static u32 turn;  /* the place among others[] of the last one that had its turn */
OF_CORE static u8 next[GANDALF_CPUS_MAXIMUM]; /* of each core: the one behind the last taken */

u32 outboxes_size(void)
{
	return system_table.cpus * OUTBOX_PAGES * PAGE_SIZE;
}

void outboxes_map(u32 physical)
{
	for (u32 offset = 0; offset < outboxes_size(); offset += PAGE_SIZE)
		memory_map_page(LAYOUT_OUTBOXES + offset, physical + offset);
}

static INLINE void message_tell(u32 id, u32 message)
{
	if (message < MESSAGE_DOORBELL + DOORBELLS)
		cpu_interrupt_doorbell(id);
	else
		cpu_interrupt_message(id);
}

HOT void message_send(u32 to, u32 message)
{
	if (message_raise(to, message / 32, 1u << message % 32))
		message_tell(core_cpu_ids[to], message);
}

HOT void message_tell_ipis(u32 cores)
{
	if (cores != 0)
		cores_interrupt_ipi(cores);
}

void message_send_cores(u32 cores, u32 message)
{
	u32 told = 0;

	for (cores &= others_bits; cores != 0; cores &= cores - 1) {
		u32 to = (u32)__builtin_ctz(cores);

		if (message_raise(to, message / 32, 1u << message % 32))
			told |= 1u << to;
	}
	if (told != 0)
		cores_interrupt_message(told);
}

/* Takes the next message of a core, if it has sent one. The word in which the search begins is
 * looked at once more at its end, for what is in front. */
MUST_CHECK static INLINE bool message_take(u32 from, u32 *message)
{
	const volatile u32 *raised = outbox_of(from)->raised[core.index];
	volatile u32 *seen = outbox_own()->seen[from];
	u32 word = next[from] / 32, mask = ~0u << next[from] % 32, bits;

	for (u32 looks = 0; looks <= OUTBOX_WORDS; looks++) {
		bits = (raised[word] ^ seen[word]) & mask;
		if (bits != 0) {
			seen[word] ^= bits & -bits;
			order_stores();
			*message = word * 32 + (u32)__builtin_ctz(bits);
			next[from] = *message + 1 == MESSAGES ? 0 : (u8)(*message + 1);
			return true;
		}
		word = word + 1 == OUTBOX_WORDS ? 0 : word + 1;
		mask = ~0u;
	}
	return false;
}

static INLINE void message_serve(u32 from, u32 message)
{
	const struct message_range *range = served_by[message];

	if (range != NULL)
		range->serve(from, message - range->first);
}

/* Returns whether a core has sent one that waits here. */
static INLINE bool sender_waits(u32 from)
{
	const volatile u32 *raised = heard[from].raised, *seen = heard[from].seen;
	u32 bits = 0;

#pragma GCC unroll 3
	for (u32 word = 0; word < OUTBOX_WORDS; word++)
		bits |= raised[word] ^ seen[word];
	return bits != 0;
}

/* Returns which cores have, as bits of their places among others[]. */
static INLINE u32 senders_wait(void)
{
	u32 senders = 0;

	for (u32 i = others_count; i-- > 0;)
		senders += senders + sender_waits(others[i]);
	return senders;
}

static void interrupt_self(void)
{
	cpu_interrupt_message(cpu_own_id());
}

void messages_are_left(u32 most)
{
	if (message_window.taken < most)
		interrupt_self();
	else
		message_window_is_full();
}

/* Takes the next message, and does what it asks for. Returns false if there is none, or none behind
 * it, or if this window has had its share. One that comes meanwhile has an interrupt of its own. If
 * none is left, the next search among the sender's begins at its first. */
static INLINE bool message_take_next(void)
{
	u32 most = core.current->priority == 0 ? MESSAGES_AT_ONCE : MESSAGES_OF_RTOS;
	u32 senders, message;
	bool left;

	if (!message_window_has_room(most))
		return false;
	senders = senders_wait();
	if (senders == 0)
		return false;
	turn = turn_behind(turn, senders);
	if (!message_take(others[turn], &message))
		return false;
	left = (senders & (senders - 1)) != 0 || sender_waits(others[turn]);
	if (!left)
		next[others[turn]] = 0;
	message_count(most);
	message_serve(others[turn], message);
	return left;
}

/*
 * Between two messages other interrupts are let in, one like this among them. That one is on the
 * same VMM stack, which has room for one, and not for as many as others can send. So it takes one
 * message, lets nothing in, and leaves the others to those that it has interrupted. These may have
 * to wait for an RTOS that runs first, which some of the messages may be for. For that there is
 * another interrupt, as there is where a message has taken down the vCPU whose stack this is, so
 * that nothing can be let in. Where an interrupt of another kind has another vCPU get the core,
 * which may be an RTOS, the others come at the window's end (messages_switch()). Behind the last
 * message the way out is that of any interrupt, which costs less than to let in from here the RTOS
 * that it was for. But on a core to which many send it takes long to look for a message, so that
 * interrupts are let in behind the last one, too.
 */
static HOT void messages_take(void)
{
	struct vcpu *vcpu = core.current;
	bool interrupts = vcpu->takes_messages;

	vcpu->takes_messages = true;
	for (;;) {
		core.unusual |= SWITCH_AMID_MESSAGES;
		if (!message_take_next())
			break;
		if (interrupts || work_must_end()) {
			interrupt_self();
			break;
		}
		work_admit(message);
	}
	core.unusual &= (u8)~SWITCH_AMID_MESSAGES;
	if (others_count > OTHERS_AT_ONCE)
		work_admit(message);
	vcpu->takes_messages = interrupts;
}

HOT u32 message_take_doorbell(u32 place, u32 most)
{
	u32 bit = 1u << (MESSAGE_DOORBELL % 32 + place), senders = 0, left = 0;

	if (!message_window_has_room(most))
		return 0;
	for (u32 cores = others_bits; cores != 0; cores &= cores - 1) {
		u32 from = (u32)__builtin_ctz(cores);

		if (message_take_from(from, MESSAGE_DOORBELL / 32, bit, DOORBELL_BITS, most, &left))
			senders |= 1u << from;
	}
	if (senders != 0)
		messages_are_taken(left, most);
	return senders;
}

/* There may be more of them, or none: who was amid them has had the core again. */
static u64 window_end(UNUSED struct deadline *deadline)
{
	if (message_window.ends > rdtsc())
		return message_window.ends; /* another one has begun since this one was over */
	message_window.ends = 0;
	interrupt_self();
	return TIME_NEVER;
}

void messages_assign(void)
{
	const struct message_range *const *at;

	for (at = UNITS_FIRST(message_ranges); at < UNITS_END(message_ranges); at++)
		for (u32 i = 0; i < (*at)->count; i++)
			served_by[(*at)->first + i] = *at;
}

void message_init(void)
{
	const struct message_entry *const *entry;

	deadline_init(&message_window_end, window_end, 0);
	message_window_limit(true);
	others_count = others_bits = 0;
	for (u32 index = 0; index < system_table.cpus; index++) {
		heard[index].raised = outbox_of(index)->raised[core.index];
		heard[index].seen = outbox_own()->seen[index];
		if (index == core.index)
			continue;
		others[others_count++] = (u8)index;
		others_bits |= 1u << index;
	}
	for (entry = UNITS_FIRST(message_entries); entry < UNITS_END(message_entries); entry++)
		trap_set_handler((*entry)->interrupt, (*entry)->handler);
}

void message_begin(void)
{
	EXPECTS_MASKED();
	outbox_own()->alive = 1;
	interrupt_self();
}

/* What a message is about may be a guest that does not exist yet. */
void message_interrupt(void)
{
	cpu_end_interrupt();
	if (outbox_own()->alive != 0)
		messages_take();
}
