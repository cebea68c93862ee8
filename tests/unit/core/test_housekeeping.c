/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the idle vCPU does on a core with several vCPUs of one Linux while the VMM's work for one of
 * them is interrupted: it starts RTOSes, and leaves the rest, by which siblings would find the
 * shadow page tables and the pool half changed.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "fake/at_work.h"

#include "arch/ia32/switch.h"
#include "core/command.h"
#include "core/core.h"
#include "core/idle.h"
#include "core/notice.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "platform/pc/power.h"
#include "whole.h"

/* By priority: two RTOSes, and two vCPUs of a Linux. */
enum { URGENT, PLAIN, FIRST, SECOND, VCPUS };

u32 time_tsc_khz = 1000000;

static const struct gandalf_guest linux_guest = { .name = "linux", .slice_us = 1000 };
static struct gandalf_guest rtoses[] = { { .name = "urgent" }, { .name = "plain" } };
static struct vm vms_made[VCPUS];
static struct segment_tables tables[VCPUS + 1]; /* the last: the idle vCPU's */
static u32 releases, starts, answers;
static jmp_buf given_away;

void tenure_begins(void)
{
}

void tenure_ends(void)
{
}

void parts_settle(void)
{
}

/*
 * Own stand-ins, here since the fake VMM has none: debug_load(), processor_load_tsd() and
 * notice_attend() do nothing; log_text(), log_flush(), power_off_machine() and processor_sleep() do
 * not come, since a guest is alive: vm_any_alive(). The idle vCPU's loop ends in switch_stack().
 */
bool notice_attend(void)
{
	return false;
}

void debug_load(const struct vcpu *to)
{
	(void)to;
}

void processor_load_tsd(const struct vcpu *to)
{
	(void)to;
}

void log_text(const char *pattern, ...)
{
	fail_msg("%s", pattern);
}

void log_flush(void)
{
	abort();
}

void power_off_machine(void)
{
	abort();
}

/* The idle vCPU's loop ends where another vCPU gets the core. */
void switch_stack(void *from, void *to, u32 offset, u32 cr3)
{
	(void)to;
	assert_int_equal(offset, offsetof(struct vcpu, saved_esp));
	assert_int_equal(cr3, 0);
	if (from == &idle_vcpu)
		longjmp(given_away, 1);
}

/* Own stand-ins: vm_release_stopped(), vm_start_requested() and command_answer() count. An RTOS
 * that has been started ends at once. */
void vm_release_stopped(void)
{
	assert_false(turn_is_at_work());
	releases++;
}

void vm_start_requested(void)
{
	starts++;
	vms_made[URGENT].state = GANDALF_STATE_OFF;
}

void command_answer(void)
{
	assert_false(turn_is_at_work());
	answers++;
}

bool vm_any_alive(void)
{
	return true;
}

/* Somebody always runs. */
void processor_sleep(void)
{
	abort();
}

static int start(void **state)
{
	static const u16 priorities[VCPUS] = { 7, 3, 0, 0 };

	(void)state;
	memset(&core, 0, sizeof(core));
	memset(vcpus, 0, sizeof(*vcpus) * VCPUS);
	memset(vms_made, 0, sizeof(vms_made));
	releases = starts = answers = 0;
	schedule_init();
	idle_init();
	for (u16 i = 0; i < VCPUS; i++) {
		vms_made[i].guest = i < FIRST ? &rtoses[i] : &linux_guest;
		vms_made[i].state = GANDALF_STATE_RUNNING;
		vcpus[i].vm = &vms_made[i];
		vcpus[i].id = i;
		vcpus[i].trace = trace_ring_of(i);
		vcpus[i].priority = priorities[i];
		vcpus[i].tables = &tables[i];
		schedule_add(&vcpus[i]);
	}
	idle_vcpu.tables = &tables[VCPUS];
	return 0;
}

static void idle_works(void)
{
	if (setjmp(given_away) == 0)
		idle_run();
}

/* A plain RTOS runs, above a vCPU of Linux that it has interrupted amid work. Its sibling has
 * stopped, and the more urgent RTOS is to be started. */
static void an_rtos_starts_and_the_rest_waits_for_the_work(void **state)
{
	(void)state;
	vcpus[PLAIN].state = vcpus[FIRST].state = VCPU_RUNNING;
	interrupted_at_work(&vcpus[FIRST], true);
	core.current = &vcpus[PLAIN];
	vms_made[SECOND].state = GANDALF_STATE_STOPPED;
	vms_made[URGENT].state = GANDALF_STATE_STARTING;
	schedule_housekeeping(HOUSEKEEPING_RELEASE | HOUSEKEEPING_START | HOUSEKEEPING_COMMAND);
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &idle_vcpu);
	idle_works();
	assert_ptr_equal(core.current, &vcpus[PLAIN]);
	assert_int_equal(starts, 1);
	assert_int_equal(releases, 0);
	assert_int_equal(answers, 0);

	/* The work goes on before the idle vCPU does. */
	vcpus[PLAIN].state = VCPU_PAUSED;
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &vcpus[FIRST]);

	interrupted_at_work(&vcpus[FIRST], false);
	assert_true(schedule_gives_way());
	assert_ptr_equal(core.current, &idle_vcpu);
	idle_works();
	assert_ptr_equal(core.current, &vcpus[FIRST]);
	assert_int_equal(releases, 1);
	assert_int_equal(starts, 2);
	assert_int_equal(answers, 1);
	assert_int_equal(core.housekeeping, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_rtos_starts_and_the_rest_waits_for_the_work, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
