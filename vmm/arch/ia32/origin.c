/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries whose frame is neither a guest's nor the VMM's as it stands (arch/ia32/origin.h). The
 * frame is brought into the shape that it should have, is told by its place again, and is then
 * served like any other, or the guest that caused it is stopped. None of it is on a frequent
 * way.
 */
#include "arch/ia32/origin.h"

#include "arch/ia32/entry.h"
#include "core/log.h"
#include "core/vm.h"
#include "core/work.h"
#include "lib/string.h"

/* ES, DS, FS and GS, which the CPU pushes above SS in virtual-8086 mode. */
#define VIRTUAL_8086_BYTES 16u

/* Where the vCPU's frame would lie if the CPU had pushed so many bytes more. */
static struct frame *frame_below(const struct vcpu *vcpu, u32 bytes)
{
	return (struct frame *)((u32)vcpu->frame - bytes);
}

static bool origin_is_virtual_8086(const struct vcpu *vcpu, const struct frame *frame)
{
	return vcpu->frame != NULL && frame == frame_below(vcpu, VIRTUAL_8086_BYTES) &&
	       (frame->eflags & EFLAGS_VM) != 0;
}

/*
 * The CPU has pushed no error code, as for an interrupt, but the vector is that of an exception
 * that has one. All below its place moves down a word, over where this function's caller would
 * return to: so nobody returns, and the frame is left by entry_leave() only.
 */
static struct frame *error_code_insert(struct frame *frame)
{
	struct frame *whole = (struct frame *)((u32 *)frame - 1);

	memmove(whole, frame, offsetof(struct frame, error));
	whole->error = 0;
	return whole;
}

/* Whether the frame would make sense if the CPU had pushed an error code. */
static bool error_code_is_missing(const struct vcpu *vcpu, const struct frame *frame)
{
	const struct frame *whole = (const struct frame *)((const u32 *)frame - 1);

	return frame->vector < EXCEPTIONS && (EXCEPTION_ERROR_CODES >> frame->vector & 1) != 0 &&
	       (origin_is_guest(vcpu, whole) || origin_is_vmm(whole) ||
		origin_is_virtual_8086(vcpu, whole));
}

/* The guest that has the controllers has one of them interrupt by an exception's vector. */
static void stray_stop(u32 vector)
{
	vm_stop(core.direct->vm, "its interrupt controller has vector %u, which is an exception's",
		vector);
}

bool origin_is_stray_interrupt(const struct frame *frame)
{
	/* The VMM lets interrupts in for single instructions there, none of which can fault. */
	if (core.direct == NULL || (frame->eflags & EFLAGS_IF) == 0)
		return false;
	stray_stop(frame->vector);
	return true;
}

/*
 * A process in virtual-8086 mode, which its kernel has not asked for: the kernel gets a general
 * protection fault from ring 3, whatever the cause of the entry; an interrupt is served behind
 * that. An RTOS is stopped. The selectors are the mode's and load nothing.
 */
static _Noreturn void virtual_8086_leave(struct vcpu *vcpu, const struct frame *from)
{
	u32 vector = from->vector;
	struct frame *frame = memmove(vcpu->frame, from, sizeof(*frame));

	/* QEMU also loads IF and IOPL from what the process made of them. */
	frame->eflags = vcpu_eflags(vcpu, frame->eflags) | EFLAGS_IF;
	frame->cs = (frame->cs & 0xffff) | 3;
	frame->ss = (frame->ss & 0xffff) | 3;
	frame->vector = VECTOR_VIRTUAL_8086;
	trap_handlers[VECTOR_VIRTUAL_8086](frame);
	work_end(virtual_8086);
	frame->vector = vector;
	if (vector >= EXCEPTIONS)
		trap_handlers[vector](frame);
	entry_leave(frame);
}

void origin_mend(struct frame *frame)
{
	struct vcpu *vcpu = core.current;
	u32 vector = frame->vector;
	bool missing = error_code_is_missing(vcpu, frame) && core.direct != NULL;

	work_end(mended_entry);
	if (missing) {
		frame = error_code_insert(frame);
		stray_stop(vector);
		/* What the VMM was doing for the guest that is stopped is given up. */
		entry_leave(vcpu->frame != NULL ? vcpu->frame : frame);
	}
	if (origin_is_virtual_8086(vcpu, frame))
		virtual_8086_leave(vcpu, frame);
	panic("vector %u with a frame at %x that is nobody's: cs %x, eip %x, eflags %x", vector,
	      (u32)frame, frame->cs, frame->eip, frame->eflags);
}
