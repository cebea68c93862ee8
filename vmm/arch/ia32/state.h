/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is IA-32's of a virtual CPU, of a core and of a kind of guest: the frame of an entry, the
 * state that is switched, and what an exception is served by. These are parts of structures of
 * core's, but only the architecture's functions (arch.h) and the kinds of guests look into them.
 */
#pragma once

#include "arch/ia32/register.h"
#include "lib/types.h"
#include "privilege.h"

struct segment_tables;
struct vcpu;

/*
 * What an entry into the VMM leaves on the VMM stack, lowest address first. The
 * last two fields exist only when the entry came from ring 1 or 3.
 */
struct frame {
	u32 edi, esi, ebp, unused, ebx, edx, ecx, eax; /* PUSHA */
	u32 gs, fs, es, ds;
	u32 vector, error; /* the error code is 0 where the CPU gives none */
	u32 eip, cs, eflags, esp, ss;
};

/* What a core knows of its own registers (struct core). */
struct core_processor {
	u32 cr3;                /* what CR3 holds */
	struct vcpu *fpu_owner; /* whose state is in the FPU; NULL: nobody's */
};

/* How a kind of guest serves exceptions (struct vcpu_operations). Only trap.c and origin.c call
 * these. */
struct vcpu_exceptions {
	/* Serve a page fault at vcpu->fault_address, a #GP, and any other exception. The guest's
	 * registers are in *frame. */
	void (*page_fault)(struct vcpu *vcpu, struct frame *frame);
	void (*general_protection)(struct vcpu *vcpu, struct frame *frame);
	void (*trap)(struct vcpu *vcpu, struct frame *frame);
	/* Maps an address of the guest's at which the VMM has faulted, with this error code, while
	 * it worked for this vCPU. Returns false if the guest's page tables do not allow the
	 * access, or if nothing of the guest is ever absent. */
	bool (*fill)(struct vcpu *vcpu, u32 address, u32 error);
	/* Looks at a #GP in the VMM while it worked for a vCPU that takes the core's interrupts
	 * itself; by a #GP the CPU tells of such an interrupt. Returns false if it was something
	 * else. Only the owner of the core's interrupts (core/direct.h) needs it. */
	bool (*upcall)(struct frame *vmm);
};

/* The state that each switch or each return to a guest needs. */
struct vcpu_processor {
	u32 cr0;       /* real CR0 for the next return: cr0_guest, and TS for the lazy FPU */
	u32 saved_esp; /* VMM stack pointer while switched out */
	u32 cr0_guest; /* real CR0 without what the lazy switch of the FPU adds */
	u32 cr3;       /* real CR3; 0 for an RTOS that runs in any address space (rings) */
	/* The guest's registers, at the top of the VMM stack, where an entry puts them. NULL for
	 * the idle vCPU, which never leaves the VMM. */
	struct frame *frame;
	struct segment_tables *tables;
	u32 fault_address; /* CR2 of the guest's last page fault */
	u32 eflags;    /* bits set in the real EFLAGS while the guest runs: IF, or IOPL 1 */
	u32 tsd;       /* CR4_TSD while RDTSC is for the guest's kernel alone, or 0 */
	bool any_vector; /* while its tables are loaded, interrupts may come by whatever vectors a
			  * guest has given the interrupt controllers */
	/* Frames of the pool: descriptor tables, VMM stack, and the page table at LAYOUT_VCPU,
	 * which is 0 for an RTOS. */
	u32 tables_frame, stack_frames[2], table_frame;
};

/* The state that is switched only if guests use it. That of the FPU is in struct segment_tables. */
struct vcpu_registers {
	u32 dr[8];           /* debug registers as the guest sees them */
};
