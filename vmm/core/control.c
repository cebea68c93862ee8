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
#include "core/object.h"
#include "core/pool.h"
#include "core/rate.h"
#include "core/schedule.h"
#include "core/work.h"
#include "elsewhere.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "whole.h"

/* Bytes that are typed between two pauses for interrupts. */
#define CONSOLE_STEP 16u

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

static u32 control_read(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	u32 name = frame_argument(frame, 0), offset = frame_argument(frame, 3);
	u8 bytes[GANDALF_CONTROL_CHUNK];
	u32 size = minimum(frame_argument(frame, 2), sizeof(bytes));
	int result = object_read(vcpu, name, offset, bytes, size);

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
