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
#define GATE_KEEPS_INTERRUPTS (1ull << 40) /* a trap gate, as those of exceptions (work.h) */

/* Returns whether system calls enter the kernel at once. */
static bool gate_is_direct(u64 gate)
{
	return (gate & GATE_SELECTOR) == GUEST_KERNEL_CODE << 16;
}

/* Where an INT 0x80 comes from virtual-8086 mode (system_call.h), the kernel has a fault for it by
 * now, or was stopped, and nothing is left to do (origin.c). So a kernel that executes INT 0x80
 * itself, which Linux does not, finds that it does nothing while it is watched. */
static void system_call_watched(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	if (origin_is_guest(vcpu, frame) &&
	    (vcpu->state == VCPU_OFF || views_in_kernel(vcpu, frame)))
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
	if (vcpu->interruptible)
		*gate |= GATE_KEEPS_INTERRUPTS;
	vcpu->watched |= WATCH_ENTRIES;
}

/* The gate is the one that it was, if it was changed. */
void kernel_watch_forgets(struct vcpu *vcpu)
{
	struct smp *smp = vcpu->x86->smp;

	if (smp->system_call != 0)
		vcpu->tables->idt[PRIVILEGE_SYSTEM_CALL] = smp->system_call;
	smp->system_call = 0;
}

/* Gates are not touched amid the VMM's work for the vCPU, which may be on these. */
static void watch_begin(struct vcpu *vcpu)
{
	EXPECTS_MASKED();
	if (!vcpu->working)
		gate_watch(vcpu);
}

static bool watch_in_kernel(const struct vcpu *vcpu)
{
	return vcpu->watched != 0 && views_in_kernel(vcpu, switch_frame(vcpu));
}

void kernel_watch_starts(struct x86 *x86)
{
	x86->vcpu->watched = (u8)trap_policy_starts(x86->vm);
	x86->smp->system_call = 0;
}

void kernel_watch_gates(struct x86 *x86)
{
	x86->smp->system_call = 0;
	gate_watch(x86->vcpu);
}

void kernel_watch_entered(struct x86 *x86)
{
	struct vcpu *vcpu = x86->vcpu;

	work_mask(kernel_watch);
	vcpu->watched = (u8)trap_policy_enters(x86->vm);
	views_stop_returns(vcpu, returns_are_stopped(x86));
	if (vcpu->watched == 0)
		kernel_watch_forgets(vcpu);
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

static const struct kernel_watch kernel_watch = {
	.begin = watch_begin, .in_kernel = watch_in_kernel,
};
KERNEL_WATCH(kernel_watch);
