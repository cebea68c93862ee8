/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a message may wait if all other cores send all others without end: so many windows as
 * docs/several-cores.md says, on two and on eight cores, and where an RTOS has the CPU. And not for
 * a vCPU that loses the CPU amid them.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "core/core.h"
#include "core/message_quick.h"
#include "core/module.h"
#include "core/time.h"
#include "message_switch.h"

#define READER 0u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct gandalf_table system_table;
u32 time_tsc_khz = 1000000;

static bool pending; /* the reader is interrupted */
static u32 served_count;

/* Own stand-ins: apic_interrupt() interrupts the reader, trap_set_handler() has nothing to do, and
 * memory_map_page() is not called. */
void apic_interrupt(u32 id, u32 vector)
{
	(void)vector;
	assert_int_equal(id, core_cpu_ids[READER]);
	pending = true;
}

void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame))
{
	(void)vector;
	(void)handler;
}

void memory_map_page(u32 linear, u32 physical)
{
	(void)linear;
	(void)physical;
	fail();
}

static void enter(struct frame *frame)
{
	(void)frame;
	fail();
}
MESSAGES_ENTER(VECTOR_APIC_IPI, enter);

static void send(u32 from, u32 message)
{
	core.index = from;
	message_send(READER, message);
	core.index = READER;
}

/* What has been served is sent again at once. */
static void serve(u32 from, u32 message)
{
	served_count++;
	send(from, message);
}
MESSAGES_SERVED(0, MESSAGES, serve);

/* Serves all that a window has room for. */
static void window_use(void)
{
	served_count = 0;
	while (pending) {
		pending = false;
		message_interrupt();
	}
}

static void window_end(void)
{
	assert_int_not_equal(asked.deadline->time, TIME_NEVER);
	processor.tsc = asked.deadline->time;
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	assert_true(pending);
}

/* Returns in which window a message is served, counted from the one that is about to begin. */
static u32 windows_until_served(u32 from, u32 message, u32 share)
{
	u32 before = outbox_own()->seen[from][message / 32] >> message % 32 & 1;

	for (u32 windows = 1;; windows++) {
		assert_true(windows <= MESSAGES * GANDALF_CPUS_MAXIMUM);
		window_end();
		window_use();
		assert_int_equal(served_count, share);
		if ((outbox_own()->seen[from][message / 32] >> message % 32 & 1) != before)
			return windows;
	}
}

static void start(u32 cpus, u32 priority)
{
	static struct vcpu running;

	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(&processor, 0, sizeof(processor));
	system_table.cpus = cpus;
	running = (struct vcpu){.state = VCPU_RUNNING, .priority = priority};
	core = (struct core){.index = READER, .pauses = true, .current = &running};
	for (u32 i = 0; i < cpus; i++) {
		core_cpu_ids[i] = (u8)(0x10 + 3 * i);
		outbox_of(i)->alive = 1;
	}
	message_init();
	for (u32 from = 1; from < cpus; from++)
		for (u32 message = 0; message < MESSAGES; message++)
			send(from, message);
	window_use();
}

/* Each of the messages is waited for, from many places of the turns. */
static void longest_wait_is(u32 cpus, u32 priority, u32 share, u32 windows)
{
	u32 longest = 0, chance = 1;

	start(cpus, priority);
	for (u32 i = 0; i < 3 * MESSAGES; i++) {
		u32 random = random_next(&chance) >> 3;
		u32 from = 1 + random % (cpus - 1);
		u32 waited = windows_until_served(from, random / 8 % MESSAGES, share);

		longest = waited > longest ? waited : longest;
	}
	assert_int_equal(longest, windows);
}

static void of_two_cores(void **state)
{
	(void)state;
	longest_wait_is(2, 0, 8, 12);
	longest_wait_is(2, 5, 2, 48);
}

static void of_eight_cores(void **state)
{
	(void)state;
	longest_wait_is(8, 0, 8, 84);
	longest_wait_is(8, 5, 2, 336);
}

static u32 switches;

/* A timer's interrupt has another vCPU get the CPU. Later switches are no concern of these
 * messages. */
static void another_gets_the_cpu(void)
{
	messages_switch();
	assert_true(asked.deadline->time == message_window.ends);
	asked.deadline->time = TIME_NEVER;
	messages_switch();
	assert_true(asked.deadline->time == TIME_NEVER);
	switches++;
}

static void what_is_left_at_a_switch_comes_at_the_windows_end(void **state)
{
	(void)state;
	start(2, 0);
	window_end();
	messages_switch();
	assert_true(asked.deadline->time == TIME_NEVER);
	processor.admit = another_gets_the_cpu;
	window_use();
	assert_int_equal(served_count, switches);
	assert_true(switches > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_cores),
		cmocka_unit_test(of_eight_cores),
		cmocka_unit_test(what_is_left_at_a_switch_comes_at_the_windows_end),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES) || !map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	messages_assign();
	return RUN_TESTS(tests);
}
