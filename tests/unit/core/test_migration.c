/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vCPU that moves between two cores: who has it, when it may leave, and what becomes of requests
 * that cross it. Both cores are played here: core.index says whose turn it is, and each has a seat.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "arch.h"
#include "core/migration.h"
#include "core/module.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/vm.h"

#define PLACE 2u
#define FIRST 1u /* the core of the whole */
#define HOME 3u  /* where the vCPU is at first */
#define MOVED 1u /* its number */
#define TURN 1000u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct vm vms[PLACES_MAXIMUM];
struct gandalf_table system_table = { .cpus = GANDALF_CPUS_MAXIMUM };
struct vm *part_vms[GANDALF_CPUS_MAXIMUM];

static struct gandalf_guest guest;
static struct vm seats[GANDALF_CPUS_MAXIMUM];
static struct vcpu seat_vcpus[GANDALF_CPUS_MAXIMUM];
static u32 reset, started, released, followed;
static struct vm *left, *copied, *arrived;

u32 part_life_of(const struct vm *vm)
{
	return part_page_of(FIRST)->life[vm->index];
}

void part_follows(struct vm *vm)
{
	assert_ptr_equal(vm, part_vms[MOVED]);
	followed++;
}

u64 time_milliseconds(u64 ticks)
{
	return ticks / 1000;
}

void processor_leave(struct vcpu *vcpu)
{
	assert_int_equal(vcpu->state, VCPU_OFF);
}

void processor_reset(struct vcpu *vcpu)
{
	(void)vcpu;
	reset++;
}

u32 turn_length(const struct vcpu *vcpu)
{
	(void)vcpu;
	return TURN;
}

void processor_start(struct vcpu *vcpu)
{
	(void)vcpu;
}

int policy_act(const struct vm *vm, u32 policy)
{
	assert_ptr_equal(vm, part_vms[MOVED]);
	return (int)policy;
}

static void shadow_start(struct vcpu *vcpu)
{
	(void)vcpu;
	started++;
}

static void shadow_release(struct vcpu *vcpu)
{
	(void)vcpu;
	released++;
}

static const struct vcpu_operations operations = {
	.start = shadow_start, .release = shadow_release,
};

static void seat_leave(struct vcpu *vcpu)
{
	left = vcpu->vm;
}

static u32 seat_life(const struct vm *vm, u32 from)
{
	assert_int_equal(vm->number, MOVED);
	return seats[from].own_life;
}

/* Nothing of the vCPU is here yet, and whoever asks is told that it is where it was. */
static void seat_copy(struct vm *vm, u32 from)
{
	assert_int_equal(part_core(&guest, MOVED), from);
	assert_null(part_vms[MOVED]);
	copied = vm;
}

static void seat_arrive(struct vcpu *vcpu)
{
	assert_int_equal(part_core(&guest, MOVED), core.index);
	arrived = vcpu->vm;
}

static const struct seat_operations seat = {
	.leave = seat_leave, .life = seat_life, .copy = seat_copy, .arrive = seat_arrive,
};

/* Whose turn it is. Each core knows the seat that it has, and the vCPU if it is in it. */
static void core_is(u32 index)
{
	core.index = index;
	seat_vms[MOVED] = &seats[index];
	part_vms[MOVED] = seats[index].state == GANDALF_STATE_OFF ? NULL : &seats[index];
}

#include "fake/serve_on.h"

static void settle_on(u32 index)
{
	core_is(index);
	seats_settle();
}

static int move_from(u32 index, u32 to)
{
	core_is(index);
	return part_act(&seats[index], GANDALF_ACTION_MOVE, MOVED, to);
}

/* From where it is to another core, whose own guest asks for it. */
static void moves(u32 from, u32 to)
{
	assert_int_equal(move_from(to, to), GANDALF_ERROR_BUSY);
	serve_on(from, to, MESSAGE_MOVE + MOVED);
	settle_on(from);
	assert_int_equal(asked.traced.type, TRACE_stop);
	assert_int_equal(asked.traced.second, GANDALF_TRACE_MOVES | MOVED << 8 | to);
	settle_on(to);
	assert_int_equal(asked.traced.type, TRACE_start);
	assert_int_equal(asked.traced.second, GANDALF_TRACE_MOVES | MOVED << 8 | from);
	assert_int_equal(asked.traced.first, PLACE);
	assert_int_equal(move_from(to, to), 0);
}

static struct vcpu worker; /* has all cores, and moves the vCPU */

static int start(void **state)
{
	(void)state;
	worker.ran = 0;
	core.current = &worker;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(asked.sent, 0, sizeof(asked.sent));
	asked.housekeeping = reset = started = released = followed = 0;
	left = copied = arrived = NULL;
	guest = (struct gandalf_guest){
		.kind = GANDALF_KIND_LINUX_SMP, .flags = GANDALF_GUEST_MIGRATES, .cpu = FIRST,
		.vcpu_count = 2, .vcpu_cpus = { FIRST, HOME },
	};
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		outbox_of(i)->alive = 1;
		seat_vcpus[i] = (struct vcpu){ .vm = &seats[i], .operations = &operations };
		seats[i] = (struct vm){ .guest = &guest, .index = PLACE, .vcpus = &seat_vcpus[i],
					.seat = &seat };
		seats[i].number = MOVED;
	}
	seats[HOME].state = GANDALF_STATE_RUNNING;
	seats[HOME].made_for = 1;
	seat_vcpus[HOME].state = VCPU_RUNNING;
	part_page_of(HOME)->ended[MOVED] = (u32)-1;
	return 0;
}

static void it_leaves_and_arrives(void **state)
{
	(void)state;
	assert_int_equal(move_from(FIRST, FIRST), GANDALF_ERROR_BUSY);
	assert_int_equal(asked.sent[HOME][MESSAGE_MOVE + MOVED], 1);
	serve_on(HOME, FIRST, MESSAGE_MOVE + MOVED);
	assert_null(left); /* the interrupt only asks the idle vCPU */
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
	settle_on(HOME);
	assert_ptr_equal(left, &seats[HOME]);
	assert_int_equal(seats[HOME].state, GANDALF_STATE_OFF);
	assert_int_equal(asked.sent[FIRST][MESSAGE_LEFT + MOVED], 1);
	/* It counts as being where it was, until it has arrived. */
	assert_int_equal(part_core(&guest, MOVED), HOME);
	assert_true(seat_is_left(HOME, MOVED));
	core_is(HOME);
	assert_int_equal(seat_core_ahead(&guest, MOVED), FIRST);
	settle_on(FIRST);
	assert_ptr_equal(copied, &seats[FIRST]);
	assert_ptr_equal(arrived, &seats[FIRST]);
	assert_int_equal(seats[FIRST].state, GANDALF_STATE_RUNNING);
	assert_true(vcpu_is_notified(seats[FIRST].vcpus));
	assert_int_equal(followed, 1);
	assert_int_equal(part_core(&guest, MOVED), FIRST);
	assert_int_equal(move_from(FIRST, FIRST), 0);
}

static void stays_are_counted(void **state)
{
	(void)state;
	for (u32 i = 0; i < 3; i++) {
		moves(HOME, FIRST);
		moves(FIRST, HOME);
	}
	assert_int_equal(part_act(&seats[HOME], GANDALF_ACTION_WHERE, MOVED, 0), 6 << 8 | HOME);
	/* A count that has gone round is still the higher one. */
	part_page_of(HOME)->held[MOVED] = (u32)-1;
	part_page_of(FIRST)->held[MOVED] = (u32)-2;
	part_page_of(FIRST)->left[MOVED] = (u32)-1;
	moves(HOME, FIRST);
	assert_int_equal(part_page_of(FIRST)->held[MOVED], 0);
}

/* It goes round and back, and each core finds it, wherever it has seen it last. */
static void it_is_found_wherever_it_has_gone(void **state)
{
	static const u32 way[] = { HOME, FIRST, 5, 6, FIRST, HOME, 6, 5, HOME };

	(void)state;
	guest.vcpu_count = 4;
	guest.vcpu_cpus[2] = 5;
	guest.vcpu_cpus[3] = 6;
	for (u32 i = 0; i + 1 < sizeof(way) / sizeof(way[0]); i++) {
		moves(way[i], way[i + 1]);
		for (u32 index = 0; index < GANDALF_CPUS_MAXIMUM; index += i + 1) {
			core_is(index);
			assert_int_equal(part_core(&guest, MOVED), way[i + 1]);
			assert_int_equal(seats[index].seen_on, way[i + 1] + 1);
		}
	}
	/* A core that has no seat of this guest finds it, too. */
	seat_vms[MOVED] = NULL;
	assert_int_equal(part_core(&guest, MOVED), HOME);
	assert_int_equal(part_core(&guest, 0), FIRST);
}

static int ticks_of(u32 kind)
{
	return part_act(&seats[HOME], GANDALF_ACTION_TICKS, MOVED, kind);
}

/* Each core counts its own, and all are told. */
static void what_moves_take_is_counted(void **state)
{
	(void)state;
	processor.tsc = 1000;
	moves(HOME, FIRST); /* time stands still */
	for (u32 kind = 0; kind < GANDALF_TICKS_KINDS; kind++)
		assert_int_equal(ticks_of(kind), 0);
	core_is(HOME);
	seat_took(GANDALF_TICKS_LEAVE, MOVED, 700);
	seat_took(GANDALF_TICKS_SETTLE, MOVED, 0xffffff00); /* the clock's lower half began anew */
	core_is(FIRST);
	seat_took(GANDALF_TICKS_LEAVE, MOVED, 990);
	core_is(0);
	seat_took(GANDALF_TICKS_LEAVE, MOVED, 999); /* none of the guest's */
	assert_int_equal(ticks_of(GANDALF_TICKS_LEAVE), 310);
	assert_int_equal(ticks_of(GANDALF_TICKS_ARRIVE), 0);
	assert_int_equal(ticks_of(GANDALF_TICKS_SETTLE), 1000 + 0x100);
	assert_int_equal(ticks_of(GANDALF_TICKS_KINDS), GANDALF_ERROR_ARGUMENT);
}

/* A vCPU that comes for less than a turn each time is put behind its siblings all the same. */
static void a_turn_goes_on_if_it_is_not_used_up(void **state)
{
	struct vcpu *there = seats[FIRST].vcpus;

	(void)state;
	there->ran = there->turn = (u32)-100;
	for (u32 ran = 0; ran < TURN; ran += TURN / 4) {
		moves(HOME, FIRST);
		assert_int_equal(there->turn, (u32)-100);
		moves(FIRST, HOME);
		there->ran += TURN / 4;
	}
	moves(HOME, FIRST);
	assert_int_equal(there->turn, (u32)-100 + TURN);
}

static void what_others_do_meanwhile_is_no_part_of_a_move(void **state)
{
	u32 begin;

	(void)state;
	core_is(HOME);
	begin = seat_clock();
	processor.tsc += 500;
	worker.ran -= 200; /* it had given the core away for so long */
	seat_took(GANDALF_TICKS_SETTLE, MOVED, begin);
	assert_int_equal(ticks_of(GANDALF_TICKS_SETTLE), 300);
}

static void the_waits_of_all_cores_are_told(void **state)
{
	(void)state;
	assert_int_equal(ticks_of(GANDALF_TICKS_WAITED), 0);
	part_page_of(HOME)->waited[MOVED] = 5000;
	part_page_of(FIRST)->waited[MOVED] = 2000;
	part_page_of(0)->waited[MOVED] = 7000; /* none of the guest's */
	assert_int_equal(ticks_of(GANDALF_TICKS_WAITED), 7);
}

/* Its tables are made once in a life, and made anew in the next one. */
static void a_seat_lasts_for_a_life(void **state)
{
	(void)state;
	moves(HOME, FIRST);
	moves(FIRST, HOME);
	moves(HOME, FIRST);
	assert_int_equal(started, 1);
	assert_int_equal(released, 0);
	moves(FIRST, HOME);
	part_page_of(FIRST)->life[PLACE] = 1;
	seats[HOME].own_life = 1;
	moves(HOME, FIRST);
	assert_int_equal(started, 2);
	assert_int_equal(released, 1);
	assert_int_equal(reset, 2);
	assert_int_equal(seats[FIRST].own_life, 1);
}

static void what_its_page_says_moves_with_it(void **state)
{
	(void)state;
	part_page_of(HOME)->parked[MOVED] = 1;
	part_page_of(HOME)->failed[MOVED] = 7;
	part_page_of(HOME)->refugee_of[MOVED] = HOME + 1;
	moves(HOME, FIRST);
	assert_int_equal(part_page_of(FIRST)->ended[MOVED], (u32)-1);
	assert_int_equal(part_page_of(FIRST)->parked[MOVED], 1);
	assert_int_equal(part_page_of(FIRST)->failed[MOVED], 7);
	assert_int_equal(part_page_of(FIRST)->refugee_of[MOVED], HOME + 1);
	/* It is home again. */
	moves(FIRST, HOME);
	assert_int_equal(part_page_of(HOME)->refugee_of[MOVED], 0);
}

/* Has the vCPU asked to leave while something forbids that, which costs the request. */
static void stays_with(u32 state, enum vcpu_state vcpu_state, const char *why)
{
	seats[HOME].state = state;
	seat_vcpus[HOME].state = vcpu_state;
	assert_int_equal(move_from(HOME, FIRST), GANDALF_ERROR_BUSY);
	settle_on(HOME);
	if (left != NULL)
		fail_msg("it leaves though %s", why);
	assert_int_equal(seats[HOME].leaves_for, 0);
	assert_int_equal(asked.sent[FIRST][MESSAGE_LEFT + MOVED], 0);
}

static void it_leaves_only_between_works(void **state)
{
	(void)state;
	stays_with(GANDALF_STATE_PAUSED, VCPU_PAUSED, "it is paused");
	stays_with(GANDALF_STATE_STARTING, VCPU_OFF, "it starts");
	seats[HOME].vcpus->working = true;
	stays_with(GANDALF_STATE_RUNNING, VCPU_RUNNING, "the VMM works for it");
	seats[HOME].vcpus->working = false;
	seats[HOME].start_wanted = true;
	stays_with(GANDALF_STATE_RUNNING, VCPU_RUNNING, "it is to start anew");
	seats[HOME].start_wanted = false;
	seats[HOME].halt_wanted = true;
	stays_with(GANDALF_STATE_RUNNING, VCPU_RUNNING, "it is to halt");
	seats[HOME].halt_wanted = false;
	part_page_of(FIRST)->life[PLACE] = 1;
	part_page_of(HOME)->ended[MOVED] = 0;
	stays_with(GANDALF_STATE_RUNNING, VCPU_RUNNING, "its guest has ended");
	part_page_of(FIRST)->life[PLACE] = 0;
	part_page_of(HOME)->ended[MOVED] = (u32)-1;
	seats[HOME].state = GANDALF_STATE_RUNNING;
	seat_vcpus[HOME].state = VCPU_HALTED;
	moves(HOME, FIRST);
	assert_int_equal(seat_vcpus[HOME].paused, VCPU_HALTED);
}

static void it_leaves_for_no_core_that_has_ended(void **state)
{
	(void)state;
	assert_int_equal(move_from(HOME, FIRST), GANDALF_ERROR_BUSY);
	outbox_of(FIRST)->alive = 0;
	settle_on(HOME);
	assert_null(left);
	assert_int_equal(move_from(HOME, FIRST), GANDALF_ERROR_STATE);
	/* One that has left for such a core is not asked for any more. */
	outbox_of(FIRST)->alive = 1;
	assert_int_equal(move_from(HOME, FIRST), GANDALF_ERROR_BUSY);
	settle_on(HOME);
	assert_ptr_equal(left, &seats[HOME]);
	outbox_of(FIRST)->alive = 0;
	assert_int_equal(move_from(HOME, HOME), GANDALF_ERROR_STATE);
}

/* Nobody would have it arrive there. It leaves when it is asked for again. */
static void it_leaves_for_no_core_that_an_rtos_has(void **state)
{
	(void)state;
	part_page_of(FIRST)->of_rtos = 1;
	assert_int_equal(move_from(HOME, FIRST), GANDALF_ERROR_BUSY);
	settle_on(HOME);
	assert_null(left);
	part_page_of(FIRST)->of_rtos = 0;
	moves(HOME, FIRST);
}

/* A request that reaches the core behind the departure is lost, and harms nothing. */
static void a_late_request_is_lost(void **state)
{
	(void)state;
	moves(HOME, FIRST);
	asked.housekeeping = 0;
	serve_on(HOME, FIRST, MESSAGE_MOVE + MOVED);
	assert_int_equal(asked.housekeeping, 0);
	assert_int_equal(seats[HOME].leaves_for, 0);
	settle_on(HOME);
	assert_int_equal(part_core(&guest, MOVED), FIRST);
}

/* One core may want vCPUs of two guests to move, and says both in the same place. */
static void a_request_for_the_vcpu_of_another_guest_is_lost(void **state)
{
	(void)state;
	asked.housekeeping = 0;
	part_page_of(FIRST)->wanted[MOVED] = 2 + 1; /* where this guest's has no seat */
	serve_on(HOME, FIRST, MESSAGE_MOVE + MOVED);
	assert_int_equal(asked.housekeeping, 0);
	assert_int_equal(seats[HOME].leaves_for, 0);
	part_page_of(FIRST)->wanted[MOVED] = FIRST + 1;
	serve_on(HOME, FIRST, MESSAGE_MOVE + MOVED);
	assert_int_equal(seats[HOME].leaves_for, FIRST + 1);
}

/* What on-demand has sent away comes back, whoever moves it; what comes of its own accord does not,
 * unless it is its own return that is asked for. */
static void one_that_is_watched_stays_where_it_is_moved_to(void **state)
{
	volatile u32 *refugee_of = &part_page_of(HOME)->refugee_of[MOVED];

	(void)state;
	*refugee_of = 2 + 1;
	move_from(HOME, FIRST);
	assert_int_equal(*refugee_of, 2 + 1);
	seat_vcpus[HOME].watched = 1;
	*refugee_of = FIRST + 1;
	move_from(HOME, FIRST);
	assert_int_equal(*refugee_of, FIRST + 1);
	*refugee_of = 2 + 1;
	move_from(HOME, FIRST);
	assert_int_equal(*refugee_of, 0);
}

/* The number of a vCPU stands where others have the policy. */
static void a_policy_is_handed_on(void **state)
{
	(void)state;
	core_is(HOME);
	assert_int_equal(part_act(&seats[HOME], GANDALF_ACTION_POLICY, GANDALF_PREEMPTION_ASK, 0),
			 GANDALF_PREEMPTION_ASK);
}

static void what_cannot_move_is_refused(void **state)
{
	(void)state;
	core_is(FIRST);
	assert_int_equal(part_act(&seats[FIRST], GANDALF_ACTION_MOVE, 0, HOME),
			 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(part_act(&seats[FIRST], GANDALF_ACTION_MOVE, 2, HOME),
			 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(move_from(FIRST, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(move_from(FIRST, 0xffffffff), GANDALF_ERROR_ARGUMENT);
	part_page_of(HOME)->ended[MOVED] = 0;
	assert_int_equal(move_from(FIRST, FIRST), GANDALF_ERROR_STATE);
	guest.flags = 0;
	assert_int_equal(move_from(FIRST, HOME), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(asked.housekeeping, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(it_leaves_and_arrives),
		TEST(stays_are_counted),
		TEST(it_is_found_wherever_it_has_gone),
		TEST(what_moves_take_is_counted),
		TEST(a_turn_goes_on_if_it_is_not_used_up),
		TEST(what_others_do_meanwhile_is_no_part_of_a_move),
		TEST(the_waits_of_all_cores_are_told),
		TEST(a_seat_lasts_for_a_life),
		TEST(what_its_page_says_moves_with_it),
		TEST(it_leaves_only_between_works),
		TEST(it_leaves_for_no_core_that_has_ended),
		TEST(it_leaves_for_no_core_that_an_rtos_has),
		TEST(a_late_request_is_lost),
		TEST(a_request_for_the_vcpu_of_another_guest_is_lost),
		TEST(one_that_is_watched_stays_where_it_is_moved_to),
		TEST(a_policy_is_handed_on),
		TEST(what_cannot_move_is_refused),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
