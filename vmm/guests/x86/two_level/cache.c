/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the page-table cache: it says how many shadows of address spaces are kept, and which goes when
 * another one is needed. The description says both. A policy is nothing but when a space is marked
 * as used, since the space goes whose mark is oldest, here and where the pool has no frame left.
 */
#include "views.h"

#include "core/module.h"
#include "guests/x86/x86.h"
#include "siblings.h"

/* One new space of so many is marked as used by policy_bimodal(): a prime, so that no number of
 * processes in turn always has it at the same one. */
#define BIMODAL_KEEPS 7u

/* Returns the space with the oldest mark, of all but one, or NULL if there is none. *kept becomes
 * the number of these spaces. */
static struct space *cache_oldest(const struct shadow *shadow, const struct space *but, u32 *kept)
{
	struct space *oldest = NULL;

	*kept = 0;
	for (u32 i = 0; i < shadow->space_limit; i++) {
		struct space *space = space_at(shadow, i);

		if (space == but || space->directory == 0)
			continue;
		++*kept;
		if (oldest == NULL || shadow->clock - space->used > shadow->clock - oldest->used)
			oldest = space;
	}
	return oldest;
}

/* Returns a space that has nothing, but not the present one, or NULL. Linux flushes the whole of an
 * address space when its process ends, and nothing comes into it behind that. */
static struct space *cache_ended(const struct shadow *shadow)
{
	for (u32 i = 0; i < shadow->space_limit; i++) {
		struct space *space = space_at(shadow, i);
		const u32 *used = space->used_groups;

		if (space->directory != 0 && space != shadow->current &&
		    (used[0] | used[1] | used[2]) == 0)
			return space;
	}
	return NULL;
}

/* Return the mark of a space that is loaded. new: it has just been made. */
static u32 policy_lru(struct shadow *shadow, UNUSED const struct space *space, UNUSED bool new)
{
	return ++shadow->clock;
}

/* Only what is made counts, so the space goes that has been there longest. */
static u32 policy_fifo(struct shadow *shadow, const struct space *space, bool new)
{
	return new ? ++shadow->clock : space->used;
}

/* A new space is the next to go, but for one of seven, until it is loaded a second time. So
 * processes that only come and go push each other out and not those that stay; and where there
 * are more processes in turn than entries, some keep theirs, where LRU and FIFO would drop each
 * one before its turn comes again. */
static u32 policy_bimodal(struct shadow *shadow, const struct space *space, bool new)
{
	u32 clock = ++shadow->clock;
	const struct space *oldest;
	u32 kept;

	if (!new || clock % BIMODAL_KEEPS == 0 ||
	    (oldest = cache_oldest(shadow, space, &kept)) == NULL)
		return clock;
	/* One older than that, but for 0, which says that a space is new. */
	return oldest->used - (oldest->used == 1 ? 2 : 1);
}

static u32 (*const policies[])(struct shadow *, const struct space *, bool) = {
	[GANDALF_TABLE_CACHE_LRU] = policy_lru,
	[GANDALF_TABLE_CACHE_FIFO] = policy_fifo,
	[GANDALF_TABLE_CACHE_BIMODAL] = policy_bimodal,
};

void views_mark_loaded(struct shadow *shadow, struct space *space)
{
	u32 policy = GANDALF_TABLE_CACHE_POLICY(system_table.flags);
	bool new = space->used == 0;

	/* A guest that loads CR3 with what it has flushes, and does not come back to it. */
	if (new || space != shadow->current)
		space->used = policies[policy % ARRAY_SIZE(policies)](shadow, space, new);
}

bool views_make_room(struct x86 *x86)
{
	struct shadow *shadow = &x86->shadow;
	u32 entries = GANDALF_TABLE_CACHE_ENTRIES(system_table.flags);
	u32 kept;
	struct space *goes = cache_oldest(shadow, NULL, &kept);
	struct space *ended;

	if (goes == NULL || entries == 0 || kept < entries)
		return true;
	if ((system_table.flags & GANDALF_TABLE_NO_HINTS) == 0 &&
	    (ended = cache_ended(shadow)) != NULL)
		goes = ended;
	vcpu_count(x86->vcpu, COUNTER_space_evictions);
	space_drop(goes, NULL);
	goes->used = 0;
	goes->noted = 0;
	space_is_made(x86, goes);
	shadow->current = goes;
	return false;
}
