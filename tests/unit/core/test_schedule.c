/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has the core: always the runnable vCPU of the highest priority, and the idle
 * vCPU's work before Linux; equal ones take turns.
 */
#include "unit.h"

#include <string.h>

#include "fake/asked.h"

#include "core/command.h"
#include "core/core.h"
#include "core/log.h"
#include "core/idle.h"
#include "core/notice.h"
#include "core/schedule.h"
#include "core/time.h"
#include "core/trace.h"
#include "core/work.h"
#include "platform/pc/power.h"
#include "arch/ia32/switch.h"
#include "arch/ia32/masked_sections.h"

#define GUESTS 3u

u32 time_tsc_khz = 1000000;

static struct vm vms_made[GUESTS];
static struct gandalf_guest guests[GUESTS];
static struct segment_tables tables[GUESTS + 1]; /* the last: the idle vCPU's */
static struct deadline *watch, *turn;
static char line[128];
static unsigned lines, lines_begun, said, releases, starts, answers, debug_loads, tsd_loads;
static u32 alive;
static jmp_buf idle_end;

bool notice_attend(void)
{
	return true;
}

/* One character at a time: interrupts are masked meanwhile. */
void log_text(const char *pattern, ...)
{
	size_t length = lines == lines_begun ? 0 : strlen(line);
	va_list arguments;

	lines_begun = lines + 1;
	va_start(arguments, pattern);
	assert_int_equal(vsnprintf(line + length, sizeof(line) - length, pattern, arguments), 1);
	va_end(arguments);
	said++;
	if (line[length] == '\n')
		lines++;
}

static unsigned windows_full;

/*
 * Own stand-ins: deadline_init() and deadline_set() keep two deadlines, log_line() says one thing
 * only, and message_window_is_full() is counted.
 */
void message_window_is_full(void)
{
	windows_full++;
}

void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *), u32 priority)
{
	assert_int_equal(priority, 0);
	deadline->time = TIME_NEVER;
	deadline->expire = expire;
	turn = watch;
	watch = deadline;
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
	assert_ptr_not_equal(to, core.current);
	debug_loads++;
}

void processor_load_tsd(const struct vcpu *to)
{
	assert_ptr_not_equal(to, core.current);
	tsd_loads++;
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

/* The last line is told, and has left, before the machine is off. */
static unsigned lines, flushes;

void log_line(const char *pattern, ...)
{
	assert_string_equal(pattern, "all guests are off");
	lines++;
}

void log_flush(void)
{
	flushes += lines;
}

void power_off_machine(void)
{
	assert_int_equal(flushes, lines);
	assert_true(flushes != 0);
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
	lines = lines_begun = said = releases = starts = answers = debug_loads = tsd_loads = 0;
	schedule_init();
	idle_init();
	for (u16 i = 0; i < GUESTS; i++) {
		snprintf(guests[i].name, sizeof(guests[i].name), "%s", names[i]);
		vms_made[i].guest = &guests[i];
		vcpus[i].vm = &vms_made[i];
		vcpus[i].id = i;
		vcpus[i].trace = trace_ring_of(i);
		trace_prepare(vcpus[i].trace, vcpus[i].id);
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
		const struct gandalf_trace_ring *ring = trace_ring_of(0);
		const struct gandalf_trace_event *event;

		vcpus[0].state = VCPU_RUNNING;
		schedule();
		vcpus[0].state = left[i];
		schedule();
		assert_ptr_equal(core.current, &idle_vcpu);
		event = &ring->events[(ring->next - 1) % GANDALF_TRACE_EVENTS];
		assert_int_equal(event->type, TRACE_switch_to);
		assert_int_equal(event->vcpu, vcpus[0].id);
		assert_int_equal(event->first, 0xffff);
		assert_int_equal(event->second, left[i]);
	}
}

/* The idle vCPU's events are the VMM's own. */
static void a_switch_is_of_who_loses_the_core(void **state)
{
	struct gandalf_trace_ring *ring = trace_ring_of(2);
	u32 idle_before = trace_rings[0].next, before = ring->next;

	(void)state;
	vcpus[2].state = VCPU_RUNNING;
	schedule();
	assert_int_equal(trace_rings[0].next, idle_before + 1);
	assert_int_equal(ring->next, before);
	assert_int_equal(trace_rings[0].events[idle_before % GANDALF_TRACE_EVENTS].vcpu, 0xffff);
	assert_int_equal(trace_rings[0].events[idle_before % GANDALF_TRACE_EVENTS].first, 2);
	vcpus[2].state = VCPU_HALTED;
	schedule();
	assert_int_equal(trace_rings[0].next, idle_before + 1);
	assert_int_equal(ring->next, before + 1);
	assert_int_equal(ring->events[before % GANDALF_TRACE_EVENTS].vcpu, 2);
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
		do {
			said = 0;
			look_at(watch->time);
			assert_true(said <= 1);
		} while (watch->time - processor.tsc < 1000000000);
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
			    "fast has held the CPU for 10 seconds; "
			    "guests of lower priority wait\r\n");
	look_for(30);
	assert_int_equal(lines, 1);
}

static void starvation_ends_when_linux_has_the_cpu_or_nobody_waits(void **state)
{
	(void)state;
	vcpus[2].state = VCPU_RUNNING;
	schedule();
	look_at(3000);
	vcpus[1].state = VCPU_RUNNING;
	schedule();
	look_for(11);
	assert_int_equal(lines, 1);
	/* Linux has it again: the time begins anew. */
	vcpus[1].state = VCPU_HALTED;
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

/* A second in which Linux and the idle vCPU ran as long as each other is no starvation. */
static void starvation_is_that_neither_linux_nor_idle_runs(void **state)
{
	(void)state;
	look_at(0);
	for (u32 i = 0; i < 30; i++) {
		/* Linux, the idle vCPU, and an RTOS that waits for Linux's time at the look. */
		vcpus[2].state = VCPU_RUNNING;
		schedule();
		processor.tsc += 1000;
		vcpus[2].state = VCPU_HALTED;
		schedule();
		processor.tsc += 1000;
		vcpus[0].state = VCPU_RUNNING;
		vcpus[2].state = VCPU_RUNNING;
		schedule();
		look_for(1);
		vcpus[0].state = VCPU_HALTED;
	}
	assert_int_equal(lines, 0);
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
		work_unmask(&vcpus[2]);
		assert_int_equal(processor.interrupts, how);
		work_mask(return_to_guest);
		assert_false(processor.interrupts);
	}
}

/* What is left of the debug registers of one is replaced by the other's. */
static void debug_registers_change_with_who_uses_them(void **state)
{
	(void)state;
	core.unusual = true;
	for (u32 who = 0; who < 4; who++) {
		start(NULL);
		core.unusual = true;
		vcpus[1].state = VCPU_RUNNING;
		vcpus[0].dr[7] = who & 1 ? 0x402 : 0x400;
		vcpus[1].dr[7] = who & 2 ? 0x480 : 0x400;
		/* Those that never enable anything. */
		for (u32 i = 0; i < 7; i++)
			vcpus[0].dr[i] = vcpus[1].dr[i] = UINT32_MAX;
		schedule();
		debug_loads = 0;
		vcpus[0].state = VCPU_RUNNING;
		assert_true(schedule_gives_way());
		assert_int_equal(debug_loads, who != 0);
	}
}

/* What is left of messages comes at the window's end, and a later switch has nothing to do with
 * it. */
static void a_switch_amid_messages_is_told_once(void **state)
{
	(void)state;
	windows_full = 0;
	vcpus[1].state = VCPU_RUNNING;
	core.unusual = 0;
	schedule();
	vcpus[0].state = VCPU_RUNNING;
	core.unusual = SWITCH_OF_SOME | SWITCH_AMID_MESSAGES;
	assert_true(schedule_gives_way());
	assert_int_equal(windows_full, 1);
	assert_int_equal(core.unusual, SWITCH_OF_SOME);
	vcpus[0].state = VCPU_HALTED;
	assert_true(schedule_gives_way());
	assert_int_equal(windows_full, 1);
}

/* An RTOS must not find RDTSC hidden because a process of Linux must not use it. */
static void hidden_time_changes_with_who_hides_it(void **state)
{
	(void)state;
	for (u32 who = 0; who < 4; who++) {
		start(NULL);
		core.unusual = true;
		vcpus[1].state = VCPU_RUNNING;
		vcpus[0].tsd = who & 1 ? CR4_TSD : 0;
		vcpus[1].tsd = who & 2 ? CR4_TSD : 0;
		schedule();
		tsd_loads = 0;
		vcpus[0].state = VCPU_RUNNING;
		assert_true(schedule_gives_way());
		assert_int_equal(tsd_loads, who == 1 || who == 2);
	}
}

static void without_guests_the_core_is_idle(void **state)
{
	(void)state;
	vcpus[0].state = VCPU_RUNNING;
	core.vcpu_count = 0;
	schedule_init();
	idle_init();
	assert_false(schedule_gives_way());
	assert_ptr_equal(core.current, &idle_vcpu);
}

static void there_is_room_for_all_guests(void **state)
{
	static struct segment_tables more;

	(void)state;
	for (u16 i = GUESTS; i < GANDALF_GUESTS_MAXIMUM; i++) {
		vcpus[i].vm = &vms_made[2];
		vcpus[i].id = i;
		vcpus[i].trace = trace_ring_of(i);
		trace_prepare(vcpus[i].trace, vcpus[i].id);
		vcpus[i].tables = &more;
	}
	core.vcpu_count = 0;
	schedule_init();
	idle_init();
	for (u32 i = 0; i < GANDALF_GUESTS_MAXIMUM; i++) {
		vcpus[i].priority = GANDALF_GUESTS_MAXIMUM - i;
		schedule_add(&vcpus[i]);
		assert_false(vcpus[i].shares);
	}
	assert_true(watch->time == TIME_NEVER && watch->expire != NULL);
	assert_true(turn->time == TIME_NEVER && turn->expire != NULL);
	assert_false(schedule_gives_way());
	/* From the least urgent on, each has the core as soon as it can run. */
	for (u32 i = GANDALF_GUESTS_MAXIMUM; i-- > 0;) {
		vcpus[i].state = VCPU_RUNNING;
		assert_true(schedule_gives_way());
		assert_ptr_equal(core.current, &vcpus[i]);
	}
}

/* RTOSes of the lowest priority there is go on while the idle vCPU has work, also when one has had
 * its turn. */
static void work_waits_for_the_least_urgent_rtoses(void **state)
{
	(void)state;
	core.vcpu_count = 0;
	schedule_init();
	idle_init();
	vcpus[0].priority = vcpus[1].priority = 1;
	for (u32 i = 0; i < GUESTS; i++)
		schedule_add(&vcpus[i]);
	vcpus[0].state = vcpus[1].state = VCPU_RUNNING;
	schedule();
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	assert_false(schedule_gives_way());
	turn->time = turn->expire(turn);
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &vcpus[1]);
}

/* All three RTOSes have one priority, as the table may say. */
static void equals_make(void)
{
	schedule_init();
	idle_init();
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
	assert_true(turn->time == processor.tsc + length);
	assert_false(schedule_gives_way());
	/* A vCPU without equals has no turns. */
	start(state);
	vcpus[0].state = VCPU_RUNNING;
	schedule();
	assert_true(turn->time == TIME_NEVER);
	assert_true(turn->expire(turn) == TIME_NEVER);
}

/* Whoever ends his turn early is behind his equals, and the next one has a whole turn. */
static void a_turn_may_end_early(void **state)
{
	const u64 length = 1000000;

	(void)state;
	equals_make();
	processor.tsc = 5;
	schedule();
	assert_ptr_equal(core.current, &vcpus[0]);
	processor.tsc += length / 4;
	core.current->attention = false;
	schedule_yield();
	assert_true(core.current->attention);
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &vcpus[1]);
	assert_true(turn->time == processor.tsc + length);
	/* Where nobody else could run it has a new turn. */
	vcpus[0].state = vcpus[2].state = VCPU_HALTED;
	vcpus[0].attention = vcpus[2].attention = false;
	processor.tsc += length / 4;
	schedule_yield();
	assert_false(schedule_gives_way());
	assert_true(turn->time == processor.tsc + length);
	/* A vCPU without equals has no turns. */
	start(state);
	vcpus[0].state = VCPU_RUNNING;
	schedule();
	core.current->attention = false;
	schedule_yield();
	assert_false(core.current->attention);
}

/* Who is preempted by a more urgent one has the rest of its turn afterwards. */
static void a_turn_is_time_that_was_had(void **state)
{
	const u64 length = 1000000;

	(void)state;
	core.vcpu_count = 0;
	schedule_init();
	idle_init();
	vcpus[1].priority = vcpus[2].priority = 3;
	for (u32 i = 0; i < GUESTS; i++)
		schedule_add(&vcpus[i]);
	vcpus[1].state = vcpus[2].state = VCPU_RUNNING;
	processor.tsc = 100;
	schedule();
	assert_ptr_equal(core.current, &vcpus[1]);
	assert_true(turn->time == 100 + length);
	processor.tsc = 400100;
	vcpus[0].state = VCPU_RUNNING;
	schedule();
	assert_ptr_equal(core.current, &vcpus[0]);
	processor.tsc = 5000000;
	vcpus[0].state = VCPU_HALTED;
	schedule();
	assert_ptr_equal(core.current, &vcpus[1]);
	assert_true(turn->time == 5000000 + length - 400000);
}

/* The end of a turn leads behind the equals, and not behind those of lower priority. */
static void the_end_of_a_turn_costs_no_priority(void **state)
{
	(void)state;
	core.vcpu_count = 0;
	schedule_init();
	idle_init();
	vcpus[0].priority = vcpus[1].priority = 3;
	for (u32 i = 0; i < GUESTS; i++) {
		schedule_add(&vcpus[i]);
		vcpus[i].state = VCPU_RUNNING;
	}
	schedule();
	for (u32 i = 0; i < 5; i++) {
		assert_ptr_equal(core.current, &vcpus[i % 2]);
		turn->time = turn->expire(turn);
		assert_true(schedule_gives_way());
	}
	vcpus[1].state = VCPU_HALTED;
	vcpus[1].attention = false;
	schedule();
	assert_ptr_equal(core.current, &vcpus[0]);
	turn->time = turn->expire(turn);
	assert_false(schedule_gives_way());
	vcpus[0].state = VCPU_HALTED;
	vcpus[0].attention = false;
	schedule();
	assert_ptr_equal(core.current, &vcpus[2]);
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

static void an_admission_lets_interrupts_in(void **state)
{
	(void)state;
	schedule_admit();
	assert_int_equal(processor.admissions, 1);
	assert_ptr_equal(core.current, &idle_vcpu);
	/* Behind another vCPU they are let in once more, and the caller goes on. */
	vcpus[1].state = VCPU_RUNNING;
	schedule_admit();
	assert_ptr_equal(core.current, &vcpus[1]);
	assert_int_equal(processor.admissions, 3);
	/* A pause leaves it to their handlers to give the core away. */
	vcpus[0].state = VCPU_RUNNING;
	schedule_pause();
	assert_int_equal(processor.admissions, 4);
	assert_ptr_equal(core.current, &vcpus[1]);
}

static void the_idle_vcpu_works_sleeps_and_switches_off(void **state)
{
	(void)state;
	schedule_housekeeping(HOUSEKEEPING_START);
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	schedule_housekeeping(HOUSEKEEPING_COMMAND);
	alive = 3;
	processor.tsc = 4711;
	if (setjmp(idle_end) == 0)
		idle_run();
	assert_int_equal(alive, 0);
	assert_int_equal(processor.sleeps, 3);
	/* It looks for guests before each sleep and before the end; the watch over starvation
	 * begins. */
	assert_int_equal(processor.admissions, 5);
	assert_true(watch->time == 4711);
	assert_int_equal(releases, 1);
	assert_int_equal(starts, 1);
	assert_int_equal(answers, 1);
	assert_int_equal(core.housekeeping, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_switch_tells_how_it_left_the_vcpu, start),
		cmocka_unit_test_setup(a_switch_is_of_who_loses_the_core, start),
		cmocka_unit_test_setup(every_mixture_of_states_picks_the_most_urgent, start),
		cmocka_unit_test_setup(time_is_charged_to_who_ran, start),
		cmocka_unit_test_setup(starvation_is_told_once_after_ten_seconds, start),
		cmocka_unit_test_setup(starvation_ends_when_linux_has_the_cpu_or_nobody_waits,
				       start),
		cmocka_unit_test_setup(starvation_is_that_neither_linux_nor_idle_runs, start),
		cmocka_unit_test_setup(the_work_for_linux_ends_before_the_idle_vcpus_begins, start),
		cmocka_unit_test_setup(work_enables_interrupts_if_it_is_interruptible, start),
		cmocka_unit_test_setup(debug_registers_change_with_who_uses_them, start),
		cmocka_unit_test_setup(hidden_time_changes_with_who_hides_it, start),
		cmocka_unit_test_setup(a_switch_amid_messages_is_told_once, start),
		cmocka_unit_test_setup(without_guests_the_core_is_idle, start),
		cmocka_unit_test_setup(there_is_room_for_all_guests, start),
		cmocka_unit_test_setup(work_waits_for_the_least_urgent_rtoses, start),
		cmocka_unit_test_setup(equals_take_turns, start),
		cmocka_unit_test_setup(a_turn_may_end_early, start),
		cmocka_unit_test_setup(a_turn_is_time_that_was_had, start),
		cmocka_unit_test_setup(the_end_of_a_turn_costs_no_priority, start),
		cmocka_unit_test_setup(equals_of_one_to_be_started_give_way_once_a_turn, start),
		cmocka_unit_test_setup(who_waits_could_run, start),
		cmocka_unit_test_setup(an_admission_lets_interrupts_in, start),
		cmocka_unit_test_setup(the_idle_vcpu_works_sleeps_and_switches_off, start),
	};

	return RUN_TESTS(tests);
}
