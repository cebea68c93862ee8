/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a dedicated CPU the gates of interrupts lead to ring 1. One that comes while the VMM
 * works in ring 0 cannot enter a less privileged ring: the CPU raises #GP in the VMM, after it
 * has taken the interrupt from its controller, which still tells which one it is. At the points
 * where that may happen, the VMM's work is suspended where it is:
 *
 *	VMM stack			guest kernel's stack
 *	guest's frame, suspended	...
 *	work, up to the point		EFLAGS
 *	#GP frame of the VMM		CS: the VMM's code segment
 *	upcall(): frame of the handler	EIP of the VMM		<- handler's ESP
 *	<- esp0 meanwhile
 *
 *	  point, #GP              IRET to ring 0, #GP
 *	work ------> guest's handler ------> work
 *	               |   ^  its own faults and hypercalls, at points of
 *	               v   |  which it can be suspended again
 *	              work, one deeper
 *
 * To the guest it looks like an interrupt of its kernel: so it must not be preemptible, lest such a
 * frame stays on the stack of a task that does not run. It may never come back, or stop: what it
 * suspended is then given up, and every point is where nothing is half done.
 */
#include "ia32/upcall.h"

#include "core/core.h"
#include "core/pc.h"
#include "core/trace.h"
#include "hardware/i8259.h"
#include "ia32/entry.h"
#include "ia32/inject.h"

/* What must be left of the VMM stack: more than an entry from a guest ever takes. */
#define STACK_ROOM PAGE_SIZE

COLD void upcall_point(struct pc *pc)
{
	struct vcpu *vcpu = pc->vcpu;

	if ((vcpu->frame->eflags & EFLAGS_IF) == 0)
		return;
	if (pc->upcall_depth == UPCALL_DEPTH ||
	    (u32)__builtin_frame_address(0) - LAYOUT_STACK < STACK_ROOM)
		vcpu_count(vcpu, COUNTER_upcall_refusals);
	else
		sti_nop_cli();
}

COLD void upcall(struct frame *vmm)
{
	struct vcpu *vcpu = core.current;
	struct pc *pc = vcpu->vm->pc;
	struct upcall *suspended = &pc->upcalls[pc->upcall_depth];
	struct frame handler = *vcpu->frame;
	int irq = i8259_in_service();
	u32 vector;

	if (irq < 0)
		return;
	vector = pc->irq_bases[irq / 8] + (u32)irq % 8;
	trace(TRACE_upcall, vector, vmm->eip);
	vcpu_count(vcpu, COUNTER_upcalls);
	if (pc->upcall_depth++ != 0)
		vcpu_count(vcpu, COUNTER_upcalls_nested);
	suspended->guest = vcpu->frame;
	suspended->vmm = vmm;
	handler.eip = vmm->eip;
	handler.cs = SELECTOR_VMM_CODE;
	vcpu->frame = &handler;
	vcpu->tables->tss.esp0 = (u32)(&handler + 1);
	inject(pc, vector, false, 0);
	/* The work may have freed page tables that the CPU still knows. */
	cr3_write(cr3_read());
	entry_leave(&handler);
}

COLD void upcall_return(struct pc *pc, const u32 *words)
{
	struct vcpu *vcpu = pc->vcpu;
	const struct upcall *last = pc->upcalls + pc->upcall_depth - 1;

	/* EIP, CS and EFLAGS lie where inject() has put them. */
	if (pc->upcall_depth == 0 || vcpu->frame->esp != last->guest->esp - 3 * sizeof(u32) ||
	    words[0] != last->vmm->eip)
		return;
	pc->upcall_depth--;
	vcpu->frame = last->guest;
	vcpu->tables->tss.esp0 = (u32)(last->guest + 1);
	entry_leave(last->vmm);
}

/*
 * The vectors that a guest gave the 8259s are known to it alone, until one comes by the VMM's own
 * gates. All systems of the PC give the second one those behind the first's; should one not, its
 * first interrupt during a halt tells.
 */
COLD void upcall_learn(struct pc *pc, u32 vector)
{
	int irq;

	if (!core.interruptible || vector - pc->irq_bases[0] < 8 ||
	    vector - pc->irq_bases[1] < 8 || (irq = i8259_in_service()) < 0)
		return;
	pc->irq_bases[irq / 8] = vector - (u32)irq % 8;
	if (irq < 8)
		pc->irq_bases[1] = pc->irq_bases[0] + 8;
}
