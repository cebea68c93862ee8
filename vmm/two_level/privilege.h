/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what privilege guests' kernels have where the CPU is used with two levels only: the VMM is
 * in ring 0, and all else in ring 3. Which of the two views of an address space is loaded tells a
 * kernel from its processes (two_level/views.h). Where rings do, rings/privilege.h takes the place
 * of this.
 */
#pragma once

#include "abi/table.h"
#include "arch/ia32/cpu.h"
#include "lib/types.h"

/* What the table says of a system that is for this VMM. */
#define PRIVILEGE_LEVELS GANDALF_LEVELS_TWO
/* The ring of a guest's kernel: the RPL of its selectors, and the DPL of the gate of hypercalls. */
#define PRIVILEGE_KERNEL 3u
/* The code segment of the gate of system calls, which the VMM hands on. */
#define PRIVILEGE_GATE_CODE SELECTOR_VMM_CODE
/* Linux's vector of system calls, and whether a vector is that one: a process enters the VMM by it
 * of its own accord. */
#define PRIVILEGE_SYSTEM_CALL 0x80u
#define PRIVILEGE_IS_SYSTEM_CALL(vector) ((vector) == PRIVILEGE_SYSTEM_CALL)
/* What CR0 has while a guest runs. Read-only pages bind ring 3 whatever WP is, and the VMM's pages
 * are not ring 3's at all, so WP stays 0 and no entry has to change it. */
#define PRIVILEGE_CR0 0u
/* What gandalf_table.flags may have beyond the flags of all systems. */
#define PRIVILEGE_TABLE_FLAGS \
	(GANDALF_TABLE_NO_PREFILL | GANDALF_TABLE_NO_DIRECT_SWITCH | GANDALF_TABLE_NO_HINTS | \
	 GANDALF_TABLE_DETECT | GANDALF_TABLE_GLOBAL_PAGES | GANDALF_TABLE_CACHE | \
	 GANDALF_TABLE_POLICY)
/* Flags that are cleared when a guest's kernel is entered, as the CPU clears them at a gate. AC
 * means something in ring 3 only, where Linux does not expect its kernel. */
#define PRIVILEGE_CLEARED_FLAGS \
	(EFLAGS_TF | EFLAGS_NT | EFLAGS_RF | EFLAGS_VM | EFLAGS_AC)

/* CR4.PGE if pages of a Linux's processes are global on this core, or 0. */
extern u32 switch_pge;

/* Enclose a switch to another vCPU's address space. No page that is global may outlive it. CR4.PGE
 * stays 0 until the other directory is loaded, so that none comes back before. A vCPU that runs for
 * the first time goes on without the second function: then no page is global until the next
 * switch. */
static inline void privilege_leave_space(void)
{
	if (switch_pge != 0)
		cr4_write(cr4_read() & ~CR4_PGE);
}

static inline void privilege_enter_space(void)
{
	if (switch_pge != 0)
		cr4_write(cr4_read() | CR4_PGE);
}

extern const char ways_first[], ways_last[];

/* Returns whether an instruction of the VMM is one of the direct ways between a process and its
 * kernel (guests/x86/two_level/view_ways.S). A fault there leads to the way through C and never
 * fills the guest's shadow: what is filled may be the kernel's alone, and they have looked already
 * whether the process's view can be shown. */
static inline bool privilege_is_way(u32 eip)
{
	return eip - (u32)ways_first < (u32)ways_last - (u32)ways_first;
}

/* A bit that is software's own. In the real GDT it says that a segment is a kernel's, since the DPL
 * cannot. */
#define PRIVILEGE_OF_KERNEL (1ull << 52)
/* The bits by which a code segment of a process is told, and what they are. */
#define PRIVILEGE_PROCESS_MASK \
	(DESCRIPTOR_USER | DESCRIPTOR_CODE | DESCRIPTOR_PRESENT | 3ull << 45 | PRIVILEGE_OF_KERNEL)
#define PRIVILEGE_PROCESS (PRIVILEGE_PROCESS_MASK & ~PRIVILEGE_OF_KERNEL)

/* Returns a guest's descriptor as it is in the real GDT: ring 3's, with the bit that says whose it
 * is. */
static inline u64 privilege_lower(u64 descriptor)
{
	const u64 ring_3 = 3ull << 45;

	if ((descriptor & ring_3) == ring_3)
		return descriptor & ~PRIVILEGE_OF_KERNEL;
	return descriptor | ring_3 | PRIVILEGE_OF_KERNEL;
}

/* Follows when a code segment of a process has been put into the real GDT. Only a kernel has that
 * done, and while it runs these segments are absent, so that its return to a process faults. */
static inline void privilege_hide(u64 *descriptor)
{
	*descriptor &= ~DESCRIPTOR_PRESENT;
}
