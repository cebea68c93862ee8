/* SPDX-License-Identifier: Apache-2.0 */
/* Moves vCPUs between cores, when they are asked to (migration.h). */
#include "core/migration.h"

#include "arch.h"
#include "core/feature.h"
#include "core/module.h"
#include "core/schedule.h"
#include "core/time.h"
#include "core/trace.h"
#include "guest_cpus.h"
#include "masked_state.h"
#include "whole.h"

static void move_trace(enum trace_type type, const struct vm *vm, u32 cpu)
{
	trace(type, vm->index, GANDALF_TRACE_MOVES | vm->number << 8 | cpu);
}

/* --- Departure --- */

static bool seat_can_be_left(const struct vm *vm)
{
	return vm->state == GANDALF_STATE_RUNNING && vm->own_life == part_life_of(vm) &&
	       !vm->start_wanted && !vm->halt_wanted && !vm->vcpus->working &&
	       (vm->vcpus->state == VCPU_RUNNING || vm->vcpus->state == VCPU_HALTED);
}

void seat_depart(struct vm *vm)
{
	u32 to = vm->leaves_for - 1;
	struct vcpu *vcpu = vm->vcpus;
	u32 begin = seat_clock();

	EXPECTS_MASKED();
	vm->leaves_for = 0;
	if (to == core.index || outbox_of(to)->alive == 0 || !seat_can_be_left(vm))
		return;
	part_goes(vm);
	vcpu->paused = vcpu->state;
	vcpu->state = VCPU_OFF;
	vm->state = GANDALF_STATE_OFF;
	processor_leave(vcpu);
	vm->seat->leave(vcpu);
	move_trace(TRACE_stop, vm, to);
	part_page_own()->left_for[vm->number] = to;
	part_page_own()->left[vm->number] = part_page_own()->held[vm->number] + 1;
	message_send(to, MESSAGE_LEFT + vm->number);
	seat_took(GANDALF_TICKS_LEAVE, vm->number, begin);
}

/* --- Arrival --- */

/* Makes the seat's tables and its empty shadow, as the start of a vCPU does. */
static void seat_make(struct vm *vm, u32 life)
{
	struct vcpu *vcpu = vm->vcpus;

	if (vm->made_for != 0)
		vcpu->operations->release(vcpu);
	vm->made_for = life + 1;
	processor_reset(vcpu);
	schedule_admit();
	vcpu->operations->start(vcpu);
}

/* What part_page says of the vCPU, from the core that it has left. At home it is nobody's refugee
 * any more. */
static void page_copy(u32 from, u32 number)
{
	volatile struct part_page *own = part_page_own(), *theirs = part_page_of(from);

	own->ended[number] = theirs->ended[number];
	own->parked[number] = theirs->parked[number];
	own->failed[number] = theirs->failed[number];
	own->lost[number] = theirs->lost[number];
	own->stolen[number] = theirs->stolen[number];
	own->refugee_of[number] = theirs->refugee_of[number];
	if (own->refugee_of[number] == core.index + 1)
		own->refugee_of[number] = 0;
}

/* A turn that it has used up, which nobody noticed while it was alone here, begins anew. One that
 * it has not goes on: else a vCPU that comes and goes would never be put behind its siblings. */
static void turn_is_kept(struct vcpu *vcpu)
{
	if ((u32)vcpu->ran - vcpu->turn >= turn_length(vcpu))
		vcpu->turn = (u32)vcpu->ran;
}

/* From the store to held on it is here, and all that was sent to it before is looked for. */
static void seat_take(struct vm *vm, u32 from)
{
	EXPECTS_MASKED();
	page_copy(from, vm->number);
	processor_start(vm->vcpus);
	vm->state = GANDALF_STATE_RUNNING;
	vm->vcpus->state = VCPU_RUNNING;
	turn_is_kept(vm->vcpus);
	part_comes(vm);
	part_page_own()->held[vm->number] = part_page_of(from)->held[vm->number] + 1;
	order_stores();
	move_trace(TRACE_start, vm, from);
	vm->seat->arrive(vm->vcpus);
	vcpu_notify(vm->vcpus);
	part_follows(vm);
}

static void seat_arrive(struct vm *vm)
{
	u32 from = part_core(vm->guest, vm->number);
	u32 begin = seat_clock();

	vm->own_life = vm->seat->life(vm, from);
	if (vm->made_for != vm->own_life + 1)
		seat_make(vm, vm->own_life);
	vm->seat->copy(vm, from);
	schedule_pause();
	seat_take(vm, from);
	seat_took(GANDALF_TICKS_ARRIVE, vm->number, begin);
}

/* Does what a request wants, unless an RTOS has the core that it is for: nobody would arrive there.
 * Who waits asks again. A policy has looked before (preemption.c). */
static void seat_obey(struct vm *vm)
{
	if (part_page_of(vm->leaves_for - 1)->of_rtos != 0)
		vm->leaves_for = 0;
	else
		seat_depart(vm);
}

void seats_settle(void)
{
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		struct vm *vm = seat_vms[i];

		if (vm == NULL)
			continue;
		if (part_vms[i] == NULL && seat_is_expected(vm))
			seat_arrive(vm);
		else if (part_vms[i] != NULL && vm->leaves_for != 0)
			seat_obey(vm);
		schedule_admit();
	}
}

static void left_serve(UNUSED u32 from, UNUSED u32 number)
{
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
}
MESSAGES_SERVED(MESSAGE_LEFT, GANDALF_CPUS_MAXIMUM, left_serve);

/* --- Requests --- */

/* One that comes back of its own accord (trap_policy.h) stays where it was moved to by hand: else
 * it would be back at once. What other policies have sent away is asked back all the same. */
static void seat_is_moved(const struct vm *vm, u32 to)
{
	volatile u32 *refugee_of = &part_page_own()->refugee_of[vm->number];

	if (VCPU_MAY_BE_WATCHED && vm->vcpus->watched != 0 && *refugee_of != to + 1)
		*refugee_of = 0;
}

/* What one core wants of two guests' vCPUs of the same number is one variable, and may be read when
 * it is of the other one: only where this guest's vCPU has a seat is it let go to. */
static void seat_ask(u32 number, u32 to)
{
	struct vm *vm = part_vms[number];

	if (vm == NULL || !vm_is_seat(vm) || !guest_has_seat(vm->guest, number, to))
		return;
	vm->leaves_for = to + 1;
	seat_is_moved(vm, to);
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
}

/* A request that reaches a core which no longer has the vCPU is lost: who waits asks again. */
static void move_serve(u32 from, u32 number)
{
	u32 wanted = part_page_of(from)->wanted[number];

	if (wanted != 0)
		seat_ask(number, wanted - 1);
}
MESSAGES_SERVED(MESSAGE_MOVE, GANDALF_CPUS_MAXIMUM, move_serve);

int seat_move(const struct vm *vm, u32 number, u32 to)
{
	u32 at = part_core(vm->guest, number);

	if (at == to && !seat_is_left(at, number))
		return 0;
	if (outbox_of(to)->alive == 0 ||
	    part_runs_no_more(number, at, part_life_of(vm)))
		return GANDALF_ERROR_STATE;
	part_page_own()->wanted[number] = to + 1;
	if (at == core.index)
		seat_ask(number, to);
	else
		message_send(at, MESSAGE_MOVE + number);
	return GANDALF_ERROR_BUSY;
}

FEATURE(migration, FEATURE_MIGRATION);
