/* SPDX-License-Identifier: Apache-2.0 */
/* Has the core's own state, the tables of vCPUs and VMs that run on it, and their trace rings. */
#include "core/core.h"

#include "core/trace.h"
#include "lib/owner.h"

OF_CORE struct core core;
OF_CORE_INITIALISED struct vcpu idle_vcpu = {
	.trace = trace_rings, .id = 0xffff, .state = VCPU_RUNNING,
};
OF_GUESTS struct vcpu vcpus[PLACES_MAXIMUM];
OF_GUESTS struct vm vms[PLACES_MAXIMUM];
OF_TRACES struct gandalf_trace_ring trace_rings[TRACE_RINGS];

/* How many interrupts may be on a VMM stack, behind work or the handler of a guest's interrupt,
 * where another one is let in. A handler that lets interrupts in does not let its like do so behind
 * it (message.c, interrupt.c), so there are two of these at most. */
#define STACK_INTERRUPTS 3u

bool core_admits(void)
{
	return core.pauses && core.current->state == VCPU_RUNNING &&
	       core.current->working < STACK_INTERRUPTS;
}
