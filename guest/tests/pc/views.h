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

#define FAULT_PRESENT 1u
#define FAULT_WRITE 2u
#define FAULT_USER 4u

/* Two address spaces, with a table for the pages from SCRATCH on each. They differ in nothing
 * else. Both have the pages of view_kernel from VIEW_KERNEL on, in the kernel half, and those of
 * view_below in front of it. */
extern uint32_t view_directory[2][1024], view_scratch[2][1024];
extern uint32_t view_kernel[1024], view_below[1024];
#define VIEW_KERNEL 0xd0000000U

/* Makes both spaces and loads the first. */
void view_begin(void);
/* Loads a space by number. */
void view_load(uint32_t space);
/* Maps a page of SCRATCH in a space, and has what was there forgotten. */
void view_map(uint32_t space, uint32_t page, const void *frame, uint32_t flags);
/* Has so many pages of SCRATCH forgotten, whose entries have changed. */
void view_flush(uint32_t space, uint32_t page, uint32_t count);
/* The same of pages from an address on. */
void view_flush_at(uint32_t space, uint32_t first, uint32_t count);
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

/* Has ring 3 do that with any address, its page faults being the end of it. */
void view_try(const char *code, uint32_t address);

/* Those of views_user.S. user_flags: their operand. */
extern const char user_count[], user_flagged[], user_flagged_trap[], user_stepped[],
	user_hypercall_any[], user_hypercall_any_trap[], user_segments[], view_iret[],
	user_look_on[];
extern volatile uint32_t user_flags, user_counted;
void view_return(const uint32_t *frame);
void view_return_prefixed(const uint32_t *frame);

extern const struct tap_group group_ahead, group_calls, group_returns, group_borders,
	group_processes;

#endif
