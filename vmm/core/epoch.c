/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the epochs of channels where the guests at the two sides may be those of two cores. Each
 * core counts in its outbox how often it has written one, and its lowest bit says which core that
 * was. So no epoch is written twice. tests/cores/epoch.pml is a model of this.
 *
 * Both cores may begin one at once, and nobody waits for the other. Each looks at the indices when
 * all four are written, and begins anew if it finds the other one's among them. The last one to
 * write finds only its own. What a guest has sent in an epoch that is lost by that is lost with it,
 * and the guest is told: by the epoch, and by the doorbell that comes behind each.
 */
#include "core/epoch.h"

#include "arch.h"
#include "core/message.h"
#include "core/schedule.h"

/* A guest that writes to the indices all the time has others' epochs there as well. Nobody is to
 * blame but itself if its channel is of no use then. */
#define TRIES 16u

static u32 epoch_next(u32 channel)
{
	const struct gandalf_guest *first =
		&system_table.guests[system_table.channels[channel].guests[0]];

	return ++outbox_own()->epochs[channel] * 2 + (first->cpu != core.index);
}

/* Returns whether all indices are of the epoch. The guests may have moved them since. */
static bool epoch_is(u32 channel, u32 epoch)
{
	u32 indices[EPOCH_INDICES], others = 0;

	memory_copy_in(indices, system_table.channels[channel].base, sizeof(indices));
	for (u32 i = 0; i < EPOCH_INDICES; i++)
		others |= indices[i] ^ epoch * GANDALF_CHANNEL_EPOCH;
	return others < GANDALF_CHANNEL_EPOCH;
}

/* Cores look for interrupts for different times in between: so two never go on in step. */
void epoch_begin(u32 channel)
{
	for (u32 i = 0; i < TRIES; i++) {
		u32 epoch = epoch_next(channel);

		epoch_write(channel, epoch);
		order_stores();
		if (epoch_is(channel, epoch))
			return;
		for (u32 admissions = 0; admissions <= core.index; admissions++)
			schedule_admit();
	}
}
