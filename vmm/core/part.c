/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the lives of a guest with several vCPUs, on which the whole and its parts agree (part.h).
 * part_start.c has one vCPU start another. Interrupts are masked in all functions but
 * whole_may_start(). This file is in a circle with vm.c and those of moves and orders: what ends a
 * VM ends its siblings (vmm/walls.toml).
 */
#include "core/part.h"

#include "arch.h"
#include "core/migration.h"
#include "core/schedule.h"
#include "core/work.h"
#include "guest_cpus.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "masked_state.h"

OF_CORE struct vm *part_vms[GANDALF_CPUS_MAXIMUM];
OF_CORE static u32 places; /* of VMs behind those of the table's guests, that are taken */

u32 part_life_of(const struct vm *vm)
{
	return part_page_of(vm->guest->cpu)->life[vm->index];
}

void part_describe(struct vm *vm)
{
	vm->cpus = guest_cpus(vm->guest);
	vm->number = vm->guest->cpu == core.index ? 0 : PART_IS_REMOTE;
}

/* Its VM stands behind those of the table's guests. There is room (guest_cpus.c). */
struct vm *part_next(const struct vm *vm)
{
	struct vm *next = &vms[core.vm_count + places];

	for (u32 i = vm->number + 1; i < vm->guest->vcpu_count; i++)
		if (guest_has_seat(vm->guest, i, core.index)) {
			*next = *vm;
			next->number = i;
			places++;
			return next;
		}
	return NULL;
}

u32 vm_places(void)
{
	return core.vm_count + places;
}

u32 part_life_here(const struct vm *vm)
{
	return vm_is_part(vm) ? vm->own_life : part_life_of(vm);
}

/* Has the whole look at what has changed. */
static void whole_is_told(const struct vm *vm)
{
	if (vm->guest->cpu == core.index)
		schedule_housekeeping(HOUSEKEEPING_RELEASE);
	else
		message_send(vm->guest->cpu, MESSAGE_PART + vm->index);
}

/* Has all parts do so, wherever they are. */
static void parts_are_told(const struct vm *vm)
{
	order_stores(); /* who arrives from here on looks for himself */
	message_send_cores(vm->cpus, MESSAGE_PART + vm->index);
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
}

void whole_ends(struct vm *vm)
{
	EXPECTS_MASKED();
	if (vm_is_part(vm))
		return;
	if (vm->fall_wanted) /* a part of the life that ends has failed, whatever else ends it */
		vm->fall_wanted = vm->halt_wanted = false;
	part_page_own()->life[vm->index]++;
	part_page_own()->paused[vm->index] = false;
	parts_are_told(vm);
}

void whole_pauses(const struct vm *vm, bool paused)
{
	part_page_own()->paused[vm->index] = paused;
	parts_are_told(vm);
}

/* A part may at any time but amid work for one of its siblings. A core that has not come up has no
 * part. */
bool whole_may_start(const struct vm *vm)
{
	if (vm->guest->priority == 0 && turn_is_at_work())
		return false;
	for (u32 i = 1; i < vm->guest->vcpu_count && !vm_is_part(vm); i++) {
		u32 cpu = part_core(vm->guest, i);

		if (!part_runs_no_more(i, cpu, part_life_of(vm)))
			return false;
	}
	return true;
}

static void part_ends(const struct vm *vm)
{
	if (part_page_own()->ended[vm->number] == part_life_of(vm))
		return;
	part_page_own()->ended[vm->number] = part_life_of(vm);
	whole_is_told(vm);
}

void parts_give_up(void)
{
	for (u32 i = 1; i < GANDALF_CPUS_MAXIMUM; i++)
		if (seat_vms[i] != NULL)
			whole_is_told(seat_vms[i]);
}

bool whole_is_paused(const struct vm *vm)
{
	return part_page_of(vm->guest->cpu)->paused[vm->index] != 0;
}

/* Starts the part, unless its guest has ended meanwhile. */
static void part_begin(struct vm *vm)
{
	vm->start_wanted = false;
	if (vm->wanted_life != part_life_of(vm))
		return;
	vm->own_life = vm->wanted_life;
	vm->made_for = vm->own_life + 1;
	part_page_own()->parked[vm->number] = 0;
	part_page_own()->ended[vm->number] = vm->own_life - 1;
	vm->entry = vm->wanted_entry;
	vm_request_start(vm);
}

void part_is_released(struct vm *vm)
{
	if (!vm_is_part(vm) || vm_is_alive(vm))
		return;
	if (vm->start_wanted && !whole_is_paused(vm))
		part_begin(vm);
	/* Also if the start was refused: the whole waits for this. */
	if (!vm_is_alive(vm) && !vm->start_wanted && !vm->unreleased)
		part_ends(vm);
}

/* One that is about to start has no vCPU that could be paused: it starts behind the pause. */
static void part_waits(struct vm *vm)
{
	vm_halt(vm);
	vm->start_wanted = true;
}

/* What has become of the whole: its parts are paused and go down with it. While the VMM works for
 * a part neither is done, and part_settles() comes behind that work. */
void part_follows(struct vm *vm)
{
	if (vm_is_alive(vm) && (vm->own_life != part_life_of(vm) || vm->start_wanted))
		vm_halt(vm);
	else if (vm->state == GANDALF_STATE_STARTING && whole_is_paused(vm))
		part_waits(vm);
	else if (vm_is_alive(vm) && vm->state != GANDALF_STATE_STARTING &&
		 whole_is_paused(vm) != (vm->state == GANDALF_STATE_PAUSED))
		vm_pause_with(vm, whole_is_paused(vm));
	part_is_released(vm);
}

/* Returns whether a part was stopped with a report in this life, and notes which. */
static bool any_failed(const struct vm *vm)
{
	for (u32 i = 1; i < vm->guest->vcpu_count; i++) {
		u32 cpu = part_core(vm->guest, i);

		if (part_page_of(cpu)->failed[i] != part_life_of(vm) + 1)
			continue;
		part_page_own()->reporter[vm->index] = cpu + 1;
		return true;
	}
	return false;
}

u32 whole_report_core(const struct vm *vm)
{
	u32 reporter = part_page_of(vm->guest->cpu)->reporter[vm->index];

	return reporter != 0 ? reporter - 1 : vm->guest->cpu;
}

void whole_fails(const struct vm *vm)
{
	part_page_own()->reporter[vm->index] = core.index + 1;
}

/* A part of the guest has failed: what on_fault says is done for its whole, at once or when the
 * VMM's work for this vCPU ends. */
static void whole_follows(struct vm *vm)
{
	vm->fall_wanted = vm->halt_wanted = vm->vcpus->working;
	vcpu_notify(vm->vcpus);
	if (!vm->halt_wanted)
		vm_fall(vm);
}

/* A whole that was to stop by command does, whatever has become of a part meanwhile. */
bool part_settles(struct vm *vm)
{
	bool falls = vm->fall_wanted && any_failed(vm);

	vm->fall_wanted = false;
	if (vm_is_part(vm))
		part_follows(vm);
	else if (falls)
		whole_follows(vm);
	else
		return false;
	return true;
}

/* Returns whether every vCPU that runs has halted for ever. Those that do not run have ended, or
 * were never started in this life. */
static bool all_parked(const struct vm *vm)
{
	u32 life = part_life_of(vm);

	for (u32 i = 0; i < vm->guest->vcpu_count; i++) {
		u32 cpu = part_core(vm->guest, i);

		if ((i == 0 || !part_runs_no_more(i, cpu, life)) &&
		    part_page_of(cpu)->parked[i] != life + 1)
			return false;
	}
	return true;
}

static void whole_learns(struct vm *vm)
{
	if (vm->state == GANDALF_STATE_STARTING)
		schedule_housekeeping(HOUSEKEEPING_START);
	else if (!vm_is_alive(vm) || vm->halt_wanted)
		return;
	else if (any_failed(vm))
		whole_follows(vm);
	else if (!all_parked(vm))
		return;
	else if (vm->vcpus->working)
		schedule_housekeeping(HOUSEKEEPING_RELEASE); /* again, behind that */
	else
		vm_power_off(vm);
}

/* Has a vCPU of this core learn what has become of its siblings. NULL: this core lacks it. */
static void vm_learns(struct vm *vm)
{
	if (vm == NULL)
		return;
	if (vm_is_part(vm))
		part_follows(vm);
	else
		whole_learns(vm);
}

/* What a part learns takes as long as what the idle vCPU has done before. */
void parts_settle(void)
{
	schedule_admit();
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		vm_learns(part_vms[i]);
		schedule_admit();
	}
	seats_settle();
}

/* If the vCPU on whose stack this is goes down with the whole or is paused, or has no room for more
 * interrupts on that stack, its siblings here are left to the idle vCPU, which lets interrupts in
 * between two of them (parts_settle()). */
static void part_serve(UNUSED u32 from, u32 place)
{
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		if (part_vms[i] == NULL || part_vms[i]->index != place)
			continue;
		vm_learns(part_vms[i]);
		if (work_must_end()) {
			schedule_housekeeping(HOUSEKEEPING_RELEASE);
			return;
		}
		work_admit(message);
	}
}
MESSAGES_SERVED(MESSAGE_PART, GANDALF_GUESTS_MAXIMUM, part_serve);

void part_parks(struct vm *vm)
{
	EXPECTS_MASKED();
	part_page_own()->parked[vm->number] = part_life_here(vm) + 1;
	if (vm_is_part(vm))
		whole_is_told(vm);
	else
		whole_learns(vm);
}

/* Who manages guests finds the reason where this core has its first vCPU of the guest. */
void part_fails(struct vm *vm)
{
	struct vm *shown = &vms[vm->index];

	part_page_own()->failed[vm->number] = vm->own_life + 1;
	if (shown != vm)
		memcpy(shown->reason, vm->reason, sizeof(shown->reason));
	whole_is_told(vm);
}

static void whole_shows_life(void)
{
	if (vm_is_alive(part_vms[0]))
		vm_show_life(part_vms[0]);
}

bool part_shows_life(const struct vm *vm)
{
	if (!vm_is_part(vm))
		return false;
	if (part_vms[0] != NULL)
		whole_shows_life();
	else
		message_send(vm->guest->cpu, MESSAGE_LIFE);
	return true;
}

static void life_serve(UNUSED u32 from, UNUSED u32 number)
{
	if (part_vms[0] != NULL)
		whole_shows_life();
}
MESSAGES_SERVED(MESSAGE_LIFE, 1, life_serve);
