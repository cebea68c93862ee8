/* SPDX-License-Identifier: Apache-2.0 */
/* What reading objects has in common, however many cores there are (object.h). */
#include "core/object.h"

#include "core/guest_kind.h"
#include "core/log.h"
#include "core/masked_sections.h"
#include "core/pool.h"
#include "core/rate.h"
#include "core/work.h"
#include "lib/string.h"

_Static_assert(sizeof(struct gandalf_guest_status) <= GANDALF_CONTROL_CHUNK &&
		       sizeof(struct gandalf_core_status) <= GANDALF_CONTROL_CHUNK &&
		       sizeof(struct gandalf_system_status) <= GANDALF_CONTROL_CHUNK,
	       "they are put together in the buffer of a chunk");

void system_tell(const struct vcpu *vcpu, struct gandalf_system_status *status)
{
	status->abi_version = GANDALF_ABI_VERSION;
	status->guest_count = core.vm_count;
	status->place = vcpu->vm->index;
	status->tsc_khz = time_tsc_khz;
	status->pool_frames = pool_frames;
	status->pool_free = pool_available;
	status->pool_counted = pool_count();
	work_mask(control_status);
	status->tsc_rate = rate_measured;
	status->log_bytes = log_console->output_total;
	status->cores = 0;
	status->now = rdtsc();
}

void guest_describe(const struct vm *vm, struct gandalf_guest_status *status)
{
	const struct gandalf_guest *guest = vm->guest;

	memcpy(status->name, guest->name, sizeof(status->name));
	status->kind = guest->kind;
	status->priority = guest->priority;
	status->memory_size = guest->memory_size;
	status->flags = guest->flags;
	status->image_room = vm->kind->real_time ? vm->image.room : 0;
	status->watchdog_ms = guest->watchdog_ms;
}

int object_part(u8 *bytes, u32 all, u32 offset, u32 size)
{
	if (offset >= all)
		return 0;
	size = minimum(size, all - offset);
	memmove(bytes, bytes + offset, size);
	return (int)size;
}
