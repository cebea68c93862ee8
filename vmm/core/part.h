/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a guest with several vCPUs, and the whole that they are: the VM of its first one.
 * A core may have several of them, which then take turns (core/schedule.h). What they say to each
 * other stands in pages of each core, which that core alone writes, and a message tells of it
 * (core/message.h). Among those of one core the idle vCPU takes the message's place: it looks at
 * all of them before the first of them goes on.
 *
 * A guest has lives. The whole counts them; a take-down of the whole ends one. Parts of that life
 * then go down, too, and say so when nothing of them is left. The guest is loaded again behind the
 * last of them. A vCPU starts another one within its life; a start that comes late is of a life
 * that has ended, and is refused.
 */
#pragma once

#include "abi/control.h"
#include "core/message.h"
#include "whole.h"

/* Bytes for what a guest's kind says of each vCPU, in the pages behind a core's part_page. */
#define PART_OF_KIND 1536u

struct part_page {
	/* Of wholes on this core: how many lives have ended. */
	u32 life[GANDALF_GUESTS_MAXIMUM];
	/* Of wholes on this core: 1: it is paused, and so are its parts. */
	u32 paused[GANDALF_GUESTS_MAXIMUM];
	/* A core has vCPUs of one such guest at most. Of them, by their numbers: the lives up to
	 * which nothing of a part is left; and the life, plus 1, in which a vCPU has halted for
	 * ever, and in which it was stopped with a report. */
	u32 ended[GANDALF_CPUS_MAXIMUM];
	u32 parked[GANDALF_CPUS_MAXIMUM], failed[GANDALF_CPUS_MAXIMUM];
	/* Of wholes on this core: 1 + the core of the vCPU whose report is the latest; 0: none. */
	u32 reporter[GANDALF_GUESTS_MAXIMUM];
	/* How vCPUs of this core have last started each one of other cores. */
	struct {
		u32 life, entry;
	} start[GANDALF_CPUS_MAXIMUM];
	/* Of vCPUs that move (core/migration.h), by their numbers: which stay of the vCPU was its
	 * last one here, counted from that at home, which is 0; 1 + the last stay that it has ended
	 * here, and for which core it has left then; and 1 + the core that one of this core's vCPUs
	 * wants it to move to. */
	u32 held[GANDALF_CPUS_MAXIMUM], left[GANDALF_CPUS_MAXIMUM];
	u32 left_for[GANDALF_CPUS_MAXIMUM], wanted[GANDALF_CPUS_MAXIMUM];
	/* Of a vCPU that this core has: 1 + the core from which a policy has first sent it away,
	 * and which will ask it back unless it comes of its own accord (trap_policy.h); 0: none
	 * has. It moves with the vCPU. If it is this core, the vCPU is about to leave, or could not
	 * do so. */
	u32 refugee_of[GANDALF_CPUS_MAXIMUM];
	/* Whether an RTOS has this core, if vCPUs move to it (core/tenure.h): nobody leaves for it
	 * then, since nobody arrives there. */
	u32 of_rtos;
	/* Whether the idle vCPU has this core, at its last switch. */
	u32 idle;
	/* Ticks of their moves on this core, GANDALF_TICKS_... (abi/control.h). */
	u32 ticks[GANDALF_TICKS_WAITED][GANDALF_CPUS_MAXIMUM];
	/* Ticks for which they have waited here for RTOSes. Who reads it while it is written may
	 * see half of the change. */
	u64 waited[GANDALF_CPUS_MAXIMUM];
	/* Of vCPUs that this core has: the time stamp at which one lost the CPU that could go on
	 * (0: it has it, or could not), and for how many ticks it has ever waited so
	 * (core/steal.h). Both move with the vCPU. */
	u64 lost[GANDALF_CPUS_MAXIMUM], stolen[GANDALF_CPUS_MAXIMUM];
	/* The policy that this core has last set for a guest (core/policy.h): the number of the
	 * change, which is 0 if it has set none, above the lowest 8 bits, which have the policy. */
	u32 policy[GANDALF_GUESTS_MAXIMUM];
};

_Static_assert(sizeof(struct part_page) <= PAGE_SIZE, "a page of each core");
_Static_assert(PAGE_SIZE + GANDALF_CPUS_MAXIMUM * PART_OF_KIND == PART_PAGES * PAGE_SIZE,
	       "vm_part.h");

static inline volatile struct part_page *part_page_of(u32 core_index)
{
	return (volatile struct part_page *)(LAYOUT_OUTBOXES +
					     core_index * OUTBOX_PAGES * PAGE_SIZE + 2 * PAGE_SIZE);
}

static inline volatile struct part_page *part_page_own(void)
{
	return part_page_of(core.index);
}

/* From what a core says of a vCPU to what the next core says of it. */
#define PART_DISTANCE (OUTBOX_PAGES * PAGE_SIZE)

/* What a core says, for its guest's kind, of the vCPU with a number: mostly one that it has. */
static inline volatile void *part_kind_of(u32 core_index, u32 number)
{
	return (volatile u8 *)part_page_of(core_index) + PAGE_SIZE + number * PART_OF_KIND;
}

/* The VMs of this core that are vCPUs of a guest with several of them, by their numbers; NULL: it
 * is another core's, or there is none. */
extern struct vm *part_vms[GANDALF_CPUS_MAXIMUM];

/* Notes that a vCPU is this core's, or is not any more. */
static inline void part_comes(struct vm *vm)
{
	part_vms[vm->number] = vm;
	parts_here++;
}

static inline void part_goes(const struct vm *vm)
{
	part_vms[vm->number] = NULL;
	parts_here--;
}

/* Returns the core that has a vCPU of a guest. One that moves counts as being where it was until it
 * has arrived. */
u32 part_core(const struct gandalf_guest *guest, u32 number);
/* Returns whether a vCPU, which counts as being on that core, has ended in a life of its guest, or
 * was not started in it. One whose core has no VMM, or none any more, says nothing of that; nor
 * does one that has left for such a core. */
bool part_runs_no_more(u32 number, u32 cpu, u32 life);
/* How many lives of a VM's guest have ended. */
u32 part_life_of(const struct vm *vm);
/* Returns whether a VM's guest is paused, and so are all its parts. */
bool whole_is_paused(const struct vm *vm);
/* The life in which a vCPU of this core was started. */
u32 part_life_here(const struct vm *vm);
/* Has a part of this core follow what has become of its whole. */
void part_follows(struct vm *vm);
/* Notes that a start of the part waits. Its own core's idle vCPU carries it out. */
void part_is_started(struct vm *vm, u32 life, u32 entry);

/* Starts another vCPU of a VM's guest at an address of the guest's memory. */
void part_start(const struct vm *vm, u32 number, u32 entry);
/* Notes that a vCPU of this core has halted for ever, and tells the whole. The guest has
 * switched itself off when that is true of all vCPUs that run. */
void part_parks(struct vm *vm);
