/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the machine in which guests are loaded, behind memory.h's functions: they touch
 * nothing else, and little at a time. Who includes it says how many GUESTS there are.
 */
#pragma once

/* The machine's memory: the module, then 8 KiB for each guest. */
#define MEMORY 0x100000u
#define MODULE_SIZE 0x2000u
#define GUEST_SIZE 0x2000u
#define UNTOUCHED 0xcc
/* What may be copied between two looks at more urgent guests. */
#define STEP 0x300u

static u8 memory[MODULE_SIZE + GUESTS * GUEST_SIZE];

static u32 since_admission;    /* bytes that were copied or zeroed */

static u8 *memory_at(u32 address, u32 size)
{
	assert_true(address >= MEMORY && address - MEMORY <= sizeof(memory));
	assert_true(size <= sizeof(memory) - (address - MEMORY));
	since_admission += size;
	assert_in_range(since_admission, 1, STEP);
	return memory + (address - MEMORY);
}

/* Own stand-ins: memory_copy() and memory_zero() have the memory below. */
void memory_copy(u32 to, u32 from, u32 size)
{
	memmove(memory_at(to, size), memory + (from - MEMORY), size);
}

void memory_zero(u32 physical, u32 size)
{
	memset(memory_at(physical, size), 0, size);
}

static void check_bytes(u32 address, u32 offset, u32 size)
{
	assert_memory_equal(memory + (address - MEMORY), memory + offset, size);
}

static void check_filled(u32 address, u32 size, u8 byte)
{
	for (u32 i = 0; i < size; i++)
		assert_int_equal(memory[address - MEMORY + i], byte);
}
