/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches when a process enters the kernel of a vCPU, and when the kernel returns to a process, for
 * the policy "trap" (core/trap_policy.h). The VMM injects all that enters a kernel but system
 * calls, so only their gate has to lead into the VMM, too. For a return code segments of processes
 * are absent, as while an interrupt waits (linux.c): the kernel's IRET faults, and is emulated.
 */
#include "core/trap_policy.h"

#include "arch/ia32/switch.h"
#include "guests/x86/linux.h"
#include "guests/x86/smp/masked_sections.h"
#include "guests/x86/smp/smp.h"
#include "guests/x86/system_call.h"
#include "masked_state.h"
#include "siblings.h"

#define GATE_SELECTOR 0xffff0000ull
#define GATE_DPL (3ull << 45)

/* Returns whether system calls enter the kernel at once. Linux may have loaded its IDT anew. */
static bool gate_is_direct(u64 gate)
{
	return (gate & GATE_SELECTOR) == GUEST_KERNEL_CODE << 16;
}

/* Of an INT 0x80 in virtual-8086 mode (system_call.h) the kernel has a fault by now. */
static void system_call_watched(struct frame *frame)
{
	if (origin_is_guest(core.current, frame) && views_in_kernel(core.current, frame))
		return;
	system_call_enter(frame);
}

static void gate_watch(struct vcpu *vcpu)
{
	u64 *gate = &vcpu->tables->idt[PRIVILEGE_SYSTEM_CALL];

	if (!gate_is_direct(*gate))
		return;
	vcpu->x86->smp->system_call = *gate;
	trap_set_handler(PRIVILEGE_SYSTEM_CALL, system_call_watched);
	segment_clear_gate(vcpu, PRIVILEGE_SYSTEM_CALL);
	*gate |= vcpu->x86->smp->system_call & GATE_DPL;
	vcpu->watched |= WATCH_ENTRIES;
}

static void gate_forget(struct vcpu *vcpu)
{
	u64 *gate = &vcpu->tables->idt[PRIVILEGE_SYSTEM_CALL];

	if (!gate_is_direct(*gate))
		*gate = vcpu->x86->smp->system_call;
}

/* Gates are not touched amid the VMM's work for the vCPU, which may be on these. */
static bool watch_begin(struct vcpu *vcpu)
{
	EXPECTS_MASKED();
	if (vcpu->working)
		return false;
	gate_watch(vcpu);
	return vcpu->watched != 0 && views_in_kernel(vcpu, switch_frame(vcpu));
}

void kernel_watch_leaves(struct vcpu *vcpu)
{
	gate_forget(vcpu);
}

void kernel_watch_arrives(struct vcpu *vcpu)
{
	gate_watch(vcpu);
}

void kernel_watch_entered(struct x86 *x86)
{
	struct vcpu *vcpu = x86->vcpu;

	work_mask(kernel_watch);
	vcpu->watched = (u8)trap_policy_enters(x86->vm);
	views_stop_returns(vcpu, returns_are_stopped(x86));
	if (vcpu->watched == 0)
		gate_forget(vcpu);
	work_unmask(vcpu);
}

/* An interrupt that waits enters the kernel again before the process goes on. */
void kernel_watch_left(struct x86 *x86)
{
	struct vcpu *vcpu = x86->vcpu;

	work_mask(kernel_watch);
	vcpu->watched &= (u8)~WATCH_RETURN;
	views_stop_returns(vcpu, returns_are_stopped(x86));
	if (!x86->interrupt_waits)
		trap_policy_returns(x86->vm);
	work_unmask(vcpu);
}

static const struct kernel_watch kernel_watch = { .begin = watch_begin };
KERNEL_WATCH(kernel_watch);
