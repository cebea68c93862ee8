/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has the core: always the runnable vCPU of the highest priority, and the idle
 * vCPU's work before Linux; equal ones take turns.
 */
#include "unit.h"

#include <string.h>

#include "fake/quiet_processor.h"

#include "core/command.h"
#include "core/core.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/time.h"
#include "core/trace.h"
#include "core/work.h"
#include "hardware/power.h"
#include "ia32/switch.h"

#define GUESTS 3u

struct vcpu vcpus[GANDALF_GUESTS_MAXIMUM];
u32 time_tsc_khz = 1000000;

static struct vm vms_made[GUESTS];
static struct gandalf_guest guests[GUESTS];
static struct segment_tables tables[GUESTS + 1]; /* the last: the idle vCPU's */
static struct deadline *watch, *turn;
static char line[128];
static unsigned lines, releases, starts, answers;
static u32 alive;
static jmp_buf idle_end;

struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
u32 trace_next;

void trace(enum trace_type type, u32 first, u32 second)
{
	(void)type;
	(void)first;
	(void)second;
}

void log_line(const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	vsnprintf(line, sizeof(line), pattern, arguments);
	va_end(arguments);
	lines++;
}

void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *))
{
	deadline->time = TIME_NEVER;
	deadline->expire = expire;
	watch = turn;
	turn = deadline;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	deadline->time = time;
}

/* From another's stack to that of the vCPU whose tables are loaded. */
void switch_stack(void *from, void *to, u32 offset, u32 cr3)
{
	assert_int_equal(offset, offsetof(struct vcpu, saved_esp));
	assert_ptr_not_equal(from, core.current);
	assert_ptr_equal(to, core.current);
	assert_int_equal(processor.gdt.limit, core.current->tables->gdt_register.limit);
	assert_int_equal(cr3, 0);
}

void debug_load(const struct vcpu *to)
{
	(void)to;
	fail();
}

void vm_release_stopped(void)
{
	releases++;
}

/* Work gives way to an RTOS, but not to Linux. */
void vm_start_requested(void)
{
	vcpus[2].state = VCPU_RUNNING;
	schedule();
	assert_ptr_equal(core.current, &idle_vcpu);
	vcpus[2].state = VCPU_OFF;
	starts++;
}

void command_answer(void)
{
	answers++;
}

bool vm_any_alive(void)
{
	return alive != 0;
}

void power_off_machine(void)
{
	longjmp(idle_end, 1);
}

void processor_sleep(void)
{
	assert_int_equal(core.housekeeping, 0);
	alive--;
}

/* Two RTOSes and Linux, all off. */
static int start(void **state)
{
	static const u16 priorities[GUESTS] = { 7, 3, 0 };
	static const char *const names[GUESTS] = { "fast", "slow", "linux" };

	(void)state;
	memset(&core, 0, sizeof(core));
	memset(&processor, 0, sizeof(processor));
	memset(vcpus, 0, sizeof(vcpus));
	lines = releases = starts = answers = 0;
	schedule_init();
	for (u16 i = 0; i < GUESTS; i++) {
		snprintf(guests[i].name, sizeof(guests[i].name), "%s", names[i]);
		vms_made[i].guest = &guests[i];
		vcpus[i].vm = &vms_made[i];
		vcpus[i].id = i;
		vcpus[i].priority = priorities[i];
		vcpus[i].tables = &tables[i];
		vcpus[i].saved_esp = 0x1000u * (i + 1);
		tables[i].gdt_register.limit = (u16)(i + 1);
		schedule_add(&vcpus[i]);
	}
	idle_vcpu.tables = &tables[GUESTS];
	return 0;
}

static void a_switch_tells_how_it_left_the_vcpu(void **state)
{
	static const enum vcpu_state left[] = { VCPU_OFF, VCPU_HALTED, VCPU_PAUSED };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(left); i++) {
		const struct gandalf_trace_event *event;

		vcpus[0].state = VCPU_RUNNING;
		schedule();
		vcpus[0].state = left[i];
		schedule();
		assert_ptr_equal(core.current, &idle_vcpu);
		event = &trace_events[(trace_next - 1) % GANDALF_TRACE_EVENTS];
		assert_int_equal(event->type, TRACE_switch_to);
		assert_int_equal(event->vcpu, vcpus[0].id);
		assert_int_equal(event->first, idle_vcpu.id);
		assert_int_equal(event->second, left[i]);
	}
}

static void every_mixture_of_states_picks_the_most_urgent(void **state)
{
	(void)state;
	/* Per guest: off, running, halted, halted with something to do. */
	for (u32 mixture = 0; mixture < 64; mixture++) {
		for (u32 work = 0; work < 2; work++) {
			struct vcpu *expected = &idle_vcpu;

			core.housekeeping = work;
			for (u32 i = GUESTS; i-- > 0;) {
				u32 kind = mixture >> 2 * i & 3;

				vcpus[i].state = kind == 0 ? VCPU_OFF
						 : kind == 1 ? VCPU_RUNNING : VCPU_HALTED;
				vcpus[i].attention = kind == 3 || kind == 0;
				if ((kind & 1) && !(work && i == 2))
					expected = &vcpus[i];
			}
			schedule();
			assert_ptr_equal(core.current, expected);
			assert_true(core.current == &idle_vcpu ||
				    core.current->state == VCPU_RUNNING);
		}
	}
}

static void time_is_charged_to_who_ran(void **state)
{
	(void)state;
	vcpus[2].state = VCPU_RUNNING;
	processor.tsc = 1000;
	schedule();
	processor.tsc = 1700;
	vcpus[0].state = VCPU_RUNNING;
	schedule();
	processor.tsc = 1750;
	schedule();
	vcpus[0].state = VCPU_OFF;
	schedule();
	assert_true(core_ran(&vcpus[2]) == 700);
	assert_true(core_ran(&vcpus[0]) == 50);
	assert_int_equal(vcpus[0].counters[COUNTER_switches_in], 1);
	assert_int_equal(vcpus[2].counters[COUNTER_switches_in], 2);
}

/* As the timer interrupt does it. */
static void look_at(u64 now)
{
	processor.tsc = now;
	watch->time = watch->expire(watch);
}

/* One look a second. */
static void look_for(u32 seconds)
{
	while (seconds-- != 0)
		look_at(watch->time);
}

static void starvation_is_told_once_after_ten_seconds(void **state)
{
	const u64 second = 1000000000;

	(void)state;
	vcpus[2].state = VCPU_RUNNING;
	schedule();
	look_at(3000);
	assert_true(watch->time == 3000 + second);
	look_for(20);
	assert_int_equal(lines, 0);
	vcpus[1].state = VCPU_RUNNING;
	processor.tsc += second / 2;
	schedule();
	/* A more urgent one takes over: Linux has waited since then all the same. */
	processor.tsc += second / 4;
	vcpus[0].state = VCPU_RUNNING;
	schedule();
	look_for(10);
	assert_int_equal(lines, 0);
	look_for(1);
	assert_int_equal(lines, 1);
	assert_string_equal(line,
			    "fast has held the CPU for 10 seconds; guests of lower priority wait");
	look_for(30);
	assert_int_equal(lines, 1);
	/* Linux has it again: the time begins anew. */
	vcpus[0].state = vcpus[1].state = VCPU_HALTED;
	schedule();
	assert_ptr_equal(core.current, &vcpus[2]);
	processor.tsc += 1000;
	vcpus[1].state = VCPU_RUNNING;
	schedule();
	look_for(10);
	assert_int_equal(lines, 1);
	/* Nobody waits: nothing is said, and it does not count. */
	vcpus[2].state = VCPU_HALTED;
	look_for(20);
	assert_int_equal(lines, 1);
	vcpus[2].state = VCPU_RUNNING;
	look_for(1);
	assert_int_equal(lines, 2);
}

static void the_work_for_linux_ends_before_the_idle_vcpus_begins(void **state)
{
	(void)state;
	vcpus[2].state = VCPU_RUNNING;
	schedule();
	/* As interrupt_vmm() does it. */
	vcpus[2].working = true;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	assert_true(vcpus[2].attention);
	assert_false(schedule_gives_way());
	assert_ptr_equal(core.current, &vcpus[2]);
	/* An RTOS does preempt it, and the idle vCPU does not come behind the RTOS. */
	vcpus[1].state = VCPU_RUNNING;
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &vcpus[1]);
	vcpus[1].state = VCPU_HALTED;
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &vcpus[2]);
	assert_int_equal(releases, 0);
	vcpus[2].working = false;
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &idle_vcpu);
}

static void work_enables_interrupts_if_it_is_interruptible(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 2; how++) {
		vcpus[2].interruptible = how;
		work_begin(&vcpus[2]);
		assert_int_equal(processor.interrupts, how);
		work_end(return_to_guest);
		assert_false(processor.interrupts);
	}
}

/* All three RTOSes have one priority, as the table may say. */
static void equals_make(void)
{
	schedule_init();
	core.vcpu_count = 0;
	for (u32 i = 0; i < GUESTS; i++) {
		vcpus[i].priority = 7;
		schedule_add(&vcpus[i]);
		assert_true(i == 0 || vcpus[i].shares);
		vcpus[i].state = VCPU_RUNNING;
	}
}

/* The idle vCPU, which starts it, has a step for each of their turns that ends meanwhile. */
static void equals_of_one_to_be_started_give_way_once_a_turn(void **state)
{
	(void)state;
	equals_make();
	vcpus[2].state = VCPU_OFF;
	vcpus[2].vm->state = GANDALF_STATE_STARTING;
	schedule();
	turn->time = turn->expire(turn);
	schedule();
	assert_ptr_equal(core.current, &vcpus[1]);
	schedule_housekeeping(HOUSEKEEPING_START);
	assert_false(schedule_gives_way());
	for (u32 i = 0; i < 4; i++) {
		turn->time = turn->expire(turn);
		assert_true(schedule_gives_way());
		assert_ptr_equal(core.current, &idle_vcpu);
		assert_true(schedule_gives_way());
		assert_ptr_equal(core.current, &vcpus[i % 2]);
		assert_false(schedule_gives_way());
	}
	vcpus[2].vm->state = GANDALF_STATE_OFF;
}

static void equals_take_turns(void **state)
{
	const u64 length = 1000000;
	u32 seen = 0;

	(void)state;
	equals_make();
	processor.tsc = 5;
	schedule();
	assert_ptr_equal(core.current, &vcpus[0]);
	for (u32 i = 1; i <= 3 * GUESTS; i++) {
		assert_true(turn->time == 5 + i * length);
		processor.tsc = turn->time;
		core.current->attention = false;
		turn->time = turn->expire(turn);
		assert_true(core.current->attention);
		assert_true(schedule_gives_way());
		seen = seen << 4 | core.current->id;
	}
	assert_int_equal(seen, 0x20120120);
	/* One that waits is passed over, and who is alone keeps the core. */
	vcpus[0].state = vcpus[1].state = VCPU_HALTED;
	vcpus[0].attention = vcpus[1].attention = false;
	schedule();
	assert_ptr_equal(core.current, &vcpus[2]);
	turn->time = turn->expire(turn);
	assert_false(schedule_gives_way());
	/* A vCPU without equals has no turns. */
	start(state);
	vcpus[0].state = VCPU_RUNNING;
	schedule();
	assert_true(turn->time == TIME_NEVER);
	assert_true(turn->expire(turn) == TIME_NEVER);
}

static void who_waits_could_run(void **state)
{
	(void)state;
	vcpus[0].state = vcpus[1].state = VCPU_RUNNING;
	schedule();
	assert_false(schedule_waits(&vcpus[0]));
	assert_true(schedule_waits(&vcpus[1]));
	vcpus[1].state = VCPU_HALTED;
	vcpus[1].attention = false;
	assert_false(schedule_waits(&vcpus[1]));
	vcpus[1].state = VCPU_PAUSED;
	vcpus[1].attention = true;
	assert_false(schedule_waits(&vcpus[1]));
}

static void breathing_lets_interrupts_in(void **state)
{
	(void)state;
	schedule_breathe();
	assert_int_equal(processor.admissions, 1);
	assert_ptr_equal(core.current, &idle_vcpu);
	vcpus[1].state = VCPU_RUNNING;
	schedule_breathe();
	assert_ptr_equal(core.current, &vcpus[1]);
}

static void the_idle_vcpu_works_sleeps_and_switches_off(void **state)
{
	(void)state;
	schedule_housekeeping(HOUSEKEEPING_START);
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	schedule_housekeeping(HOUSEKEEPING_COMMAND);
	alive = 3;
	if (setjmp(idle_end) == 0)
		schedule_idle();
	assert_int_equal(alive, 0);
	assert_int_equal(processor.sleeps, 3);
	assert_int_equal(releases, 1);
	assert_int_equal(starts, 1);
	assert_int_equal(answers, 1);
	assert_int_equal(core.housekeeping, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_switch_tells_how_it_left_the_vcpu, start),
		cmocka_unit_test_setup(every_mixture_of_states_picks_the_most_urgent, start),
		cmocka_unit_test_setup(time_is_charged_to_who_ran, start),
		cmocka_unit_test_setup(starvation_is_told_once_after_ten_seconds, start),
		cmocka_unit_test_setup(the_work_for_linux_ends_before_the_idle_vcpus_begins, start),
		cmocka_unit_test_setup(work_enables_interrupts_if_it_is_interruptible, start),
		cmocka_unit_test_setup(equals_take_turns, start),
		cmocka_unit_test_setup(equals_of_one_to_be_started_give_way_once_a_turn, start),
		cmocka_unit_test_setup(who_waits_could_run, start),
		cmocka_unit_test_setup(breathing_lets_interrupts_in, start),
		cmocka_unit_test_setup(the_idle_vcpu_works_sleeps_and_switches_off, start),
	};

	return RUN_TESTS(tests);
}
