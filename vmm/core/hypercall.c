/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher of hypercalls. */
#include "core/hypercall.h"

#include "core/trace.h"
#include "core/work.h"

void hypercall(struct vcpu *vcpu, struct frame *frame)
{
	const hypercall_function *functions = vcpu->operations->hypercalls;
	u32 number = frame->eax;

	trace_fast(vcpu->id, TRACE_hypercall, number, frame->ebx);
	vcpu_count(vcpu, COUNTER_hypercalls);
	if (number >= HYPERCALLS || functions[number] == NULL) {
		vm_stop(vcpu->vm, "unknown hypercall %u", number);
		return;
	}
	frame->eax = functions[number](vcpu);
}

u32 hypercall_null(struct vcpu *vcpu)
{
	(void)vcpu;
	return 0;
}

u32 hypercall_alive(struct vcpu *vcpu)
{
	work_end();
	vm_show_life(vcpu->vm);
	return 0;
}

u32 hypercall_bad_address(struct vcpu *vcpu, u32 address)
{
	vm_stop(vcpu->vm, "hypercall %u with bad address %x", vcpu->frame->eax, address);
	return 0;
}
