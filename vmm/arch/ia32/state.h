/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a virtual CPU is IA-32's: the frame of an entry, and the state that is switched. Core has
 * these in struct vcpu and leaves them to the architecture's functions (arch.h).
 */
#pragma once

#include "arch/ia32/register.h"
#include "lib/types.h"

struct segment_tables;

/*
 * What an entry into the VMM leaves on the VMM stack, lowest address first. The
 * last two fields exist only when the entry came from ring 1 or 3.
 */
struct frame {
	u32 edi, esi, ebp, unused, ebx, edx, ecx, eax; /* PUSHA */
	u32 gs, fs, es, ds;
	u32 vector, error; /* 0 where the CPU gives none */
	u32 eip, cs, eflags, esp, ss;
};

/* What each switch and each return to a guest needs. */
struct vcpu_processor {
	u32 cr0;       /* real CR0 for the next return: cr0_guest, lazy TS */
	u32 saved_esp; /* VMM stack pointer while switched out */
	u32 cr0_guest; /* real CR0 but for the lazy switch of the FPU */
	u32 cr3;       /* real CR3, 0: an RTOS, which runs in any address space */
	/* Its registers, at the top of its VMM stack, where the CPU puts them on an entry; NULL:
	 * the idle vCPU, which never leaves the VMM. */
	struct frame *frame;
	struct segment_tables *tables;
	u32 fault_address; /* CR2 of its last page fault */
	u32 eflags;    /* the bits that EFLAGS really has whenever it runs: IF, or IOPL 1 */
	bool any_vector; /* interrupts may come while its tables are loaded by vectors that a guest
			  * has given its controllers */
	/* Pool frames: of its descriptor tables, its VMM stack, the page table at LAYOUT_VCPU. */
	u32 tables_frame, stack_frames[2], table_frame;
};

/* What is switched only if it is used. */
struct vcpu_registers {
	u32 dr[8];           /* as the guest sees them */
	_Alignas(16) u8 fpu[512]; /* FXSAVE or FNSAVE image */
};
