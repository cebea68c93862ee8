/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vCPUs of one Linux that share a core: what they tell each other without a message, and who of
 * them has the core.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/at_work.h"
#include "fake/map_at.h"
#include "fake/quiet_idle.h"
#include "fake/asked.h"

#include "core/part.h"
#include "core/schedule.h"
#include "core/vm.h"

#define HOME 1u
#define FAR 3u
#define PLACE 1u /* of the guest among two */
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define ON_HOME 3u

u32 time_tsc_khz = 2000000;
struct vm vms[PLACES_MAXIMUM];
struct vcpu vcpus[PLACES_MAXIMUM], idle_vcpu;

static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_LINUX_SMP, .cpu = HOME, .vcpu_count = 4,
	.vcpu_cpus = { HOME, FAR, HOME, HOME }, .slice_us = 1500,
};
static struct vm *shared[ON_HOME]; /* vCPUs 0, 2 and 3 */
static u32 sent, powered_off;

static void core_is(u32 index)
{
	assert_int_equal(index, HOME);
}

#include "fake/serve_on.h"

/*
 * Own stand-ins: message_send() sends to the far core only; vm_power_off() and vm_fall() end the
 * whole at once.
 */
void message_send(u32 to, u32 message)
{
	assert_int_equal(to, FAR);
	(void)message;
	sent++;
}

void vm_fall(struct vm *vm)
{
	assert_ptr_equal(vm, shared[0]);
	vm->state = GANDALF_STATE_STOPPED;
	whole_ends(vm);
}

void vm_power_off(struct vm *vm)
{
	assert_ptr_equal(vm, shared[0]);
	powered_off++;
	vm->state = GANDALF_STATE_OFF;
}

/* The idle vCPU's turn: it settles all, and releases what has stopped. */
static void idle_works(void)
{
	while ((asked.housekeeping & HOUSEKEEPING_RELEASE) != 0) {
		asked.housekeeping = 0;
		parts_settle();
		for (u32 i = 0; i < ON_HOME; i++)
			if (shared[i]->unreleased) {
				shared[i]->unreleased = false;
				part_is_released(shared[i]);
			}
	}
}

/* Starts a part, and has it run. */
static void part_runs(struct vm *vm, u32 entry)
{
	part_start(shared[0], vm->number, entry);
	idle_works();
	assert_int_equal(vm->state, GANDALF_STATE_STARTING);
	assert_int_equal(vm->entry, entry);
	vm->state = GANDALF_STATE_RUNNING;
}

/* The places behind the guests' are taken once in a core's life, so all tests have the same. */
static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	outbox_of(HOME)->alive = 1;
	for (u32 i = 0; i < ON_HOME; i++) {
		shared[i]->own_life = 0;
		shared[i]->start_wanted = shared[i]->unreleased = false;
		shared[i]->state = i == 0 ? GANDALF_STATE_RUNNING : GANDALF_STATE_OFF;
		interrupted_at_work(shared[i]->vcpus, false);
		shared[i]->vcpus->state = VCPU_RUNNING;
	}
	asked.housekeeping = sent = asked.lives = powered_off = 0;
	return 0;
}

static void each_has_a_vm_and_a_number(void **state)
{
	(void)state;
	assert_int_equal(shared[0]->number, 0);
	assert_int_equal(shared[1]->number, 2);
	assert_int_equal(shared[2]->number, 3);
	assert_int_equal(vm_places(), 4);
	assert_false(vm_is_part(shared[0]));
	assert_true(vm_is_part(shared[1]));
	assert_false(vm_is_remote(shared[0]) || vm_is_remote(shared[1]));
	core.index = FAR; /* what stands for the guest is none of its vCPUs */
	vms[0].guest = &guest;
	part_describe(&vms[0]);
	assert_true(vm_is_remote(&vms[0]));
	assert_int_equal(part_next(&vms[0])->number, 1);
	assert_null(part_next(part_next(&vms[0])));
	core.index = HOME;
}

static void one_is_started_without_a_message(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	assert_int_equal(shared[2]->state, GANDALF_STATE_OFF);
	assert_int_equal(sent, 0);
	/* As at INIT, one that runs begins anew. */
	part_runs(shared[1], 0x6000);
	assert_int_equal(sent, 0);
}

static void one_starts_another(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	part_start(shared[1], 3, 0x7000);
	idle_works();
	assert_int_equal(shared[2]->state, GANDALF_STATE_STARTING);
	assert_int_equal(shared[2]->entry, 0x7000);
}

static void all_go_down_with_the_whole(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	part_runs(shared[2], 0x5000);
	shared[0]->state = GANDALF_STATE_STARTING;
	whole_ends(shared[0]);
	assert_false(whole_may_start(shared[0]));
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
	idle_works();
	assert_int_equal(shared[1]->state, GANDALF_STATE_OFF);
	assert_int_equal(shared[2]->state, GANDALF_STATE_OFF);
}

/* A message that tells of it is served on the stack of one of them: once that has gone down no
 * interrupt can be let in before the next one, which waits for the idle vCPU. */
static void all_do_not_go_down_in_one_section(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	part_runs(shared[2], 0x5000);
	core.pauses = true;
	core.current = shared[1]->vcpus;
	whole_ends(shared[0]);
	asked.housekeeping = 0;
	serve_on(HOME, FAR, MESSAGE_PART + PLACE);
	core.pauses = false;
	assert_int_equal(shared[1]->state, GANDALF_STATE_OFF);
	assert_int_equal(shared[2]->state, GANDALF_STATE_RUNNING);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
	idle_works();
	assert_int_equal(shared[2]->state, GANDALF_STATE_OFF);
}

/* The idle vCPU is asked for the start behind the last of them. */
static void the_whole_starts_behind_the_last(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	part_runs(shared[2], 0x5000);
	shared[0]->state = GANDALF_STATE_STARTING;
	whole_ends(shared[0]);
	for (u32 i = 1; i < ON_HOME; i++) {
		assert_false(whole_may_start(shared[0]));
		vm_halt(shared[i]);
		shared[i]->unreleased = false;
		part_is_released(shared[i]);
	}
	assert_true(whole_may_start(shared[0]));
	asked.housekeeping = 0;
	parts_settle();
	assert_int_equal(asked.housekeeping & HOUSEKEEPING_START, HOUSEKEEPING_START);
}

static void a_pause_concerns_all(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	whole_pauses(shared[0], true);
	idle_works();
	assert_int_equal(shared[1]->state, GANDALF_STATE_PAUSED);
	assert_int_equal(shared[2]->state, GANDALF_STATE_OFF);
	whole_pauses(shared[0], false);
	idle_works();
	assert_int_equal(shared[1]->state, GANDALF_STATE_RUNNING);
}

static void all_that_run_must_halt_for_ever(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	part_parks(shared[0]);
	assert_int_equal(powered_off, 0);
	part_parks(shared[1]);
	idle_works();
	assert_int_equal(powered_off, 1);
}

/* The reason of one whose VM no other core knows is found where the guest's is. */
static void one_that_fails_is_the_end_of_the_whole(void **state)
{
	(void)state;
	part_runs(shared[1], 0x5000);
	strcpy(shared[1]->reason, "a reason");
	shared[1]->state = GANDALF_STATE_STOPPED;
	part_fails(shared[1]);
	idle_works();
	assert_int_equal(shared[0]->state, GANDALF_STATE_STOPPED);
	assert_int_equal(whole_report_core(shared[0]), HOME);
	assert_string_equal(vms[PLACE].reason, "a reason");
}

static void a_sign_of_life_needs_no_message(void **state)
{
	(void)state;
	assert_true(part_shows_life(shared[2]));
	assert_int_equal(asked.lives, 1);
	assert_int_equal(sent, 0);
}

static void turns_are_as_long_as_it_says(void **state)
{
	static struct vcpu rtos = { .priority = 5 };

	(void)state;
	assert_int_equal(turn_length(shared[1]->vcpus), 3000000);
	assert_int_equal(turn_length(&rtos), 2000000);
}

/* A turn's end waits for the VMM's work for the vCPU whose turn it was. */
static void work_is_not_interrupted_by_a_sibling(void **state)
{
	(void)state;
	assert_ptr_equal(turn_holder(shared[1]->vcpus), shared[1]->vcpus);
	interrupted_at_work(shared[2]->vcpus, true);
	assert_ptr_equal(turn_holder(shared[1]->vcpus), shared[2]->vcpus);
	assert_ptr_equal(turn_holder(shared[2]->vcpus), shared[2]->vcpus);
	shared[2]->vcpus->state = VCPU_OFF;
	assert_ptr_equal(turn_holder(shared[1]->vcpus), shared[1]->vcpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(each_has_a_vm_and_a_number),
		TEST(one_is_started_without_a_message),
		TEST(one_starts_another),
		TEST(all_go_down_with_the_whole),
		TEST(all_do_not_go_down_in_one_section),
		TEST(the_whole_starts_behind_the_last),
		TEST(a_pause_concerns_all),
		TEST(all_that_run_must_halt_for_ever),
		TEST(one_that_fails_is_the_end_of_the_whole),
		TEST(a_sign_of_life_needs_no_message),
		TEST(turns_are_as_long_as_it_says),
		TEST(work_is_not_interrupted_by_a_sibling),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	core = (struct core){ .index = HOME, .vm_count = 2, .vcpu_count = ON_HOME };
	vms[PLACE] = (struct vm){ .guest = &guest, .index = PLACE };
	part_describe(&vms[PLACE]);
	for (u32 i = 0; i < ON_HOME; i++) {
		shared[i] = i == 0 ? &vms[PLACE] : part_next(shared[i - 1]);
		shared[i]->vcpus = &vcpus[i];
		vcpus[i] = (struct vcpu){ .vm = shared[i], .shares = true };
		part_vms[shared[i]->number] = shared[i];
	}
	if (part_next(shared[ON_HOME - 1]) != NULL)
		return 1;
	return RUN_TESTS(tests);
}
