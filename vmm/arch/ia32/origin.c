/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries whose frame is neither a guest's nor the VMM's as it stands (arch/ia32/origin.h). The
 * frame is brought into the shape that it should have, and is then recognised by its place and
 * served like any other; or the guest that caused it is stopped. All of this is rare.
 */
#include "arch/ia32/origin.h"

#include "arch/ia32/entry.h"
#include "arch/ia32/masked_sections.h"
#include "core/direct.h"
#include "core/log.h"
#include "core/vm.h"
#include "core/work.h"
#include "lib/string.h"
#include "privilege.h"

/* ES, DS, FS and GS, which the CPU pushes above SS in virtual-8086 mode. */
#define VIRTUAL_8086_BYTES 16u

/* Returns where the vCPU's frame lies if the CPU has pushed this many bytes more than usual. */
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
 * Inserts the error code that the CPU has not pushed, since an interrupt came by the vector of an
 * exception that has one. All below its place moves down a word, highest address first:
 *	before				behind
 *	eflags, cs, eip			eflags, cs, eip
 *	vector				error code 0
 *	ds				vector
 *	es ... edi	<- frame	ds ... esi
 *	the handler's return address	edi	<- the result
 * The last word overwrites where the handler would return to. So the handler does not return, and
 * entry_leave() is the only way out.
 */
static struct frame *error_code_insert(struct frame *frame)
{
	struct frame *whole = (struct frame *)((u32 *)frame - 1);

	memmove(whole, frame, offsetof(struct frame, error));
	whole->error = 0;
	return whole;
}

/* Returns whether the frame would make sense if the CPU had pushed an error code. */
static bool error_code_is_missing(const struct vcpu *vcpu, const struct frame *frame)
{
	const struct frame *whole = (const struct frame *)((const u32 *)frame - 1);

	return frame->vector < EXCEPTIONS && (EXCEPTION_ERROR_CODES >> frame->vector & 1) != 0 &&
	       (origin_is_guest(vcpu, whole) || origin_is_vmm(whole) ||
		origin_is_virtual_8086(vcpu, whole));
}

/* Stops the guest that has the interrupt controllers, and let one interrupt by this vector. */
static void stray_stop(u32 vector)
{
	vm_stop(direct_owner()->vm, "its PIC has an exception's vector, %u", vector);
}

bool origin_is_stray_interrupt(const struct frame *frame)
{
	/* Beside such a guest the VMM enables interrupts for single instructions only, none of
	 * which can fault: what comes with IF set is an interrupt. */
	if (!direct_has_owner() || (frame->eflags & EFLAGS_IF) == 0)
		return false;
	stray_stop(frame->vector);
	return true;
}

/*
 * Serves an entry from virtual-8086 mode, which the process has entered without its kernel's help.
 * The kernel gets a general protection fault from ring 3, whatever the cause of the entry was; an
 * RTOS is stopped. If the cause was an interrupt, it is served after that, but not an INT n of the
 * process, which QEMU carries out with IOPL 3. CS and SS have values of that mode, which are no
 * selectors; with RPL 3 they name ring 3.
 */
static _Noreturn void virtual_8086_leave(struct vcpu *vcpu, const struct frame *from)
{
	u32 vector = from->vector;
	struct frame *frame = memmove(vcpu->frame, from, sizeof(*frame));

	/* QEMU also lets the process choose IF and IOPL, so they are set here. */
	frame->eflags = vcpu_eflags(vcpu, frame->eflags) | EFLAGS_IF;
	frame->cs = (frame->cs & 0xffff) | 3;
	frame->ss = (frame->ss & 0xffff) | 3;
	frame->vector = VECTOR_VIRTUAL_8086;
	trap_handlers[VECTOR_VIRTUAL_8086](frame);
	work_mask(virtual_8086);
	frame->vector = vector;
	if (vector >= EXCEPTIONS && !PRIVILEGE_IS_SYSTEM_CALL(vector))
		trap_handlers[vector](frame);
	entry_leave(frame);
}

void origin_mend(struct frame *frame)
{
	struct vcpu *vcpu = core.current;
	u32 vector = frame->vector;
	bool missing = direct_has_owner() && error_code_is_missing(vcpu, frame);

	work_mask(mended_entry);
	if (missing) {
		frame = error_code_insert(frame);
		stray_stop(vector);
		/* The work that the VMM was doing for the stopped guest is given up. */
		entry_leave(vcpu->frame != NULL ? vcpu->frame : frame);
	}
	if (origin_is_virtual_8086(vcpu, frame))
		virtual_8086_leave(vcpu, frame);
	panic("vector %u, nobody's frame %x: cs %x, eip %x, eflags %x", vector, (u32)frame,
	      frame->cs, frame->eip, frame->eflags);
}
