/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The direct ways between a process and its kernel, which run no C of the VMM: a system call by
 * INT 0x80, and the kernel's IRET to a process (guests/x86/two_level/direct_ways.S). They know the
 * case that Linux is always in. Whatever differs takes the way through C, which is always right:
 * another selector or flag, a stack that is not there or crosses a page, an interrupt that waits.
 *
 * Also read by the assembler.
 */
#pragma once

/* Linux's selectors, as its tables and frames have them. */
#define DIRECT_USER_CODE 0x73
#define DIRECT_USER_DATA 0x7b
#define DIRECT_KERNEL_CODE 0x60
#define DIRECT_KERNEL_DATA 0x68
/* The bit of segment_tables.user_code for the one code segment of processes, and the two words of
 * its descriptor in the real GDT while it is absent: flat, up to the end of what a guest may have
 * (segment_restrict()). */
#define DIRECT_USER_BIT (1 << (DIRECT_USER_CODE / 8))
#define DIRECT_USER_LOW 0x0000c001
#define DIRECT_USER_HIGH 0x00cf7b00
#define DIRECT_PRESENT 0x8000
/* EFLAGS_GUEST and PRIVILEGE_CLEARED_FLAGS. */
#define DIRECT_EFLAGS_GUEST 0x254dd5
#define DIRECT_EFLAGS_CLEARED 0x74100

/* Offsets in struct direct, in struct vcpu and in struct segment_tables, which direct.c checks. */
#define DIRECT_IN_PROCESS 0
#define DIRECT_READY 4
#define DIRECT_KERNEL 8
#define DIRECT_PROCESS 12
#define DIRECT_TABLES 16
#define DIRECT_ESP0 20
#define DIRECT_ENTRY 24
#define DIRECT_CALLS 28
#define DIRECT_RETURNS 32
#define DIRECT_SITE 40
#define DIRECT_AWAITED 44
#define DIRECT_VCPU_CR3 20
#define DIRECT_VCPU_TABLES 28
#define DIRECT_VCPU_EFLAGS 36
#define DIRECT_CORE_CR3 8
#define DIRECT_USER_CODES 300

#ifndef __ASSEMBLER__

#include "core/vcpu.h"

struct space;

/* A bit of direct.awaited: the pages near it are filled, too. */
#define DIRECT_AWAITED_NEAR 1u

/* There is one Linux on a core, so this is that Linux's. */
struct direct {
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
	 * DIRECT_AWAITED_NEAR in it. And the space in which that was, which is only compared. */
	u32 awaited;
	const struct space *awaited_space;
	/* Whether the description has these measures taken away. */
	bool no_prefill, no_direct_switch;
};
extern struct direct direct;

/* The ways, to which gates lead. C never calls them. */
void direct_call(void);
void direct_return(void);

#endif
