/* SPDX-License-Identifier: Apache-2.0 */
/* Does the VMM's part in channels between guests: see channel.h. */
#include "core/channel.h"

#include "arch.h"
#include "core/epoch.h"
#include "core/feature.h"
#include "core/guest_kind.h"
#include "core/module.h"
#include "core/schedule.h"
#include "lib/string.h"

/* Returns the side of a channel that a guest has, or -1 if it has none. */
static int channel_side(const struct gandalf_table_channel *channel, const struct vm *vm)
{
	for (int side = 0; side < 2; side++)
		if (channel->guests[side] == vm->index)
			return side;
	return -1;
}

u32 channel_map(const struct vm *vm)
{
	u32 size = 0;

	for (u32 i = 0; i < system_table.channel_count; i++)
		if (channel_side(&system_table.channels[i], vm) >= 0) {
			memory_map_more(system_table.channels[i].base,
					system_table.channels[i].size);
			size += system_table.channels[i].size;
		}
	return size;
}

void channel_tell(const struct vm *vm)
{
	struct gandalf_channel_place *place = vm->vcpus->shared->channels;
	u32 behind = vm->guest->memory_size;

	for (u32 i = 0; i < system_table.channel_count; i++) {
		const struct gandalf_table_channel *channel = &system_table.channels[i];
		int side = channel_side(channel, vm);

		if (side < 0)
			continue;
		memcpy(place->name, channel->name, sizeof(place->name));
		place->address =
			vm->kind->real_time ? behind : channel->base - vm->guest->memory_base;
		place->size = channel->size;
		place->side = (u32)side;
		place->peer = channel->guests[1 - side];
		behind += channel->size;
		place++;
	}
}

void channel_renew(const struct vm *vm)
{
	for (u32 i = 0; i < system_table.channel_count; i++) {
		if (channel_side(&system_table.channels[i], vm) < 0)
			continue;
		epoch_begin(i);
		schedule_admit();
	}
}

void channel_ring_peers(const struct vm *vm)
{
	for (u32 i = 0; i < system_table.channel_count; i++) {
		int side = channel_side(&system_table.channels[i], vm);
		const struct vm *peer;

		if (side < 0)
			continue;
		peer = &vms[system_table.channels[i].guests[1 - side]];
		peer->kind->ring(peer);
		schedule_admit();
	}
}

/* A channel is between two guests, so it is between these if it names the other one beside one. */
bool channel_connects(const struct vm *one, const struct vm *other)
{
	for (u32 i = 0; i < system_table.channel_count; i++) {
		const u32 *guests = system_table.channels[i].guests;

		if ((guests[0] == one->index && guests[1] == other->index) ||
		    (guests[1] == one->index && guests[0] == other->index))
			return true;
	}
	return false;
}
FEATURE(channels, FEATURE_CHANNELS);
