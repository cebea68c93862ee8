/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the life of virtual machines. They are created from the table, and then stopped, paused or
 * started again by themselves, by others or by the VMM. The idle vCPU loads them (loader.c).
 */
#include "core/vm.h"

#include "arch.h"
#include "core/guest_kind.h"
#include "core/log.h"
#include "core/module.h"
#include "core/remote.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "lib/format.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "whole.h"

#define IN(state) (1u << GANDALF_STATE_##state)

OF_REPORTS char vm_reports[GANDALF_GUESTS_MAXIMUM][GANDALF_REPORT_SIZE];

static void vm_fail(struct vm *vm);

/* Copies the guest's current instruction for the report. That may fill the guest's shadow page
 * tables, if interrupts are enabled. */
static void vm_fetch(struct vm *vm)
{
	vm->code_count = vm->vcpus->operations->instruction(vm->vcpus, vm->code, sizeof(vm->code));
}

/* Stops a guest that has given no sign of life for too long. A guest that is kept from the CPU is
 * not at fault: it gets half of the time again. It also gets a third of a millisecond more, so that
 * it is not looked at each time while the same other guest runs. */
static u64 watchdog_expire(struct deadline *deadline)
{
	struct vm *vm = (struct vm *)((u8 *)deadline - offsetof(struct vm, watchdog));
	u64 limit = (u64)vm->guest->watchdog_ms * time_tsc_khz;
	u64 now = rdtsc();

	if (vm->alive == 0)
		return TIME_NEVER;
	if (now - vm->alive >= limit && (vm->state == GANDALF_STATE_PAUSED ||
					 vm->vcpus->working || schedule_waits(vm->vcpus)))
		vm->alive = now - limit / 2 + time_tsc_khz / 3;
	if (now - vm->alive < limit)
		return vm->alive + limit;
	vm->silent = true;
	vm->reason[0] = '\0';
	vm_fetch(vm);
	vm_fail(vm);
	return TIME_NEVER;
}

void vm_show_life(struct vm *vm)
{
	vm->alive = rdtsc();
	if (vm->guest->watchdog_ms != 0 && vm->watchdog.time == TIME_NEVER)
		deadline_set(&vm->watchdog, vm->alive + vm->guest->watchdog_ms * (u64)time_tsc_khz);
}

void vm_prepare_kinds(void)
{
	const struct guest_kind *const *kind;

	for (kind = UNITS_FIRST(guest_kinds); kind < UNITS_END(guest_kinds); kind++)
		if ((*kind)->prepare != NULL)
			(*kind)->prepare();
}

/* Returns the kind of a guest. Panics if this image lacks it, which is before any guest runs. */
static const struct guest_kind *kind_of(const struct gandalf_guest *guest)
{
	const struct guest_kind *const *kind;

	for (kind = UNITS_FIRST(guest_kinds); kind < UNITS_END(guest_kinds); kind++)
		if ((*kind)->number == guest->kind)
			return *kind;
	panic("guest %s: this VMM lacks its kind", guest->name);
}

/* What every core knows of every guest. */
static void vm_describe(struct vm *vm, const struct gandalf_guest *guest, u32 index)
{
	vm->guest = guest;
	vm->index = index;
	part_describe(vm);
	vm->first_image = system_table.images;
	while (vm->first_image->guest != index)
		vm->first_image++;
	vm->image = *vm->first_image;
	vm->entry = guest->entry;
	vm->report = vm_reports[index];
	deadline_init(&vm->watchdog, watchdog_expire, 0);
	vm->console = console_add(&consoles, guest->name);
}

static void vm_create(struct vm *vm)
{
	struct vcpu *vcpu = &vcpus[core.vcpu_count];

	vm->kind = kind_of(vm->guest);
	vm->vcpus = vcpu;
	vm->vcpu_count = 1;
	vcpu->vm = vm;
	vcpu->trace = trace_ring_of(vm->index);
	trace_prepare(vcpu->trace, vm->index);
	vcpu->id = vm->index;
	vcpu->priority = vm->guest->priority;
	if (!processor_create(vcpu))
		panic("the pool is too small for descriptor tables");
	if (!vm->kind->create(vm) || !switch_create(vcpu))
		panic("the pool is too small for guests");
	schedule_add(vcpu);
	if (!vm_is_part(vm))
		vm_request_start(vm);
}

/* Creates the guest's VM, or what stands for a guest of another core, and that of each further vCPU
 * which this core has. */
static void vms_create(struct vm *vm)
{
	struct vm *next;

	for (; vm != NULL; vm = next) {
		next = part_next(vm);
		if (vm_is_remote(vm))
			remote_create(vm);
		else
			vm_create(vm);
	}
}

/* Creates them in the order of priority, the highest first, as schedule_add() expects. */
void vm_create_all(void)
{
	core.vm_count = system_table.guest_count;
	for (u32 priority = GANDALF_PRIORITY_MAXIMUM + 1; priority-- > 0;)
		for (u32 i = 0; i < core.vm_count; i++) {
			const struct gandalf_guest *guest = &system_table.guests[i];

			if (guest->priority != priority)
				continue;
			vm_describe(&vms[i], guest, i);
			vms_create(&vms[i]);
		}
}

void vm_request_start(struct vm *vm)
{
	if (!vm_is_part(vm))
		vm->console->input_count = 0; /* it was not meant for this life */
	vm->state = GANDALF_STATE_STARTING;
	schedule_housekeeping(HOUSEKEEPING_START);
}

static void vcpu_take_down(struct vcpu *vcpu)
{
	vcpu->state = VCPU_OFF;
	vcpu_notify(vcpu);
	processor_stop(vcpu);
	vcpu->operations->stop(vcpu);
}

static void vm_take_down(struct vm *vm, u32 state)
{
	EXPECTS_MASKED();
	trace(TRACE_stop, vm->index, state);
	vm->state = state;
	vm->alive = 0;
	vm_each_vcpu(vm, vcpu_take_down);
	vm->unreleased = true;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	if (!vm_is_part(vm))
		console_finish_line(vm->console);
}

static void vm_start_again(struct vm *vm, enum vm_notice notice)
{
	vm->notice = notice;
	vcpu_count(vm->vcpus, COUNTER_restarts);
	vm_request_start(vm);
}

void vm_reboot(struct vm *vm)
{
	work_admit(take_down);
	vm_take_down(vm, GANDALF_STATE_OFF);
	vm->notice = NOTICE_RESET_OFF;
	if (vm->guest->on_reboot == GANDALF_POLICY_RESTART)
		vm_start_again(vm, NOTICE_RESET_RESTART);
}

void vm_power_off(struct vm *vm)
{
	work_admit(take_down);
	if (vm->vcpus->state == VCPU_OFF)
		return; /* it has been stopped meanwhile, or restarted */
	if (vm->vcpus->working) {
		/* It has had the core meanwhile, and is interrupted: its whole comes back here. */
		schedule_housekeeping(HOUSEKEEPING_RELEASE);
		return;
	}
	vm_take_down(vm, GANDALF_STATE_OFF);
	vm->notice = NOTICE_OFF;
}

void vm_halt(struct vm *vm)
{
	vm->halt_wanted = vm->vcpus->working;
	vcpu_notify(vm->vcpus);
	if (vm->halt_wanted)
		return;
	if (vm->state != GANDALF_STATE_STARTING)
		vm_take_down(vm, GANDALF_STATE_OFF);
	vm->state = GANDALF_STATE_OFF;
	vm->notice = NOTICE_COMMAND;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
}

void vm_halt_wanted(struct vm *vm)
{
	vm->halt_wanted = false;
	/* The guest may have switched itself off meanwhile, or may be about to restart. */
	if (vm_is_alive(vm) && !part_settles(vm))
		vm_halt(vm);
}

static void vcpu_pause(struct vcpu *vcpu)
{
	vcpu->paused = vcpu->state;
	vcpu->state = VCPU_PAUSED;
	vcpu_notify(vcpu);
}

static void vcpu_resume(struct vcpu *vcpu)
{
	vcpu->state = vcpu->paused;
}

static void vm_pause(struct vm *vm)
{
	vm->state = GANDALF_STATE_PAUSED;
	vm_each_vcpu(vm, vcpu_pause);
	if (!vm_is_part(vm))
		whole_pauses(vm, true);
}

static void vm_resume(struct vm *vm)
{
	vm->state = GANDALF_STATE_RUNNING;
	vm_each_vcpu(vm, vcpu_resume);
	if (!vm_is_part(vm))
		whole_pauses(vm, false);
	if (vm->alive != 0)
		vm->alive = rdtsc();
}

void vm_pause_with(struct vm *vm, bool paused)
{
	vm->halt_wanted = vm->vcpus->working;
	if (vm->halt_wanted)
		vcpu_notify(vm->vcpus);
	else if (paused)
		vm_pause(vm);
	else
		vm_resume(vm);
}

static void vm_restart(struct vm *vm)
{
	if (vm_is_alive(vm)) {
		vm_halt(vm);
		vcpu_count(vm->vcpus, COUNTER_restarts);
	}
	vm_request_start(vm);
}

/* What each action does, and in which states of a guest it is possible. None is possible in the
 * middle of the VMM's work for the guest but a stop, which waits for the end of that. */
static const struct {
	void (*perform)(struct vm *vm);
	u32 states; /* bits of GANDALF_STATE_... */
} actions[] = {
	[GANDALF_ACTION_START] = {vm_request_start, IN(OFF) | IN(STOPPED)},
	[GANDALF_ACTION_STOP] = {vm_halt, IN(RUNNING) | IN(PAUSED) | IN(STARTING)},
	[GANDALF_ACTION_RESTART] = {vm_restart, ~IN(STARTING)},
	[GANDALF_ACTION_PAUSE] = {vm_pause, IN(RUNNING)},
	[GANDALF_ACTION_RESUME] = {vm_resume, IN(PAUSED)},
};

int vm_act_here(struct vm *vm, u32 action)
{
	actions[action].perform(vm);
	return 0;
}

int vm_act(struct vm *vm, u32 action)
{
	EXPECTS_MASKED();
	if (action >= ARRAY_SIZE(actions))
		return GANDALF_ERROR_ARGUMENT;
	if ((actions[action].states >> vm->state & 1) == 0)
		return GANDALF_ERROR_STATE;
	if (vm->halt_wanted || (vm->vcpus->working && action != GANDALF_ACTION_STOP))
		return GANDALF_ERROR_BUSY;
	if (vm->image.memory_size == 0)
		return GANDALF_ERROR_IMAGE;
	return vm->kind->act(vm, action);
}

void vm_fall(struct vm *vm)
{
	vm_take_down(vm, GANDALF_STATE_STOPPED);
	if (vm->guest->on_fault != GANDALF_POLICY_RESTART)
		return;
	if (vm->fault_restarts == vm->guest->restart_limit) {
		vm->notice = NOTICE_FAULT_STOPPED;
		return;
	}
	vm->fault_restarts++;
	vm_start_again(vm, NOTICE_FAULT_RESTART);
}

/* Takes a guest down that has failed here. The idle vCPU logs the report, with vm->reason. */
static void vm_fail(struct vm *vm)
{
	vm->faulted = true;
	if (vm_is_part(vm)) {
		vm_take_down(vm, GANDALF_STATE_STOPPED);
		part_fails(vm);
		return;
	}
	whole_fails(vm);
	vm_fall(vm);
}

void vm_stop(struct vm *vm, const char *pattern, ...)
{
	struct vcpu *vcpu = vm->vcpus;
	va_list arguments;

	if (vcpu->state != VCPU_OFF) {
		work_unmask(vcpu);
		vm_fetch(vm);
		/* Work for an RTOS is masked, so the text is formatted in a step of its own. */
		if (!vcpu->interruptible)
			work_admit(stop);
		va_start(arguments, pattern);
		format_list(vm->reason, sizeof(vm->reason), pattern, arguments);
		va_end(arguments);
		work_mask(stop);
		work_admit(take_down);
		vm_fail(vm);
	}
	work_mask(stop);
}

bool vm_is_alive(const struct vm *vm)
{
	return vm->state != GANDALF_STATE_OFF && vm->state != GANDALF_STATE_STOPPED;
}

bool vm_any_alive(void)
{
	for (u32 i = 0; i < core.vm_count; i++)
		if (vm_is_alive(&vms[i]))
			return true;
	return false;
}

struct vm *vm_find(const char *name)
{
	for (u32 i = 0; i < core.vm_count; i++)
		if (string_equals(name, vms[i].guest->name))
			return &vms[i];
	return NULL;
}

const char *vm_state_name(const struct vm *vm)
{
	return string_of_list("off\0" "running\0" "stopped\0" "starting\0" "paused", vm->state);
}
