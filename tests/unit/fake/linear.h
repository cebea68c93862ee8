/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear address space of a guest, for tests of code that reads and writes it
 * through guest_access.c: 64 KiB from 0x10000, in pages that can be absent.
 */
#ifndef GANDALF_FAKE_LINEAR_H
#define GANDALF_FAKE_LINEAR_H

#include <string.h>

#include "arch/ia32/entry.h"
#include "arch/ia32/register.h"
#include "guests/x86/shadow/shadow.h"

#define LINEAR_FIRST 0x10000u
#define LINEAR_PAGES 16u

static u8 linear_bytes[LINEAR_PAGES * PAGE_SIZE];
static bool linear_absent[LINEAR_PAGES];
static bool linear_read_only[LINEAR_PAGES];

static bool linear_is_present(uintptr_t address)
{
	uintptr_t page = (address - LINEAR_FIRST) / PAGE_SIZE;

	return address >= LINEAR_FIRST && page < LINEAR_PAGES && !linear_absent[page];
}

static void *linear_at(u32 address)
{
	assert_true(linear_is_present(address));
	return &linear_bytes[address - LINEAR_FIRST];
}

static void linear_put(u32 address, const void *from, u32 size)
{
	memcpy(linear_at(address), from, size);
}

/* How often the VMM has asked before it wrote, and what last. */
static unsigned linear_questions;
static u32 linear_asked;

bool shadow_make_writable(struct x86 *x86, u32 linear)
{
	(void)x86;
	linear_questions++;
	linear_asked = linear;
	return linear_is_present(linear) &&
	       !linear_read_only[(linear - LINEAR_FIRST) / PAGE_SIZE];
}

/* How many bytes the VMM has tried to copy from the guest's memory or to it. */
static u32 linear_tried;

/* One of the two is the guest's: the one that lies low enough. */
u32 entry_copy(void *to, const void *from, u32 size)
{
	bool writes = (uintptr_t)to >= LINEAR_FIRST &&
		      (uintptr_t)to < LINEAR_FIRST + sizeof(linear_bytes);
	uintptr_t guest_side = writes ? (uintptr_t)to : (uintptr_t)from;

	linear_tried += size;
	if (guest_side > UINT32_MAX)
		guest_side = (uintptr_t)to;
	for (u32 done = 0; done < size; done++) {
		u8 *byte;

		if (!linear_is_present(guest_side + done))
			return size - done;
		byte = linear_at((u32)(guest_side + done));
		if (writes)
			*byte = ((const u8 *)from)[done];
		else
			((u8 *)to)[done] = *byte;
	}
	return 0;
}

#endif
