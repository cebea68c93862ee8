/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has one vCPU of a guest start another, wherever that is: within the life of the guest that both
 * are in, and behind whatever the VMM still has to do for the other one (part.c).
 */
#include "core/part.h"

#include "core/migration.h"
#include "core/schedule.h"
#include "masked_state.h"

/* A part that runs begins anew, as a CPU does at INIT: Linux takes a CPU for halted when it is
 * about to halt. If the VMM works for it, or has not released it, it begins behind that. */
void part_is_started(struct vm *vm, u32 life, u32 entry)
{
	vm->start_wanted = true;
	vm->wanted_life = life;
	vm->wanted_entry = entry;
}

static void start_send(const struct gandalf_guest *guest, u32 number, u32 life, u32 entry)
{
	part_page_own()->start[number].entry = entry;
	part_page_own()->start[number].life = life;
	order_stores();
	message_send(seat_core_ahead(guest, number), MESSAGE_START + number);
}

void part_start(const struct vm *vm, u32 number, u32 entry)
{
	EXPECTS_MASKED();
	if (part_vms[number] != NULL) {
		part_is_started(part_vms[number], part_life_here(vm), entry);
		schedule_housekeeping(HOUSEKEEPING_RELEASE);
		return;
	}
	start_send(vm->guest, number, part_life_here(vm), entry);
}

/* A start for a vCPU that is not here waits where it arrives. */
static void start_hand_on(u32 number, u32 life, u32 entry)
{
	struct vm *seat = seat_vms[number];

	if (seat == NULL)
		return;
	if (seat_is_expected(seat))
		part_is_started(seat, life, entry);
	else
		start_send(seat->guest, number, life, entry);
}

static void start_serve(u32 from, u32 number)
{
	volatile struct part_page *page = part_page_of(from);
	struct vm *vm = part_vms[number];
	u32 life, entry;

	/* The sender may be about to write another one: the entry, and then the life. So an entry
	 * that is older than the life is not read, and one that is younger is refused with it. */
	life = page->start[number].life;
	entry = page->start[number].entry;
	if (vm == NULL) {
		start_hand_on(number, life, entry);
	} else if (vm_is_part(vm)) {
		part_is_started(vm, life, entry);
		part_follows(vm);
	}
}
MESSAGES_SERVED(MESSAGE_START, GANDALF_CPUS_MAXIMUM, start_serve);
