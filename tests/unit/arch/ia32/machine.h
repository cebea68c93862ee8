/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated machine for the VMM's code that touches hardware: physical memory is
 * a file, and the VMM's windows on it are mapped when the VMM's own page tables
 * say so and INVLPG is executed, as late as a processor's TLB allows.
 */
#ifndef GANDALF_MACHINE_H
#define GANDALF_MACHINE_H

#ifndef _GNU_SOURCE
#error "a test that includes machine.h defines _GNU_SOURCE first"
#endif

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/core.h"
#include "arch/ia32/memory.h"
#include "core/pool.h"
#include "arch/ia32/cpu.h"

#define MACHINE_MEMORY 0x2000000u
#define MACHINE_POOL 0x400000u
#define MACHINE_POOL_SIZE 0x400000u

struct processor processor;

/* All physical memory, for the test's own eyes. */
static u8 *physical;
static int memory_file = -1;

static u32 *physical_word(u32 address)
{
	assert_true(address < MACHINE_MEMORY);
	return (u32 *)(physical + address);
}

static void machine_map(u32 linear, u32 address, u32 size)
{
	void *at = mmap((void *)(uintptr_t)linear, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED, memory_file, address);

	assert_ptr_equal(at, (void *)(uintptr_t)linear);
}

/* What the VMM's own tables say about one of its windows, from now on. */
static void window_follow(u32 linear)
{
	u32 pde = memory_directory[linear >> LARGE_PAGE_SHIFT];
	const u32 *table = (const u32 *)(uintptr_t)(pde & PTE_FRAME);
	u32 entry = table[(linear >> PAGE_SHIFT) % 1024];

	assert_true((pde & PTE_P) != 0 && (entry & PTE_P) != 0);
	assert_int_equal(entry & PTE_U, 0);
	machine_map(linear & PTE_FRAME, entry & PTE_FRAME, PAGE_SIZE);
}

static bool is_window(u32 linear)
{
	return linear >= LAYOUT_WINDOWS && linear < LAYOUT_FIXED + LARGE_PAGE_SIZE;
}

/* A pool of that many frames (1,023 at most), all free, and one of its marks; memory of
 * zeroes. */
static void machine_start(u32 frames)
{
	if (physical == NULL) {
		memory_file = memfd_create("memory", 0);
		assert_true(memory_file >= 0 && ftruncate(memory_file, MACHINE_MEMORY) == 0);
		physical = mmap(NULL, MACHINE_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED,
				memory_file, 0);
		assert_true(physical != MAP_FAILED);
		machine_map(LAYOUT_POOL, MACHINE_POOL, MACHINE_POOL_SIZE);
	}
	while (pool_allocate() != 0)
		continue;
	/* What has not been written since the last time costs nothing. */
	assert_int_equal(fallocate(memory_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				   MACHINE_MEMORY), 0);
	memset(&processor, 0, sizeof(processor));
	memset(memory_directory, 0, sizeof(memory_directory));
	memory_init();
	pool_init(MACHINE_POOL, (frames + 1) * PAGE_SIZE);
}

#endif
