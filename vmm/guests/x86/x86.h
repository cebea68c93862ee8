/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor that a vCPU of a Linux guest sees: its system registers as the guest set them, the
 * interrupts that wait for it, its shadow page tables. One frame of the pool. The chips of the
 * mainboard, which all vCPUs of a VM share, are in board.h.
 */
#pragma once

#include "arch/ia32/segment.h"
#include "core/vm.h"
#include "guests/x86/decode.h"
#include "guests/x86/shadow/shadow.h"
#include "guests/x86/upcall.h"

/* Vectors that came in while a guest with direct gates slept; the controller's
 * priorities let few nest. */
#define X86_DIRECT_VECTORS 8

/* What is large comes last: a small offset takes less code. */
struct x86 {
	struct vm *vm;
	struct vcpu *vcpu;
	struct board *board;     /* that it is plugged into */
	bool dedicated;          /* IOPL 1, real IF, interrupts without the VMM */
	/* Shared CPU: the traps for an interrupt that waits are laid; pic_pending() >= 0;
	 * BOARD_DUE_..., chips that have to be looked at before the guest goes on, and whether it
	 * slept then. */
	union {
		struct {
			bool armed, interrupt_waits;
			u8 due;
			bool slept;
		};
		u32 unusual; /* one of them */
	};

	/* The guest's system registers; CR2 is in the shared page. */
	u32 cr0, cr3, cr4, gdt_base, idt_base;
	u16 gdt_limit, idt_limit, tr;
	u32 tss_base;            /* linear; 0: no TSS loaded */
	bool tls_hook;           /* LOAD_TLS has been seen */
	u8 tls_down;             /* strict TLS: bit n, segment n shows its lower half */
	/* Dedicated CPU (guests/x86/upcall.c): what interrupts the VMM's work at points, or
	 * NULL; the first vector of each 8259, 0 until it is known; the APIC's priority before
	 * the last point; what is suspended, the last behind. */
	void (*point)(struct x86 *x86);
	u32 irq_bases[2], apic_priority, upcall_depth;
	struct upcall upcalls[UPCALL_DEPTH];
	u32 direct_count;
	u8 direct_vectors[X86_DIRECT_VECTORS];
	struct shadow shadow;
	struct frame tls_frame;  /* at the last flip: a fault again is the guest's */
	u64 tls[SEGMENT_TLS_ENTRIES]; /* strict TLS: descriptors as the guest set them */
};

_Static_assert(sizeof(struct x86) <= 4096, "one frame of the pool");

/* Puts a descriptor of the guest into its real GDT; strict TLS: half of it. */
void x86_set_descriptor(struct x86 *x86, u32 index, u64 descriptor);
/* A guest with strict TLS, a #GP: shows the other half of the segments that are loaded.
 * false: that has been tried, or there is none. */
MUST_CHECK bool x86_flip_tls(struct x86 *x86);

/* A point in long work for a guest with direct gates at which it can be interrupted. On a shared
 * CPU it can be anywhere, and never by what the guest itself does: nothing changes there. */
static inline void x86_point(struct x86 *x86)
{
	if (x86->point != NULL)
		x86->point(x86);
}

static inline unsigned x86_cpl(const struct vcpu *vcpu)
{
	return vcpu->frame->cs & 3;
}
