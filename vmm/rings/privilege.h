/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what privilege guests' kernels have where the CPU's rings tell them from their processes:
 * kernels are in ring 1, processes in ring 3. Where there are two levels, two_level/privilege.h
 * takes the place of this.
 */
#pragma once

#include "abi/table.h"
#include "arch/ia32/register.h"
#include "lib/types.h"

/* What the table says of a system that is for this VMM. */
#define PRIVILEGE_LEVELS GANDALF_LEVELS_RINGS
/* The ring of a guest's kernel: the RPL of its selectors, and the DPL of the gate of hypercalls. */
#define PRIVILEGE_KERNEL 1u
/* The code segment of a gate that enters a guest's kernel. */
#define PRIVILEGE_GATE_CODE GUEST_KERNEL_CODE
/* What gandalf_table.flags may have beyond the flags of all systems. */
#define PRIVILEGE_TABLE_FLAGS 0
/* Linux's vector of system calls. It leads to the kernel at once, so no vector leads a process into
 * the VMM of its own accord; smp/kernel_watch.c, where this one does, looks after the rest. */
#define PRIVILEGE_SYSTEM_CALL 0x80u
#define PRIVILEGE_IS_SYSTEM_CALL(vector) ((void)(vector), false)
/* What CR0 has while a guest runs: WP, which keeps ring 1 from writing to the VMM's pages. */
#define PRIVILEGE_CR0 CR0_WP
/* Flags that are cleared when a guest's kernel is entered, as the CPU clears them at a gate. */
#define PRIVILEGE_CLEARED_FLAGS (EFLAGS_TF | EFLAGS_NT | EFLAGS_RF | EFLAGS_VM)

/* Returns whether an instruction of the VMM is one of the direct ways between a process and its
 * kernel. These run no instruction of the VMM here. */
static inline bool privilege_is_way(UNUSED u32 eip)
{
	return false;
}

/* The bits by which a code segment of a process is told, and what they are. */
#define PRIVILEGE_PROCESS_MASK (DESCRIPTOR_USER | DESCRIPTOR_CODE | DESCRIPTOR_PRESENT | 3ull << 45)
#define PRIVILEGE_PROCESS PRIVILEGE_PROCESS_MASK

/* Returns a guest's descriptor with the DPL that it has in the real GDT: no segment is ring 0's. */
static inline u64 privilege_lower(u64 descriptor)
{
	if (((unsigned)(descriptor >> 45) & 3) == 0)
		descriptor |= 1ull << 45;
	return descriptor;
}

/* Follows when a code segment of a process has been put into the real GDT. */
static inline void privilege_hide(UNUSED u64 *descriptor)
{
}

/* Enclose a switch to another vCPU's address space, in which nothing that is global differs. */
static inline void privilege_leave_space(void)
{
}

static inline void privilege_enter_space(void)
{
}
