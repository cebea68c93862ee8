/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a guest with several vCPUs, each on a core of its own, and the whole that they are:
 * the VM on the guest's first core. What they say to each other stands in a page of each core,
 * which that core alone writes, and a message tells of it (core/message.h).
 *
 * A guest has lives. The whole counts them; a take-down of the whole ends one. Parts of that life
 * then go down, too, and say so when nothing of them is left. The guest is loaded again behind the
 * last of them. A vCPU starts another one within its life; a start that comes late is of a life
 * that has ended, and is refused.
 */
#pragma once

#include "core/message.h"
#include "whole.h"

/* Bytes in the page for what a guest's kind says to its vCPUs on other cores. */
#define PART_PAGE_OF_KIND 2048u

struct part_page {
	/* Of wholes on this core: how many lives have ended. */
	u32 life[GANDALF_GUESTS_MAXIMUM];
	/* Of wholes on this core: 1: it is paused, and so are its parts. */
	u32 paused[GANDALF_GUESTS_MAXIMUM];
	/* Of parts on this core: the lives up to which nothing of them is left. */
	u32 ended[GANDALF_GUESTS_MAXIMUM];
	/* Of the guest's vCPU on this core: the life, plus 1, in which it has halted for ever, and
	 * in which it was stopped with a report. */
	u32 parked[GANDALF_GUESTS_MAXIMUM], failed[GANDALF_GUESTS_MAXIMUM];
	/* Of wholes on this core: 1 + the core of the vCPU whose report is the latest; 0: none. */
	u32 reporter[GANDALF_GUESTS_MAXIMUM];
	/* What a vCPU of this core has started last on each other core. */
	struct {
		u32 guest, life, entry;
	} start[GANDALF_CPUS_MAXIMUM];
	_Alignas(PART_PAGE_OF_KIND) u8 of_kind[PART_PAGE_OF_KIND];
};

_Static_assert(sizeof(struct part_page) == PAGE_SIZE, "a page of each core");

static inline volatile struct part_page *part_page_of(u32 core_index)
{
	return (volatile struct part_page *)(LAYOUT_OUTBOXES +
					     core_index * OUTBOX_PAGES * PAGE_SIZE + 2 * PAGE_SIZE);
}

/* The VM of this core that is a guest with several vCPUs, or a part of one; NULL: there is none. */
extern struct vm *part_vm;

/* Ends a life of the guest, whose whole is this core's and is being taken down. */
void whole_ends(const struct vm *vm);
/* Starts the vCPU of a VM on another core at an address of the guest's memory. */
void part_start(const struct vm *vm, u32 cpu, u32 entry);
/* Notes that the guest's vCPU on this core has halted for ever, and tells the whole. The guest has
 * switched itself off when that is true of all vCPUs that run. */
void part_parks(struct vm *vm);
