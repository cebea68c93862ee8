/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The direct ways between a process and its kernel, which run no C of the VMM: a system call by
 * INT 0x80, and the kernel's IRET to a process (guests/x86/two_level/view_ways.S). They know the
 * case that Linux is always in. Whatever differs takes the way through C, which is always right:
 * another selector or flag, a stack that is not there or crosses a page, an interrupt that waits.
 *
 * Also read by the assembler.
 */
#pragma once

/* Linux's selectors, as its tables and frames have them. */
#define VIEW_SWITCH_USER_CODE 0x73
#define VIEW_SWITCH_USER_DATA 0x7b
#define VIEW_SWITCH_KERNEL_CODE 0x60
#define VIEW_SWITCH_KERNEL_DATA 0x68
/* The bit of segment_tables.user_code for the one code segment of processes, and the two words of
 * its descriptor in the real GDT while it is absent: flat, up to the end of what a guest may have
 * (segment_restrict()). */
#define VIEW_SWITCH_USER_BIT (1 << (VIEW_SWITCH_USER_CODE / 8))
#define VIEW_SWITCH_USER_LOW 0x0000c001
#define VIEW_SWITCH_USER_HIGH 0x00cf7b00
#define VIEW_SWITCH_PRESENT 0x8000
/* PRIVILEGE_SYSTEM_CALL, EFLAGS_GUEST and PRIVILEGE_CLEARED_FLAGS. */
#define VIEW_SWITCH_SYSTEM_CALL 0x80
#define VIEW_SWITCH_EFLAGS_GUEST 0x254dd5
#define VIEW_SWITCH_EFLAGS_CLEARED 0x74100

/* Offsets in struct view_switch, in struct vcpu and in struct segment_tables, which view_switch.c
 * checks. */
#define VIEW_SWITCH_IN_PROCESS 0
#define VIEW_SWITCH_READY 4
#define VIEW_SWITCH_KERNEL 8
#define VIEW_SWITCH_PROCESS 12
#define VIEW_SWITCH_TABLES 16
#define VIEW_SWITCH_ESP0 20
#define VIEW_SWITCH_ENTRY 24
#define VIEW_SWITCH_CALLS 28
#define VIEW_SWITCH_RETURNS 32
#define VIEW_SWITCH_SITE 40
#define VIEW_SWITCH_AWAITED 44
#define VIEW_SWITCH_VCPU_CR3 20
#define VIEW_SWITCH_VCPU_TABLES 28
#define VIEW_SWITCH_VCPU_EFLAGS 36
#define VIEW_SWITCH_CORE_CR3 8
#define VIEW_SWITCH_USER_CODES 300

#ifndef __ASSEMBLER__

#include "core/vcpu.h"

struct space;

/* A bit of view_switch.awaited: the pages near it are filled, too. */
#define VIEW_SWITCH_AWAITED_NEAR 1u

/* There is one Linux on a core, so this is that Linux's. */
struct view_switch {
	u32 in_process; /* the view of a process is loaded, and not its kernel's */
	struct vcpu *ready; /* this vCPU's process may make direct calls; NULL: none may */
	/* The directories of both views of the space that is loaded. The process's is 0 while
	 * something has to be done before that view is shown: a page is awaited, or pages of the
	 * kernel alone have to be dropped. */
	u32 kernel, process;
	u32 tables;     /* where the VMM sees the kernel's directory */
	u32 esp0;       /* guest-linear address of ESP0 in the kernel's TSS */
	u32 entry;      /* EIP of the kernel's gate */
	u32 calls, returns; /* how often each way was taken */
	u32 fills;      /* pages filled when the kernel returned to a process */
	u32 site;       /* EIP behind the INT3 by which the kernel returned last, or 0 */
	/* The page at which a process has faulted last, whose fault its kernel serves, or 0; with
	 * VIEW_SWITCH_AWAITED_NEAR in it. And the space in which that was, which is only
	 * compared. */
	u32 awaited;
	const struct space *awaited_space;
	/* Whether the description has these measures taken away. */
	bool no_prefill, no_direct_switch;
	bool detect; /* what the description says of coherence */
	/* By what PTE_U is multiplied to give PTE_G, if pages of processes are global, or 0. */
	u32 global;
};
extern struct view_switch view_switch;

/* The ways, to which gates lead. C never calls them. */
void view_switch_call(void);
void view_switch_return(void);

#endif
