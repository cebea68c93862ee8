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
#include "quiet_processor.h"

struct core core;
struct vcpu idle_vcpu;
struct stub entry_stubs[ENTRY_STUBS];

static struct vm vm;
static struct vcpu vcpu;
static struct gandalf_guest guest;
static struct frame frame;
static struct gandalf_shared shared;
static char stop_reason[128];
static unsigned stops, reboots, power_offs, breaths;
static u32 pool_rest; /* frames that are left */
static u32 empty_directory[1024]; /* the shadow: it has no page yet */

struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
u32 trace_next;

/* What was traced last, but for trace_fast(). */
static struct gandalf_trace_event last_trace;

void trace(enum trace_type type, u32 first, u32 second)
{
	last_trace = (struct gandalf_trace_event){
		.type = (u16)type, .first = first, .second = second };
}

const char *exception_name(unsigned vector)
{
	static char name[16];

	snprintf(name, sizeof(name), "#%u", vector);
	return name;
}

void schedule_breathe(void)
{
	breaths++;
}

void vm_stop(struct vm *which, const char *pattern, ...)
{
	va_list arguments;

	assert_ptr_equal(which, &vm);
	va_start(arguments, pattern);
	vsnprintf(stop_reason, sizeof(stop_reason), pattern, arguments);
	va_end(arguments);
	vcpu.state = VCPU_OFF;
	stops++;
}

void vm_reboot(struct vm *which)
{
	assert_ptr_equal(which, &vm);
	vcpu.state = VCPU_OFF;
	reboots++;
}

void vm_power_off(struct vm *which)
{
	assert_ptr_equal(which, &vm);
	vcpu.state = VCPU_OFF;
	power_offs++;
}

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
	memset(&last_trace, 0, sizeof(last_trace));
	stop_reason[0] = '\0';
	stops = reboots = power_offs = pool_rest = 0;
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
