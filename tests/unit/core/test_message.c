/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between cores: none is lost, one that is on its way stands for those that follow, and a
 * core takes a few at once only.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/on_its_way.h"
#include "fake/asked.h"

#include "core/core.h"
#include "core/message_quick.h"
#include "core/module.h"
#include "core/time.h"

/* The reader's variables are there once, so READER alone takes messages here; all others send. */
enum { FIRST, SECOND, READER, LAST, CORES };

/* Messages that are taken in a window, those of them that interrupt an RTOS, and its length. */
#define AT_ONCE 8u
#define OF_RTOS 2u
#define TSC_KHZ 1000000u
#define WINDOW (TSC_KHZ / 20)
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define SERVED_MAXIMUM 256u

struct gandalf_table system_table;
u32 time_tsc_khz = TSC_KHZ;

static unsigned interrupts[CORES]; /* how often each was interrupted */
static bool pending;               /* the reader is, and has not taken it */
static struct served {
	u32 from, number;
} served[SERVED_MAXIMUM];
static u32 served_count;
static u32 mapped[2][OUTBOXES / PAGE_SIZE], mapped_count;
/* Is called for each message that is served. */
static void (*serving)(u32 from, u32 message);
/* The core that has stored last what others may see, and how often. */
static u32 ordered;

/* Own stand-ins: apic_interrupt() counts by core, memory_map_page() writes down what is mapped. */
void memory_map_page(u32 linear, u32 physical)
{
	mapped[0][mapped_count] = linear;
	mapped[1][mapped_count++] = physical;
}

void apic_interrupt(u32 id, u32 vector)
{
	assert_true(vector == VECTOR_APIC_MESSAGE || vector == VECTOR_APIC_DOORBELL);
	for (u32 i = 0; i < CORES; i++)
		if (core_cpu_ids[i] == id) {
			interrupts[i]++;
			pending |= i == READER;
			return;
		}
	fail();
}

/* Nobody takes messages as they enter here (test_message_ipi.c). */
static void enter(struct frame *frame)
{
	(void)frame;
	fail();
}
MESSAGES_ENTER(VECTOR_APIC_IPI, enter);

/* Own stand-ins: trap_set_handler() has this entry only. */
void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame))
{
	assert_int_equal(vector, VECTOR_APIC_IPI);
	assert_ptr_equal(handler, enter);
}

static void serve(u32 from, u32 message)
{
	assert_int_equal(core.index, READER);
	assert_true(served_count < SERVED_MAXIMUM);
	served[served_count++] = (struct served){from, message};
	if (serving != NULL)
		serving(from, message);
}

static void serve_low(u32 from, u32 number)
{
	assert_true(number < 20);
	serve(from, number);
}
MESSAGES_SERVED(0, 20, serve_low);

static void serve_high(u32 from, u32 number)
{
	assert_true(number < MESSAGES - 20);
	serve(from, 20 + number);
}
MESSAGES_SERVED(20, MESSAGES - 20, serve_high);

/* What cores do */

static void send(u32 from, u32 message)
{
	u32 before = core.index;

	core.index = from;
	message_send(READER, message);
	core.index = before;
}

static bool is_on_its_way(u32 from, u32 message)
{
	return message_is_on_its_way(from, READER, message);
}

/* The reader takes the interrupt that it has got, if it has. */
static void take(void)
{
	u32 before = core.index;

	core.index = READER;
	if (pending) {
		pending = false;
		*(u32 *)(LAYOUT_APIC + 0xb0) = 0x77;
		message_interrupt();
		assert_int_equal(*(u32 *)(LAYOUT_APIC + 0xb0), 0);
	}
	core.index = before;
}

/* The window ends if it has begun. */
static void window_expire(void)
{
	u32 before = core.index;

	core.index = READER;
	if (asked.deadline->time != TIME_NEVER) {
		if (processor.tsc < message_window.ends)
			processor.tsc = message_window.ends;
		asked.deadline->time = asked.deadline->expire(asked.deadline);
		assert_true(asked.deadline->time == TIME_NEVER);
	}
	core.index = before;
}

static void expect_served(u32 index, u32 from, u32 message)
{
	assert_true(index < served_count);
	assert_int_equal(served[index].from, from);
	assert_int_equal(served[index].number, message);
}

static volatile struct outbox *alive(u32 index)
{
	outbox_of(index)->alive = 1;
	return outbox_of(index);
}

/* Forgets what a test before this one has left. Then it is the first core again that begins. */
static void turns_begin_anew(void)
{
	asked.deadline->time = 0;
	window_expire();
	for (u32 from = 0; from < CORES; from++) {
		if (from == READER)
			continue;
		send(from, MESSAGES - 1);
		take();
	}
	while (asked.deadline->time == TIME_NEVER) {
		send(LAST, MESSAGES - 1);
		take();
	}
	/* The one for which that window had no room begins another one, which ends as well. */
	window_expire();
	take();
	asked.deadline->time = 0;
	window_expire();
}

static int start(void **state)
{
	static struct vcpu running;

	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(&processor, 0, sizeof(processor));
	memset(interrupts, 0, sizeof(interrupts));
	system_table.cpus = CORES;
	running = (struct vcpu){.state = VCPU_RUNNING};
	core = (struct core){.index = READER, .pauses = true, .current = &running};
	served_count = mapped_count = ordered = 0;
	serving = NULL;
	for (u32 i = 0; i < CORES; i++) {
		core_cpu_ids[i] = (u8)(0x10 + 3 * i);
		alive(i);
	}
	messages_assign();
	message_init();
	assert_int_equal(asked.deadline->priority, 0);
	turns_begin_anew();
	pending = false;
	served_count = processor.admissions = 0;
	memset(interrupts, 0, sizeof(interrupts));
	return 0;
}

static void outboxes_are_apart(void **state)
{
	(void)state;
	assert_int_equal(outboxes_size(), CORES * OUTBOX_PAGES * PAGE_SIZE);
	outboxes_map(0x345000);
	assert_int_equal(mapped_count, CORES * OUTBOX_PAGES);
	for (u32 i = 0; i < mapped_count; i++) {
		assert_int_equal(mapped[0][i], LAYOUT_OUTBOXES + i * PAGE_SIZE);
		assert_int_equal(mapped[1][i], 0x345000 + i * PAGE_SIZE);
	}
	assert_true(sizeof(struct outbox) <= PAGE_SIZE);
	assert_true(sizeof(struct guest_notice) * GANDALF_GUESTS_MAXIMUM <= PAGE_SIZE);
	assert_ptr_equal((void *)guest_notices_of(1),
			 (void *)(LAYOUT_OUTBOXES + (OUTBOX_PAGES + 1) * PAGE_SIZE));
}

static void each_message_is_served_once(void **state)
{
	(void)state;
	for (u32 message = 0; message < MESSAGES; message++) {
		send(FIRST, message);
		assert_true(is_on_its_way(FIRST, message));
		assert_int_equal(interrupts[READER], message + 1);
		take();
		assert_int_equal(served_count, message + 1);
		expect_served(message, FIRST, message);
		assert_false(is_on_its_way(FIRST, message));
		/* An interrupt without a message serves none. */
		pending = true;
		take();
		assert_int_equal(served_count, message + 1);
		window_expire();
		pending = false;
		interrupts[READER] = message + 1;
	}
	assert_int_equal(interrupts[FIRST] + interrupts[SECOND] + interrupts[LAST], 0);
}

static void one_on_its_way_stands_for_the_next(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		send(FIRST, MESSAGE_OUTPUT);
	assert_int_equal(interrupts[READER], 1);
	take();
	assert_int_equal(served_count, 1);
	/* From then on it is a new one; also a message beside it is. */
	send(FIRST, MESSAGE_OUTPUT);
	send(FIRST, MESSAGE_INPUT);
	assert_int_equal(interrupts[READER], 3);
	take();
	assert_int_equal(served_count, 3);
	/* None was left, so the search has begun anew. */
	expect_served(1, FIRST, MESSAGE_OUTPUT);
	expect_served(2, FIRST, MESSAGE_INPUT);
}

static void each_sender_has_its_own(void **state)
{
	static const u32 senders[] = {FIRST, SECOND, LAST};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(senders); i++) {
		send(senders[i], MESSAGE_LINE);
		assert_int_equal(interrupts[READER], i + 1);
	}
	take();
	assert_int_equal(served_count, 3);
	for (u32 i = 0; i < ARRAY_SIZE(senders); i++)
		expect_served(i, senders[i], MESSAGE_LINE);
}

static void a_reader_takes_only_what_is_for_it(void **state)
{
	(void)state;
	core.index = FIRST;
	message_send(SECOND, 5);
	message_send(LAST, 40);
	assert_int_equal(interrupts[SECOND], 1);
	assert_int_equal(interrupts[LAST], 1);
	/* Nor what it sends itself. */
	core.index = READER;
	message_send(FIRST, 6);
	assert_int_equal(interrupts[FIRST], 1);
	pending = true;
	take();
	assert_int_equal(served_count, 0);
	assert_true(message_is_on_its_way(FIRST, SECOND, 5));
	assert_true(message_is_on_its_way(FIRST, LAST, 40));
	assert_false(message_is_on_its_way(FIRST, READER, 5));
	assert_true(message_is_on_its_way(READER, FIRST, 6));
	assert_false(message_is_on_its_way(READER, FIRST, 5));
}

/* The sender writes no word but its own, and neither does the reader. */
static void each_core_writes_its_own_outbox(void **state)
{
	static struct outbox before[CORES];

	(void)state;
	for (u32 i = 0; i < CORES; i++)
		before[i] = *outbox_of(i);
	send(FIRST, 33);
	for (u32 i = 0; i < CORES; i++)
		if (i != FIRST)
			assert_memory_equal((void *)outbox_of(i), &before[i], sizeof(*before));
	assert_memory_not_equal((void *)outbox_of(FIRST), &before[FIRST], sizeof(*before));
	before[FIRST] = *outbox_of(FIRST);
	take();
	for (u32 i = 0; i < CORES; i++)
		if (i != READER)
			assert_memory_equal((void *)outbox_of(i), &before[i], sizeof(*before));
}

/* There is memory behind the last outbox, but no core that it belongs to. */
static void no_core_is_behind_the_last(void **state)
{
	(void)state;
	alive(CORES)->raised[READER][0] = 1;
	pending = true;
	take();
	assert_int_equal(served_count, 0);
	asked.interrupted = 0;
	message_send_cores(~0u, 1);
	assert_int_equal(asked.interrupted, (1u << CORES) - 1 - (1u << READER));
}

static void send_again(u32 from, u32 message)
{
	assert_false(is_on_its_way(from, message));
	if (served_count < 3)
		send(from, message);
}

/* What the first asks for may be done by then, or not. */
static void what_is_sent_during_the_service_is_a_new_one(void **state)
{
	(void)state;
	serving = send_again;
	send(LAST, 17);
	take();
	while (pending)
		take();
	assert_int_equal(served_count, 3);
	assert_int_equal(interrupts[READER], 3);
	assert_false(is_on_its_way(LAST, 17));
}

static void reader_goes_on(void)
{
	processor.order = NULL;
	take();
}

static void sender_goes_on(void)
{
	ordered++;
	processor.order = NULL;
	assert_int_equal(served_count, 0);
	assert_false(is_on_its_way(FIRST, 9));
	send(FIRST, 9);
	assert_true(is_on_its_way(FIRST, 9));
}

/* Each looks at the other's word only when its own stores can be seen: in between the other may
 * have done all that it does. */
static void either_stores_before_it_looks(void **state)
{
	(void)state;
	send(FIRST, 9);
	processor.order = reader_goes_on;
	send(FIRST, 9);
	assert_int_equal(served_count, 1);
	assert_int_equal(interrupts[READER], 2);
	assert_true(is_on_its_way(FIRST, 9));
	take();
	assert_int_equal(served_count, 2);
	served_count = 0;
	window_expire();
	send(FIRST, 9);
	processor.order = sender_goes_on;
	take();
	take();
	assert_int_equal(ordered, 1);
	assert_int_equal(served_count, 2);
}

static void few_are_taken_in_a_window(void **state)
{
	(void)state;
	processor.tsc = 1000;
	for (u32 message = 0; message < 40; message++)
		send(message % 2 == 0 ? FIRST : LAST, message);
	take();
	assert_int_equal(served_count, AT_ONCE);
	assert_true(asked.deadline->time == 1000 + WINDOW);
	/* More interrupts have no more taken, and do not move its end. */
	processor.tsc = 2000;
	send(SECOND, 0);
	take();
	assert_int_equal(served_count, AT_ONCE);
	assert_true(asked.deadline->time == 1000 + WINDOW);
	for (u32 taken = AT_ONCE; taken < 41; taken = served_count) {
		unsigned before = interrupts[READER];

		window_expire();
		assert_int_equal(interrupts[READER], before + 1);
		assert_int_equal(served_count, taken);
		take();
		assert_int_equal(served_count, minimum(taken + AT_ONCE, 41));
	}
	/* Each came once. */
	for (u32 message = 0; message < 40; message++) {
		u32 count = 0;

		for (u32 i = 0; i < served_count; i++)
			count += served[i].number == message && served[i].from != SECOND;
		assert_int_equal(count, 1);
	}
}

static void an_rtos_is_interrupted_by_few(void **state)
{
	(void)state;
	processor.tsc = 1000;
	core.current->priority = 5;
	for (u32 message = 0; message < 8; message++)
		send(FIRST, message);
	take();
	assert_int_equal(served_count, OF_RTOS);
	assert_true(asked.deadline->time == 1000 + WINDOW);
	processor.tsc += WINDOW;
	window_expire();
	take();
	assert_int_equal(served_count, 2 * OF_RTOS);
	/* Those of an earlier window count no more, also if its end was no deadline. */
	asked.deadline->time = TIME_NEVER;
	processor.tsc += WINDOW;
	pending = true;
	take();
	assert_int_equal(served_count, 3 * OF_RTOS);
	/* When it has halted there is room for more. */
	core.current->priority = 0;
	for (u32 message = 0; message < AT_ONCE; message++)
		send(FIRST, message);
	take();
	assert_int_equal(served_count, 2 * OF_RTOS + AT_ONCE);
}

/* What has come late in a window is not followed by as many again at the window's end. */
static void an_rtos_has_its_share_in_any_time_as_long_as_a_window(void **state)
{
	(void)state;
	processor.tsc = 1000;
	core.current->priority = 5;
	for (u32 number = 0; number < 3; number++, processor.tsc += WINDOW - 1) {
		send(FIRST, number);
		take();
		assert_int_equal(served_count, number == 0 ? 1 : OF_RTOS);
	}
	assert_true(asked.deadline->time == 1000 + 2 * WINDOW - 1);
	processor.tsc = 1000 + 2 * WINDOW - 1;
	window_expire();
	take();
	assert_int_equal(served_count, OF_RTOS + 1);
}

static void a_window_that_is_not_full_costs_no_deadline(void **state)
{
	(void)state;
	processor.tsc = 5000;
	for (u32 message = 0; message + 1 < AT_ONCE; message++)
		send(FIRST, message);
	take();
	assert_int_equal(served_count, AT_ONCE - 1);
	assert_true(asked.deadline->time == TIME_NEVER);
	/* Until its end there is room for one more. */
	processor.tsc += WINDOW - 1;
	send(FIRST, 0);
	send(FIRST, 1);
	take();
	assert_int_equal(served_count, AT_ONCE);
	assert_true(asked.deadline->time == 5000 + WINDOW);
	processor.tsc++;
	window_expire();
	take();
	assert_int_equal(served_count, AT_ONCE + 1);
	/* The next one, which began with that, is over; then there is room for all again. */
	processor.tsc += WINDOW;
	for (u32 message = 0; message < AT_ONCE; message++)
		send(FIRST, message);
	take();
	assert_int_equal(served_count, 2 * AT_ONCE + 1);
	/* It is full, and still its end matters only to one more. */
	assert_true(asked.deadline->time == TIME_NEVER);
	send(FIRST, 0);
	take();
	assert_int_equal(served_count, 2 * AT_ONCE + 1);
	assert_true(asked.deadline->time == processor.tsc + WINDOW);
}

static void window_ends_in_a_pause(void)
{
	if (served_count == 5)
		window_expire();
}

/* The timer's interrupt is let in between two messages, and may end the window there. */
static void none_is_left_when_the_window_ends_amid_the_messages(void **state)
{
	(void)state;
	processor.admit = window_ends_in_a_pause;
	for (u32 message = 0; message < 40; message++)
		send(FIRST, message);
	take();
	/* Nobody sends any more: the rest is for the reader to see to. */
	for (u32 i = 0; i < 10; i++) {
		window_expire();
		take();
	}
	assert_int_equal(served_count, 40);
}

static u32 depth, deepest;

/* Others send all the time, and the reader is interrupted wherever that can be. */
static void senders_never_rest(void)
{
	if (++depth > deepest)
		deepest = depth;
	assert_true(depth <= 1);
	if (served_count + 1 < AT_ONCE)
		send(served_count % 2 == 0 ? FIRST : LAST, served_count % MESSAGES);
	take();
	depth--;
}

/* A VMM stack has room for one interrupt amid the messages, and not for one in each of those. */
static void an_interrupt_amid_messages_begins_no_more_of_them(void **state)
{
	(void)state;
	depth = deepest = 0;
	processor.admit = senders_never_rest;
	send(FIRST, 1);
	send(FIRST, 2);
	take();
	assert_int_equal(deepest, 1);
	assert_int_equal(served_count, 3);
	for (u32 i = 0; i < AT_ONCE; i++) {
		send(SECOND, i);
		take();
	}
	assert_int_equal(served_count, AT_ONCE);
	assert_int_equal(deepest, 1);
}

static void preemption(void)
{
	static struct vcpu other = {.state = VCPU_RUNNING};
	struct vcpu *preempted = core.current;

	processor.admit = NULL;
	send(LAST, 7);
	send(LAST, 8);
	take();
	assert_int_equal(served_count, 2);
	/* Another vCPU has the core now: what is left comes to its stack. */
	core.current = &other;
	assert_true(pending);
	take();
	assert_int_equal(served_count, 4);
	core.current = preempted;
}

/* What was sent while the messages of a vCPU were interrupted does not wait for that vCPU. */
static void none_waits_for_a_vcpu_that_was_preempted_amid_messages(void **state)
{
	struct vcpu *preempted = core.current;

	(void)state;
	processor.admit = preemption;
	send(FIRST, 1);
	send(FIRST, 2);
	take();
	assert_int_equal(served_count, 4);
	assert_false(preempted->takes_messages);
}

static void interrupt_in_a_pause(void)
{
	assert_true(served_count > 0);
	if (served_count < 4)
		send(SECOND, served_count);
	take();
}

static void other_interrupts_are_let_in_between_two(void **state)
{
	(void)state;
	processor.admit = interrupt_in_a_pause;
	send(FIRST, 30);
	send(FIRST, 31);
	send(LAST, 32);
	take();
	assert_int_equal(served_count, 5);
	/* Those that came in a pause were taken without one, and behind the last there is none. */
	assert_int_equal(processor.admissions, 2);
	expect_served(0, FIRST, 30);
	for (u32 i = 1; i < 5; i++)
		for (u32 j = 0; j < i; j++)
			assert_true(served[i].from != served[j].from ||
				    served[i].number != served[j].number);
	/* Where interrupts are a guest's there is no pause. */
	core.pauses = false;
	send(FIRST, 30);
	send(FIRST, 31);
	take();
	assert_int_equal(served_count, 7);
	assert_int_equal(processor.admissions, 2);
}

static void its_interrupt_is_ended(void **state)
{
	(void)state;
	send(FIRST, 3);
	*(u32 *)(LAYOUT_APIC + 0xb0) = 0x77;
	message_interrupt();
	assert_int_equal(*(u32 *)(LAYOUT_APIC + 0xb0), 0);
	assert_int_equal(served_count, 1);
}

static void messages_wait_for_a_core_to_begin(void **state)
{
	(void)state;
	outbox_of(READER)->alive = 0;
	send(FIRST, 3);
	take();
	assert_int_equal(served_count, 0);
	assert_true(is_on_its_way(FIRST, 3));
	message_begin();
	assert_int_equal(outbox_of(READER)->alive, 1);
	assert_int_equal(interrupts[READER], 2);
	take();
	assert_int_equal(served_count, 1);
}

/* One that has not begun takes it when it does. */
static void all_are_the_others(void **state)
{
	(void)state;
	outbox_of(SECOND)->alive = 0;
	asked.interrupted = 0;
	message_send_cores(~0u, MESSAGE_STATE);
	assert_int_equal(asked.interrupted, 1u << FIRST | 1u << SECOND | 1u << LAST);
	assert_true(message_is_on_its_way(core.index, SECOND, MESSAGE_STATE));
	assert_true(message_is_on_its_way(core.index, LAST, MESSAGE_STATE));
}

/* What the first and the last core's guests repeat as fast as they can: all but the last message,
 * of which each is sent again as soon as it has been seen. */
static u32 since;

static void send_without_end(u32 from, u32 message)
{
	since++;
	if (from != SECOND && message != MESSAGES - 1)
		send(from, message);
}

/* Of the messages on their way none waits for more than one of each other kind. */
static void none_waits_for_others_without_end(void **state)
{
	(void)state;
	serving = send_without_end;
	for (u32 message = 0; message < MESSAGES - 1; message++) {
		send(FIRST, message);
		send(LAST, message);
	}
	for (u32 message = 0; message < MESSAGES; message += 5) {
		u32 from = message % 2 == 0 ? SECOND : FIRST;

		if (from == FIRST)
			message = MESSAGES - 1;
		since = 0;
		send(from, message);
		while (is_on_its_way(from, message)) {
			assert_true(since < 4 * MESSAGES);
			served_count = 0;
			take();
			window_expire();
		}
		assert_in_range(since, 1, from == SECOND ? AT_ONCE + 3 : 2 * MESSAGES + AT_ONCE);
	}
	serving = NULL;
}

/* What was sent, by sender and message, and is not served since. */
static bool owed[CORES][MESSAGES];
static u32 chance = 1;

static void settle_owed(u32 from, u32 message)
{
	assert_true(owed[from][message]);
	owed[from][message] = false;
}

/* Something happens: a message, the end of the window, or an interrupt. */
static void happen(void)
{
	u32 random = random_next(&chance) >> 3;
	u32 from = random % (CORES - 1), message = random / 4 % MESSAGES;

	from += from == READER;
	if (random / 4096 % 64 < 2) {
		window_expire();
	} else if (random / 4096 % 64 < 4) {
		take();
	} else {
		owed[from][message] = true;
		send(from, message);
	}
}

static void happen_in_a_pause(void)
{
	served_count = 0;
	if ((random_next(&chance) >> 3) % 8 == 0)
		window_expire();
	if ((random_next(&chance) >> 3) % 8 == 0)
		happen();
}

static void nothing_is_lost_however_it_comes(void **state)
{
	(void)state;
	serving = settle_owed;
	processor.admit = happen_in_a_pause;
	for (u32 round = 0; round < 200; round++) {
		for (u32 i = 0; i < 300; i++)
			happen();
		take();
		/* Nobody does anything more, but for what the reader has arranged for. */
		processor.admit = NULL;
		for (u32 i = 0; i < 2 * CORES * MESSAGES / AT_ONCE; i++) {
			served_count = 0;
			take();
			window_expire();
		}
		for (u32 i = 0; i < CORES * MESSAGES; i++)
			assert_false(owed[i / MESSAGES][i % MESSAGES]);
		processor.admit = happen_in_a_pause;
	}
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(outboxes_are_apart),
		TEST(each_message_is_served_once),
		TEST(one_on_its_way_stands_for_the_next),
		TEST(each_sender_has_its_own),
		TEST(a_reader_takes_only_what_is_for_it),
		TEST(each_core_writes_its_own_outbox),
		TEST(no_core_is_behind_the_last),
		TEST(what_is_sent_during_the_service_is_a_new_one),
		TEST(either_stores_before_it_looks),
		TEST(few_are_taken_in_a_window),
		TEST(an_rtos_is_interrupted_by_few),
		TEST(an_rtos_has_its_share_in_any_time_as_long_as_a_window),
		TEST(a_window_that_is_not_full_costs_no_deadline),
		TEST(none_is_left_when_the_window_ends_amid_the_messages),
		TEST(other_interrupts_are_let_in_between_two),
		TEST(an_interrupt_amid_messages_begins_no_more_of_them),
		TEST(none_waits_for_a_vcpu_that_was_preempted_amid_messages),
		TEST(its_interrupt_is_ended),
		TEST(messages_wait_for_a_core_to_begin),
		TEST(all_are_the_others),
		TEST(none_waits_for_others_without_end),
		TEST(nothing_is_lost_however_it_comes),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES) || !map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	return RUN_TESTS(tests);
}
