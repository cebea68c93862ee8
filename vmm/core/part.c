/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the lives of a guest with several vCPUs, on which the whole and its parts agree (part.h).
 * Interrupts are masked in all functions but whole_may_start().
 */
#include "core/part.h"

#include "arch.h"
#include "core/schedule.h"
#include "lib/owner.h"
#include "masked_state.h"

OF_CORE struct vm *part_vm;
OF_CORE static u32 own_life; /* that of the part on this core */
/* What the part is to do as soon as it is down. */
OF_CORE static bool start_wanted;
OF_CORE static u32 wanted_life, wanted_entry;

static volatile struct part_page *own_page(void)
{
	return part_page_of(core.index);
}

static u32 life_of(const struct vm *vm)
{
	return part_page_of(vm->guest->cpu)->life[vm->index];
}

/* The life in which this core's vCPU of the guest was started. */
static u32 life_here(const struct vm *vm)
{
	return vm_is_part(vm) ? own_life : life_of(vm);
}

static void whole_is_told(const struct vm *vm)
{
	message_send(vm->guest->cpu, MESSAGE_PART + vm->index);
}

void whole_ends(const struct vm *vm)
{
	EXPECTS_MASKED();
	own_page()->life[vm->index]++;
	own_page()->paused[vm->index] = false;
	for (u32 i = 1; i < vm->guest->vcpu_count; i++)
		message_send(vm->guest->vcpu_cpus[i], MESSAGE_PART + vm->index);
}

void whole_pauses(const struct vm *vm, bool paused)
{
	own_page()->paused[vm->index] = paused;
	for (u32 i = 1; i < vm->guest->vcpu_count; i++)
		message_send(vm->guest->vcpu_cpus[i], MESSAGE_PART + vm->index);
}

/* A part may at any time. A core that has not come up has no part. */
bool whole_may_start(const struct vm *vm)
{
	for (u32 i = 1; i < vm->guest->vcpu_count && !vm_is_part(vm); i++) {
		u32 cpu = vm->guest->vcpu_cpus[i];

		if (outbox_of(cpu)->alive != 0 &&
		    part_page_of(cpu)->ended[vm->index] != life_of(vm))
			return false;
	}
	return true;
}

static void part_ends(const struct vm *vm)
{
	if (own_page()->ended[vm->index] == life_of(vm))
		return;
	own_page()->ended[vm->index] = life_of(vm);
	whole_is_told(vm);
}

static bool whole_is_paused(const struct vm *vm)
{
	return part_page_of(vm->guest->cpu)->paused[vm->index] != 0;
}

/* Starts the part, unless its guest has ended meanwhile. */
static void part_begin(struct vm *vm)
{
	start_wanted = false;
	if (wanted_life != life_of(vm))
		return;
	own_life = wanted_life;
	own_page()->parked[vm->index] = 0;
	own_page()->ended[vm->index] = own_life - 1;
	vm->entry = wanted_entry;
	vm_request_start(vm);
}

void part_is_released(struct vm *vm)
{
	if (!vm_is_part(vm) || vm_is_alive(vm))
		return;
	if (start_wanted && !whole_is_paused(vm))
		part_begin(vm);
	/* Also if the start was refused: the whole waits for this. */
	if (!vm_is_alive(vm) && !start_wanted && !vm->unreleased)
		part_ends(vm);
}

/* One that is about to start has no vCPU that could be paused: it starts behind the pause. */
static void part_waits(struct vm *vm)
{
	vm_halt(vm);
	start_wanted = true;
}

/* What has become of the whole: its parts are paused and go down with it. While the VMM works for
 * a part neither is done, and part_settles() comes behind that work. */
static void part_follows(struct vm *vm)
{
	if (vm_is_alive(vm) && (own_life != life_of(vm) || start_wanted))
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
		u32 cpu = vm->guest->vcpu_cpus[i];

		if (part_page_of(cpu)->failed[vm->index] != life_of(vm) + 1)
			continue;
		own_page()->reporter[vm->index] = cpu + 1;
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
	own_page()->reporter[vm->index] = core.index + 1;
}

/* The guest has failed on another core than this: what on_fault says is done here, at once or when
 * the VMM's work for this vCPU ends. */
static void whole_follows(struct vm *vm)
{
	vm->halt_wanted = vm->vcpus->working;
	vcpu_notify(vm->vcpus);
	if (!vm->halt_wanted)
		vm_fall(vm);
}

bool part_settles(struct vm *vm)
{
	if (vm_is_part(vm))
		part_follows(vm);
	else if (any_failed(vm))
		whole_follows(vm);
	else
		return false;
	return true;
}

/* Returns whether every vCPU that runs has halted for ever. Those that do not run have ended, or
 * were never started in this life. */
static bool all_parked(const struct vm *vm)
{
	u32 life = life_of(vm);

	for (u32 i = 0; i < vm->guest->vcpu_count; i++) {
		volatile struct part_page *page = part_page_of(vm->guest->vcpu_cpus[i]);
		bool ended = i != 0 && page->ended[vm->index] == life;

		if (!ended && page->parked[vm->index] != life + 1)
			return false;
	}
	return true;
}

static void whole_learns(struct vm *vm)
{
	if (vm->state == GANDALF_STATE_STARTING)
		schedule_housekeeping(HOUSEKEEPING_START);
	else if (!vm_is_alive(vm))
		return;
	else if (any_failed(vm))
		whole_follows(vm);
	else if (all_parked(vm))
		vm_power_off(vm);
}

static void part_serve(UNUSED u32 from, u32 place)
{
	struct vm *vm = &vms[place];

	if (place >= core.vm_count || !vm_is_here(vm->guest))
		return;
	if (vm_is_part(vm))
		part_follows(vm);
	else
		whole_learns(vm);
}
MESSAGES_SERVED(MESSAGE_PART, GANDALF_GUESTS_MAXIMUM, part_serve);

void part_parks(struct vm *vm)
{
	EXPECTS_MASKED();
	own_page()->parked[vm->index] = life_here(vm) + 1;
	if (vm_is_part(vm))
		whole_is_told(vm);
	else
		whole_learns(vm);
}

void part_fails(struct vm *vm)
{
	own_page()->failed[vm->index] = own_life + 1;
	whole_is_told(vm);
}

void part_start(const struct vm *vm, u32 cpu, u32 entry)
{
	EXPECTS_MASKED();
	own_page()->start[cpu].guest = vm->index;
	own_page()->start[cpu].entry = entry;
	own_page()->start[cpu].life = life_here(vm);
	message_send(cpu, MESSAGE_START);
}

/* A part that runs begins anew, as a CPU does at INIT: Linux takes a CPU for halted when it is
 * about to halt. If the VMM works for it, or has not released it, it begins behind that. */
static void start_serve(u32 from, UNUSED u32 number)
{
	volatile struct part_page *page = part_page_of(from);
	struct vm *vm = part_vm;

	if (vm == NULL || !vm_is_part(vm) || page->start[core.index].guest != vm->index)
		return;
	start_wanted = true;
	/* The sender may be about to write another one: the entry, and then the life. So an entry
	 * that is older than the life is not read, and one that is younger is refused with it. */
	wanted_life = page->start[core.index].life;
	wanted_entry = page->start[core.index].entry;
	part_follows(vm);
}
MESSAGES_SERVED(MESSAGE_START, 1, start_serve);

bool part_shows_life(const struct vm *vm)
{
	if (!vm_is_part(vm))
		return false;
	message_send(vm->guest->cpu, MESSAGE_LIFE);
	return true;
}

static void life_serve(UNUSED u32 from, UNUSED u32 number)
{
	if (part_vm != NULL && !vm_is_part(part_vm) && vm_is_alive(part_vm))
		vm_show_life(part_vm);
}
MESSAGES_SERVED(MESSAGE_LIFE, 1, life_serve);
