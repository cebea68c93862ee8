/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the spaces of a shadow: a table of them, a hash by the guest's directory, and the eviction
 * of the oldest when the pool is empty.
 */
#include "guests/x86/shadow/space.h"

#include "arch/ia32/switch.h"
#include "core/core.h"
#include "core/log.h"
#include "core/schedule.h"
#include "guests/x86/x86.h"
#include "lib/string.h"
#include "siblings.h"
#include "views.h"

/* The pool's marks of a directory whose lower three quarters are empty. */
#define KERNEL_MARKS (~0u << KERNEL_FIRST * sizeof(u32) / POOL_GROUP)

struct space *space_at(const struct shadow *shadow, u32 index)
{
	struct space *spaces = pool_pointer(shadow->space_frames[index / SHADOW_SPACES_PER_FRAME]);

	return &spaces[index % SHADOW_SPACES_PER_FRAME];
}

static u32 space_hash(u32 guest)
{
	return (guest >> PAGE_SHIFT) % SHADOW_HASH;
}

struct space *space_find(const struct shadow *shadow, u32 guest)
{
	u32 index = shadow->hash[space_hash(guest)];

	while (index != 0) {
		struct space *space = space_at(shadow, index - 1);

		if (space->guest == guest)
			return space;
		index = space->next;
	}
	return NULL;
}

void space_group_drop(u32 *entry)
{
	for (u32 i = 0; i < GROUP; i++, entry++) {
		if (*entry != 0 && (*entry & PTE_PS) == 0)
			pool_free(*entry & PTE_FRAME);
		*entry = 0;
	}
}

void space_drop(struct space *space, struct x86 *points)
{
	for (u32 word = 0; word < ARRAY_SIZE(space->used_groups); word++)
		while (space->used_groups[word] != 0) {
			u32 group = word * 32 + (u32)__builtin_ctz(space->used_groups[word]);
			u32 *directory = pool_pointer(space->directory);

			space_group_drop(&directory[group * GROUP]);
			views_drop_group(space, group);
			space->used_groups[word] &= space->used_groups[word] - 1;
			if (points != NULL)
				x86_point(points);
			else if (core.current == &idle_vcpu)
				schedule_admit();
		}
}

/* Takes a space out of its hash chain. Returns the space's index. */
static u32 space_hash_remove(struct shadow *shadow, struct space *space)
{
	u16 *link = &shadow->hash[space_hash(space->guest)];
	u32 index;

	while (space_at(shadow, *link - 1u) != space)
		link = &space_at(shadow, *link - 1u)->next;
	index = *link - 1u;
	*link = space->next;
	return index;
}

static void space_hash_insert(struct shadow *shadow, struct space *space, u32 index, u32 guest)
{
	space->guest = guest;
	space->next = shadow->hash[space_hash(guest)];
	shadow->hash[space_hash(guest)] = (u16)(index + 1);
}

static void space_free(struct shadow *shadow, struct space *space)
{
	shadow->space_free = minimum(shadow->space_free, space_hash_remove(shadow, space));
	space_drop(space, NULL);
	views_free(space);
	pool_free(space->directory);
	space->directory = 0;
}

struct space *space_reuse(struct shadow *shadow, u32 guest)
{
	struct space *space = shadow->current;

	space_hash_insert(shadow, space, space_hash_remove(shadow, space), guest);
	return space;
}

/* Frees the space whose mark of use is oldest, which is the one that was loaded longest ago where
 * views.h has no other policy, but not the current one. Returns false if there is no other. */
MUST_CHECK static bool space_evict(struct x86 *x86)
{
	struct shadow *shadow = &x86->shadow;
	struct space *oldest = NULL;

	for (u32 i = 0; i < shadow->space_limit; i++) {
		struct space *space = space_at(shadow, i);

		if (space->directory != 0 && space != shadow->current &&
		    (oldest == NULL || shadow->clock - space->used > shadow->clock - oldest->used))
			oldest = space;
	}
	if (oldest == NULL)
		return false;
	vcpu_count(x86->vcpu, COUNTER_space_evictions);
	space_free(shadow, oldest);
	return true;
}

u32 space_frame_allocate(struct x86 *x86)
{
	u32 frame;

	while ((frame = pool_allocate()) == 0)
		if (!space_evict(frames_owner(x86)) && !siblings_give(x86))
			return 0;
	return frame;
}

static u32 space_free_index(struct x86 *x86)
{
	u32 *index = &x86->shadow.space_free;

	/* If no index is free, evicting a space frees one, since only the current one must stay. */
	do
		for (; *index < SHADOW_SPACES; ++*index)
			if (space_at(&x86->shadow, *index)->directory == 0)
				return *index;
	while (space_evict(x86));
	panic("all shadow page directories are in use");
}

struct space *space_create(struct x86 *x86, u32 guest)
{
	struct shadow *shadow = &x86->shadow;
	u32 frame = space_frame_allocate(x86);
	u32 index = space_free_index(x86);
	struct space *space = space_at(shadow, index);
	u32 *master = pool_pointer(shadow->master);
	u32 *directory;

	if (frame == 0)
		return NULL;
	directory = pool_pointer(frame);
	memcpy(&directory[KERNEL_FIRST], &master[KERNEL_FIRST],
	       (ENTRIES - KERNEL_FIRST) * sizeof(u32));
	*pool_marks(frame) = KERNEL_MARKS;
	if (!views_create(x86, space, directory)) {
		pool_free(frame);
		return NULL;
	}
	if (index >= shadow->space_limit)
		shadow->space_limit = index + 1;
	space->directory = frame;
	memset(space->used_groups, 0, sizeof(space->used_groups));
	space_is_made(x86, space);
	space_hash_insert(shadow, space, index, guest);
	return space;
}

void space_load(struct x86 *x86, struct space *space)
{
	views_mark_loaded(&x86->shadow, space);
	x86->shadow.current = space;
	views_follow_load(x86);
	switch_directory(x86->vcpu, space->directory);
	views_flush_left();
}

void spaces_free(struct shadow *shadow)
{
	for (u32 i = 0; i < shadow->space_limit; i++) {
		struct space *space = space_at(shadow, i);

		if (space->directory == 0)
			continue;
		space_drop(space, NULL);
		views_free(space);
		pool_free(space->directory);
		space->directory = 0;
		if (core.current == &idle_vcpu)
			schedule_admit();
	}
	memset(shadow->hash, 0, sizeof(shadow->hash));
	shadow->space_limit = shadow->space_free = 0;
}
