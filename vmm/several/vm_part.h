/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists what a VM keeps of the vCPU that it is, of those that its guest has (core/part.h). In an
 * image for guests with one vCPU single/vm_part.h takes the place of this.
 */
#pragma once

#include "lib/types.h"

/* Pages of each core for what guests with several vCPUs say to each other: struct part_page, and
 * what the guest's kind says of each vCPU. */
#define PART_PAGES 4u
/* Places for VMs of a core, beside one for each guest of the table: one of these may have a vCPU
 * on each core but its own. */
#define FURTHER_PLACES 1u

/* No vCPU's number, but the one in front of the first. */
#define PART_IS_REMOTE (~0u)

struct vm_part {
	u32 number;        /* of the vCPU, by its place in the guest's description. Of one that
			    * stands for a guest of another core (core/remote.h): PART_IS_REMOTE */
	u32 cpus;          /* those of its guest, as bits */
	u32 own_life;      /* the life of the guest in which it was started */
	bool start_wanted; /* it is to be started in that life, there, as soon as it is down */
	u32 wanted_life, wanted_entry;
	bool fall_wanted;  /* of a whole: a part has failed, which is done behind the VMM's work */
	/* Of a vCPU that moves (core/migration.h): 1 + the core for which it is to leave, or 0; and
	 * 1 + the life for which its seat here was made, or 0. */
	u32 leaves_for, made_for;
	u32 seen_on; /* 1 + the core on which this one has last seen the seat's vCPU, or 0 */
	const struct seat_operations *seat; /* of the guest's kind */
};
