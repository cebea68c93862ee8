/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the ways from a process into the VMM that rings would close or lead past it. It hands
 * system calls to the guest's kernel, and refuses hypercalls, which are the kernel's alone.
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "core/work.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "guests/x86/system_call.h"
#include "lib/owner.h"
#include "views.h"

/* The bit of a selector's error code that says that it is a gate's. */
#define ERROR_OF_GATE 2u

/* What serves a hypercall of a kernel. */
OF_CORE static void (*hypercall_serve)(struct frame *frame);

/* Gives the kernel the #GP of a process that makes a hypercall, as if the gate were closed. So EIP
 * is that of the INT, which has two bytes. */
static void hypercall_check(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	if (!origin_is_guest(vcpu, frame) || vcpu->view.in_process == 0) {
		hypercall_serve(frame);
		return;
	}
	vcpu_count(vcpu, COUNTER_entries);
	work_unmask(vcpu);
	vcpu->frame->eip -= 2;
	inject_general_protection(vcpu->x86, GANDALF_HYPERCALL_VECTOR * 8 | ERROR_OF_GATE);
}

void views_begin(void)
{
	if (trap_handlers[GANDALF_HYPERCALL_VECTOR] == hypercall_check)
		return;
	hypercall_serve = trap_handlers[GANDALF_HYPERCALL_VECTOR];
	trap_set_handler(GANDALF_HYPERCALL_VECTOR, hypercall_check);
	trap_set_handler(PRIVILEGE_SYSTEM_CALL, system_call_enter);
}

/* Returns the EIP of the guest's gate of system calls if view_switch_call can do what that gate
 * says: enter Linux's code segment, with interrupts disabled. If not, returns 0. */
static u32 gate_entry(const struct x86 *x86, u32 offset)
{
	u32 low, high;

	if (!guest_read_8(x86->idt_base + PRIVILEGE_SYSTEM_CALL * 8, &low, &high) ||
	    (low >> 16 & ~3u) != VIEW_SWITCH_KERNEL_CODE || (high >> 8 & 0x1f) != GATE_INTERRUPT)
		return 0;
	return offset;
}

void views_gate(struct x86 *x86, unsigned vector, u32 offset, UNUSED unsigned type, unsigned dpl)
{
	x86->vcpu->view.entry = gate_entry(x86, offset);
	if (view_switch.no_direct_switch || x86->vcpu->view.entry == 0) {
		segment_set_gate(x86->vcpu, vector, (u32)&entry_stubs[vector], GATE_INTERRUPT, dpl);
		return;
	}
	segment_set_gate(x86->vcpu, vector, (u32)view_switch_call, GATE_INTERRUPT, dpl);
	segment_set_gate(x86->vcpu, EXCEPTION_BP, (u32)view_switch_return, GATE_INTERRUPT, 3);
}
