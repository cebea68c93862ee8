/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for core/trap_policy.c and guests/x86/smp/kernel_watch.c in an image without the policy
 * "trap". There no vCPU is watched. */
#include "core/trap_policy.h"
#include "guests/x86/smp/smp.h"

bool trap_policy_brings_back(UNUSED const struct vm *vm)
{
	return false;
}

void trap_policy_departs(UNUSED struct vm *vm)
{
}

u32 trap_policy_starts(UNUSED const struct vm *vm)
{
	return 0;
}

void trap_policy_begins(void)
{
}

void trap_policy_arrives(UNUSED const struct vm *vm)
{
}

void kernel_watch_entered(UNUSED struct x86 *x86)
{
}

void kernel_watch_left(UNUSED struct x86 *x86)
{
}

void kernel_watch_starts(UNUSED struct x86 *x86)
{
}

void kernel_watch_gates(UNUSED struct x86 *x86)
{
}

void kernel_watch_forgets(UNUSED struct vcpu *vcpu)
{
}
