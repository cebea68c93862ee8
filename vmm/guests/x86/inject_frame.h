/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how an interrupt or an exception is injected: by the frame that the CPU would have built on
 * the guest's stack. inject.c does that for all, and smp/ipi.c has a copy that takes fewer
 * instructions. On a shared CPU a guest's kernel sees itself as ring 0 in its frames (CS 0x60, not
 * 0x61). Linux compares with that, and its IRET traps, so that the VMM can restore the virtual
 * interrupt flag.
 */
#pragma once

#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "guests/x86/linux.h"
#include "siblings.h"
#include "views.h"

/* Stops a guest whose IDT or stack cannot be used. */
void inject_triple_fault(struct x86 *x86, unsigned vector, const char *why);

/* Bits of a gate's second word. */
enum { GATE_PRESENT = 0x8000, GATE_TYPE = 0x1f00 };
#define GATE_IS_TRAP 0x100u /* leaves the flag as it is */

/* Reads the words of the guest's gate. Returns false if there is none, or it cannot be used. */
MUST_CHECK static inline bool gate_read(const struct x86 *x86, unsigned vector, u32 *low, u32 *high)
{
	return vector * 8 + 7 <= x86->idt_limit &&
	       guest_read_8(x86->idt_base + vector * 8, low, high) && (*high & GATE_PRESENT) != 0 &&
	       (*high & GATE_TYPE & ~GATE_IS_TRAP) == GATE_INTERRUPT << 8;
}

/* As inject_reload_stack(). */
static INLINE void stack_reload(struct x86 *x86)
{
	struct tss *tss = &x86->vcpu->tables->tss;
	u32 esp, ss;

	if (x86->tss_base == 0 || !read_or_fail((const u32 *)(x86->tss_base + TSS_ESP0), &esp, &ss))
		return;
	tss->esp1 = esp;
	tss->ss1 = (ss & 0xffff) | PRIVILEGE_KERNEL;
}

/* Returns whether the guest's kernel may write size bytes at an address, at most a page. */
MUST_CHECK static inline bool stack_writable(struct x86 *x86, u32 linear, u32 size)
{
	u32 last = linear + size - 1;

	return linear <= GANDALF_BASE - size &&
	       (shadow_is_writable(x86->vcpu, linear) || shadow_make_writable(x86, linear)) &&
	       ((linear ^ last) < PAGE_SIZE || shadow_make_writable(x86, last));
}

/*
 * Builds an interrupt's frame on the stack of the guest's kernel, highest address first:
 *	ss, esp			only from ring 3, whose stack is left
 *	eflags			with IF as the guest sees it (flag)
 *	cs
 *	eip
 *	error code		unless INJECT_NO_ERROR	<- the guest's ESP
 *
 * The kernel's CS gets an RPL of 0, so that IRET traps. On a dedicated CPU IF is real and needs no
 * trap, so CS stays as it is. That starts with LTR, since Linux compares CS before it. Returns
 * false if the stack cannot be written.
 */
MUST_CHECK INLINE static bool frame_build(struct x86 *x86, struct frame *frame, bool from_user,
					  u32 flag, u32 error)
{
	const struct tss *tss = &x86->vcpu->tables->tss;
	u32 size = ((from_user ? 5u : 3u) + (error != INJECT_NO_ERROR)) * sizeof(u32);
	u32 cs = frame->cs;
	u32 esp = frame->esp;
	u32 *stack;

	if (from_user) {
		cs = views_process_code(x86->vcpu, cs);
		stack_reload(x86);
		esp = tss->esp1;
	} else {
		cs &= x86->code_mask;
	}
	if (!stack_writable(x86, esp - size, size))
		return false;
	stack = (u32 *)esp;
	if (from_user &&
	    (!write_or_fail(--stack, frame->ss) || !write_or_fail(--stack, frame->esp)))
		return false;
	if (!write_or_fail(--stack, (frame->eflags & ~(EFLAGS_IOPL | EFLAGS_IF)) | flag) ||
	    !write_or_fail(--stack, cs) || !write_or_fail(--stack, frame->eip) ||
	    (error != INJECT_NO_ERROR && !write_or_fail(--stack, error)))
		return false;
	if (from_user)
		frame->ss = tss->ss1;
	frame->esp = esp - size;
	return true;
}

/* As inject(), where it is known who was interrupted, and EFLAGS_IF as that one has it; and counts
 * nothing. */
MUST_CHECK static INLINE bool inject_as(struct x86 *x86, unsigned vector, u32 error, bool from_user,
					u32 flag)
{
	struct frame *frame = x86->vcpu->frame;
	u32 low, high;

	if (from_user) {
		views_show_kernel(x86);
		kernel_is_entered(x86);
	}
	if (!gate_read(x86, vector, &low, &high)) {
		inject_triple_fault(x86, vector, "IDT has no gate for");
		return false;
	}
	if (!frame_build(x86, frame, from_user, flag, error)) {
		inject_triple_fault(x86, vector, "stack cannot take");
		return false;
	}
	frame->eip = (low & 0xffff) | (high & 0xffff0000);
	frame->cs = (low >> 16 & ~3u) | PRIVILEGE_KERNEL;
	frame->eflags &= ~PRIVILEGE_CLEARED_FLAGS;
	linux_set_interrupts(x86, flag != 0 && (high & GATE_IS_TRAP) != 0);
	return true;
}
