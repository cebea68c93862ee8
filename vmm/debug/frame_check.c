/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that no frame of the pool is used twice. Each frame has a bit, which is set for each use
 * that is found and must not be set before.
 */
#include "debug/frame_check.h"

#include "core/pool.h"
#include "debug/must.h"
#include "lib/owner.h"
#include "lib/string.h"

#define ENTRIES 1024u
#define POOL_FRAMES_MAXIMUM 4096u /* between LAYOUT_POOL and the end of the address space */

/* A bit for each frame, by its number in the pool: whether this check has seen it. */
OF_CORE static u32 claimed[POOL_FRAMES_MAXIMUM / 32];

void claims_forget(void)
{
	memset(claimed, 0, sizeof(claimed));
}

/* The frames of the pool lie behind its marks, which take `first` frames. */
void claim(u32 frame, const char *as)
{
	u32 number = (frame + pool_distance - LAYOUT_POOL) >> PAGE_SHIFT;
	u32 first = (pool_frames + ENTRIES - 2) / (ENTRIES - 1);

	must(frame % PAGE_SIZE == 0 && number - first < pool_frames,
	     "what lies outside of the pool serves as its frame", (u32)as, frame);
	must((claimed[number / 32] >> number % 32 & 1) == 0, as, number, frame);
	claimed[number / 32] |= 1u << number % 32;
}

static void claim_free(u32 frame)
{
	claim(frame, "a frame is in use and free, or free twice");
}

void claim_free_ones(void)
{
	u32 count = pool_count();

	must(count == pool_available, "so many frames are said to be free", count, pool_available);
	pool_each_free(claim_free);
}
