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
#define VIEW_SWITCH_TABLE_BITS 0x27 /* DIRECTORY_TABLE_BITS */
/* PRIVILEGE_SYSTEM_CALL, EFLAGS_GUEST and PRIVILEGE_CLEARED_FLAGS. */
#define VIEW_SWITCH_SYSTEM_CALL 0x80
#define VIEW_SWITCH_EFLAGS_GUEST 0x254dd5
#define VIEW_SWITCH_EFLAGS_CLEARED 0x74100

/* Offsets in struct view_switch, in struct vcpu and in struct segment_tables, which view_switch.c
 * checks. */
#define VIEW_SWITCH_CALLS 0
#define VIEW_SWITCH_RETURNS 4
#define VIEW_SWITCH_VCPU_VIEW 124
#define VIEW_SWITCH_IN_PROCESS (VIEW_SWITCH_VCPU_VIEW + 0)
#define VIEW_SWITCH_READY (VIEW_SWITCH_VCPU_VIEW + 4)
#define VIEW_SWITCH_KERNEL (VIEW_SWITCH_VCPU_VIEW + 8)
#define VIEW_SWITCH_PROCESS (VIEW_SWITCH_VCPU_VIEW + 12)
#define VIEW_SWITCH_TABLES (VIEW_SWITCH_VCPU_VIEW + 16)
#define VIEW_SWITCH_ESP0 (VIEW_SWITCH_VCPU_VIEW + 20)
#define VIEW_SWITCH_ENTRY (VIEW_SWITCH_VCPU_VIEW + 24)
#define VIEW_SWITCH_SITE (VIEW_SWITCH_VCPU_VIEW + 28)
#define VIEW_SWITCH_AWAITED (VIEW_SWITCH_VCPU_VIEW + 32)
#define VIEW_SWITCH_VCPU_CR3 20
#define VIEW_SWITCH_VCPU_TABLES 28
#define VIEW_SWITCH_VCPU_EFLAGS 36
#define VIEW_SWITCH_CORE_CR3 8
#define VIEW_SWITCH_USER_CODES 300

#ifndef __ASSEMBLER__

#include "core/vcpu.h"

/* A bit of vcpu_view.awaited: the pages near it are filled, too. */
#define VIEW_SWITCH_AWAITED_NEAR 1u

/* What holds for all vCPUs of this core. */
struct view_switch {
	u32 calls, returns; /* how often each way was taken */
	u32 fills;      /* pages filled when a kernel returned to a process */
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
