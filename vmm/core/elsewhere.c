/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a guest that manages others reads of those on other cores. Each variable of an
 * instance lies at the same address as this one's own, in memory that only that instance writes, so
 * this core looks there (core_read()) and nobody is asked: a core that has stopped can be looked
 * at, too, and one that is busy is not disturbed.
 */
#include "elsewhere.h"

#include "arch.h"
#include "core/guest_kind.h"
#include "core/instances.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/pool.h"
#include "core/trace.h"
#include "core/work.h"
#include "lib/string.h"
#include "whole.h"

#define OBJECTS (1u << GANDALF_PLACE_SHIFT)
/* How often the time for which a vCPU ran is read again if its core switched meanwhile. */
#define RAN_TRIES 8u

_Static_assert(sizeof(struct gandalf_guest_status) <= GANDALF_CONTROL_CHUNK &&
		       sizeof(struct gandalf_core_status) <= GANDALF_CONTROL_CHUNK,
	       "they are put together in the buffer of a chunk");

static bool is_log(u32 name)
{
	return name == (GANDALF_OBJECT_CONSOLE | GANDALF_PLACE_VMM << GANDALF_PLACE_SHIFT);
}

/* A report may be that of another vCPU than the guest's first. */
static u32 core_with(const struct vm *vm, u32 object)
{
	return object == GANDALF_OBJECT_REPORT ? whole_report_core(vm) : vm->guest->cpu;
}

/* Of a core whose guests are still being made as little is known as of one that is not there. */
static u32 core_state(u32 index)
{
	if (outbox_of(index)->ended != 0)
		return GANDALF_CORE_STOPPED;
	return outbox_of(index)->alive != 0 ? GANDALF_CORE_RUNS : GANDALF_CORE_ABSENT;
}

bool elsewhere_has(u32 name)
{
	u32 object = name % OBJECTS, place = name >> GANDALF_PLACE_SHIFT;

	if (object == GANDALF_OBJECT_CORE || object == GANDALF_OBJECT_TRACE)
		return true;
	if (is_log(name))
		return core.index != 0;
	if (object == GANDALF_OBJECT_SYSTEM || place >= core.vm_count ||
	    core_state(vms[place].guest->cpu) == GANDALF_CORE_ABSENT)
		return false;
	return core_with(&vms[place], object) != core.index ||
	       (object == GANDALF_OBJECT_GUEST && whole_report_core(&vms[place]) != core.index);
}

void elsewhere_tell(struct gandalf_system_status *status)
{
	status->cores = system_table.cpus;
	core_read(0, &status->log_bytes, &log_console->output_total, sizeof(status->log_bytes));
}

/* Returns for how long a vCPU of another core has run, from what two looks agree on. */
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
static struct vcpu *vcpu_look(const struct vm *vm)
{
	struct vcpu *vcpu;

	core_read(vm->guest->cpu, &vcpu, &vm->vcpus, sizeof(vcpu));
	return vcpu != NULL ? vcpu : vcpus;
}

/* What only the guest's own core knows. With that core's VMM its guests have stopped. */
static void guest_look(const struct vm *vm, struct gandalf_guest_status *status)
{
	u32 home = vm->guest->cpu;
	const struct vcpu *vcpu = vcpu_look(vm);

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
	core_read(whole_report_core(vm), status->reason, vm->reason, sizeof(status->reason));
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
	const struct gandalf_guest *guest = vm->guest;

	memcpy(status->name, guest->name, sizeof(status->name));
	status->kind = guest->kind;
	status->priority = guest->priority;
	status->memory_size = guest->memory_size;
	status->flags = guest->flags;
	status->image_room = vm->kind->real_time ? vm->image.room : 0;
	status->watchdog_ms = guest->watchdog_ms;
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
	core_read(index, &status->trace_next, &trace_next, sizeof(trace_next));
	status->pool_counted = index == core.index ? counted : status->pool_free;
	work_admit(control_object);
	if (status->state == GANDALF_CORE_STOPPED)
		core_read(index, status->reason, panic_text, sizeof(status->reason) - 1);
}

/* Copies what is put together in the buffer to where the caller wants it, from offset on. */
static APART int part_of(u8 *bytes, u32 all, u32 offset, u32 size)
{
	if (offset >= all)
		return 0;
	size = minimum(size, all - offset);
	memmove(bytes, bytes + offset, size);
	return (int)size;
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
	u32 home = vm->guest->cpu;

	switch (object) {
	case GANDALF_OBJECT_GUEST:
		guest_tell(vm, (struct gandalf_guest_status *)bytes);
		return part_of(bytes, sizeof(struct gandalf_guest_status), offset, size);
	case GANDALF_OBJECT_COUNTERS:
		return variable_read(home, vcpu_look(vm)->counters, COUNTERS * sizeof(u32), offset,
				     bytes, size);
	case GANDALF_OBJECT_CONSOLE:
		return variable_read(home, vm->console->output, CONSOLE_OUTPUT_SIZE, offset, bytes,
				     size);
	case GANDALF_OBJECT_REPORT:
		return report_read(vm, offset, bytes, size);
	}
	return GANDALF_ERROR_ARGUMENT;
}

static int core_object_read(u32 index, u32 object, u32 offset, u8 *bytes, u32 size)
{
	u32 counted = index == core.index ? pool_count() : 0;

	work_mask(control_object);
	if (index >= system_table.cpus ||
	    (object == GANDALF_OBJECT_TRACE && core_state(index) == GANDALF_CORE_ABSENT))
		return GANDALF_ERROR_ARGUMENT;
	if (object == GANDALF_OBJECT_TRACE)
		return variable_read(index, trace_events, sizeof(trace_events), offset, bytes,
				     size);
	core_tell(index, counted, (struct gandalf_core_status *)bytes);
	return part_of(bytes, sizeof(struct gandalf_core_status), offset, size);
}

int elsewhere_read(u32 name, u32 offset, u8 *bytes, u32 size)
{
	u32 object = name % OBJECTS, place = name >> GANDALF_PLACE_SHIFT;

	if (object == GANDALF_OBJECT_CORE || object == GANDALF_OBJECT_TRACE)
		return core_object_read(place, object, offset, bytes, size);
	work_mask(control_object);
	if (is_log(name))
		return variable_read(0, log_console->output, CONSOLE_OUTPUT_SIZE, offset, bytes,
				     size);
	return guest_object_read(&vms[place], object, offset, bytes, size);
}
