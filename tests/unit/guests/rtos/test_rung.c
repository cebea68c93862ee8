/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells of other cores: an RTOS that runs and hears them gets its interrupt as they enter, and
 * one that sleeps while nobody works gets the core. In all other cases they are left to who serves
 * messages.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "fake/rtos.h"

#include "fake/message_entry.h"

#define PLACE 3u

static u32 senders, taken, room, schedules;

/* Own stand-ins: schedule_gives_way() counts how often the core goes to whom it should. */
bool schedule_gives_way(void)
{
	schedules++;
	return true;
}

u32 message_take_doorbell(u32 place, u32 most)
{
	room = most;
	assert_int_equal(place, PLACE);
	taken++;
	return senders;
}

static int start_running(void **state)
{
	start(state);
	core.current = &vcpu;
	vcpu.id = PLACE;
	vm.state = GANDALF_STATE_RUNNING;
	vcpu_notice(&vcpu);
	processor.interrupts = false;
	memset(vcpu.counters, 0, sizeof(vcpu.counters));
	asked.entries = taken = schedules = 0;
	core.housekeeping = 0;
	senders = 1u << 1;
	enable();
	return 0;
}

static void who_runs_is_rung_as_it_comes(void **state)
{
	(void)state;
	message_enters(VECTOR_APIC_DOORBELL, &frame);
	assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_DOORBELL));
	assert_int_equal(page()->interrupt_flag, 0);
	assert_int_equal(vcpu.pending | vcpu.attention | asked.entries, 0);
	assert_int_equal(taken, 1);
	assert_int_equal(room, MESSAGES_OF_RTOS);
	assert_int_equal(vcpu.counters[COUNTER_quick_ipis], 1);
	assert_int_equal(vcpu.counters[COUNTER_entries], 1);
	assert_int_equal(vcpu.counters[COUNTER_interrupts], 1);
	assert_int_equal(vcpu.counters[COUNTER_deliveries], 1);
}

static void with_interrupts_disabled_it_waits(void **state)
{
	(void)state;
	page()->interrupt_flag = 0;
	message_enters(VECTOR_APIC_DOORBELL, &frame);
	assert_int_equal(frame.eip, CODE);
	assert_int_equal(asked.entries, 0);
	assert_int_equal(page()->pending, 1);
	assert_true(vcpu_is_notified(&vcpu));
	enable();
	deliver();
	assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_DOORBELL));
	assert_int_equal(page()->pending, 0);
}

/* Its own timer comes first, also if it has been rung before that is looked at. */
static void the_timer_comes_before_it(void **state)
{
	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 1000, 0), 0);
	vcpu_notice(&vcpu);
	page()->interrupt_flag = 0;
	message_enters(VECTOR_APIC_DOORBELL, &frame);
	expire_at(processor.tsc + 1000 * time_tsc_khz / 1000);
	enable();
	deliver();
	assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_TIMER));
	assert_int_equal(page()->pending, 1);
}

/* Nothing has been taken, and who serves messages has been called. */
static void left_to_others(struct frame *of)
{
	u32 eip = frame.eip;

	message_enters(VECTOR_APIC_DOORBELL, of);
	assert_int_equal(asked.entries, 1);
	assert_int_equal(frame.eip, eip);
	assert_int_equal(vcpu.counters[COUNTER_quick_ipis], 0);
	assert_int_equal(vcpu.pending, 0);
}

static void what_interrupts_the_vmm_is_left(void **state)
{
	static struct frame of_vmm;

	(void)state;
	left_to_others(&of_vmm);
	assert_int_equal(taken, 0);
}

static void falls_asleep(void)
{
	vcpus[0] = vcpu;
	vcpus[0].state = VCPU_HALTED;
	core.current = &idle_vcpu;
}

static struct frame of_idle;

static void a_sleeper_gets_the_core(void **state)
{
	(void)state;
	falls_asleep();
	message_enters(VECTOR_APIC_DOORBELL, &of_idle);
	assert_int_equal(taken, 1);
	assert_int_equal(room, MESSAGES_AT_ONCE);
	assert_int_equal(schedules, 1);
	assert_int_equal(asked.entries, 0);
	assert_true(vcpu_is_notified(&vcpus[0]));
	assert_int_equal(vcpus[0].pending, 1u << (GANDALF_VECTOR_DOORBELL - GANDALF_VECTOR_IRQ));
	assert_int_equal(vcpus[0].counters[COUNTER_quick_ipis], 1);
}

/* Nothing is pending, and who serves messages has been called. */
static void sleeper_is_left(u32 takes)
{
	message_enters(VECTOR_APIC_DOORBELL, &of_idle);
	assert_int_equal(asked.entries, 1);
	assert_int_equal(taken, takes);
	assert_int_equal(schedules, 0);
	assert_int_equal(vcpus[0].pending, 0);
	asked.entries = 0;
}

static void a_sleeper_is_left_where_more_is_to_do(void **state)
{
	(void)state;
	falls_asleep();
	core.housekeeping = 1;
	sleeper_is_left(0);
	core.housekeeping = 0;
	vcpus[0].state = VCPU_PAUSED;
	sleeper_is_left(0);
	vcpus[0].state = VCPU_HALTED;
	vcpu_notify(&vcpus[0]);
	sleeper_is_left(0);
	vcpu_notice(&vcpus[0]);
	senders = 0;
	sleeper_is_left(1);
}

static void what_comes_behind_something_else_is_left(void **state)
{
	(void)state;
	vcpu_notify(&vcpu);
	left_to_others(&frame);
	assert_int_equal(taken, 0);
}

static void who_has_no_handler_or_is_down_is_not_rung(void **state)
{
	(void)state;
	vm.state = GANDALF_STATE_STOPPED;
	left_to_others(&frame);
	asked.entries = 0;
	vm.state = GANDALF_STATE_RUNNING;
	*word(TABLE + GANDALF_VECTOR_DOORBELL * 4) = 0;
	assert_int_equal(call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0), 0);
	vcpu_notice(&vcpu);
	processor.interrupts = false;
	left_to_others(&frame);
	assert_int_equal(taken, 0);
}

static void a_linux_is_not_rung_so(void **state)
{
	static const struct guest_kind linux_kind = { .real_time = false };
	const struct guest_kind *kind = vm.kind;

	(void)state;
	vm.kind = &linux_kind;
	left_to_others(&frame);
	assert_int_equal(taken, 0);
	vm.kind = kind;
}

static void what_this_window_has_no_room_for_is_left(void **state)
{
	(void)state;
	senders = 0;
	left_to_others(&frame);
	assert_int_equal(taken, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_running, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_runs_is_rung_as_it_comes),
		TEST(with_interrupts_disabled_it_waits),
		TEST(the_timer_comes_before_it),
		TEST(what_interrupts_the_vmm_is_left),
		TEST(a_sleeper_gets_the_core),
		TEST(a_sleeper_is_left_where_more_is_to_do),
		TEST(what_comes_behind_something_else_is_left),
		TEST(who_has_no_handler_or_is_down_is_not_rung),
		TEST(a_linux_is_not_rung_so),
		TEST(what_this_window_has_no_room_for_is_left),
	};

	return RUN_TESTS(tests);
}
