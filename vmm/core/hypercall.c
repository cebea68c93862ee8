/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the function that a hypercall's number asks for, and calls it if the guest may. */
#include "core/hypercall.h"

#include "abi/apic.h"
#include "arch.h"
#include "core/guest_kind.h"
#include "core/log.h"
#include "core/trace.h"
#include "core/work.h"
#include "lib/owner.h"
#include "whole.h"

/* Hypercalls without an event in the trace ring, since it would be a good part of their cost. Other
 * events tell of them: a switch says that a guest has halted, a delivery that a doorbell has
 * rung. An IPI has one of its own once it is sent (guests/x86/smp/ipi.c), so that nobody waits for
 * it. */
static const u64 untraced =
	1ull << GANDALF_HYPERCALL_INTERRUPT_FLAG | 1ull << GANDALF_HYPERCALL_HALT |
	1ull << GANDALF_HYPERCALL_DOORBELL | 1ull << GANDALF_HYPERCALL_IPI |
	1ull << GANDALF_HYPERCALL_NULL;
_Static_assert(HYPERCALLS <= 64, "a bit for each");

/* The hypercalls by number: those of a Linux, and those of an RTOS. NULL: there is none. */
OF_MACHINE static hypercall_function tables[2][HYPERCALLS];

void hypercall_init(void)
{
	const struct hypercall *const *at;

	for (at = UNITS_FIRST(hypercalls); at < UNITS_END(hypercalls); at++)
		for (u32 kind = 0; kind < ARRAY_SIZE(tables); kind++) {
			hypercall_function *place = &tables[kind][(*at)->number];

			if (((*at)->guests >> kind & 1) == 0)
				continue;
			if (*place != NULL)
				panic("two hypercalls %u", (*at)->number);
			*place = (*at)->function;
		}
}

void hypercall_give(struct vcpu *vcpu)
{
	vcpu->hypercalls = tables[vcpu->vm->kind->real_time];
}

APART static u32 hypercall_traced(struct vcpu *vcpu, hypercall_function function)
{
	trace_fast(vcpu, TRACE_hypercall, frame_number(vcpu->frame),
		   frame_argument(vcpu->frame, 0));
	return function(vcpu);
}

/* Need not ask who was interrupted: the hypercall's gate admits guests only, and where interrupts
 * may come by its vector, too, trap_any_hypercall() has asked. */
u32 trap_hypercall(struct frame *frame)
{
	struct vcpu *vcpu = core.current;
	u32 number = frame_number(frame);
	hypercall_function function;

	vcpu_count(vcpu, COUNTER_entries);
	vcpu_count(vcpu, COUNTER_hypercalls);
	work_unmask(vcpu);
	if (number >= HYPERCALLS || (function = vcpu->hypercalls[number]) == NULL) {
		vm_stop(vcpu->vm, "unknown hypercall %u", number);
		return 0;
	}
	if (bit_test(&untraced, number))
		return function(vcpu);
	return hypercall_traced(vcpu, function);
}

static u32 hypercall_null(UNUSED struct vcpu *vcpu)
{
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_NULL, HYPERCALL_OF_ALL, hypercall_null);

static u32 hypercall_alive(struct vcpu *vcpu)
{
	work_mask(alive);
	if (!part_shows_life(vcpu->vm))
		vm_show_life(vcpu->vm);
	return vcpu->vm->guest->watchdog_ms;
}
HYPERCALL(GANDALF_HYPERCALL_ALIVE, HYPERCALL_OF_ALL, hypercall_alive);

u32 hypercall_bad_address(struct vcpu *vcpu, u32 address)
{
	vm_stop(vcpu->vm, "hypercall %u with bad address %x", frame_number(vcpu->frame), address);
	return 0;
}
