/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a Linux that has the CPU to itself, and with it the real mainboard. IOPL is 1, IF is real,
 * and the gates of its interrupts lead straight to it; what comes in the middle of the VMM's work
 * for it is an upcall (upcall.c), and what comes while it sleeps enters the VMM, as does what comes
 * by the last vectors, which messages of other cores have, too. An image that supports it has this
 * file, upcall.c and core/direct.c.
 */
#include "core/core.h"
#include "core/direct.h"
#include "core/guest_kind.h"
#include "core/trace.h"
#include "direct_message.h"
#include "guests/x86/emulate.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "guests/x86/linux.h"
#include "platform/pc/apic.h"

static void dedicated_interrupt(struct vcpu *vcpu, unsigned vector)
{
	struct x86 *x86 = vcpu->x86;

	vcpu_notify(vcpu);
	upcall_learn(x86, vector);
	if (x86->direct_count < X86_DIRECT_VECTORS)
		x86->direct_vectors[x86->direct_count++] = (u8)vector;
}

static void dedicated_deliver(struct vcpu *vcpu)
{
	struct x86 *x86 = vcpu->x86;
	u32 count = x86->direct_count;

	direct_message_attend();
	x86->direct_count = 0;
	for (u32 i = 0; i < count; i++) {
		trace(TRACE_deliver, x86->direct_vectors[i], vcpu->frame->eip);
		if (!inject(x86, x86->direct_vectors[i], INJECT_NO_ERROR))
			return;
	}
}

/* Its console is the real UART. */
static void dedicated_console(UNUSED struct vcpu *vcpu)
{
}

static void dedicated_start(struct vcpu *vcpu)
{
	linux_start(vcpu);
	upcall_reset(vcpu->x86);
	vcpu->x86->direct_count = 0;
	vcpu->x86->flag = &vcpu->frame->eflags;
	direct_begin(vcpu);
}

static void dedicated_stop(struct vcpu *vcpu)
{
	linux_stop(vcpu);
	direct_end();
}

/* Serves the #GP of an interrupt that the CPU cannot deliver to ring 1 while the VMM works in ring
 * 0. The error code is the gate's selector; bit 0 may say that an interrupt was the cause. */
static bool dedicated_upcall(struct frame *vmm)
{
	if (vmm->vector != EXCEPTION_GP || (vmm->error | 1) != GUEST_KERNEL_CODE)
		return false;
	upcall(vmm);
	return true;
}

static const struct policy dedicated_policy = {
	.operations = {
		POLICY_OPERATIONS, .interrupt = dedicated_interrupt, .deliver = dedicated_deliver,
		.console = dedicated_console, .start = dedicated_start, .stop = dedicated_stop,
		.upcall = dedicated_upcall,
	},
	.eflags = EFLAGS_FIXED | EFLAGS_IOPL_1, .code_mask = ~0u,
	.first_gate = EXCEPTIONS, .last_gate = VECTOR_APIC_IPI - 1, .gate_type = 0,
	.interruptible = false, .any_vector = true,
};

MUST_CHECK static bool dedicated_create(struct vm *vm)
{
	if (!linux_create(vm, &dedicated_policy))
		return false;
	vm->vcpus->x86->shadow.apic = apic_base;
	return upcall_create(vm->vcpus);
}

static const struct guest_kind dedicated_kind = {
	.number = GANDALF_KIND_LINUX_DEDICATED, .create = dedicated_create, .ring = linux_ring,
	.act = vm_act_here, .read = guest_read, .write = guest_write,
};
GUEST_KIND(dedicated_kind);
