/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epochs of channels where the guests at the two sides may be those of two cores. Each core
 * counts in its outbox how often it has begun one, so that each count has one writer, and the
 * channel's epoch is the sum. tests/cores/epoch.pml is a model of this.
 *
 * Both cores may begin one at once. Each counts first and looks at the other's count only then, so
 * one of them at least knows both. The other may write an older epoch over that one's, but sees by
 * the count that it has, and writes again: when both are done the channel has the epoch that counts
 * all. Nobody waits for the other core. A guest that has started meanwhile may see the older epoch
 * for some hundred instructions, and is told of one change more. No epoch stands for two pairs of
 * counts: a core's own stands still while it reads the other's, so each sum is that of one moment.
 */
#include "core/epoch.h"

#include "arch.h"
#include "core/message.h"
#include "core/schedule.h"

static u32 begun_by_all(u32 channel)
{
	u32 sum = 0;

	for (u32 index = 0; index < system_table.cpus; index++)
		sum += outbox_of(index)->epochs[channel];
	return sum;
}

void epoch_begin(u32 channel)
{
	u32 written;

	outbox_own()->epochs[channel]++;
	order_stores();
	for (;;) {
		written = begun_by_all(channel);
		epoch_write(channel, written);
		order_stores();
		if (begun_by_all(channel) == written)
			return;
		schedule_admit();
	}
}
