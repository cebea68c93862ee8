/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that a core takes as it enters: interrupts between vCPUs, and doorbells. Each kind has
 * an interrupt of its own and the window of all messages, and what is not taken then is a message
 * like others.
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

enum { FIRST, SECOND, READER, LAST, CORES };

#define AT_ONCE 8u
#define TSC_KHZ 1000000u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define NUMBER 3u
#define ALL ((1u << CORES) - 1)

struct gandalf_table system_table;
u32 time_tsc_khz = TSC_KHZ;
static unsigned interrupts, of_itself;
static u32 expected; /* the vector by which the reader is interrupted */
static u32 served_from, served_number, served_count;

static bool entered;
static bool goes_down; /* what is served takes down the vCPU whose stack it is on */

static void enter(struct frame *frame)
{
	(void)frame;
	fail();
}
MESSAGES_ENTER(VECTOR_APIC_IPI, enter);

/* Own stand-ins: apic_interrupt() and apic_interrupt_cores() look at the vector, trap_set_handler()
 * at the handler, and memory_map_page() is not called. */
void memory_map_page(u32 linear, u32 physical)
{
	(void)linear;
	(void)physical;
	fail();
}

void apic_interrupt(u32 id, u32 vector)
{
	assert_int_equal(id, core_cpu_ids[READER]);
	if (core.index == READER) {
		assert_int_equal(vector, VECTOR_APIC_MESSAGE);
		of_itself++;
	} else {
		assert_int_equal(vector, expected);
		interrupts++;
	}
}

void apic_interrupt_cores(u32 cores, u32 vector)
{
	for (; cores != 0; cores &= cores - 1)
		apic_interrupt(core_cpu_ids[__builtin_ctz(cores)], vector);
}

void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame))
{
	entered |= vector == VECTOR_APIC_IPI && handler == enter;
}

static void serve(u32 from, u32 number)
{
	served_from = from;
	served_number = number;
	served_count++;
	if (goes_down)
		core.current->state = VCPU_OFF;
}
MESSAGES_SERVED(MESSAGE_IPI, GANDALF_CPUS_MAXIMUM, serve);

static int start(void **state)
{
	static struct vcpu running;

	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	system_table.cpus = CORES;
	running = (struct vcpu){.state = VCPU_RUNNING};
	core = (struct core){.index = READER, .pauses = true, .current = &running};
	for (u32 i = 0; i < CORES; i++) {
		core_cpu_ids[i] = (u8)(0x10 + 3 * i);
		outbox_of(i)->alive = 1;
	}
	entered = goes_down = false;
	messages_assign();
	message_init();
	assert_true(entered);
	message_window.ends = 0;
	assert_int_equal(asked.deadline->expire(asked.deadline), TIME_NEVER);
	asked.deadline->time = TIME_NEVER;
	interrupts = of_itself = served_count = 0;
	expected = VECTOR_APIC_IPI;
	return 0;
}

static void send(u32 from, u32 number)
{
	volatile u32 *own = &outbox_of(from)->raised[READER][MESSAGE_IPI / 32];

	core.index = from;
	if (message_raise_bit(own, &outbox_of(READER)->seen[from][MESSAGE_IPI / 32],
			      MESSAGE_IPI_BIT(number)))
		message_tell_ipis(1u << READER);
	message_tell_ipis(0);
	core.index = READER;
}

static bool still_waits(u32 from, u32 message)
{
	return message_is_on_its_way(from, READER, message);
}

static bool is_on_its_way(u32 from)
{
	return still_waits(from, MESSAGE_IPI + NUMBER);
}

static volatile u32 *ended(void)
{
	return (volatile u32 *)(LAYOUT_APIC + 0xb0);
}

/* Stands for guests/x86/smp/ipi.c. */
static u32 take(u32 cores)
{
	u32 senders = 0, left = 0;

	*ended() = 0x77;
	if (!message_window_has_room(AT_ONCE))
		return 0;
	for (u32 from = 0; from < CORES; from++)
		if (from != READER && (cores >> from & 1) != 0 &&
		    message_take_from(from, MESSAGE_IPI / 32, MESSAGE_IPI_BIT(NUMBER),
				      MESSAGE_IPI_BITS, AT_ONCE, &left))
			senders |= 1u << from;
	if (senders != 0)
		messages_are_taken(left, AT_ONCE);
	return senders;
}

static void it_has_an_interrupt_of_its_own(void **state)
{
	(void)state;
	send(FIRST, NUMBER);
	send(FIRST, NUMBER);
	assert_int_equal(interrupts, 1);
	send(LAST, NUMBER);
	assert_int_equal(interrupts, 2);
	assert_int_equal(take(ALL), 1u << FIRST | 1u << LAST);
	assert_int_equal(*ended(), 0);
	assert_false(is_on_its_way(FIRST));
	assert_false(is_on_its_way(LAST));
	/* With none, the interrupt is left to who serves it. */
	assert_int_equal(take(ALL), 0);
	assert_int_equal(*ended(), 0x77);
	message_interrupt();
	assert_int_equal(*ended(), 0);
	assert_int_equal(served_count, 0);
}

static void what_is_not_taken_as_it_comes_is_a_message(void **state)
{
	(void)state;
	send(SECOND, NUMBER + 1);
	assert_int_equal(take(ALL), 0);
	assert_int_equal(of_itself, 0);
	message_interrupt();
	assert_int_equal(served_count, 1);
	assert_int_equal(served_from, SECOND);
	assert_int_equal(served_number, NUMBER + 1);
	/* So is one from a core that is not one of the guest's. */
	send(LAST, NUMBER);
	assert_int_equal(take(1u << FIRST | 1u << READER), 0);
	message_interrupt();
	assert_int_equal(served_count, 2);
	assert_int_equal(served_from, LAST);
}

/* What a full window has no room for is served at its end, as a message. */
static void they_have_the_window_of_all_messages(void **state)
{
	(void)state;
	for (u32 i = 0; i < AT_ONCE - 1; i++) {
		send(FIRST, NUMBER);
		assert_int_equal(take(ALL), 1u << FIRST);
		assert_true(asked.deadline->time == TIME_NEVER);
	}
	send(FIRST, NUMBER);
	send(LAST, NUMBER);
	assert_int_equal(take(ALL), 1u << FIRST);
	assert_true(asked.deadline->time != TIME_NEVER);
	assert_true(is_on_its_way(LAST));
	assert_int_equal(take(ALL), 0);
	message_interrupt();
	assert_int_equal(served_count, 0);
	processor.tsc = asked.deadline->time;
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	assert_int_equal(of_itself, 1);
	message_interrupt();
	assert_int_equal(served_count, 1);
	assert_int_equal(served_from, LAST);
	assert_int_equal(served_number, NUMBER);
}

/* Two vCPUs of this core are sent one each, of which the APIC may have made one interrupt. */
static void what_has_the_same_interrupt_gets_another_one(void **state)
{
	(void)state;
	send(FIRST, NUMBER);
	send(FIRST, NUMBER + 1);
	assert_int_equal(take(ALL), 1u << FIRST);
	assert_int_equal(of_itself, 1);
	message_interrupt();
	assert_int_equal(served_count, 1);
	assert_int_equal(served_number, NUMBER + 1);
	/* Other messages have interrupts of their own. */
	core.index = FIRST;
	expected = VECTOR_APIC_MESSAGE;
	message_send(READER, MESSAGE_START);
	core.index = READER;
	expected = VECTOR_APIC_IPI;
	send(FIRST, NUMBER);
	assert_int_equal(take(ALL), 1u << FIRST);
	assert_int_equal(of_itself, 1);
}

/* Doorbells, of an RTOS, which has a smaller share of the window. */

static void ring(u32 from, u32 place)
{
	core.index = from;
	expected = VECTOR_APIC_DOORBELL;
	message_send(READER, MESSAGE_DOORBELL + place);
	core.index = READER;
}

static u32 hear(void)
{
	*ended() = 0x77;
	return message_take_doorbell(NUMBER, MESSAGES_OF_RTOS);
}

static bool rings(u32 from)
{
	return still_waits(from, MESSAGE_DOORBELL + NUMBER);
}

static void doorbells_have_an_interrupt_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(hear(), 0);
	assert_int_equal(*ended(), 0x77);
	ring(FIRST, NUMBER);
	ring(FIRST, NUMBER);
	ring(LAST, NUMBER);
	assert_int_equal(interrupts, 2);
	assert_int_equal(hear(), 1u << FIRST | 1u << LAST);
	assert_int_equal(*ended(), 0);
	assert_false(rings(FIRST) || rings(LAST));
	assert_true(asked.deadline->time == TIME_NEVER);
	assert_int_equal(of_itself, 0);
}

/* The window is not closed for it by one that is only its own. */
static void an_rtos_hears_so_many_in_a_window(void **state)
{
	(void)state;
	ring(FIRST, NUMBER);
	ring(SECOND, NUMBER);
	ring(LAST, NUMBER);
	assert_int_equal(hear(), 1u << FIRST | 1u << SECOND);
	assert_true(rings(LAST));
	/* The end of the window has the third one served, and no interrupt before. */
	assert_int_equal(of_itself, 0);
	assert_true(asked.deadline->time != TIME_NEVER);
	assert_int_equal(hear(), 0);
	assert_int_equal(*ended(), 0x77);
	processor.tsc = asked.deadline->time;
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	assert_int_equal(of_itself, 1);
	assert_int_equal(hear(), 1u << LAST);
}

/* One that sleeps may be woken by more than that. */
static void a_sleeper_hears_what_linux_would(void **state)
{
	(void)state;
	ring(FIRST, NUMBER);
	ring(SECOND, NUMBER);
	ring(LAST, NUMBER);
	assert_int_equal(message_take_doorbell(NUMBER, MESSAGES_AT_ONCE),
			 1u << FIRST | 1u << SECOND | 1u << LAST);
	assert_false(rings(LAST));
	assert_true(asked.deadline->time == TIME_NEVER);
}

static void another_guest_is_rung_behind_it(void **state)
{
	(void)state;
	ring(FIRST, NUMBER + 1);
	assert_int_equal(hear(), 0);
	ring(FIRST, NUMBER);
	assert_int_equal(hear(), 1u << FIRST);
	assert_int_equal(of_itself, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

/* Nothing can be let in there any more, so the rest has an interrupt on another stack. */
static void one_that_takes_down_the_stacks_vcpu_is_the_last_there(void **state)
{
	(void)state;
	goes_down = true;
	expected = VECTOR_APIC_IPI;
	for (u32 from = 0; from < CORES; from++)
		if (from != READER)
			send(from, NUMBER);
	for (u32 count = 1; count < CORES; count++) {
		core.current->state = VCPU_RUNNING;
		message_interrupt();
		assert_int_equal(served_count, count);
		assert_int_equal(of_itself, minimum(count, CORES - 2));
	}
	assert_false(core.current->takes_messages);
}

/* The timer's interrupt for the end of a window may be late, when another one has begun. */
static void a_late_end_ends_no_other_window(void **state)
{
	(void)state;
	core.current->priority = 5;
	for (u32 i = 0; i < 3; i++) {
		send(FIRST, i);
		message_interrupt();
	}
	assert_int_equal(served_count, 2);
	processor.tsc = asked.deadline->time + 1;
	send(SECOND, NUMBER);
	message_interrupt();
	assert_int_equal(served_count, 4);
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	assert_true(asked.deadline->time == message_window.ends);
	send(LAST, NUMBER);
	message_interrupt();
	assert_int_equal(served_count, 4);
	processor.tsc = message_window.ends;
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	message_interrupt();
	assert_int_equal(served_count, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_takes_down_the_stacks_vcpu_is_the_last_there),
		TEST(a_late_end_ends_no_other_window),
		TEST(it_has_an_interrupt_of_its_own),
		TEST(what_is_not_taken_as_it_comes_is_a_message),
		TEST(they_have_the_window_of_all_messages),
		TEST(what_has_the_same_interrupt_gets_another_one),
		TEST(doorbells_have_an_interrupt_of_their_own),
		TEST(an_rtos_hears_so_many_in_a_window),
		TEST(a_sleeper_hears_what_linux_would),
		TEST(another_guest_is_rung_behind_it),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES) || !map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	return RUN_TESTS(tests);
}
