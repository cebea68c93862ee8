/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of virtual machines: created from the table, loaded and started by
 * the idle vCPU, stopped by themselves or by the VMM.
 */
#include "core/vm.h"

#include "core/core.h"
#include "core/guest_linux.h"
#include "core/guest_rtos.h"
#include "core/init.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/module.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "ia32/cpu.h"
#include "ia32/fpu.h"
#include "ia32/segment.h"
#include "ia32/switch.h"
#include "lib/format.h"
#include "lib/string.h"

/* What the idle vCPU copies between two looks at more urgent guests. */
#define LOAD_STEP 0x800u

__attribute__((section(".vcpu"))) struct vcpu vcpus[GANDALF_GUESTS_MAXIMUM];
__attribute__((section(".vcpu"))) struct vm vms[GANDALF_GUESTS_MAXIMUM];

static const char *vm_create(struct vm *vm, const struct gandalf_guest *guest, u32 index)
{
	struct vcpu *vcpu = &vcpus[core.vcpu_count];
	bool rtos = guest->kind == GANDALF_KIND_RTOS;

	vm->guest = guest;
	vm->index = index;
	vm->vcpu = vcpu;
	vm->console = console_add(&consoles, guest->name);
	vcpu->vm = vm;
	vcpu->id = index;
	vcpu->priority = guest->priority;
	if (!segment_create(vcpu))
		return "the pool is too small for the descriptor tables";
	if (!(rtos ? rtos_create(vm) : linux_create(vm)) || !switch_create(vcpu))
		return "the pool is too small for the guests";
	schedule_add(vcpu);
	return NULL;
}

/* The next guest in the order of priority, highest first, or
 * GANDALF_GUESTS_MAXIMUM. */
static u32 next_guest(const struct gandalf_table *table, u32 done)
{
	u32 best = GANDALF_GUESTS_MAXIMUM;

	for (u32 i = 0; i < table->guest_count; i++) {
		if (done & 1u << i)
			continue;
		if (best == GANDALF_GUESTS_MAXIMUM ||
		    table->guests[i].priority > table->guests[best].priority)
			best = i;
	}
	return best;
}

const char *vm_create_all(void)
{
	const struct gandalf_table *table = init_table();
	u32 done = 0;

	while (core.vcpu_count < table->guest_count) {
		u32 index = next_guest(table, done);
		const char *error = vm_create(&vms[index], &table->guests[index], index);

		if (error != NULL)
			return error;
		done |= 1u << index;
	}
	return NULL;
}

void vm_request_start(struct vm *vm)
{
	vm->state = VM_STARTING;
	schedule_housekeeping(HOUSEKEEPING_START);
}

/* from: 0 for zeros, which no image's place is. */
static void fill_in_steps(u32 to, u32 from, u32 size)
{
	u32 step;

	for (u32 done = 0; done < size; done += step) {
		step = size - done < LOAD_STEP ? size - done : LOAD_STEP;
		if (from != 0)
			memory_copy(to + done, from + done, step);
		else
			memory_zero(to + done, step);
		schedule_breathe();
	}
}

static void vm_load(struct vm *vm)
{
	const struct gandalf_table *table = init_table();

	if (vm->guest->kind == GANDALF_KIND_RTOS)
		fill_in_steps(vm->guest->memory_base, 0, vm->guest->memory_size);
	for (u32 i = 0; i < table->image_count; i++) {
		const struct gandalf_image *image = &table->images[i];
		u32 to = vm->guest->memory_base + image->load_address;

		if (image->guest != vm->index)
			continue;
		fill_in_steps(to, module_address() + image->offset, image->file_size);
		fill_in_steps(to + image->file_size, 0, image->memory_size - image->file_size);
	}
}

static void vm_release(struct vm *vm)
{
	if (vm->unreleased && vm->vcpu->operations->release != NULL)
		vm->vcpu->operations->release(vm->vcpu);
	vm->unreleased = false;
}

void vm_release_stopped(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		vm_release(&vms[i]);
}

static void vm_start(struct vm *vm)
{
	struct vcpu *vcpu = vm->vcpu;

	vm_release(vm);
	vm_load(vm);
	if (vm->state != VM_STARTING)
		return;
	memset(vcpu->dr, 0, sizeof(vcpu->dr));
	vcpu->pending = 0;
	fpu_reset(vcpu);
	segment_reset(vcpu);
	vcpu->operations->start(vcpu);
	vm->state = VM_RUNNING;
	vm->started = rdtsc();
	trace(TRACE_start, vm->index, vm->guest->entry);
	vcpu->state = VCPU_RUNNING;
	vcpu->attention = true;
}

void vm_start_requested(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		if (vcpus[i].vm->state == VM_STARTING)
			vm_start(vcpus[i].vm);
}

static void vm_take_down(struct vm *vm, enum vm_state state)
{
	struct vcpu *vcpu = vm->vcpu;

	trace(TRACE_stop, vm->index, state);
	vm->state = state;
	vcpu->state = VCPU_OFF;
	vcpu->attention = true;
	if (core.fpu_owner == vcpu)
		core.fpu_owner = NULL;
	vcpu->operations->stop(vcpu);
	vm->unreleased = true;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	console_finish_line(&consoles, vm->console);
}

void vm_reboot(struct vm *vm)
{
	vm_take_down(vm, VM_OFF);
	if (vm->guest->on_reboot == GANDALF_POLICY_RESTART) {
		log_line("guest %s restarts", vm->guest->name);
		vcpu_count(vm->vcpu, COUNTER_restarts);
		vm_request_start(vm);
	} else {
		log_line("guest %s asked for a reset and stays off", vm->guest->name);
	}
}

void vm_power_off(struct vm *vm)
{
	vm_take_down(vm, VM_OFF);
	log_line("guest %s is off", vm->guest->name);
}

void vm_halt(struct vm *vm, const char *reason)
{
	if (vm->vcpu->working) {
		vm->halt_wanted = reason;
		vm->vcpu->attention = true;
		return;
	}
	if (vm->state == VM_RUNNING)
		vm_take_down(vm, VM_OFF);
	vm->state = VM_OFF;
	log_line("guest %s stopped: %s", vm->guest->name, reason);
}

void vm_halt_wanted(struct vm *vm)
{
	const char *reason = vm->halt_wanted;

	vm->halt_wanted = NULL;
	/* It may have gone off by itself meanwhile, or be about to restart. */
	if (vm->state == VM_RUNNING || vm->state == VM_STARTING)
		vm_halt(vm, reason);
}

static void vm_restart_after_fault(struct vm *vm)
{
	if (vm->guest->on_fault != GANDALF_POLICY_RESTART)
		return;
	if (vm->fault_restarts == vm->guest->restart_limit) {
		log_line("guest %s stays stopped after %u restarts", vm->guest->name,
			 vm->fault_restarts);
		return;
	}
	vm->fault_restarts++;
	log_line("guest %s restarts, %u of %u", vm->guest->name, vm->fault_restarts,
		 vm->guest->restart_limit);
	vcpu_count(vm->vcpu, COUNTER_restarts);
	vm_request_start(vm);
}

void vm_stop(struct vm *vm, const char *pattern, ...)
{
	va_list arguments;

	work_end();
	if (vm->vcpu->state == VCPU_OFF)
		return;
	va_start(arguments, pattern);
	format_list(vm->reason, sizeof(vm->reason), pattern, arguments);
	va_end(arguments);
	report(vm);
	vm_take_down(vm, VM_STOPPED);
	vm_restart_after_fault(vm);
}

bool vm_any_alive(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		if (vcpus[i].vm->state == VM_RUNNING || vcpus[i].vm->state == VM_STARTING)
			return true;
	return false;
}

struct vm *vm_find(const char *name)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		if (strlen(name) == strlen(vms[i].guest->name) &&
		    memcmp(name, vms[i].guest->name, strlen(name)) == 0)
			return &vms[i];
	return NULL;
}

const char *vm_state_name(const struct vm *vm)
{
	static const char *const names[] = {"off", "running", "stopped", "starting"};

	return names[vm->state];
}
