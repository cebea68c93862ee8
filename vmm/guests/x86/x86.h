/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor that a vCPU of a Linux guest sees: its system registers as the guest set them, the
 * interrupts that wait for it, its shadow page tables. It takes one frame of the pool. The chips of
 * the mainboard, which all vCPUs of a VM share, are in board.h.
 */
#pragma once

#include "arch/ia32/segment.h"
#include "core/vm.h"
#include "guests/x86/decode.h"
#include "guests/x86/policy.h"
#include "guests/x86/shadow/shadow.h"
#include "guests/x86/upcall.h"

/* How many vectors can come while a guest with direct gates sleeps and wait for its return. The
 * interrupt controller's priorities let few nest. */
#define X86_DIRECT_VECTORS 32
/* From how many places a kernel can return to its processes, where the VMM has to know them
 * (guests/x86/two_level/return.c). Linux has one. */
#define RETURN_PLACES 8u

/* Large fields come last, since a small offset takes less code. */
struct x86 {
	struct vm *vm;
	struct vcpu *vcpu;
	struct board *board;     /* the mainboard that it is plugged into */
	const struct policy *policy; /* for a shared CPU, or for one that it has to itself */
	/* The word with the interrupt flag of the guest's kernel: the virtual flag in the shared
	 * page, or the real one in the EFLAGS of vcpu->frame. */
	u32 *flag;
	u32 code_mask;           /* the bits of the kernel's CS that its frames show */
	bool siblings;           /* its guest has other vCPUs: smp is its part of them */
	/* On a shared CPU. armed: the traps for an interrupt that waits are laid (linux.c).
	 * interrupt_waits: pic_pending() >= 0. due: the chips that have to be looked at before
	 * the guest goes on, BOARD_DUE_... slept: the guest was halted when one became due. */
	union {
		struct {
			bool armed, interrupt_waits;
			u8 due;
			bool slept;
		};
		u32 unusual; /* not 0 if one of them is set */
	};

	/* The guest's system registers; CR2 is in the shared page. */
	u32 cr0, cr3, cr4, gdt_base, idt_base;
	u16 gdt_limit, idt_limit, tr;
	u32 tss_base;            /* linear; 0: no TSS loaded */
	bool tls_hook;           /* LOAD_TLS has been seen */
	u8 tls_down;             /* strict TLS: bit n, segment n shows its lower half */
	void (*point)(struct x86 *x86); /* lets interrupts in at a point of long work, or NULL */
	struct shadow shadow;
	/* On a dedicated CPU (dedicated.c, upcall.c). irq_bases: the first vector of each 8259, 0
	 * until it is known. apic_priority: the APIC's before the last point. upcalls: the
	 * suspended work, in order of suspension. direct_vectors: of interrupts that have entered
	 * the VMM, and are not delivered yet. */
	u32 irq_bases[2], apic_priority, upcall_depth;
	struct upcall upcalls[UPCALL_DEPTH];
	u32 direct_count;
	u8 direct_vectors[X86_DIRECT_VECTORS];
	struct smp *smp;         /* what a vCPU with siblings has (guests/x86/smp) */
	struct frame tls_frame;  /* at the last flip; the same again is a fault of the guest's */
	u64 tls[SEGMENT_TLS_ENTRIES]; /* strict TLS: descriptors as the guest set them */
};

_Static_assert(sizeof(struct x86) <= 4096, "one frame of the pool");

/* Puts a descriptor of the guest into its real GDT; with strict TLS, one half of a TLS segment. */
void x86_set_descriptor(struct x86 *x86, u32 index, u64 descriptor);
/* Shows the other half of the TLS segments that the faulting instruction may use, at a #GP of a
 * guest with strict TLS. Returns false if that was tried already, or there is no other half. */
MUST_CHECK bool x86_flip_tls(struct x86 *x86);

/* Whether the vCPU's guest has others. In an image for guests with one vCPU nothing asks. */
static inline bool x86_has_siblings(const struct x86 *x86)
{
	return x86->siblings;
}

/* Returns whether points of long work let interrupts in now, which follows from how the guest has
 * set up its interrupt controllers (upcall_learn(), upcall_apic_write()). */
static inline bool x86_has_points(const struct x86 *x86)
{
	return x86->point != NULL;
}

/* Is a point in long work for a guest with direct gates, at which the guest's interrupts come.
 * Behind it the guest may have changed anything (upcall_point()). On a shared CPU it does nothing,
 * since such work can be interrupted anywhere, but never by the guest itself. */
static inline void x86_point(struct x86 *x86)
{
	if (x86_has_points(x86))
		x86->point(x86);
}
