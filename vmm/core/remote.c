/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for guests of other cores on this core. Each has its place among the VMs here as well, and
 * a vCPU that no scheduler knows: what others do to a guest of their own (ring it, type to it,
 * start it) is a message to its core here. What is known of its life is what its core has said
 * last: its state at once, its counters each second.
 */
#include "core/remote.h"

#include "arch.h"
#include "core/core.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "core/order.h"
#include "core/relay.h"
#include "core/trace.h"

/* Whether it takes messages, or will as soon as its guests exist. */
static bool core_has_started(u32 index)
{
	return outbox_of(index)->started != 0;
}

/* Its core knows whether it runs. What this core knows is older, and were a ring kept back for
 * that, a guest that has just started would wait for it. */
static u32 remote_ring(const struct vm *vm)
{
	if (!core_has_started(vm->guest->cpu))
		return (u32)GANDALF_ERROR_ARGUMENT;
	message_send(vm->guest->cpu, MESSAGE_DOORBELL + vm->index);
	return 0;
}

static int remote_act(struct vm *vm, u32 action)
{
	return core_has_started(vm->guest->cpu) ? order_post(vm, action) : GANDALF_ERROR_STATE;
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
	struct vcpu *vcpu = &vcpus[PLACES_MAXIMUM - 1 - core.remote_count++];

	vm->kind = vm->guest->kind == GANDALF_KIND_RTOS ? &remote_rtos : &remote_linux;
	vm->state = core_has_started(vm->guest->cpu) ? GANDALF_STATE_STARTING : GANDALF_STATE_OFF;
	vcpu->operations = &remote_operations;
	vcpu->state = VCPU_RUNNING;
	vcpu->vm = vm;
	vcpu->trace = trace_ring_of(vm->index); /* core 0 has memory for all, and looks there */
	vcpu->id = vm->index;
	vcpu->priority = vm->guest->priority;
	vm->vcpus = vcpu;
	vm->vcpu_count = 0;
}

static void remote_learn(u32 from, u32 place)
{
	volatile struct guest_notice *notice = &guest_notices_of(from)[place];
	struct vm *vm = &vms[place];

	if (vm->guest->cpu != from)
		return;
	vm->state = notice->state;
	vm->fault_restarts = notice->fault_restarts;
	vm->started = notice->started;
	vm->vcpus->ran = notice->ran;
	for (u32 i = 0; i < COUNTERS; i++)
		vm->vcpus->counters[i] = notice->counters[i];
}
MESSAGES_SERVED(MESSAGE_STATE, GANDALF_GUESTS_MAXIMUM, remote_learn);
