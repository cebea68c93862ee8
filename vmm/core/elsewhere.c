/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a guest that manages others reads, whichever core has it. Each variable of an
 * instance lies at the same address as this one's own, in memory that only that instance writes, so
 * this core looks there (core_read()) and nobody is asked: a core that has stopped can be looked
 * at, too, and one that is busy is not disturbed.
 */
#include "elsewhere.h"

#include "arch.h"
#include "core/instances.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/trace.h"
#include "core/work.h"
#include "guest_cpus.h"
#include "lib/string.h"
#include "whole.h"

#define OBJECTS (1u << GANDALF_PLACE_SHIFT)
/* How often the time for which a vCPU ran is read again if its core switched meanwhile. */
#define RAN_TRIES 8u

/* Of a core whose guests are still being made as little is known as of one that is not there. */
static u32 core_state(u32 index)
{
	bool alive = outbox_of(index)->alive != 0; /* it is until it has said that it ended */

	if (outbox_of(index)->ended != 0)
		return GANDALF_CORE_STOPPED;
	return alive ? GANDALF_CORE_RUNS : GANDALF_CORE_ABSENT;
}

/* Returns which core is asked for what is the given one's: if that is absent there is no memory to
 * look at, and this one has what stands for its guests. */
static u32 core_to_ask(u32 index)
{
	return core_state(index) == GANDALF_CORE_ABSENT ? core.index : index;
}

/* Returns for how long a vCPU of a core has run, from what two looks agree on. */
static u64 ran_look(u32 index, const struct vcpu *vcpu)
{
	struct ran {
		const struct vcpu *current;
		u64 ran;
	} before = {NULL, 0}, after;

	for (u32 i = 0; i < RAN_TRIES; i++) {
		core_read(index, &after.current, &core.current, sizeof(after.current));
		core_read(index, &after.ran, &vcpu->ran, sizeof(after.ran));
		if (i != 0 && after.current == before.current && after.ran == before.ran)
			break;
		before = after;
		work_admit(control_object);
	}
	return after.current == vcpu ? after.ran + rdtsc() : after.ran;
}

/* A core whose VMM has stopped before it had made the vCPU never has one. */
static struct vcpu *vcpu_look(u32 home, const struct vm *vm)
{
	struct vcpu *vcpu;

	core_read(home, &vcpu, &vm->vcpus, sizeof(vcpu));
	return vcpu != NULL ? vcpu : vcpus;
}

/* What only the guest's own core knows. With that core's VMM its guests have stopped. */
static void guest_look(const struct vm *vm, struct gandalf_guest_status *status)
{
	u32 home = core_to_ask(vm->guest->cpu);
	const struct vcpu *vcpu = vcpu_look(home, vm);

	core_read(home, &status->state, &vm->state, sizeof(status->state));
	core_read(home, &status->fault_restarts, &vm->fault_restarts,
		  sizeof(status->fault_restarts));
	work_admit(control_object);
	core_read(home, &status->restarts, &vcpu->counters[COUNTER_restarts],
		  sizeof(status->restarts));
	core_read(home, &status->started, &vm->started, sizeof(status->started));
	work_admit(control_object);
	core_read(home, &status->console_bytes, &vm->console->output_total,
		  sizeof(status->console_bytes));
	core_read(core_to_ask(whole_report_core(vm)), status->reason, vm->reason,
		  sizeof(status->reason));
	work_admit(control_object);
	status->ran = ran_look(home, vcpu);
	if (core_state(home) != GANDALF_CORE_STOPPED)
		return;
	work_admit(control_object);
	status->state = GANDALF_STATE_STOPPED;
	core_read(home, status->reason, panic_text, sizeof(status->reason) - 1);
}

static void guest_tell(const struct vm *vm, struct gandalf_guest_status *status)
{
	guest_describe(vm, status);
	work_admit(control_object);
	guest_look(vm, status);
}

/* counted: what pool_count() has found on this core. Of one that has never come up there is no
 * memory to look at. */
static void core_tell(u32 index, u32 counted, struct gandalf_core_status *status)
{
	memset(status, 0, sizeof(*status));
	status->state = core_state(index);
	if (status->state == GANDALF_CORE_ABSENT)
		return;
	core_read(index, &status->pool_frames, &pool_frames, sizeof(pool_frames));
	core_read(index, &status->pool_free, &pool_available, sizeof(pool_available));
	status->pool_counted = index == core.index ? counted : status->pool_free;
	work_admit(control_object);
	if (status->state == GANDALF_CORE_STOPPED)
		core_read(index, status->reason, panic_text, sizeof(status->reason) - 1);
}

APART static int variable_read(u32 index, const void *at, u32 all, u32 offset, u8 *bytes, u32 size)
{
	if (offset >= all)
		return 0;
	size = minimum(size, all - offset);
	core_read(index, bytes, (const u8 *)at + offset, size);
	return (int)size;
}

/* A text ends with a 0 byte, which may lie in front of offset. Behind it may be what is left of an
 * older report. */
static int report_read(const struct vm *vm, u32 offset, u8 *bytes, u32 size)
{
	u32 from = whole_report_core(vm);
	u32 step;

	if (core_state(from) == GANDALF_CORE_ABSENT)
		return 0;
	for (u32 at = 0; at < minimum(offset, GANDALF_REPORT_SIZE); at += step) {
		step = minimum(offset - at, GANDALF_CONTROL_CHUNK / 2);
		step = minimum(step, GANDALF_REPORT_SIZE - at);
		core_read(from, bytes, vm->report + at, step);
		work_admit(control_object);
		if (strnlen((const char *)bytes, step) < step)
			return 0;
	}
	size = (u32)variable_read(from, vm->report, GANDALF_REPORT_SIZE, offset, bytes, size);
	return (int)strnlen((const char *)bytes, size);
}

static int guest_object_read(const struct vm *vm, u32 object, u32 offset, u8 *bytes, u32 size)
{
	u32 home = core_to_ask(vm->guest->cpu);

	switch (object) {
	case GANDALF_OBJECT_GUEST:
		guest_tell(vm, (struct gandalf_guest_status *)bytes);
		return object_part(bytes, sizeof(struct gandalf_guest_status), offset, size);
	case GANDALF_OBJECT_COUNTERS:
		return variable_read(home, vcpu_look(home, vm)->counters, COUNTERS * sizeof(u32),
				     offset, bytes, size);
	case GANDALF_OBJECT_CONSOLE:
		return variable_read(home, vm->console->output, CONSOLE_OUTPUT_SIZE, offset, bytes,
				     size);
	case GANDALF_OBJECT_REPORT:
		return report_read(vm, offset, bytes, size);
	}
	return GANDALF_ERROR_ARGUMENT;
}

static int core_status_read(u32 index, u32 offset, u8 *bytes, u32 size)
{
	u32 counted = index == core.index ? pool_count() : 0;

	work_mask(control_object);
	if (index >= system_table.cpus)
		return GANDALF_ERROR_ARGUMENT;
	core_tell(index, counted, (struct gandalf_core_status *)bytes);
	return object_part(bytes, sizeof(struct gandalf_core_status), offset, size);
}

/* A core has no memory for the rings of guests that it has not (cores.c). */
static int trace_read(u32 index, u32 place, u32 offset, u8 *bytes, u32 size)
{
	const struct gandalf_trace_ring *ring = trace_rings;

	if (index >= system_table.cpus || core_state(index) == GANDALF_CORE_ABSENT)
		return GANDALF_ERROR_ARGUMENT;
	if (place != GANDALF_PLACE_VMM) {
		if (place >= core.vm_count)
			return GANDALF_ERROR_ARGUMENT;
		if ((guest_cpus(vms[place].guest) >> index & 1) == 0)
			return 0;
		ring = trace_ring_of(place);
	}
	return variable_read(index, ring, sizeof(*ring), offset, bytes, size);
}

static int system_read(const struct vcpu *vcpu, u32 offset, u8 *bytes, u32 size)
{
	struct gandalf_system_status *status = (struct gandalf_system_status *)bytes;

	system_tell(vcpu, status);
	status->cores = system_table.cpus;
	core_read(0, &status->log_bytes, &log_console->output_total, sizeof(status->log_bytes));
	return object_part(bytes, sizeof(*status), offset, size);
}

int object_read(const struct vcpu *vcpu, u32 name, u32 offset, u8 *bytes, u32 size)
{
	u32 object = name % OBJECTS, place = name >> GANDALF_PLACE_SHIFT;

	if (name == GANDALF_OBJECT_SYSTEM)
		return system_read(vcpu, offset, bytes, size);
	if (object == GANDALF_OBJECT_CORE)
		return core_status_read(place, offset, bytes, size);
	work_mask(control_object);
	if (object == GANDALF_OBJECT_TRACE)
		return trace_read(place >> (GANDALF_TRACE_CPU_SHIFT - GANDALF_PLACE_SHIFT),
				  place % (1u << (GANDALF_TRACE_CPU_SHIFT - GANDALF_PLACE_SHIFT)),
				  offset, bytes, size);
	if (place < core.vm_count)
		return guest_object_read(&vms[place], object, offset, bytes, size);
	if (object != GANDALF_OBJECT_CONSOLE || place != GANDALF_PLACE_VMM)
		return GANDALF_ERROR_ARGUMENT;
	return variable_read(0, log_console->output, CONSOLE_OUTPUT_SIZE, offset, bytes, size);
}
