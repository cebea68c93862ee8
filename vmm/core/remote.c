/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guests of other cores, as this core knows them. Each has its place among the VMs here as
 * well, and a vCPU that no scheduler knows: what others do to a guest of their own (ring it, type
 * to it, start it) is a message to its core here. What is known of its life is what its core has
 * said last: its state at once, its counters each second.
 */
#include "core/remote.h"

#include "arch.h"
#include "core/core.h"
#include "core/cores.h"
#include "core/guest_kind.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "lib/owner.h"

#define NOTICE_MILLISECONDS 1000u

OF_CORE static struct deadline notices;
OF_CORE static u32 next; /* guest of whom the counters are told next */

static bool is_remote(const struct vm *vm)
{
	return vm->guest->cpu != core.index;
}

static bool core_is_alive(u32 index)
{
	return outbox_of(index)->alive != 0;
}

/* Another core's guest: as seen from here */

static u32 remote_ring(const struct vm *vm)
{
	if (vm->state != GANDALF_STATE_RUNNING)
		return (u32)GANDALF_ERROR_ARGUMENT;
	message_send(vm->guest->cpu, MESSAGE_DOORBELL + vm->index);
	return 0;
}

static int remote_act(struct vm *vm, u32 action)
{
	u32 to = vm->guest->cpu;

	if (!core_is_alive(to))
		return GANDALF_ERROR_STATE;
	if (message_is_on_its_way(to, MESSAGE_ACTION + vm->index))
		return GANDALF_ERROR_BUSY;
	outbox_own()->action[vm->index] = action;
	message_send(to, MESSAGE_ACTION + vm->index);
	return 0;
}

static void remote_interrupt(struct vcpu *vcpu, unsigned irq)
{
	message_send(vcpu->vm->guest->cpu, MESSAGE_LINE + irq);
}

static void remote_console(UNUSED struct vcpu *vcpu)
{
	relay_kick();
}

static u32 remote_instruction(UNUSED struct vcpu *vcpu, UNUSED u8 *bytes, UNUSED u32 size)
{
	return 0;
}

static const struct vcpu_operations remote_operations = {
	.interrupt = remote_interrupt, .console = remote_console,
	.instruction = remote_instruction,
};
static const struct guest_kind remote_rtos = {
	.number = GANDALF_KIND_RTOS, .real_time = true, .ring = remote_ring, .act = remote_act,
};
static const struct guest_kind remote_linux = {
	.number = GANDALF_KIND_LINUX_SHARED, .ring = remote_ring, .act = remote_act,
};

/* Its vCPU stands behind those of this core's guests. */
void remote_create(struct vm *vm)
{
	struct vcpu *vcpu = &vcpus[GANDALF_GUESTS_MAXIMUM - 1 - core.remote_count++];

	vm->kind = vm->guest->kind == GANDALF_KIND_RTOS ? &remote_rtos : &remote_linux;
	vm->state = core_is_alive(vm->guest->cpu) ? GANDALF_STATE_STARTING : GANDALF_STATE_OFF;
	vcpu->operations = &remote_operations;
	vcpu->state = VCPU_RUNNING;
	vcpu->vm = vm;
	vcpu->id = vm->index;
	vcpu->priority = vm->guest->priority;
	vm->vcpus = vcpu;
	vm->vcpu_count = 0;
}

void remote_learn(u32 from, u32 place)
{
	volatile struct guest_notice *notice = &guest_notices_of(from)[place];
	struct vm *vm = &vms[place];

	if (!is_remote(vm))
		return;
	vm->state = notice->state;
	vm->fault_restarts = notice->fault_restarts;
	vm->started = notice->started;
	vm->vcpus->ran = notice->ran;
	for (u32 i = 0; i < COUNTERS; i++)
		vm->vcpus->counters[i] = notice->counters[i];
}

/* This core's guests: for the others */

/* A line of the 8259s, which this core does not have, for the guest that owns it. */
void remote_line(u32 irq)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		if ((vcpus[i].vm->guest->interrupts >> irq & 1) != 0 && vcpus[i].state != VCPU_OFF)
			vcpus[i].operations->interrupt(&vcpus[i], irq);
}

void remote_rung(u32 place)
{
	if (is_remote(&vms[place]) || vms[place].kind->ring(&vms[place]) != 0)
		return;
}

/* What is not possible by now is not done: who asked sees it by the guest's state. */
void remote_perform(u32 from, u32 place)
{
	if (!is_remote(&vms[place]) && vm_act(&vms[place], outbox_of(from)->action[place]) != 0)
		return;
}

static void notice_write(const struct vm *vm, u32 state)
{
	volatile struct guest_notice *notice = &guest_notices_of(core.index)[vm->index];

	notice->fault_restarts = vm->fault_restarts;
	notice->started = vm->started;
	notice->ran = core_ran(vm->vcpus);
	for (u32 i = 0; i < COUNTERS; i++)
		notice->counters[i] = vm->vcpus->counters[i];
	notice->state = state;
	message_send_all(MESSAGE_STATE + vm->index);
}

void remote_publish(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++) {
		const struct vm *vm = vcpus[i].vm;

		if (guest_notices_of(core.index)[vm->index].state != vm->state)
			notice_write(vm, vm->state);
		schedule_breathe();
	}
}

void remote_give_up(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++)
		notice_write(vcpus[i].vm, GANDALF_STATE_STOPPED);
}

/* One guest at a time, since interrupts wait. */
static u64 notices_expire(UNUSED struct deadline *deadline)
{
	if (core.vcpu_count != 0) {
		next = (next + 1) % core.vcpu_count;
		notice_write(vcpus[next].vm, vcpus[next].vm->state);
	}
	return rdtsc() + (u64)time_tsc_khz * (NOTICE_MILLISECONDS / GANDALF_GUESTS_MAXIMUM);
}

void remote_init(void)
{
	deadline_init(&notices, notices_expire, 0);
	deadline_set(&notices, rdtsc());
}
