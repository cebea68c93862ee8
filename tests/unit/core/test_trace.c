/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace rings: each guest's events are in its own, whatever others do, and a report has the
 * last of them in their order.
 */
#include "unit.h"

#include <string.h>

#include "fake/asked.h"

#include "core/core.h"
#include "core/log.h"
#include "core/time.h"
#include "core/trace.h"

#define GUESTS 3u
#define LINES 40u

static char lines[LINES][160];
static u32 line_count;

/* Own stand-ins: log_line() keeps each line. */
void log_line(const char *pattern, ...)
{
	va_list arguments;

	assert_in_range(line_count, 0, LINES - 1);
	va_start(arguments, pattern);
	vsnprintf(lines[line_count++], sizeof(lines[0]), pattern, arguments);
	va_end(arguments);
}

u64 time_microseconds(u64 ticks)
{
	return ticks / 1000;
}

/* Nobody waits here. */
void processor_sleep(void)
{
	fail();
}

static int start(void **state)
{
	(void)state;
	memset(&processor, 0, sizeof(processor));
	memset(trace_rings, 0, sizeof(trace_rings));
	line_count = 0;
	for (u32 i = 0; i < GUESTS; i++) {
		vcpus[i].id = i;
		vcpus[i].trace = trace_ring_of(i);
		trace_prepare(vcpus[i].trace, i);
	}
	trace_prepare(idle_vcpu.trace, idle_vcpu.id);
	core.current = &idle_vcpu;
	return 0;
}

static void event_of(struct vcpu *vcpu, u32 number)
{
	core.current = vcpu;
	processor.tsc = number * 1000ull;
	trace(TRACE_cr3, number, ~number);
}

static void expect_event(const struct gandalf_trace_ring *ring, u32 at, u32 id, u32 number)
{
	const struct gandalf_trace_event *event = &ring->events[at % GANDALF_TRACE_EVENTS];

	assert_int_equal(event->vcpu, id);
	assert_int_equal(event->type, TRACE_cr3);
	assert_int_equal(event->first, number);
	assert_int_equal(event->second, ~number);
	assert_true(event->time == number * 1000ull);
}

static void a_guest_keeps_its_events_whatever_another_does(void **state)
{
	(void)state;
	for (u32 i = 0; i < 10; i++)
		event_of(&vcpus[0], 7 + i);
	event_of(&vcpus[2], 99);
	for (u32 i = 0; i < 5000; i++)
		event_of(&vcpus[1], 100 + i);
	assert_int_equal(trace_ring_of(0)->next, 10);
	for (u32 i = 0; i < 10; i++)
		expect_event(trace_ring_of(0), i, 0, 7 + i);
	assert_int_equal(trace_ring_of(2)->next, 1);
	expect_event(trace_ring_of(2), 0, 2, 99);
	/* Of the other one the last are there. */
	assert_int_equal(trace_ring_of(1)->next, 5000);
	for (u32 i = 5000 - GANDALF_TRACE_EVENTS; i < 5000; i++)
		expect_event(trace_ring_of(1), i, 1, 100 + i);
	assert_int_equal(trace_rings[0].next, 0);
}

static void each_guest_has_a_ring(void **state)
{
	(void)state;
	for (u32 i = 0; i < GANDALF_GUESTS_MAXIMUM; i++)
		assert_ptr_equal(trace_ring_of(i), &trace_rings[1 + i]);
	assert_int_equal(ARRAY_SIZE(trace_rings), 1 + GANDALF_GUESTS_MAXIMUM);
}

static void the_idle_vcpu_has_the_vmms_ring(void **state)
{
	(void)state;
	assert_ptr_equal(idle_vcpu.trace, &trace_rings[0]);
	event_of(&idle_vcpu, 5);
	assert_int_equal(trace_rings[0].next, 1);
	expect_event(&trace_rings[0], 0, 0xffff, 5);
	for (u32 i = 0; i < GUESTS; i++)
		assert_int_equal(trace_ring_of(i)->next, 0);
}

/* What is traced without a call is of the vCPU that is named, whoever runs. */
static void an_event_is_of_who_is_named(void **state)
{
	(void)state;
	core.current = &vcpus[1];
	processor.tsc = 3000;
	trace_fast(&vcpus[2], TRACE_cr3, 3, ~3u);
	assert_int_equal(trace_ring_of(1)->next, 0);
	assert_int_equal(trace_ring_of(2)->next, 1);
	expect_event(trace_ring_of(2), 0, 2, 3);
}

static void expect_lines(u32 from, u32 count)
{
	assert_int_equal(line_count, count);
	for (u32 i = 0; i < count; i++) {
		char expected[160];

		snprintf(expected, sizeof(expected), "  %u us, vCPU 1: cr3 %x, %x", from + i,
			 from + i, ~(from + i));
		assert_string_equal(lines[i], expected);
	}
	line_count = 0;
}

static void the_last_events_are_logged(void **state)
{
	(void)state;
	trace_log(trace_ring_of(1), 10);
	expect_lines(0, 0);
	for (u32 i = 0; i < 2000; i++) {
		event_of(&vcpus[1], 500 + i);
		event_of(&vcpus[0], 3);
		if (i >= 20 && i % 50 != 0 && i % GANDALF_TRACE_EVENTS > 12)
			continue;
		/* As many as there are. */
		trace_log(trace_ring_of(1), 10);
		expect_lines(500 + i - minimum(9, i), minimum(10, i + 1));
	}
	trace_log(trace_ring_of(1), 0);
	expect_lines(0, 0);
	trace_log(trace_ring_of(1), 1);
	expect_lines(2499, 1);
}

static void each_event_has_its_name(void **state)
{
	static const char *const names[] = {
#define X(name, text) #name,
		GANDALF_TRACE_LIST(X)
#undef X
	};

	(void)state;
	core.current = &vcpus[1];
	for (u32 i = 0; i < TRACE_TYPES; i++) {
		char expected[160];

		trace(i, 0x1a, 0xffffffff);
		trace_log(trace_ring_of(1), 1);
		snprintf(expected, sizeof(expected), "  0 us, vCPU 1: %s 1a, ffffffff", names[i]);
		assert_string_equal(lines[0], expected);
		line_count = 0;
	}
}

/* Behind 2^32 events the older ones are not known any more, and what is logged is still right. */
static void numbers_of_events_begin_again(void **state)
{
	(void)state;
	trace_ring_of(1)->next = (u32)-5;
	for (u32 i = 0; i < 5; i++) {
		event_of(&vcpus[1], 10 + i);
		if (i == 4)
			break;
		trace_log(trace_ring_of(1), i + 1);
		expect_lines(10, i + 1);
	}
	assert_int_equal(trace_ring_of(1)->next, 0);
	trace_log(trace_ring_of(1), 10);
	expect_lines(0, 0);
	for (u32 i = 0; i < 12; i++) {
		event_of(&vcpus[1], 15 + i);
		trace_log(trace_ring_of(1), 10);
		expect_lines(15 + i - minimum(9, i), minimum(10, i + 1));
	}
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guest_keeps_its_events_whatever_another_does),
		TEST(each_guest_has_a_ring),
		TEST(the_idle_vcpu_has_the_vmms_ring),
		TEST(an_event_is_of_who_is_named),
		TEST(the_last_events_are_logged),
		TEST(each_event_has_its_name),
		TEST(numbers_of_events_begin_again),
	};

	return RUN_TESTS(tests);
}
