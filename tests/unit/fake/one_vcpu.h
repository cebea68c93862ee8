/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest of one vCPU, which runs, for tests of what the VMM does for a vCPU.
 */
#ifndef GANDALF_FAKE_ONE_VCPU_H
#define GANDALF_FAKE_ONE_VCPU_H

#include <string.h>

#include "core/core.h"
#include "arch/ia32/cpu.h"
#include "arch/ia32/entry.h"
#include "core/trace.h"

static struct vm vm;
static struct vcpu vcpu;
static struct gandalf_guest guest;
static struct frame frame;

/* Has the processor, the core and the guest begin anew. */
static void one_vcpu_reset(void)
{
	memset(&processor, 0, sizeof(processor));
	memset(&core, 0, sizeof(core));
	memset(&vm, 0, sizeof(vm));
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&guest, 0, sizeof(guest));
	memset(&frame, 0, sizeof(frame));
	vm.guest = &guest;
	vm.vcpus = &vcpu;
	vcpu.vm = &vm;
	vcpu.trace = trace_ring_of(0);
	vcpu.frame = &frame;
	vcpu.state = VCPU_RUNNING;
	core.current = &vcpu;
}

/* The one that was recorded last of the guest. */
static inline const struct gandalf_trace_event *last_event(void)
{
	return &vcpu.trace->events[(vcpu.trace->next - 1) % GANDALF_TRACE_EVENTS];
}

#endif
