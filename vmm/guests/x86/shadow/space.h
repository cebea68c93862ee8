/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spaces: the shadow page directories that are kept, one for each page directory of the guest,
 * found by its address. Of a space only the lower three quarters are its own.
 */
#pragma once

#include "guests/x86/shadow/part.h"

struct x86;
struct shadow;

/* Shadows of page directories that are kept, and how many fit in a frame. */
#define SHADOW_SPACES_PER_FRAME 128u
#define SHADOW_SPACE_FRAMES 2u
#define SHADOW_SPACES (SHADOW_SPACES_PER_FRAME * SHADOW_SPACE_FRAMES)
#define SHADOW_HASH 128u

struct space {
	u32 guest;     /* guest-physical address of the page directory */
	u32 directory; /* frame of the shadow; 0: this space is free */
	u32 used;      /* value of shadow.clock when it was last loaded */
	u16 next;      /* in the hash chain, index + 1 */
	u32 used_groups[3]; /* bit n: entries 8n to 8n + 7 of the directory are used */
	u32 reserved;  /* the size is a power of two */
};

_Static_assert(sizeof(struct space) * SHADOW_SPACES_PER_FRAME <= PAGE_SIZE, "one frame");

struct space *space_at(const struct shadow *shadow, u32 index);
/* The space of a page directory of the guest, by its guest-physical address; NULL: there is
 * none. */
struct space *space_find(const struct shadow *shadow, u32 guest);
/* A new one, with nothing in its lower three quarters; NULL: the pool has no frame for it. */
MUST_CHECK struct space *space_create(struct x86 *x86, u32 guest);
/* The current space becomes another directory's: one serves all while nothing is cached. */
struct space *space_reuse(struct shadow *shadow, u32 guest);
/* Loads CR3 with it. */
void space_load(struct x86 *x86, struct space *space);
/* Frees the shadow page tables of the lower three quarters, a few at a time: the idle vCPU lets
 * more urgent guests run in between. points: NULL or whose work is interrupted meanwhile; then
 * the space may be a free one, or another's, behind it. */
void space_drop(struct space *space, struct x86 *points);
/* Frees the tables that eight entries of a directory lead to. */
void space_group_drop(u32 *entries);
/* Gives all of them back; none is current. */
void spaces_free(struct shadow *shadow);
/* A frame of the pool, for which the spaces that were loaded longest ago go if there is none; 0:
 * not even then. */
MUST_CHECK u32 space_frame_allocate(struct x86 *x86);
