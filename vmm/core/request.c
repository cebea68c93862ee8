/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what other cores ask of this core's guests: it rings their doorbells, and gives them
 * interrupts of lines that core 0 alone has. What starts and stops them is an order (order.c).
 */
#include "core/core.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "whole.h"

/* Returns the guest at a place of the table, or NULL if it is not this core's. */
static struct vm *own_guest(u32 place)
{
	return place < core.vm_count && vms[place].guest->cpu == core.index ? &vms[place] : NULL;
}

/* The ring of a guest that has stopped, or has no handler, is heard by nobody, as on one core. */
static void doorbell_serve(UNUSED u32 from, u32 place)
{
	const struct vm *vm = own_guest(place);

	if (vm == NULL || vm->kind->ring(vm) != 0)
		return;
}
MESSAGES_SERVED(MESSAGE_DOORBELL, GANDALF_GUESTS_MAXIMUM, doorbell_serve);

static void line_serve(UNUSED u32 from, u32 irq)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		if ((vcpus[i].vm->guest->interrupts >> irq & 1) != 0 &&
		    vcpus[i].state != VCPU_OFF && !vm_is_part(vcpus[i].vm))
			vcpus[i].operations->interrupt(&vcpus[i], irq);
}
MESSAGES_SERVED(MESSAGE_LINE, 16, line_serve);
