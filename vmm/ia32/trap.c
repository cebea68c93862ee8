/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C side of every entry: to the handler of the vector, then back to a
 * guest, not necessarily the one that was interrupted.
 */
#include "core/core.h"
#include "core/interrupt.h"
#include "core/layout.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "ia32/cpu.h"
#include "ia32/entry.h"
#include "ia32/fpu.h"
#include "ia32/shadow.h"

/* entry.S reaches these without a structure. */
_Static_assert(offsetof(struct core, current) == 0, "entry.S");

struct fixup {
	u32 at, to;
};

extern const struct fixup fixup_first[], fixup_last[];

/* Where an instruction that may fault goes on, or NULL. */
static const struct fixup *trap_fixup(u32 eip)
{
	const struct fixup *fixup;

	for (fixup = fixup_first; fixup < fixup_last; fixup++)
		if (fixup->at == eip)
			return fixup;
	return NULL;
}

/*
 * An entry from ring 0. Interrupts come where the idle vCPU lets them in; page
 * faults where guest memory is copied; a #DB can be the breakpoint of a guest
 * that was inhibited until the VMM's first instruction, and is ignored.
 */
static void trap_vmm(struct frame *frame)
{
	const struct fixup *fixup;

	if (frame->vector >= VECTOR_PIC && frame->vector < VECTOR_RETURN_FAULT) {
		interrupt(frame->vector);
		return;
	}
	if (frame->vector == EXCEPTION_NMI)
		return;
	if (frame->vector == EXCEPTION_DB) {
		frame->eflags &= ~EFLAGS_TF;
		return;
	}
	fixup = trap_fixup(frame->eip);
	if (fixup == NULL)
		panic("exception %u in the VMM at %x, error code %x, CR2 %x", frame->vector,
		      frame->eip, frame->error, cr2_read());
	if (frame->vector != EXCEPTION_PF || !shadow_fill_for_vmm(core.current, cr2_read()))
		frame->eip = fixup->to;
}

/* Returns when the vCPU may run its guest again. */
static void trap_return(struct vcpu *vcpu)
{
	do {
		schedule();
		vcpu->operations->deliver(vcpu);
	} while (vcpu->state != VCPU_RUNNING);
	vcpu->cr0 = vcpu->cr0_guest | (fpu_is_foreign(vcpu) ? CR0_TS : 0);
}

void trap_start(void)
{
	trap_return(core.current);
}

void trap(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	if ((frame->cs & 3) == 0) {
		trap_vmm(frame);
		return;
	}
	vcpu_count(vcpu, COUNTER_entries);
	if (frame->vector >= VECTOR_PIC && frame->vector < VECTOR_RETURN_FAULT) {
		trace(TRACE_interrupt, frame->vector, frame->eip);
		vcpu_count(vcpu, COUNTER_interrupts);
		interrupt(frame->vector);
	} else if (frame->vector != EXCEPTION_NMI) {
		trace(TRACE_trap, frame->vector, frame->eip);
		vcpu->operations->trap(vcpu, frame);
	}
	trap_return(vcpu);
}
