/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the idle vCPU's work for virtual machines. It loads and starts guests. When a guest has
 * stopped, it logs that and frees what the guest has left. More urgent guests run between the
 * steps.
 */
#include "core/loader.h"

#include "arch.h"
#include "core/channel.h"
#include "core/guest_kind.h"
#include "core/log.h"
#include "core/module.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/rate.h"
#include "core/trace.h"
#include "core/vm.h"
#include "elsewhere.h"
#include "lib/format.h"
#include "lib/string.h"
#include "whole.h"

/* Bytes that are copied between two looks at more urgent guests. */
#define LOAD_STEP 0x300u

/* Copies size bytes of machine memory. If from is 0, where no image can be, it writes zeros. */
static void fill_in_steps(u32 to, u32 from, u32 size)
{
	u32 step;

	for (u32 done = 0; done < size; done += step) {
		step = minimum(size - done, LOAD_STEP);
		if (from != 0)
			memory_copy(to + done, from + done, step);
		else
			memory_zero(to + done, step);
		schedule_admit();
	}
}

/* In each step the guest may be stopped, and another image be written for it, which has no size
 * until it is complete (order.c, control.c): sizes are looked at once. */
static void vm_load(struct vm *vm)
{
	if (vm_is_part(vm))
		return;
	if (vm->kind->real_time)
		fill_in_steps(vm->guest->memory_base, 0, vm->guest->memory_size);
	for (u32 i = 0; i < system_table.image_count; i++) {
		const struct gandalf_image *image = &system_table.images[i];
		u32 to, size, zeros;

		if (image->guest != vm->index)
			continue;
		if (image == vm->first_image)
			image = &vm->image;
		to = vm->guest->memory_base + image->load_address;
		size = minimum(image->file_size, image->memory_size);
		zeros = image->memory_size - size;
		fill_in_steps(to, module_base + image->offset, size);
		fill_in_steps(to + size, 0, zeros);
	}
}

/* The sentences that are logged. Their arguments are the guest's name, fault_restarts and
 * restart_limit, of which they use the first ones. */
static const char *const notices[] = {
	[NOTICE_RESET_OFF] = "guest %s asked for a reset and stays off",
	[NOTICE_RESET_RESTART] = "guest %s restarts",
	[NOTICE_OFF] = "guest %s is off",
	[NOTICE_COMMAND] = "guest %s stopped: by command",
	[NOTICE_FAULT_STOPPED] = "guest %s stays stopped after %u restarts",
	[NOTICE_FAULT_RESTART] = "guest %s restarts, %u of %u",
};

static void vcpu_release(struct vcpu *vcpu)
{
	vcpu->operations->release(vcpu);
}

static void vm_release(struct vm *vm)
{
	enum vm_notice notice;

	schedule_admit();
	if (vm->silent)
		format(vm->reason, sizeof(vm->reason), "no sign of life for %u ms",
		       vm->guest->watchdog_ms);
	vm->silent = false;
	schedule_admit();
	if (vm->faulted)
		report(vm);
	vm->faulted = false;
	if (vm->refused)
		log_line("guest %s tried to manage guests: refused", vm->guest->name);
	vm->refused = false;
	while ((notice = vm->notice) != NOTICE_NONE) {
		vm->notice = NOTICE_NONE;
		if (vm_is_part(vm))
			break;
		log_line(notices[notice], vm->guest->name, vm->fault_restarts,
			 vm->guest->restart_limit);
	}
	if (!vm->unreleased)
		return;
	if (!vm_is_part(vm)) {
		channel_renew(vm);
		channel_ring_peers(vm);
	}
	vm_each_vcpu(vm, vcpu_release);
	vm->unreleased = false;
	part_is_released(vm);
}

void vm_release_stopped(void)
{
	elsewhere_attend();
	parts_settle();
	for (u32 i = 0; i < vm_places(); i++)
		vm_release(&vms[i]);
}

static void vm_start(struct vm *vm)
{
	struct vcpu *vcpu = vm->vcpus;

	vm_release(vm);
	vm_load(vm);
	processor_reset(vcpu);
	memset(vcpu->shared, 0, sizeof(*vcpu->shared));
	schedule_admit();
	vcpu->shared->abi_version = GANDALF_ABI_VERSION;
	vcpu->shared->memory_size = vm->guest->memory_size;
	vcpu->shared->tsc_khz = time_tsc_khz;
	vcpu->shared->tsc_rate = rate_measured;
	channel_tell(vm);
	schedule_admit();
	if (!vm_is_part(vm))
		channel_renew(vm);
	vcpu->operations->start(vcpu);
	processor_start(vcpu);
	if (vm->state != GANDALF_STATE_STARTING) {
		vcpu->operations->stop(vcpu);
		return;
	}
	vcpu->pending = 0;
	/* Its last life may have ended amid that. */
	vcpu->takes_messages = vcpu->serves_consoles = false;
	vm->state = GANDALF_STATE_RUNNING;
	vm->started = rdtsc();
	vm->alive = 0;
	trace(TRACE_start, vm->index, vm->entry);
	vcpu->state = VCPU_RUNNING;
	vcpu_notify(vcpu);
	if (!vm_is_part(vm))
		channel_ring_peers(vm);
}

void vm_start_requested(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++) {
		struct vm *vm = vcpus[i].vm;

		if (vm->state != GANDALF_STATE_STARTING)
			continue;
		if (!whole_may_start(vm)) {
			schedule_admit(); /* it has looked for each of its vCPUs */
			continue;
		}
		vm_start(vm);
		elsewhere_learns(vm);
	}
}
