/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the hypercalls by which one guest manages the others (abi/control.h). They copy a chunk or
 * change the state of a guest. Both are short, and masked, since interrupt handlers change the same
 * data. Access to the caller's memory is not masked: it can take long, since page tables may have
 * to be filled and others dropped. A chunk therefore passes through a buffer on the stack.
 */
#include "core/control.h"

#include "arch.h"
#include "core/feature.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/log.h"
#include "core/module.h"
#include "core/pool.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "elsewhere.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "whole.h"

/* Bytes that are typed between two pauses for interrupts. */
#define CONSOLE_STEP 16u

/* An object that READ takes, as it is in memory. */
struct object {
	const void *at;
	u32 size;
};

static bool control_is_allowed(const struct vcpu *vcpu)
{
	return !vcpu->vm->kind->real_time &&
	       (vcpu->vm->guest->flags & GANDALF_GUEST_CONTROL) != 0;
}

/* Returns the guest that argument 0 names, or NULL if there is none. */
static struct vm *control_target(const struct vcpu *vcpu)
{
	u32 place = frame_argument(vcpu->frame, 0) >> GANDALF_PLACE_SHIFT;

	return place < core.vm_count ? &vms[place] : NULL;
}

static struct object object_system(const struct vcpu *vcpu)
{
	OF_CORE static struct gandalf_system_status status;

	status.abi_version = GANDALF_ABI_VERSION;
	status.guest_count = core.vm_count;
	status.place = vcpu->vm->index;
	status.tsc_khz = time_tsc_khz;
	status.pool_frames = pool_frames;
	status.pool_free = pool_available;
	status.pool_counted = pool_count();
	work_mask(control_status);
	status.trace_next = trace_next;
	status.log_bytes = log_console->output_total;
	status.now = rdtsc();
	elsewhere_tell(&status);
	return (struct object){&status, sizeof(status)};
}

static struct object object_guest(const struct vm *vm)
{
	OF_CORE static struct gandalf_guest_status status;
	const struct gandalf_guest *guest = vm->guest;

	memcpy(status.name, guest->name, sizeof(status.name));
	status.kind = guest->kind;
	status.state = vm->state;
	status.priority = guest->priority;
	status.memory_size = guest->memory_size;
	status.restarts = vm->vcpus->counters[COUNTER_restarts];
	status.fault_restarts = vm->fault_restarts;
	status.flags = guest->flags;
	status.image_room = vm->kind->real_time ? vm->image.room : 0;
	status.watchdog_ms = guest->watchdog_ms;
	status.console_bytes = vm->console->output_total;
	status.ran = core_ran(vm->vcpus);
	status.started = vm->started;
	memcpy(status.reason, vm->reason, sizeof(status.reason));
	return (struct object){&status, sizeof(status)};
}

/* Returns a guest's report. The idle vCPU may be writing it, so the length is looked for only
 * within the report's buffer, which always ends with a 0 byte. A guest whose core has not come up
 * has none, and this core has no memory for it. */
static struct object object_report(const struct vm *vm)
{
	bool is_here = whole_report_core(vm) == core.index;
	u32 length = is_here ? strnlen(vm->report, GANDALF_REPORT_SIZE) : 0;

	work_mask(control_object);
	return (struct object){vm->report, length};
}

/* Returns the object that argument 0 names; its address is NULL if there is none. It ends the
 * vCPU's work: interrupts are masked when it returns. */
static struct object object_find(const struct vcpu *vcpu)
{
	const struct vm *vm = control_target(vcpu);
	u32 name = frame_argument(vcpu->frame, 0);

	if (name == GANDALF_OBJECT_SYSTEM)
		return object_system(vcpu);
	if (vm != NULL && name % (1 << GANDALF_PLACE_SHIFT) == GANDALF_OBJECT_REPORT)
		return object_report(vm);
	work_mask(control_object);
	if (name == GANDALF_OBJECT_TRACE)
		return (struct object){trace_events, sizeof(trace_events)};
	if (name == (GANDALF_OBJECT_CONSOLE | GANDALF_PLACE_VMM << GANDALF_PLACE_SHIFT))
		return (struct object){log_console->output, CONSOLE_OUTPUT_SIZE};
	if (vm == NULL)
		return (struct object){NULL, 0};
	switch (name % (1 << GANDALF_PLACE_SHIFT)) {
	case GANDALF_OBJECT_GUEST:
		return object_guest(vm);
	case GANDALF_OBJECT_COUNTERS:
		return (struct object){vm->vcpus->counters, sizeof(vm->vcpus->counters)};
	case GANDALF_OBJECT_CONSOLE:
		return (struct object){vm->console->output, CONSOLE_OUTPUT_SIZE};
	}
	return (struct object){NULL, 0};
}

/* Copies what is asked for of an object of this core. Returns how much that is, or an error. */
static int object_copy(const struct vcpu *vcpu, u32 offset, u8 *bytes, u32 size)
{
	struct object object = object_find(vcpu);

	if (object.at == NULL)
		return GANDALF_ERROR_ARGUMENT;
	size = minimum(size, offset < object.size ? object.size - offset : 0);
	memcpy(bytes, (const u8 *)object.at + offset, size);
	return (int)size;
}

static u32 control_read(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	u32 name = frame_argument(frame, 0), offset = frame_argument(frame, 3);
	u8 bytes[GANDALF_CONTROL_CHUNK];
	u32 size = minimum(frame_argument(frame, 2), sizeof(bytes));
	int result = elsewhere_has(name) ? elsewhere_read(name, offset, bytes, size)
					 : object_copy(vcpu, offset, bytes, size);

	work_unmask(vcpu);
	if (result > 0 && !vcpu->vm->kind->write(frame_argument(frame, 1), bytes, (u32)result))
		return hypercall_bad_address(vcpu, frame_argument(frame, 1));
	return (u32)result;
}

static u32 image_write(struct vm *vm, u32 offset, const u8 *bytes, u32 size)
{
	int refused;

	if (!vm->kind->real_time || offset > vm->image.room || size > vm->image.room - offset)
		return (u32)GANDALF_ERROR_SPACE;
	if (vm_is_alive(vm))
		return (u32)GANDALF_ERROR_STATE;
	refused = elsewhere_takes_back(vm, offset);
	if (refused != 0)
		return (u32)refused;
	vm->image.memory_size = 0;
	memory_copy_out(module_base + vm->image.offset + offset, bytes, size);
	return size;
}

static u32 console_write(struct vm *vm, const u8 *bytes, u32 size)
{
	u32 done = 0;

	if (!vm_is_alive(vm))
		return (u32)GANDALF_ERROR_STATE;
	while (done < size && console_type(vm->console, bytes[done]))
		if (++done % CONSOLE_STEP == 0)
			work_admit(control_type);
	vm->vcpus->operations->console(vm->vcpus);
	return done;
}

static u32 control_write(struct vcpu *vcpu, struct vm *vm, u32 object)
{
	const struct frame *frame = vcpu->frame;
	u8 bytes[GANDALF_CONTROL_CHUNK];
	u32 size = minimum(frame_argument(frame, 2), sizeof(bytes));

	if (!vcpu->vm->kind->read(frame_argument(frame, 1), bytes, size))
		return hypercall_bad_address(vcpu, frame_argument(frame, 1));
	work_mask(control_change);
	if (vm_is_elsewhere(vm))
		return (u32)elsewhere_write(vm, object, frame_argument(frame, 3), bytes, size);
	if (object == GANDALF_OBJECT_IMAGE)
		return image_write(vm, frame_argument(frame, 3), bytes, size);
	if (object == GANDALF_OBJECT_CONSOLE)
		return console_write(vm, bytes, size);
	return (u32)GANDALF_ERROR_ARGUMENT;
}

/* Makes the size bytes that were written before the guest's image, which begins at entry. Returns 0
 * or an error. */
static int image_finish(struct vm *vm, u32 size, u32 entry)
{
	if (!vm->kind->real_time || size > vm->image.room ||
	    size > vm->guest->memory_size - GANDALF_PAGE_SIZE)
		return GANDALF_ERROR_SPACE;
	if (vm_is_alive(vm))
		return GANDALF_ERROR_STATE;
	if (elsewhere_loads(vm))
		return GANDALF_ERROR_IMAGE;
	if (entry >= size)
		return GANDALF_ERROR_ARGUMENT;
	vm->image.load_address = 0;
	vm->image.file_size = vm->image.memory_size = size;
	vm->entry = entry;
	return 0;
}

static u32 hypercall_control(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	u32 what = frame_argument(frame, 0) % (1 << GANDALF_PLACE_SHIFT);
	struct vm *vm = control_target(vcpu);

	if (!control_is_allowed(vcpu))
		return control_refuse(vcpu);
	if (frame_number(frame) == GANDALF_HYPERCALL_READ)
		return control_read(vcpu);
	if (vm != NULL && action_is_on_vcpu(what) && frame_number(frame) == GANDALF_HYPERCALL_ACT) {
		work_mask(control_change);
		return (u32)part_act(vm, what, frame_argument(frame, 1), frame_argument(frame, 2));
	}
	if (vm == NULL || vm->guest == vcpu->vm->guest)
		return (u32)GANDALF_ERROR_ARGUMENT;
	vcpu_notify(vcpu); /* who is started, or typed to, may be more urgent than the caller */
	if (frame_number(frame) == GANDALF_HYPERCALL_WRITE)
		return control_write(vcpu, vm, what);
	work_mask(control_change);
	if (vm_is_elsewhere(vm))
		return (u32)elsewhere_act(vm, what, frame_argument(frame, 1),
					  frame_argument(frame, 2), frame_argument(frame, 3));
	if (what == GANDALF_ACTION_LOAD)
		return (u32)image_finish(vm, frame_argument(frame, 1), frame_argument(frame, 2));
	return (u32)vm_act(vm, what);
}
FEATURE(control, FEATURE_CONTROL);
HYPERCALL(GANDALF_HYPERCALL_READ, HYPERCALL_OF_ALL, hypercall_control);
HYPERCALL(GANDALF_HYPERCALL_WRITE, HYPERCALL_OF_ALL, hypercall_control);
HYPERCALL(GANDALF_HYPERCALL_ACT, HYPERCALL_OF_ALL, hypercall_control);
