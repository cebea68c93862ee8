/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a Linux that shares its CPU. All interrupts enter the VMM, the real IF stays 1 while the
 * guest runs, and its mainboard is virtual.
 */
#include "core/guest_kind.h"
#include "guests/x86/board.h"
#include "guests/x86/emulate.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/line.h"
#include "guests/x86/linux.h"
#include "whole.h"

static void shared_interrupt(struct vcpu *vcpu, unsigned number)
{
	vcpu_notify(vcpu);
	line_pulse(vcpu->x86->board, number);
}

static void shared_console(struct vcpu *vcpu)
{
	if (!vm_is_part(vcpu->vm))
		board_console(vcpu->x86->board);
}

/* The gate of system calls is a trap gate, whatever the guest says, since the real IF stays 1 in
 * its kernel. */
static const struct policy shared_policy = {
	.operations = {
		POLICY_OPERATIONS, .interrupt = shared_interrupt, .deliver = linux_deliver,
		.console = shared_console, .start = linux_start, .stop = linux_stop,
	},
	.eflags = EFLAGS_FIXED | EFLAGS_IF, .code_mask = ~3u,
	.first_gate = 0x80, .last_gate = 0x80, .gate_type = GATE_TRAP,
	.interruptible = true, .any_vector = VIEWS_CHECK_HYPERCALLS,
};

bool shared_create(struct vm *vm)
{
	return linux_create(vm, &shared_policy);
}

static const struct guest_kind shared_kind = {
	.number = GANDALF_KIND_LINUX_SHARED, .prepare = board_prepare,
	.create = shared_create, .ring = linux_ring, .act = vm_act_here,
	.read = guest_read, .write = guest_write,
};
GUEST_KIND(shared_kind);
