/* SPDX-License-Identifier: Apache-2.0 */
/* Injects into a Linux guest (inject_frame.h). */
#include "guests/x86/inject.h"

#include "arch/ia32/exception.h"
#include "core/trace.h"
#include "guests/x86/inject_frame.h"

void inject_reload_stack(struct x86 *x86)
{
	stack_reload(x86);
}

void inject_triple_fault(struct x86 *x86, unsigned vector, const char *why)
{
	vm_stop(x86->vm, "triple fault: its %s %s", why,
		vector < EXCEPTIONS ? exception_name(vector) : "an interrupt");
}

bool inject(struct x86 *x86, unsigned vector, u32 error)
{
	struct vcpu *vcpu = x86->vcpu;

	if (!inject_as(x86, vector, error, views_in_process(vcpu, vcpu->frame),
		       linux_interrupt_flag(x86)))
		return false;
	vcpu_count(vcpu, vector < EXCEPTIONS ? COUNTER_exceptions : COUNTER_deliveries);
	return true;
}

void inject_page_fault(struct x86 *x86, u32 linear, u32 error)
{
	vcpu_count(x86->vcpu, COUNTER_guest_page_faults);
	x86->vcpu->shared->cr2 = linear;
	inject_last(x86, EXCEPTION_PF, error);
}

void inject_general_protection(struct x86 *x86, u32 error)
{
	trace(TRACE_exception, EXCEPTION_GP, x86->vcpu->frame->eip);
	inject_last(x86, EXCEPTION_GP, error);
}
