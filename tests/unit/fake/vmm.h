/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-ins for the parts of the VMM around the one under test, which write down
 * what was asked of them, and a guest of one vCPU.
 */
#ifndef GANDALF_FAKE_VMM_H
#define GANDALF_FAKE_VMM_H

#include <string.h>

#include "core/core.h"
#include "core/report.h"
#include "core/trace.h"
#include "arch/ia32/cpu.h"
#include "arch/ia32/entry.h"
#include "fake/asked.h"

struct vcpu idle_vcpu;
struct stub entry_stubs[ENTRY_STUBS];

static struct vm vm;
static struct vcpu vcpu;
static struct gandalf_guest guest;
static struct frame frame;
static struct gandalf_shared shared;
static u32 pool_rest; /* frames that are left */
static u32 empty_directory[1024]; /* the shadow: it has no page yet */

struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
u32 trace_next;

u32 pool_allocate(void)
{
	return pool_rest == 0 ? 0 : pool_rest-- * PAGE_SIZE;
}

u32 pool_distance;

static void vmm_reset(void)
{
	memset(&processor, 0, sizeof(processor));
	memset(&core, 0, sizeof(core));
	memset(&vm, 0, sizeof(vm));
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&guest, 0, sizeof(guest));
	memset(&frame, 0, sizeof(frame));
	memset(&shared, 0, sizeof(shared));
	memset(&asked, 0, sizeof(asked));
	pool_rest = 0;
	vm.guest = &guest;
	vm.vcpus = &vcpu;
	vcpu.cr3 = (u32)(uintptr_t)empty_directory;
	vcpu.vm = &vm;
	vcpu.frame = &frame;
	vcpu.shared = &shared;
	vcpu.state = VCPU_RUNNING;
	vcpu.eflags = EFLAGS_FIXED | EFLAGS_IF;
	core.current = &vcpu;
}

#endif
