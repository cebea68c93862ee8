/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of a guest with several vCPUs: how its whole and its parts agree on them. All cores are
 * played here: core.index says whose turn it is.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/quiet_idle.h"
#include "fake/asked.h"

#include "core/migration.h"
#include "core/part.h"
#include "core/schedule.h"
#include "core/vm.h"

#define PLACE 2u
#define HOME 1u /* the core of the whole */
#define FAR 3u  /* that of a part */
#define THIRD 0u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct vm vms[PLACES_MAXIMUM];
struct vcpu vcpus[PLACES_MAXIMUM], idle_vcpu;
u32 time_tsc_khz;

static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_LINUX_SMP, .cpu = HOME, .vcpu_count = 2, .vcpu_cpus = { HOME, FAR },
};
static struct vm *const vm = &vms[PLACE];

/* Own stand-ins: vm_halt() counts, and the guest is down when a test says so. */
void vm_halt(struct vm *which)
{
	assert_ptr_equal(which, vm);
	asked.halts++;
}

/* Whose turn it is: each core has its own VM of the guest, which are one here. */
static void core_is(u32 index)
{
	core.index = index;
	memset(part_vms, 0, sizeof(part_vms));
	vm->number = index == HOME ? 0 : index == FAR ? 1 : GANDALF_CPUS_MAXIMUM;
	if (vm->number < GANDALF_CPUS_MAXIMUM)
		part_vms[vm->number] = vm;
}

#include "fake/serve_on.h"

/* The turn of a core whose VM is in a state. */
static void turn_of(u32 index, u32 state)
{
	core_is(index);
	vm->state = state;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(vms, 0, sizeof(vms));
	memset(&asked, 0, sizeof(asked));
	vm->guest = &guest;
	vm->index = PLACE;
	vm->vcpus = vcpus;
	vm->cpus = 1u << HOME | 1u << FAR;
	vcpus[0].vm = vm;
	vm->vcpu_count = 1;
	core.vm_count = PLACE + 1;
	outbox_of(FAR)->alive = 1;
	/* Nothing of an earlier test is to come. */
	turn_of(FAR, GANDALF_STATE_OFF);
	part_is_released(vm);
	memset((void *)part_page_of(FAR), 0, sizeof(struct part_page));
	vm->vcpus->working = false;
	memset(&asked, 0, sizeof(asked));
	asked.starts = 0;
	return 0;
}

/* The whole starts its part, which then runs. */
static void part_runs(u32 entry)
{
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, entry);
	vm->state = GANDALF_STATE_OFF;
	serve_on(FAR, HOME, MESSAGE_START + 1);
	vm->state = GANDALF_STATE_RUNNING;
}

static void a_part_starts_where_it_is_told(void **state)
{
	(void)state;
	part_runs(0x123000);
	assert_int_equal(asked.sent[FAR][MESSAGE_START + 1], 1);
	assert_int_equal(asked.starts, 1);
	assert_int_equal(vm->entry, 0x123000);
}

static void a_start_of_who_is_not_there_is_none(void **state)
{
	(void)state;
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, 0x1000);
	vm->state = GANDALF_STATE_OFF;
	serve_on(FAR, HOME, MESSAGE_START);
	serve_on(FAR, HOME, MESSAGE_START + 2);
	serve_on(THIRD, HOME, MESSAGE_START + 1);
	assert_int_equal(asked.starts, 0);
	/* Nor is the whole started by one. */
	serve_on(HOME, FAR, MESSAGE_START);
	assert_int_equal(asked.starts, 0);
}

static void a_start_of_an_ended_life_is_none(void **state)
{
	(void)state;
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, 0x1000);
	whole_ends(vm);
	vm->state = GANDALF_STATE_OFF;
	serve_on(FAR, HOME, MESSAGE_START + 1);
	assert_int_equal(asked.starts, 0);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.starts, 0);
	assert_true(whole_may_start(vm));
}

static void the_whole_waits_for_its_parts_end(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_OFF);
	whole_ends(vm);
	assert_int_equal(asked.sent[FAR][MESSAGE_PART + PLACE], 1);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 0);
	assert_false(whole_may_start(vm));
	/* The part goes down, and says so when it has been released. */
	vm->state = GANDALF_STATE_RUNNING;
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.halts, 1);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 0);
	turn_of(FAR, GANDALF_STATE_STOPPED);
	vm->unreleased = true;
	part_is_released(vm);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 0);
	vm->unreleased = false;
	part_is_released(vm);
	part_is_released(vm);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 1);
	turn_of(HOME, GANDALF_STATE_STARTING);
	assert_true(whole_may_start(vm));
	asked.housekeeping = 0;
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_START);
}

static void nobody_waits_for_a_core_that_is_dead(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_OFF);
	whole_ends(vm);
	assert_false(whole_may_start(vm));
	outbox_of(FAR)->alive = 0;
	assert_true(whole_may_start(vm));
	core_is(FAR);
	assert_true(whole_may_start(vm)); /* a part asks nobody */
}

/* It is on its way from THIRD, which it counts as being on, to FAR. */
static void nobody_waits_for_one_that_has_left_for_a_dead_core(void **state)
{
	struct gandalf_guest moves = guest;

	(void)state;
	moves.flags = GANDALF_GUEST_MIGRATES;
	moves.vcpu_cpus[1] = THIRD;
	core_is(HOME);
	vm->guest = &moves;
	outbox_of(THIRD)->alive = 1;
	part_page_of(THIRD)->ended[1] = (u32)-1;
	assert_false(whole_may_start(vm));
	part_page_of(THIRD)->left[1] = part_page_of(THIRD)->held[1] + 1;
	part_page_of(THIRD)->left_for[1] = FAR;
	assert_false(whole_may_start(vm));
	outbox_of(FAR)->alive = 0;
	assert_true(whole_may_start(vm));
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_parks(vm);
	assert_int_equal(asked.power_offs, 1);
}

static void one_that_runs_is_started_anew_when_it_is_down(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, 0x2000);
	serve_on(FAR, HOME, MESSAGE_START + 1);
	assert_int_equal(asked.halts, 1);
	assert_int_equal(asked.starts, 1);
	vm->state = GANDALF_STATE_STOPPED;
	part_is_released(vm);
	assert_int_equal(asked.starts, 2);
	assert_int_equal(vm->entry, 0x2000);
	/* That was no end of the part. */
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 0);
}

static void all_that_run_must_halt_for_ever(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_parks(vm);
	assert_int_equal(asked.power_offs, 0);
	turn_of(FAR, GANDALF_STATE_RUNNING);
	part_parks(vm);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 1);
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_int_equal(asked.power_offs, 1);
	assert_int_equal(asked.halts, 0);
}

/* An interrupt that came amid the VMM's work for the first one may tell it. */
static void the_end_of_all_waits_for_the_vmms_work(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_parks(vm);
	turn_of(FAR, GANDALF_STATE_RUNNING);
	part_parks(vm);
	core_is(HOME);
	vm->vcpus->working = 1;
	asked.housekeeping = 0;
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_int_equal(asked.power_offs, 0);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
	vm->vcpus->working = 0;
	parts_settle();
	assert_int_equal(asked.power_offs, 1);
}

static void one_that_halted_and_was_started_again_runs(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(FAR, GANDALF_STATE_RUNNING);
	part_parks(vm);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, 0x2000);
	serve_on(FAR, HOME, MESSAGE_START + 1);
	vm->state = GANDALF_STATE_STOPPED;
	part_is_released(vm);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_parks(vm);
	assert_int_equal(asked.power_offs, 0);
}

static void a_part_that_was_never_started_counts_as_off(void **state)
{
	(void)state;
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_parks(vm);
	assert_int_equal(asked.power_offs, 1);
}

/* It was started in an earlier life, or in this one. */
static void a_part_whose_core_is_dead_counts_as_off(void **state)
{
	(void)state;
	part_runs(0x1000);
	outbox_of(FAR)->alive = 0;
	for (unsigned life = 0; life < 2; life++) {
		turn_of(HOME, GANDALF_STATE_RUNNING);
		part_parks(vm);
		assert_int_equal(asked.power_offs, life + 1);
		vm->state = GANDALF_STATE_OFF;
		whole_ends(vm);
		assert_true(whole_may_start(vm));
	}
}

static void a_part_that_fails_is_the_end_of_the_whole(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(FAR, GANDALF_STATE_STOPPED);
	part_fails(vm);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 1);
	vm->state = GANDALF_STATE_RUNNING;
	assert_int_equal(whole_report_core(vm), HOME);
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_int_equal(asked.falls, 1);
	assert_int_equal(asked.halts + asked.power_offs, 0);
	assert_int_equal(whole_report_core(vm), FAR);
	/* In the next life that is forgotten, but for whose report it was. */
	whole_ends(vm);
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_int_equal(asked.falls, 1);
	assert_int_equal(whole_report_core(vm), FAR);
	whole_fails(vm);
	assert_int_equal(whole_report_core(vm), HOME);
}

static void a_part_that_fails_waits_for_the_vmms_work(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(FAR, GANDALF_STATE_STOPPED);
	part_fails(vm);
	vm->state = GANDALF_STATE_RUNNING;
	vm->vcpus->working = true;
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_int_equal(asked.falls, 0);
	assert_true(vm->halt_wanted);
	vm->vcpus->working = false;
	assert_true(part_settles(vm));
	assert_int_equal(asked.falls, 1);
	assert_false(vm->halt_wanted);
}

/* What on_fault says does not undo a command to stop, which waits for the VMM's work as well. */
static void a_command_to_stop_is_done_though_a_part_has_failed(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(FAR, GANDALF_STATE_STOPPED);
	part_fails(vm);
	vm->state = GANDALF_STATE_RUNNING;
	vm->vcpus->working = vm->halt_wanted = true;
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	vm->vcpus->working = vm->halt_wanted = false;
	assert_false(part_settles(vm));
	assert_int_equal(asked.falls, 0);
}

/* The whole ends by itself before the VMM's work for it does: by a fault, or a reset. */
static void a_part_that_fails_is_forgotten_with_the_life_that_ends(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(FAR, GANDALF_STATE_STOPPED);
	part_fails(vm);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	vm->vcpus->working = true;
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	assert_true(vm->halt_wanted);
	assert_true(vm->fall_wanted);
	whole_ends(vm);
	assert_false(vm->halt_wanted);
	assert_false(vm->fall_wanted);
	/* What a command has asked for goes on. */
	vm->halt_wanted = true;
	whole_ends(vm);
	assert_true(vm->halt_wanted);
	vm->halt_wanted = false;
	vm->vcpus->working = 0;
	assert_int_equal(asked.falls + asked.halts, 0);
}

/* The whole may wait for the part to end, so that it can start anew. */
static void a_whole_is_told_that_the_core_of_a_part_is_dead(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_STARTING);
	whole_ends(vm);
	assert_false(whole_may_start(vm));
	core_is(FAR);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 0);
	outbox_own()->alive = 0;
	seat_vms[1] = vm;
	parts_give_up();
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 1);
	seat_vms[1] = NULL;
	core_is(HOME);
	assert_true(whole_may_start(vm));
	/* Nothing waits for a whole. */
	parts_give_up();
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 1);
}

static void a_part_is_paused_with_the_whole(void **state)
{
	(void)state;
	part_runs(0x1000);
	core_is(HOME);
	whole_pauses(vm, true);
	assert_int_equal(asked.sent[FAR][MESSAGE_PART + PLACE], 1);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(vm->state, GANDALF_STATE_PAUSED);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(vm->state, GANDALF_STATE_PAUSED);
	core_is(HOME);
	whole_pauses(vm, false);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(vm->state, GANDALF_STATE_RUNNING);
	assert_int_equal(asked.halts, 0);
}

static void what_the_vmm_worked_for_settles_behind_that(void **state)
{
	(void)state;
	part_runs(0x1000);
	core_is(HOME);
	assert_false(part_settles(vm));
	whole_pauses(vm, true);
	core_is(FAR);
	assert_true(part_settles(vm));
	assert_int_equal(vm->state, GANDALF_STATE_PAUSED);
	core_is(HOME);
	whole_ends(vm);
	core_is(FAR);
	assert_true(part_settles(vm));
	assert_int_equal(asked.halts, 1);
}

static void a_start_waits_for_the_end_of_a_pause(void **state)
{
	(void)state;
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, 0x4000);
	whole_pauses(vm, true);
	vm->state = GANDALF_STATE_OFF;
	serve_on(FAR, HOME, MESSAGE_START + 1);
	assert_int_equal(asked.starts, 0);
	core_is(HOME);
	whole_pauses(vm, false);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.starts, 1);
	/* The pause of a life ends with it. */
	core_is(HOME);
	whole_pauses(vm, true);
	whole_ends(vm);
	assert_int_equal(part_page_of(HOME)->paused[PLACE], 0);
}

/* The part is down and waits for the end of the pause, but the guest ends first: the whole waits
 * for the part to say that it has ended, too. */
static void a_start_that_a_pause_held_back_ends_with_the_guest(void **state)
{
	(void)state;
	part_runs(0x1000);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	part_start(vm, 1, 0x2000);
	whole_pauses(vm, true);
	vm->state = GANDALF_STATE_OFF;
	serve_on(FAR, HOME, MESSAGE_START + 1);
	turn_of(HOME, GANDALF_STATE_STARTING);
	whole_ends(vm);
	assert_false(whole_may_start(vm));
	turn_of(FAR, GANDALF_STATE_OFF);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.sent[HOME][MESSAGE_PART + PLACE], 1);
	core_is(HOME);
	assert_true(whole_may_start(vm));
	assert_int_equal(asked.starts, 1);
}

/* The idle vCPU is about to start it: what could be paused does not exist yet. */
static void a_pause_takes_back_a_start_that_is_not_done(void **state)
{
	(void)state;
	part_runs(0x5000);
	turn_of(HOME, GANDALF_STATE_RUNNING);
	whole_pauses(vm, true);
	vm->state = GANDALF_STATE_STARTING;
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.halts, 1);
	assert_int_equal(vm->state, GANDALF_STATE_STARTING); /* vm_halt() counts here */
	vm->state = GANDALF_STATE_OFF;
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.starts, 1);
	core_is(HOME);
	whole_pauses(vm, false);
	serve_on(FAR, HOME, MESSAGE_PART + PLACE);
	assert_int_equal(asked.starts, 2);
	assert_int_equal(vm->entry, 0x5000);
}

static void a_sign_of_life_goes_to_the_whole(void **state)
{
	(void)state;
	turn_of(HOME, GANDALF_STATE_RUNNING);
	assert_false(part_shows_life(vm));
	core_is(FAR);
	assert_true(part_shows_life(vm));
	assert_int_equal(asked.sent[HOME][MESSAGE_LIFE], 1);
	serve_on(HOME, FAR, MESSAGE_LIFE);
	assert_int_equal(asked.lives, 1);
	vm->state = GANDALF_STATE_OFF;
	serve_on(HOME, FAR, MESSAGE_LIFE);
	assert_int_equal(asked.lives, 1);
}

static void a_message_about_nobody_is_ignored(void **state)
{
	(void)state;
	turn_of(THIRD, GANDALF_STATE_RUNNING); /* a core without a vCPU of the guest */
	serve_on(THIRD, HOME, MESSAGE_PART + PLACE);
	serve_on(FAR, HOME, MESSAGE_PART + GANDALF_GUESTS_MAXIMUM - 1);
	assert_int_equal(asked.halts | asked.starts | asked.power_offs | asked.housekeeping, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(a_part_starts_where_it_is_told),
		TEST(a_start_of_who_is_not_there_is_none),
		TEST(a_start_of_an_ended_life_is_none),
		TEST(the_whole_waits_for_its_parts_end),
		TEST(nobody_waits_for_a_core_that_is_dead),
		TEST(nobody_waits_for_one_that_has_left_for_a_dead_core),
		TEST(one_that_runs_is_started_anew_when_it_is_down),
		TEST(all_that_run_must_halt_for_ever),
		TEST(the_end_of_all_waits_for_the_vmms_work),
		TEST(one_that_halted_and_was_started_again_runs),
		TEST(a_part_that_was_never_started_counts_as_off),
		TEST(a_part_whose_core_is_dead_counts_as_off),
		TEST(a_part_that_fails_is_the_end_of_the_whole),
		TEST(a_part_that_fails_waits_for_the_vmms_work),
		TEST(a_command_to_stop_is_done_though_a_part_has_failed),
		TEST(a_part_that_fails_is_forgotten_with_the_life_that_ends),
		TEST(a_whole_is_told_that_the_core_of_a_part_is_dead),
		TEST(a_part_is_paused_with_the_whole),
		TEST(what_the_vmm_worked_for_settles_behind_that),
		TEST(a_start_waits_for_the_end_of_a_pause),
		TEST(a_start_that_a_pause_held_back_ends_with_the_guest),
		TEST(a_pause_takes_back_a_start_that_is_not_done),
		TEST(a_sign_of_life_goes_to_the_whole),
		TEST(a_message_about_nobody_is_ignored),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
