/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-views.elf: what its tests share. Its kernel is in the kernel half and its
 * processes below, as with Linux. So where the VMM alone is privileged, both views of an address
 * space are used, and the direct ways between them.
 */
#ifndef VIEWS_H
#define VIEWS_H

#include "machine.h"
#include "tap.h"

#define FAULT_PRESENT 1
#define FAULT_WRITE 2
#define FAULT_USER 4

/* Two address spaces, with a table for the pages from SCRATCH on each. They differ in nothing
 * else. */
extern uint32_t view_directory[2][1024], view_scratch[2][1024];

/* Makes both spaces and loads the first. */
void view_begin(void);
/* Loads a space by number. */
void view_load(uint32_t space);
/* Maps a page of SCRATCH in a space, and has what was there forgotten. */
void view_map(uint32_t space, uint32_t page, const void *frame, uint32_t flags);
/* Has so many pages of SCRATCH forgotten, whose entries have changed. */
void view_flush(uint32_t space, uint32_t page, uint32_t count);
/* Returns where a part of this kernel is in memory. */
static inline uint32_t physical(const void *address)
{
	return (uint32_t)address - KERNEL_HALF;
}

/* What ring 3 does with a word of user_address: reads it, reads and increments it. */
extern const char user_look[], user_access[], user_look_trap[], user_access_trap[];
extern volatile uint32_t user_address;

/* Has ring 3 do that with a page of SCRATCH. Its first page fault is served by a function, if there
 * is one, and it goes on behind that. What ended it is in `trap`. Returns how many faults there
 * were. */
uint32_t view_run(const char *code, uint32_t page, void (*serve)(void));
/* The last ended by its system call, with a value read; or by a page fault. */
void view_read(uint32_t value);
void view_fault(uint32_t error);

extern const struct tap_group group_ahead;

#endif
