/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool is a list of free frames, in which each frame names the next one in its first word. The
 * parts of a frame that were used are marked, and are zeroed when the frame is allocated again.
 */
#include "core/pool.h"

#include "core/core.h"
#include "core/schedule.h"
#include "lib/owner.h"
#include "lib/string.h"

/* Groups of a frame that pool_prepare() zeroes at a time, which takes some 400 instructions. */
#define CLEAN_GROUPS 8u

OF_CORE static u32 pool_first;
OF_CORE u32 pool_distance, pool_frames, pool_available;

/* Keeps the first frames for the marks. */
void pool_init(u32 base, u32 size)
{
	u32 marks = PAGE_OF(size / POOL_GROUP / 8 + PAGE_SIZE - 1);
	u32 offset;

	pool_distance = LAYOUT_POOL - base;
	pool_frames = (size - marks) / PAGE_SIZE;
	memory_map_pool(base, size);
	memset(pool_used, 0, size);
	for (offset = size; offset != marks; offset -= PAGE_SIZE)
		pool_free(base + offset - PAGE_SIZE);
}

/* Zeroes at most so many groups of the first free frame. There must be a free frame. */
static void pool_clean(u32 groups)
{
	u32 *contents = pool_pointer(pool_first);
	u32 *marks = pool_marks(pool_first);
	u32 next = contents[0];

	for (; *marks != 0 && groups != 0; *marks &= *marks - 1, groups--) {
		memset((u8 *)contents + (u32)__builtin_ctz(*marks) * POOL_GROUP, 0, POOL_GROUP);
		contents[0] = next;
		if (core.current == &idle_vcpu)
			schedule_admit();
	}
}

bool pool_prepare(void)
{
	u32 marks = pool_first != 0 ? *pool_marks(pool_first) : 0;

	if ((marks & (marks - 1)) == 0)
		return true;
	pool_clean(CLEAN_GROUPS);
	return false;
}

u32 pool_allocate(void)
{
	u32 frame = pool_first;
	u32 *contents = pool_pointer(frame);

	if (frame == 0)
		return 0;
	pool_clean(POOL_GROUPS);
	pool_first = contents[0];
	pool_available--;
	contents[0] = 0;
	*pool_marks(frame) = ~0u;
	return frame;
}

void pool_free(u32 frame)
{
	u32 *contents = pool_pointer(frame);

	contents[0] = pool_first;
	pool_first = frame;
	pool_available++;
}

u32 pool_count(void)
{
	u32 count = 0;

	for (u32 frame = pool_first; frame != 0; frame = *(u32 *)pool_pointer(frame))
		count++;
	return count;
}

void pool_each_free(void (*visit)(u32 frame))
{
	for (u32 frame = pool_first; frame != 0; frame = *(u32 *)pool_pointer(frame))
		visit(frame);
}
