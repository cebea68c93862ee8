/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists what a vCPU that has left a core takes along. That core writes it, into a page that all
 * cores have mapped, when the vCPU leaves; the core that it comes to reads it there (migrate.c).
 * Some pieces are better read where they are, which nobody changes as long as the vCPU is
 * elsewhere: the guest's registers at the top of the VMM stack, descriptors and floating-point
 * state in the frame of its tables, and what the shared page says of the guest, which only a seat
 * needs that has just been made.
 */
#pragma once

#include "arch/ia32/state.h"
#include "device/local_apic.h"
#include "vcpu_view.h"

/* Flushes of single pages of the kernel's half that a vCPU remembers. */
#define KERNEL_FLUSHES 16u
/* Stands for a flush of all in the place of a page's address. */
#define KERNEL_FLUSH_ALL 1u

/* What a vCPU has flushed of the kernel's half, which no log has: each vCPU does that for itself.
 * A seat that it comes back to does it, too. */
struct kernel_flushes {
	u32 count;                 /* how many it has ever made; the last ones are in pages */
	u32 pages[KERNEL_FLUSHES]; /* linear addresses, or KERNEL_FLUSH_ALL */
};

struct luggage {
	u32 stack_frame, tables_frame, shared_frame; /* where these pieces are */
	u32 life;                  /* of the guest, in which it runs */
	u64 started;               /* vm.started */
	bool slept, caching;       /* x86.slept, also of one that was halted; shadow.caching */
	u8 due;                    /* x86.due */
	bool asks_in, tls_hook;    /* as in struct smp and struct x86 */
	u32 asks_size, asks_length;
	u32 cr0_guest, tsd, cr0, cr3, cr4, gdt_base, idt_base, tss_base, protected_frame;
	u16 gdt_limit, idt_limit, tr;
	u8 tls_down;
	u64 tls[3];                /* SEGMENT_TLS_ENTRIES */
	struct vcpu_registers registers; /* debug registers */
	u32 interrupt_flag, cr2, locks; /* of the shared page */
	struct view_luggage view;
	struct kernel_flushes kernel;
	struct local_apic_state apic;
};
