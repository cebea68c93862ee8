/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spaces: the shadow page directories, one for each page directory of the guest, which are found
 * by its address. Only the lower three quarters of a space are its own.
 */
#pragma once

#include "guests/x86/shadow/part.h"
#include "space_epoch.h"
#include "space_view.h"

struct x86;
struct shadow;

/* How many spaces there are, and the number of chains. */
#define SHADOW_SPACES 256u
#define SHADOW_HASH 128u

/* Its size is a power of two, so that an index takes no division. */
struct space {
	u32 guest;     /* guest-physical address of the page directory */
	u32 directory; /* frame of the shadow; 0: this space is free */
	u32 used;      /* mark of use: a value of shadow.clock (views_mark_loaded()) */
	u16 next;      /* index + 1 of the next space in the hash chain; 0: none */
	u16 noted;     /* views: not 0, pages of the kernel alone are below its half */
	u32 used_groups[3]; /* bit n: entries 8n to 8n + 7 of the directory are used */
	struct space_view;
	struct space_epoch;
} __attribute__((aligned(32)));

/* How many spaces fit in a frame, and how many frames of them there are. */
#define SHADOW_SPACES_PER_FRAME (PAGE_SIZE / sizeof(struct space))
#define SHADOW_SPACE_FRAMES (SHADOW_SPACES / SHADOW_SPACES_PER_FRAME)

/* Returns the space of an index below SHADOW_SPACES. */
struct space *space_at(const struct shadow *shadow, u32 index);
/* Returns the space of the guest's page directory at a guest-physical address, or NULL if there is
 * none. */
struct space *space_find(const struct shadow *shadow, u32 guest);
/* Makes a space whose lower three quarters are empty. Returns NULL if the pool has no frame for it,
 * even after all other spaces have gone. */
MUST_CHECK struct space *space_create(struct x86 *x86, u32 guest);
/* Makes the current space that of another directory, and returns it. While nothing is cached, one
 * space serves all directories in turn; and where the current one goes for another. */
struct space *space_reuse(struct shadow *shadow, u32 guest);
/* Makes a space the current one, and loads CR3 with it. */
void space_load(struct x86 *x86, struct space *space);
/* Frees the shadow page tables of the lower three quarters, a few at a time. The idle vCPU lets
 * more urgent guests run in between. points: the guest whose work has points in between, or NULL;
 * with points, the space may be free or another directory's when this returns. */
void space_drop(struct space *space, struct x86 *points);
/* Returns whether space_drop() would find nothing. */
static inline bool space_is_empty(const struct space *space)
{
	return (space->used_groups[0] | space->used_groups[1] | space->used_groups[2]) == 0;
}
/* Clears GROUP entries of a directory, and frees the page tables that they lead to. */
void space_group_drop(u32 *entries);
/* Frees all spaces. The caller has made sure that none is in use. */
void spaces_free(struct shadow *shadow);
/* Allocates a frame of the pool. If none is free, the spaces that were loaded longest ago go first.
 * Returns 0 if there is none even then. */
MUST_CHECK u32 space_frame_allocate(struct x86 *x86);
