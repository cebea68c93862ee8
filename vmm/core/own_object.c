/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a guest that manages others reads, where there is one core, which has all of it. */
#include "core/object.h"

#include "core/log.h"
#include "core/masked_sections.h"
#include "core/trace.h"
#include "core/work.h"
#include "lib/string.h"

static void guest_tell(const struct vm *vm, struct gandalf_guest_status *status)
{
	guest_describe(vm, status);
	status->state = vm->state;
	status->restarts = vm->vcpus->counters[COUNTER_restarts];
	status->fault_restarts = vm->fault_restarts;
	status->console_bytes = vm->console->output_total;
	status->ran = core_ran(vm->vcpus);
	status->started = vm->started;
	memcpy(status->reason, vm->reason, sizeof(status->reason));
}

static int copy(const void *object, u32 all, u32 offset, u8 *bytes, u32 size)
{
	size = minimum(size, offset < all ? all - offset : 0);
	memcpy(bytes, (const u8 *)object + offset, size);
	return (int)size;
}

/* The idle vCPU may be writing it, so the length is looked for only within the report's buffer,
 * which always ends with a 0 byte. */
static int report_read(const struct vm *vm, u32 offset, u8 *bytes, u32 size)
{
	u32 length = strnlen(vm->report, GANDALF_REPORT_SIZE);

	work_mask(control_object);
	return copy(vm->report, length, offset, bytes, size);
}

static int guest_object_read(const struct vm *vm, u32 object, u32 offset, u8 *bytes, u32 size)
{
	switch (object) {
	case GANDALF_OBJECT_GUEST:
		guest_tell(vm, (struct gandalf_guest_status *)bytes);
		return object_part(bytes, sizeof(struct gandalf_guest_status), offset, size);
	case GANDALF_OBJECT_TRACE:
		return copy(vm->vcpus->trace, sizeof(*vm->vcpus->trace), offset, bytes, size);
	case GANDALF_OBJECT_COUNTERS:
		return copy(vm->vcpus->counters, sizeof(vm->vcpus->counters), offset, bytes, size);
	case GANDALF_OBJECT_CONSOLE:
		return copy(vm->console->output, CONSOLE_OUTPUT_SIZE, offset, bytes, size);
	}
	return GANDALF_ERROR_ARGUMENT;
}

int object_read(const struct vcpu *vcpu, u32 name, u32 offset, u8 *bytes, u32 size)
{
	u32 object = name % (1 << GANDALF_PLACE_SHIFT), place = name >> GANDALF_PLACE_SHIFT;

	if (name == GANDALF_OBJECT_SYSTEM) {
		system_tell(vcpu, (struct gandalf_system_status *)bytes);
		return object_part(bytes, sizeof(struct gandalf_system_status), offset, size);
	}
	if (object == GANDALF_OBJECT_REPORT && place < core.vm_count)
		return report_read(&vms[place], offset, bytes, size);
	work_mask(control_object);
	if (place < core.vm_count)
		return guest_object_read(&vms[place], object, offset, bytes, size);
	if (place != GANDALF_PLACE_VMM)
		return GANDALF_ERROR_ARGUMENT;
	if (object == GANDALF_OBJECT_CONSOLE)
		return copy(log_console->output, CONSOLE_OUTPUT_SIZE, offset, bytes, size);
	if (object == GANDALF_OBJECT_TRACE)
		return copy(trace_rings, sizeof(*trace_rings), offset, bytes, size);
	return GANDALF_ERROR_ARGUMENT;
}
